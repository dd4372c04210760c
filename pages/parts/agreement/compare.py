"""Runs compared: on the same cases with the current judge, the cases that tell them apart, and every version."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from data.reports.charts.comparison import DIFFERENCES, differences, versions
from data.reports.comparison import comparison_report
from data.reports.versions import FIGURES, versions_report
from data.store import compared, reviews
from data.store.compared import telling_cases
from evaluators.agreement import REASON_WORDS
from evaluators.verdict import shown_score
from pages.parts.agreement.view import Chosen, cached, draw_chart, draw_table, limits
from pages.parts.case_gallery import COLUMNS, draw_cards
from pages.parts.choices import choose

_MOST = 24
_ADJUSTMENTS = {"planned": "planned with the current judge", "exploring": "exploring"}
_VERSION_FIGURES = dict(zip(FIGURES, ("Agreement", "Balanced accuracy", "Badcases found", "Kappa"), strict=True))


def draw(chosen: Chosen) -> None:
    """Is another run better than this one, and on which cases?"""
    run = chosen.run
    st.subheader("On the same cases")
    report = _draw_comparison(chosen)
    if report:
        _draw_telling(chosen, [row["run"] for row in report["comparisons"] if row["b"] + row["c"]])
    st.subheader("Every run of this dataset")
    _draw_versions(cached(versions_report, run["dataset_id"], run["criterion"], chosen.basis.name))


def _draw_comparison(chosen: Chosen) -> dict | None:
    """The chosen run as the current judge against others; None when there is nothing to compare."""
    run = chosen.run
    options = {v["id"]: v for v in compared.versions(run["dataset_id"], run["criterion"]) if v["id"] != run["id"]}
    with_labels = [run_id for run_id, v in options.items() if v["threshold"] is not None]
    if run["threshold"] is None:
        st.text(
            "This run gives scores without labels and cannot be compared: runs are compared at their own thresholds."
        )
        return None
    if not with_labels:
        st.text("There is no other run of this dataset and criterion with a threshold: nothing to compare yet.")
        return None
    which, how = st.columns([5, 2])
    with which:
        picked = _choose_others(f"Compare run {run['id']} (the current judge) with", [options[i] for i in with_labels])
    with how:
        how_many = choose("compared", "These comparisons were", _ADJUSTMENTS)
    if not picked:
        st.text("Choose a run to compare with.")
        return None
    if chosen.basis.threshold != run["threshold"]:
        st.text(f"Run {run['id']} is compared at its own threshold, {run['threshold']:g}, not at the one tried above.")
    report = cached(comparison_report, [run["id"], *map(int, picked)], chosen.basis.name, how_many == "planned")
    for sentence in report["words"]:
        st.text(sentence)
    if any(row["n"] for row in report["comparisons"]):
        draw_chart("compare", differences(report), pd.DataFrame(_rows(report)), "Differences with 95 % intervals")
    return report


def _choose_others(label: str, others: list[dict]) -> list[str]:
    """The ids of the runs to compare with, the newest one until others are chosen; in the address as with=2,3."""
    options = {str(other["id"]): f"{other['id']}: {other['metric']} · {other['judge_name']}" for other in others}
    wanted = st.query_params.get("with")
    if wanted is not None and wanted != st.session_state.get("with-seen"):
        st.session_state["with"] = wanted.split(",")  # the address was changed by a link, not by this box
    held = st.session_state.get("with", [str(others[-1]["id"])])
    kept = [run_id for run_id in held if run_id in options]
    st.session_state["with"] = kept if kept or not held else [str(others[-1]["id"])]
    picked = st.multiselect(label, list(options), format_func=options.get, key="with", persist_state="session")
    st.session_state["with-seen"] = st.query_params["with"] = ",".join(picked)
    return picked


def _rows(report: Mapping) -> list[dict]:
    """The comparisons as lines of the table behind, a figure a line."""
    return [
        {
            "Run": row["run"], "Compared with": row["reference"], "Figure": words, "Difference": row[name]["value"],
            "From": row[name]["lo"], "To": row[name]["hi"], "Cases": row[name]["n"], "Method": row[name]["method"],
            "Undefined because": REASON_WORDS.get(row[name]["reason"], ""),
            "Only it right": row["b"], "Only the other right": row["c"], "p (prompts known)": row["p"],
            "p adjusted": row["p_adjusted"], "McNemar mid-p": row["p_midp"], "McNemar exact p": row["p_exact"],
        }
        for row in report["comparisons"] if row["n"] for name, words in DIFFERENCES.items()
    ]  # fmt: skip


def _draw_telling(chosen: Chosen, others: list[int]) -> None:
    """The cases that tell two runs apart, each one click from the desk; whoever reads them has seen their verdicts."""
    if not others:
        return
    mine = chosen.run["id"]
    if not st.toggle(
        "Show the cases that tell them apart", key="compare-telling",
        help="With verdicts and labels. Your later labels on what you see here will not count as blind.",
    ):  # fmt: skip
        return
    other = others[0]
    if len(others) > 1:
        other = int(choose("against", "Of run", {str(run_id): f"run {run_id}" for run_id in others}))
    found = telling_cases(mine, other, chosen.basis.name, _MOST)
    reviews.saw_verdicts(chosen.reviewer["id"], [case["case_id"] for case in found])
    thresholds = {v["id"]: v["threshold"] for v in compared.versions(chosen.run["dataset_id"], chosen.run["criterion"])}
    for start in range(0, len(found), COLUMNS):
        row = found[start : start + COLUMNS]
        draw_cards({case["case_id"]: _telling_words(case, mine, other, thresholds) for case in row})
        for case, column in zip(row, st.columns(COLUMNS), strict=False):
            there = {"dataset": chosen.dataset["id"], "run": case["sides_with"], "case": case["case_id"]}
            column.page_link(
                "pages/review.py", label="To the desk", icon=":material/rate_review:",
                query_params={name: str(value) for name, value in there.items()},
            )  # fmt: skip
    draw_table("telling-cases", pd.DataFrame(found).drop(columns="place"), "These cases as a table")


def _telling_words(case: Mapping, mine: int, other: int, thresholds: Mapping[int, float]) -> str:
    """Who was right, and what everybody said."""
    said = " · ".join(
        f"run {run_id}: {case[f'label_{which}'] or case[f'status_{which}']} "
        f"{shown_score(case[f'score_{which}'], thresholds[run_id])}".rstrip()
        for run_id, which in ((mine, "a"), (other, "b"))
    )
    return f"run {case['sides_with']} is right · people: {case['gold']} · {said}"


def _draw_versions(report: Mapping) -> None:
    """All runs with their figures, oldest first."""
    for sentence in report["words"]:
        st.text(sentence)
    measured = [version for version in report["versions"] if version["n"]]
    if not measured:
        return
    table = []
    for version in measured:
        row = {
            "Run": version["run"], "Judge": version["judge"], "Metric": version["metric"],
            "Metric version": version["metric_version"], "Threshold": version["threshold"], "Created": version["created"],
            "Cases": version["n"], "Prompts": version["prompts"], "Fewer than 30": version["small"],
            "Always the same label": version["baseline"],
        }  # fmt: skip
        for name, words in _VERSION_FIGURES.items():
            row |= limits(version[name], words)
        table.append(row)
    draw_chart("versions", versions({"versions": measured}), pd.DataFrame(table), "Agreement by run")
