"""Accuracy over time."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from data.reports.charts.look import BLUE, ORANGE
from data.store import agreement
from evaluators.agreement import REASON_WORDS, wilson
from pages.parts.agreement.view import Chosen, draw_chart


def draw(chosen: Chosen) -> None:
    """Accuracy of each day's newly settled labels with its interval, and of all until then."""
    st.subheader("Accuracy over time")
    days = agreement.counts_by_day(chosen.basis)
    if not days:
        st.text(REASON_WORDS["no_data"])
        return
    table, right, total = [], 0, 0
    for day in days:
        right, total = right + day["tp"] + day["tn"], total + day["n"]
        of_day, so_far = wilson(day["tp"] + day["tn"], day["n"]), wilson(right, total)
        table.append(
            {
                "Day": day["day"], "Cases": day["n"], "Accuracy": of_day.value, "From": of_day.lo, "To": of_day.hi,
                "All so far": so_far.value, "All from": so_far.lo, "All to": so_far.hi, "All cases": total,
            }
        )  # fmt: skip
    frame = pd.DataFrame(table)
    chart = go.Figure()
    chart.add_scatter(
        x=frame["Day"], y=frame["All to"], mode="lines", line=dict(width=0), showlegend=False, hoverinfo="skip",
    )  # fmt: skip
    chart.add_scatter(
        x=frame["Day"], y=frame["All from"], mode="lines", line=dict(width=0), fill="tonexty",
        fillcolor="rgba(31,119,180,0.18)", name="95 % interval", hoverinfo="skip",
    )  # fmt: skip
    chart.add_scatter(
        x=frame["Day"], y=frame["All so far"], mode="lines+markers", line=dict(color=BLUE, width=3), name="all labels so far",
        customdata=frame["All cases"], hovertemplate="%{x}: %{y:.1%} of %{customdata} cases<extra></extra>",
    )  # fmt: skip
    chart.add_scatter(
        x=frame["Day"], y=frame["Accuracy"], mode="markers", marker=dict(color=ORANGE, size=8, symbol="diamond"),
        name="labels of the day",
        error_y=dict(type="data", symmetric=False, array=frame["To"] - frame["Accuracy"],
                     arrayminus=frame["Accuracy"] - frame["From"], thickness=1, width=3),
        customdata=frame["Cases"], hovertemplate="%{x}: %{y:.1%} of %{customdata} cases<extra></extra>",
    )  # fmt: skip
    chart.update_layout(height=320, margin=dict(l=0, r=0, t=10, b=10), legend=dict(orientation="h", y=1.12))
    chart.update_yaxes(range=[0, 1.05], tickformat=".0%")
    chart.update_xaxes(type="date")
    draw_chart("time", chart, frame, "Accuracy over time")
