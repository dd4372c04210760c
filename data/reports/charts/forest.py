"""Figures with their intervals, one a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from data.reports.charts.look import BLUE, GREY, WHISKERS, laid_out


def forest(
    rows: Sequence[Mapping], line: float | None = None, line_words: str = "", lowest: float = 0.0, share: bool = True
) -> go.Figure:
    """A point and its interval for each row, in order from the top.

    rows: name, value, lo, hi; those without a value or interval are left out (the table behind says why). line: a value
    to compare with, drawn through all. share: whether the axis is in percent. lowest: where it begins, or lower.
    """
    drawn = [row for row in rows if row["value"] is not None and row["lo"] is not None]
    chart = go.Figure()
    chart.add_scatter(
        x=[row["value"] for row in drawn],
        y=[row["name"] for row in drawn],
        mode="markers",
        marker=dict(size=10, color=BLUE),
        error_x=dict(
            type="data", symmetric=False, array=[row["hi"] - row["value"] for row in drawn],
            arrayminus=[row["value"] - row["lo"] for row in drawn], **WHISKERS,
        ),
        hovertemplate="%{y}: %{x:.1%}<extra></extra>" if share else "%{y}: %{x:.3f}<extra></extra>",
    )  # fmt: skip
    if line is not None:
        chart.add_vline(x=line, line_dash="dot", line_color=GREY, annotation_text=line_words, annotation_position="top")
    chart.update_xaxes(
        range=[min([lowest, *(row["lo"] for row in drawn)]) - 0.02, 1.03], tickformat=".0%" if share else None
    )
    chart.update_yaxes(autorange="reversed")
    return laid_out(chart, height=100 + 34 * max(1, len(drawn)), showlegend=False)
