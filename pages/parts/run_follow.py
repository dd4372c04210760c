"""Following a run, and its results."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from data.reports.repeats import consistency_report
from data.run_words import cost_words, money, sent_a_case, tokens_words, trouble_words
from data.runs import start_worker
from data.store import reviews, run_figures, runs, verdicts
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
    if progress["status"] == "running" and found["projected_cost"]:
        told += f" · about {money(found['projected_cost'], found['currency'])} in all"
    st.progress(progress["done"] / progress["cases"] if progress["cases"] else 1.0, text=told)
    words = RUN_STATUS_WORDS[progress["status"]]
    if progress["status"] in _ALIVE and run["cancel_requested"]:
        words = "being cancelled; questions under way are let finish"
    st.text(f"Run {run_id} is {words}." + (f" {run['problem']}" if run["problem"] else ""))
    if run["options"]["flaky"]:
        st.text("This run is marked flaky: it is reported here and decides nothing elsewhere.")
    for reason in run_figures.reasons(run_id):
        st.text(f"{reason['n']} {reason['status']}: {reason['problem']}")
    if found["trouble"]:
        st.text(f"Tried again: {trouble_words(found['trouble'])}.")
    _draw_figures(found)
    _draw_repeats(run_id)
    if progress["status"] in _ALIVE:
        if st.button("Cancel", key=f"cancel-{run_id}", disabled=bool(run["cancel_requested"])):
            runs.request_cancel(run_id)
            st.rerun(scope="fragment")
    elif run["judge"]["kind"] == "imported":
        st.text("Its verdicts came in with a file: there is nothing to ask again.")
    elif progress["status"] != "done":
        budget = _draw_budget(run_id, run["budget"])
        if st.button("Resume", key=f"resume-{run_id}", type="primary"):
            runs.requeue(run_id, budget)
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
    what = st.columns(4)
    what[0].metric("Mean score", shown_score(found["mean_score"]))
    what[1].metric("Scored", f"{found['ok']} of {found['cases']}")
    what[2].metric("Seconds", "–" if found["seconds"] is None else f"{found['seconds']:.1f}")
    what[3].metric("Cases a second", "–" if found["rate"] is None else f"{found['rate']:.1f}")
    taken = st.columns(4)
    taken[0].metric("Calls", f"{found['calls']}", help=f"{found['cached_calls']} replies came from the store")
    taken[1].metric("Tokens in / out", tokens_words(found),
                    help="Unknown means that no reply reported them; that is not 0.")  # fmt: skip
    taken[2].metric("Cost", cost_words(found), help="By the judge's price when the run was made. Unknown is not free.")
    taken[3].metric("Sent a case", sent_a_case(found), help="Requests with their pictures, as they went out.")


def _draw_budget(run_id: int, budget: dict) -> dict:
    """The budget that a run goes on with: what it had, to be changed."""
    columns = st.columns(4)
    return {
        name: column.number_input(
            f"Budget: {name}", 0.0001 if name == "money" else 1, None, most, key=f"budget-{run_id}-{name}"
        )
        for column, (name, most) in zip(columns, budget.items(), strict=False)
    }


def _draw_repeats(run_id: int) -> None:
    ids = runs.repeats(run_id)
    if len(ids) > 1:
        st.text(f"Runs {', '.join(map(str, ids))} measure the same. {consistency_report(run_id)['words']}")


def draw_slowest(run_id: int) -> None:
    """The calls that took longest."""
    slowest = run_figures.slowest_calls(run_id)
    if slowest:
        with st.expander("Slowest calls"):
            st.dataframe(
                pd.DataFrame([
                    {"Case": call["case"] or "not judged yet", "Asked for": call["aspect"], "Seconds": call["seconds"],
                     "Tokens in": call["input_tokens"], "Tokens out": call["output_tokens"]} for call in slowest
                ]),
                hide_index=True, column_config={"Seconds": st.column_config.NumberColumn(format="%.2f")},
            )  # fmt: skip


def _result_row(row: dict, with_verdict: bool) -> dict:
    said = {
        "Score": row["score"],
        "Label": row["label"] or "",
        "Why": (row["problem"] and f"{STATUS_WORDS[row['status']]}: {row['problem']}") or row["reason"] or "",
        "Flags": ", ".join(row["flags"] or []),
    }
    return {
        "Case": row["external_id"],
        "Status": row["status"] or "waiting",
        **(said if with_verdict else {"Problem": row["problem"] or ""}),
        "Generator": row["generator"],
        "Prompt": row["prompt"],
        "Seconds": row["seconds"],
    }


def draw_results(run_id: int, reviewer: dict) -> None:
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
    show_all = st.toggle(
        "Show scores, labels and reasons", key=f"results-show-{run_id}",
        help="Your labels on these cases will no longer count as blind.",
    )  # fmt: skip
    if show_all:
        reviews.saw_verdicts(reviewer["id"], [row["case_id"] for row in rows if row["status"]])
    table = pd.DataFrame([_result_row(row, show_all) for row in rows])
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


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
