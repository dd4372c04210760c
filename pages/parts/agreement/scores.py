"""Scores: what every threshold finds, what a tuned one is worth, and the judge's scores beside people's."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from data.reports.charts.scores import distribution, judge_and_people, precision_recall, roc, sweep
from data.reports.human_scores import FIGURES, OVERALL, human_scores_report
from data.reports.scores import FIGURES as AT_A_THRESHOLD
from data.reports.scores import OBJECTIVES, scores_report
from pages.parts.agreement.view import Chosen, cached, columns, draw_chart, draw_table
from pages.parts.choices import choose

SIDES = {"labels": "Against people's labels", "scores": "Against people's scores"}


def draw(chosen: Chosen) -> None:
    """The score against what people say: their labels, or the scores that they give themselves."""
    st.subheader("Scores and thresholds")
    side = choose("side", "The judge's score", SIDES, kind=st.segmented_control, required=True)
    if side == "labels":
        _draw_labels(chosen)
    else:
        _draw_beside(cached(human_scores_report, chosen.run["id"]))


def _draw_labels(chosen: Chosen) -> None:
    report = cached(scores_report, chosen.basis, *_objective())
    for words in report["words"]:
        st.text(words)
    if not report["n"]:
        return
    if report["held_out"]:
        names = {"held_out": "tuned, on new cases", "now": "at the present threshold"}
        table = pd.DataFrame(
            {"Threshold": names[which], "Figure": words, **columns(report[which][figure]),
             "Method": report[which][figure]["method"]}
            for which in names if report[which]
            for figure, words in {**AT_A_THRESHOLD, **({"cost": "Cost per case"} if "cost" in report[which] else {})}.items()
        )  # fmt: skip
        draw_table("tuned", table, "A tuned threshold beside the present one")
    points = pd.DataFrame(report["points"])
    st.text("The curves are of these very labels: their best points flatter.")
    for name, chart, title in (
        ("roc", roc, "Badcases found against usable cases flagged (ROC)"),
        ("precision-recall", precision_recall, "Precision and recall of badcases"),
        ("sweep", sweep, "Every threshold"),
    ):
        st.markdown(f"**{title}**")
        draw_chart(name, chart(report), points, title)
    st.markdown("**Scores by people's label**")
    draw_chart("distribution", distribution(report), pd.DataFrame(report["distribution"]), "Scores by people's label")


def _objective() -> tuple[str, float, float]:
    """What a threshold is to serve, with the costs of the two errors."""
    choice, missed, wrong = st.columns([2, 1, 1])
    with choice:
        objective = choose("objective", "Choose a threshold so that", OBJECTIVES)
    if objective != "cost":
        return objective, 1.0, 1.0
    with missed:
        cost_fn = st.number_input("A missed badcase costs", 0.0, 1e6, 5.0, key="cost_fn", bind="query-params")
    with wrong:
        cost_fp = st.number_input("A wrong flag costs", 0.0, 1e6, 1.0, key="cost_fp", bind="query-params")
    return objective, cost_fn, cost_fp


def _draw_beside(beside: Mapping) -> None:
    for words in beside["words"]:
        st.text(words)
    if not beside["scores"]:
        return
    scores = {score["key"]: score for score in beside["scores"]}
    key = choose("score", "Score", {key: "The verdict's score" if key == OVERALL else key for key in scores})
    score = scores[key]
    for words in score["words"]:
        st.text(words)
    draw_chart("judge-and-people", judge_and_people(score), pd.DataFrame(score["cells"]), f"Judge and people: {key}")
    table = pd.DataFrame(
        {"Score": other["key"], "Figure": words, "Scale": f"0 to {other['largest']}", **columns(other[figure]),
         "Method": other[figure]["method"]}
        for other in beside["scores"] for figure, words in FIGURES.items()
    )  # fmt: skip
    draw_table("judge-and-people-figures", table, "All figures of all scores")
