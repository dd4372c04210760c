"""Following a run, and its results."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from data.runs import start_worker
from data.store import run_figures, runs, verdicts
from data.store.runs import RUN_STATUS_WORDS
from evaluators.verdict import STATUS_WORDS, shown_score

_ALIVE = ("queued", "running")


def draw_progress(run_id: int) -> None:
    """The progress and the figures of a run, looked up every second while its worker lives."""
    alive = runs.run_by_id(run_id)["status"] in _ALIVE
    st.fragment(_progress, run_every="1s" if alive else None)(run_id, alive)


def _progress(run_id: int, was_alive: bool) -> None:
    progress, run, found = run_figures.progress(run_id), runs.run_by_id(run_id), run_figures.summary(run_id)
    told = f"{progress['done']} of {progress['cases']} cases"
    if progress["status"] == "running" and progress["rate"]:
        told += f" · {progress['rate']:.1f} cases a second · {_duration(progress['seconds_left'])} left"
    st.progress(progress["done"] / progress["cases"] if progress["cases"] else 1.0, text=told)
    words = RUN_STATUS_WORDS[progress["status"]]
    if progress["status"] in _ALIVE and run["cancel_requested"]:
        words = "being cancelled; questions under way are let finish"
    st.text(f"Run {run_id} is {words}." + (f" {run['problem']}" if run["problem"] else ""))
    if run["options"]["flaky"]:
        st.text("This run is marked flaky: it is reported here and decides nothing elsewhere.")
    for reason in run_figures.reasons(run_id):
        st.text(f"{reason['n']} {reason['status']}: {reason['problem']}")
    _draw_figures(found)
    if progress["status"] in _ALIVE:
        if st.button("Cancel", key=f"cancel-{run_id}", disabled=bool(run["cancel_requested"])):
            runs.request_cancel(run_id)
            st.rerun(scope="fragment")
    elif progress["status"] != "done":
        if st.button("Resume", key=f"resume-{run_id}", type="primary"):
            runs.requeue(run_id)
            start_worker(run_id)
            st.rerun()
    elif found["failed"] and st.button(
        f"Run it again for the {found['failed']} that failed", key=f"again-{run_id}",
        help="A new run of the same kind: replies that are there already are not paid for again.",
    ):  # fmt: skip
        again = runs.repeat(run_id)
        start_worker(again)
        st.query_params["run"] = str(again)
        st.rerun()
    if was_alive and progress["status"] not in _ALIVE:
        st.rerun()  # once more as a whole: the results are there now, and nothing is left to poll


def _draw_figures(found: dict) -> None:
    columns = st.columns([2, 2, 2, 3, 2])
    columns[0].metric("Mean score", shown_score(found["mean_score"]))
    columns[1].metric("Scored", f"{found['ok']} of {found['cases']}")
    columns[2].metric("Calls", f"{found['calls']}", help=f"{found['cached_calls']} replies came from the store")
    columns[3].metric("Tokens in / out", f"{_tokens(found['input_tokens'])} / {_tokens(found['output_tokens'])}",
                      help="A dash means that no reply reported them.")  # fmt: skip
    columns[4].metric("Seconds", "–" if found["seconds"] is None else f"{found['seconds']:.1f}")


def draw_results(run_id: int) -> None:
    """One row a case; a selected row opens its case."""
    with st.container(horizontal=True):
        params = {"run": str(run_id), "dataset": str(runs.run_by_id(run_id)["dataset_id"])}
        st.page_link(
            "pages/review.py", label="Review beside this run", icon=":material/rate_review:", query_params=params
        )
        st.page_link(
            "pages/agreement.py", label="Agreement of this run", icon=":material/query_stats:", query_params=params
        )
    rows = verdicts.result_rows(run_id)
    table = pd.DataFrame(
        [
            {
                "Case": row["external_id"],
                "Status": row["status"] or "waiting",
                "Score": row["score"],
                "Label": row["label"] or "",
                "Why": (row["problem"] and f"{STATUS_WORDS[row['status']]}: {row['problem']}") or row["reason"] or "",
                "Flags": ", ".join(row["flags"] or []),
                "Generator": row["generator"],
                "Prompt": row["prompt"],
                "Seconds": row["seconds"],
            }
            for row in rows
        ]
    )
    done = sum(row["status"] is not None for row in rows)
    event = st.dataframe(
        table, hide_index=True, on_select="rerun", selection_mode="single-row", key=f"results-{run_id}-{done}",
        column_config={
            "Score": st.column_config.NumberColumn(format="%.3f"), "Seconds": st.column_config.NumberColumn(format="%.1f"),
        },
        alt="One row a case of this run",
    )  # fmt: skip
    chosen = event.selection.rows
    if chosen:
        st.page_link(
            "pages/case.py", label="Open the selected case", icon=":material/open_in_new:",
            query_params={"case": str(rows[chosen[0]]["case_id"])},
        )  # fmt: skip


def _tokens(count: int | None) -> str:
    if count is None:
        return "–"
    return (
        f"{count:,}" if count < 10_000 else f"{count / 1000:,.1f} k" if count < 10_000_000 else f"{count / 1e6:,.1f} M"
    )


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
