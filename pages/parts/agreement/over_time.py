"""Agreement over time: windows of labels within a run, the limits they should stay in, and what moved with them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from data.reports.charts.over_time import agreement_over_time, rates_over_time
from data.reports.over_time import OTHERS, over_time_report
from pages.parts.agreement.view import Chosen, cached, draw_chart, limits

#: The shares of a window in the words of the table.
_SHARES = {
    "accuracy": "Agreement", "recall_bad": "Badcases found", "specificity": "Usable cases passed",
    "judge_bad_rate": "Judge flags", "human_bad_rate": "People call badcase",
}  # fmt: skip


def draw(chosen: Chosen) -> None:
    """Does agreement hold along the labels, and which windows ask for a look?"""
    st.subheader("Agreement over time")
    beside = st.toggle(
        f"Beside it the newest {OTHERS} other runs of this criterion", key="over-time-others", persist_state="session",
        help="Each against the same people, with its own threshold and its own line.",
    )  # fmt: skip
    report = cached(over_time_report, chosen.basis, OTHERS if beside else 0)
    for sentence in report["words"]:
        st.text(sentence)
    windows = [_row(segment, window) for segment in report["segments"] for window in segment["windows"]]
    if not windows:
        return
    if beside and report["left_out"]:
        st.text(f"{report['left_out']} older runs are left out.")
    draw_chart("over-time", agreement_over_time(report), pd.DataFrame(windows), "Agreement over time")
    if report["segments"][0]["windows"]:
        st.subheader("Did the mix move?")
        draw_chart(
            "rates-over-time",
            rates_over_time(report),
            pd.DataFrame(row for row in windows if row["Run"] == chosen.run["id"]),
            "Shares of badcases over time",
        )


def _row(segment: Mapping, window: Mapping) -> dict:
    """A window as a line of the table behind."""
    row = {
        "Run": segment["run"], "Window": window["number"], "Labels": f"{window['first']}–{window['last']}",
        "Began": window["began"], "Ended": window["ended"], "Cases": window["n"], "Prompts": window["prompts"],
        "Full": window["is_full"], "Fewer than 30": window["small"],
    }  # fmt: skip
    for name, words in _SHARES.items():
        row |= limits(window[name], words)
    return row | {
        "Makes the baseline": window["is_baseline"], "Smoothed": window["ewma"], "Limit below": window["ewma_lo"],
        "Limit above": window["ewma_hi"], "To look at": window["is_alarm"],
    }  # fmt: skip
