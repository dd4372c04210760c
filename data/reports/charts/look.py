"""Colours and measures that all charts share."""

from __future__ import annotations

import plotly.graph_objects as go

BLUE, ORANGE, GREEN, GREY = "#1f77b4", "#d9822b", "#3a923a", "#8a94a3"
#: What a class is drawn in, wherever both are seen together.
CLASS_COLORS = {"badcase": ORANGE, "usable": BLUE}
WHISKERS = dict(thickness=2, width=6)


def laid_out(chart: go.Figure, height: int, **layout) -> go.Figure:
    """The chart with the margins of all charts."""
    chart.update_layout(height=height, **{"margin": dict(l=0, r=10, t=30, b=30), **layout})
    return chart
