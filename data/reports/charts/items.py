"""Agreement by kind of item."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from data.reports.charts.forest import forest
from data.reports.charts.groups import axis_names


def reliability(report: Mapping) -> go.Figure:
    """Agreement by question type and sub-score with intervals (of an item report); all questions together as a line."""
    rows, pooled = report["groups"], report["pooled"]
    asides = [f"n {row['n']}{', small' if row['small'] else ''}" for row in rows]
    names = axis_names([row["item"] for row in rows], asides)
    drawn = [{"name": name, **row["agreement"]} for name, row in zip(names, rows, strict=True)]
    chart = forest(drawn, pooled and pooled["agreement"]["value"], "all questions")
    chart.update_yaxes(type="category", automargin=True)
    chart.update_xaxes(title_text="same answer or sub-score as people")
    return chart
