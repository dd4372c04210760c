"""How many more labels it takes, from which queue, for how many working days."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from data.reports.plan_words import audit_words
from data.reports.planning import planning_report
from evaluators.agreement import REASON_WORDS, SMALL, WARNING_WORDS
from pages.parts.agreement.view import Chosen, cached, draw_table

QUEUE_WORDS = {"random": "random order", "audit": "audit"}


def draw(chosen: Chosen) -> None:
    """What the labels are to tell, and what that takes."""
    st.subheader("How many labels it takes")
    report = cached(planning_report, chosen.basis, **_wanted())
    for words in report["words"]:
        st.text(words)
    if report["n"] < SMALL:
        st.text(f"{WARNING_WORDS['small_n']} So is this plan: come back when more labels are there.")
    goals = pd.DataFrame(
        {
            "What for": goal["name"], "Labelled cases needed": goal["needed"], "There": goal["there"],
            "More": goal["more"], "From": QUEUE_WORDS[goal["queue"]], "Working days": goal["days"],
        }
        for goal in report["goals"]
    )  # fmt: skip
    draw_table("plan", goals, "As a table", expanded=True)
    if report["audits"]:
        st.text(
            "What an audit would tell of the badcases found, if flags and passed cases stay right as often as they are now:"
        )
        draw_table("plan-audits", _audits(report["audits"]), "Audits", expanded=True)


def _wanted() -> dict:
    """What is to be known, and how well, as the arguments of the report."""
    one, two, three, four, five = st.columns(5)
    return {
        "half_width": _points(one, "Agreement, ± points", 5.0, 0.5, 30.0, "plan-half-width"),
        "claim": _points(two, "Claim: at least … %", 85.0, 50.0, 99.0, "plan-claim"),
        "truth": _points(three, "if the judge is right on … %", None, 50.0, 100.0, "plan-truth",
                         "Empty: as often as it is now."),
        "recall_half_width": _points(four, "Badcases found, ± points", 10.0, 0.5, 30.0, "plan-recall"),
        "difference": _points(five, "Difference of two judges, points", 5.0, 0.5, 50.0, "plan-difference"),
    }  # fmt: skip


def _points(
    where, label: str, value: float | None, least: float, most: float, key: str, hint: str = ""
) -> float | None:
    """A number of percentage points as a share of 1."""
    found = where.number_input(label, least, most, value, 0.5, format="%.1f", key=key, help=hint or None,
                               persist_state="session", placeholder="as now")  # fmt: skip
    return None if found is None else found / 100


def _audits(audits: list[dict]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Audit of": audit_words(audit), "Labels": audit["labels"], "More": audit["more"], "Working days": audit["days"],
            "± points": None if audit["half_width"] is None else round(100 * audit["half_width"], 1),
            "Missed badcases it would see": None if audit["misses"] is None else round(audit["misses"], 1),
            "Unknown because": REASON_WORDS.get(audit["reason"], ""),
        }
        for audit in audits
    )  # fmt: skip
