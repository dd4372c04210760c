"""Scores in pictures: what every threshold finds, how scores lie by label, the judge's beside people's."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from data.reports.charts.look import BLUE, CLASS_COLORS, GREEN, GREY, ORANGE, laid_out

_MARK = dict(size=13, color=ORANGE, symbol="diamond")
_LEGEND = dict(orientation="h", y=1.12)


def roc(report: Mapping) -> go.Figure:
    """The share of badcases found against the share of usable cases flagged, over all thresholds of a scores report."""
    points = [p for p in report["points"] if p["recall_bad"] is not None and p["specificity"] is not None]
    chart = _curve([1 - p["specificity"] for p in points], [p["recall_bad"] for p in points], points)
    chart.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line=dict(color=GREY, dash="dot"), name="chance", hoverinfo="skip"
    )
    now = report["current"]
    if now and None not in (now["recall_bad"], now["specificity"]):
        _mark(chart, 1 - now["specificity"], now["recall_bad"], report["threshold"])
    return _square(chart, "usable cases flagged", "badcases found")


def precision_recall(report: Mapping) -> go.Figure:
    """The share of flags that are right against the share of badcases found, over all thresholds of a scores report."""
    points = [p for p in report["points"] if p["recall_bad"] is not None and p["precision_bad"] is not None]
    chart = _curve([p["recall_bad"] for p in points], [p["precision_bad"] for p in points], points)
    base = report["bad_rate"]["value"]
    if base is not None:
        chart.add_scatter(x=[0, 1], y=[base, base], mode="lines", line=dict(color=GREY, dash="dot"), name="flags at random",
                          hoverinfo="skip")  # fmt: skip
    now = report["current"]
    if now and None not in (now["recall_bad"], now["precision_bad"]):
        _mark(chart, now["recall_bad"], now["precision_bad"], report["threshold"])
    return _square(chart, "badcases found", "flags that are right")


def sweep(report: Mapping) -> go.Figure:
    """Four shares by threshold; the present one as a line."""
    points = [p for p in report["points"] if p["threshold"] is not None]
    chart = go.Figure()
    names = {"recall_bad": "badcases found", "specificity": "usable cases passed", "precision_bad": "flags that are right",
             "accuracy": "agreement with people"}  # fmt: skip
    colors = (CLASS_COLORS["badcase"], CLASS_COLORS["usable"], GREY, GREEN)
    for (share, name), color in zip(names.items(), colors, strict=True):
        chart.add_scatter(x=[p["threshold"] for p in points], y=[p[share] for p in points], name=name,
                          mode="lines+markers" if len(points) < 30 else "lines", line=dict(color=color),
                          hovertemplate="from %{x:.3g}: %{y:.1%}<extra>" + name + "</extra>")  # fmt: skip
    if report["threshold"] is not None:
        chart.add_vline(x=report["threshold"], line_dash="dash", line_color=ORANGE, annotation_text="now")
    chart.update_xaxes(title_text="usable from score", range=[-0.02, 1.02])
    chart.update_yaxes(range=[0, 1.03], tickformat=".0%")
    return laid_out(chart, height=330, legend=_LEGEND)


def distribution(report: Mapping) -> go.Figure:
    """How many cases of each label lie in each band of score; the present threshold as a line."""
    bands = report["distribution"]
    chart = go.Figure()
    for label, color in CLASS_COLORS.items():
        chart.add_bar(
            x=[(band["lo"] + band["hi"]) / 2 for band in bands], y=[band[label] for band in bands], name=f"people: {label}",
            marker_color=color, customdata=[f"{band['lo']:g}–{band['hi']:g}" for band in bands],
            hovertemplate="score %{customdata}: %{y} cases<extra>" + label + "</extra>",
        )  # fmt: skip
    if report["threshold"] is not None:
        chart.add_vline(x=report["threshold"], line_dash="dash", line_color=GREY, annotation_text="now")
    chart.update_xaxes(title_text="score", range=[0, 1])
    chart.update_yaxes(title_text="cases")
    return laid_out(chart, height=300, barmode="group", legend=_LEGEND)


def judge_and_people(score: Mapping) -> go.Figure:
    """A bubble for each pair of scores (an entry of a human scores report), as large in area as it has cases."""
    cells, end = score["cells"], score["largest"]
    most = max((cell["n"] for cell in cells), default=1)
    chart = go.Figure()
    chart.add_scatter(x=[0, end], y=[0, end], mode="lines", line=dict(color=GREY, dash="dot"), hoverinfo="skip")
    chart.add_scatter(
        x=[cell["human"] for cell in cells], y=[cell["judge"] for cell in cells], mode="markers",
        marker=dict(size=[cell["n"] for cell in cells], sizemode="area", sizeref=2 * most / 34**2, sizemin=4, color=BLUE,
                    opacity=0.65),
        customdata=[cell["n"] for cell in cells],
        hovertemplate="people %{x:.3g}, judge %{y:.3g}: %{customdata} cases<extra></extra>",
    )  # fmt: skip
    chart.update_xaxes(title_text="people", range=[-0.06 * end, 1.06 * end])
    chart.update_yaxes(title_text="judge", range=[-0.06 * end, 1.06 * end])
    return laid_out(chart, height=380, showlegend=False)


def _curve(x: list[float], y: list[float], points: list[Mapping]) -> go.Figure:
    at = [p["does"] or f"usable from {p['threshold']:.3g}" for p in points]
    chart = go.Figure()
    chart.add_scatter(x=x, y=y, mode="lines+markers" if len(x) < 30 else "lines", line=dict(color=BLUE), name="thresholds",
                      customdata=at, hovertemplate="%{customdata}: %{x:.1%}, %{y:.1%}<extra></extra>")  # fmt: skip
    return chart


def _mark(chart: go.Figure, x: float, y: float, threshold: float) -> None:
    chart.add_scatter(x=[x], y=[y], mode="markers", marker=_MARK, name=f"now: {threshold:g}",
                      hovertemplate="now: %{x:.1%}, %{y:.1%}<extra></extra>")  # fmt: skip


def _square(chart: go.Figure, x: str, y: str) -> go.Figure:
    chart.update_xaxes(title_text=x, range=[-0.02, 1.02], tickformat=".0%")
    chart.update_yaxes(title_text=y, range=[-0.02, 1.04], tickformat=".0%")
    return laid_out(chart, height=380, legend=_LEGEND)
