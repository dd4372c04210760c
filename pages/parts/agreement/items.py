"""Agreement item by item: answers by question type and by question, sub-scores with bias and error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from data.reports.charts.items import reliability
from data.reports.items import FIGURES, item_report
from evaluators.agreement import REASON_WORDS
from pages.parts.agreement.view import Chosen, cached, draw_chart, draw_table, limits


def draw(chosen: Chosen) -> None:
    """Agreement item by item: how reliable each question type and sub-score is, then the single questions."""
    st.subheader("Item by item")
    report = cached(item_report, chosen.run["id"])
    for words in report["words"]:
        st.text(words)
    if not report["groups"]:
        return
    lines = [*report["groups"], *([report["pooled"]] if report["pooled"] else [])]
    draw_chart("items", reliability(report), _table(lines), "Reliability by question type and sub-score")
    if report["questions"]:
        draw_table("questions", _table(report["questions"]), "Question by question")


def _table(lines: Sequence[Mapping]) -> pd.DataFrame:
    """A line for each; columns that none of them has are left out."""
    frame = pd.DataFrame(
        {
            "Item": line["item"], "Kind": line["kind"], "Type": line.get("group"), "n": line["n"], "Prompts": line["prompts"],
            "Small": line["small"], **limits(line["agreement"], "Agreement"),
            "Remark": REASON_WORDS.get(line["agreement"]["reason"], ""), "Baseline": line.get("baseline"),
            "Both wrong": line.get("tp"), "Only the judge wrong": line.get("fp"), "Only people wrong": line.get("fn"),
            "Both right": line.get("tn"),
            **{name: value for figure, words in FIGURES.items() if figure in line
               for name, value in limits(line[figure], words).items()},
            **(limits(line["bias"], "Bias (judge - people)") if "bias" in line else {}),
            **(limits(line["mae"], "Mean absolute error") if "mae" in line else {}),
        }
        for line in lines
    )  # fmt: skip
    return frame.dropna(axis=1, how="all")
