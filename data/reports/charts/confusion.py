"""The 2x2 table of labels."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from data.reports.charts.look import laid_out

LABELS = ("badcase", "usable")


def cells(report: Mapping) -> list[list[int]]:
    """People's labels down, the judge's across, over the cases that the judge labelled."""
    return [[report["tp"], report["fn"]], [report["fp"], report["tn"]]]


def confusion(report: Mapping, text_color: str) -> go.Figure:
    """text_color: of the page; plotly picks the colour of texts in cells as if the page were white."""
    found = cells(report)
    chart = go.Figure(
        go.Heatmap(
            z=found, x=[f"judge: {label}" for label in LABELS], y=[f"people: {label}" for label in LABELS],
            text=found, texttemplate="%{text}", textfont=dict(size=22, color=text_color),
            colorscale=[[0, "rgba(31,119,180,0.08)"], [1, "rgba(31,119,180,0.75)"]], showscale=False,
            hovertemplate="%{y}, %{x}: %{z} cases<extra></extra>",
        )
    )  # fmt: skip
    chart.update_yaxes(autorange="reversed")
    return laid_out(chart, height=300, margin=dict(l=0, r=0, t=10, b=10))
