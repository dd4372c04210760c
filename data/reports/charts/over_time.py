"""Agreement along the labels, a trace a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from data.reports.charts.look import BLUE, CLASS_COLORS, GREEN, GREY, ORANGE, laid_out

_OTHERS = (ORANGE, GREEN, "#8e5ea2", "#b5483a", GREY)
_BAND = "rgba(31,119,180,0.15)"


def agreement_over_time(report: Mapping) -> go.Figure:
    """The windows of each segment of an over_time_report: share and interval, and for the first one baseline and limits.

    A line joins windows of one run only. A window that is not full yet is drawn hollow, one that asks for a look ringed.
    """
    chart = go.Figure()
    segments = report["segments"]
    if segments:
        _draw_limits(chart, segments[0])
    for place, segment in enumerate(segments):
        _draw_segment(chart, segment, BLUE if place == 0 else _OTHERS[(place - 1) % len(_OTHERS)])
    chart.update_yaxes(range=[0, 1.05], tickformat=".0%", title="agreement with people")
    chart.update_xaxes(title="labels, in the order in which they were settled", rangemode="tozero")
    return laid_out(chart, height=400, legend=dict(orientation="h", y=1.15), margin=dict(l=0, r=10, t=30, b=50))


def rates_over_time(report: Mapping) -> go.Figure:
    """What people call badcase and what the judge flags, by window of the first segment: did the mix move?"""
    chart = go.Figure()
    windows = report["segments"][0]["windows"] if report["segments"] else []
    for name, words, color in (
        ("human_bad_rate", "people: badcase", CLASS_COLORS["badcase"]),
        ("judge_bad_rate", "judge: badcase", CLASS_COLORS["usable"]),
    ):
        chart.add_scatter(**_points(windows, name), mode="lines+markers", name=words, marker=dict(color=color, size=7))
    chart.update_yaxes(rangemode="tozero", tickformat=".0%", title="share of cases")
    chart.update_xaxes(title="labels, in the order in which they were settled", rangemode="tozero")
    return laid_out(chart, height=300, legend=dict(orientation="h", y=1.2), margin=dict(l=0, r=10, t=30, b=50))


def _draw_segment(chart: go.Figure, segment: Mapping, color: str) -> None:
    """A run's windows; connectgaps stays off."""
    windows = segment["windows"]
    if not windows:
        return
    chart.add_scatter(
        **_points(windows, "accuracy"), mode="lines+markers", name=f"run {segment['run']} · {escape(segment['judge'])}",
        line=dict(color=color, width=1),
        marker=dict(color=color, size=8, symbol=["circle" if w["is_full"] else "circle-open" for w in windows]),
    )  # fmt: skip
    alarms = [w for w in windows if w["is_alarm"]]
    if alarms:
        chart.add_scatter(
            x=[w["last"] for w in alarms], y=[w["accuracy"]["value"] for w in alarms], mode="markers", hoverinfo="skip",
            marker=dict(symbol="circle-open", size=18, color=color, line=dict(width=3)),
            name=f"run {segment['run']}: look at these",
        )  # fmt: skip


def _draw_limits(chart: go.Figure, segment: Mapping) -> None:
    """The baseline, the limits and the smoothed share of the segment that is watched."""
    watched = [w for w in segment["windows"] if w["ewma"] is not None]
    if segment["baseline"] is not None:
        chart.add_hline(y=segment["baseline"], line_dash="dot", line_color=GREY, annotation_text="baseline")
    if not watched:
        return
    at = [w["last"] for w in watched]
    edge = dict(x=at, mode="lines", line=dict(width=0), hoverinfo="skip")
    chart.add_scatter(y=[w["ewma_hi"] for w in watched], showlegend=False, **edge)
    chart.add_scatter(
        y=[w["ewma_lo"] for w in watched], fill="tonexty", fillcolor=_BAND, name="limits of the smoothed", **edge
    )
    chart.add_scatter(
        x=at, y=[w["ewma"] for w in watched], mode="lines", line=dict(color=BLUE, width=3), name="smoothed",
        hovertemplate="smoothed: %{y:.1%}<extra></extra>",
    )  # fmt: skip


def _points(windows: Sequence[Mapping], name: str) -> dict:
    """A share of each window with its whiskers at its last label; a window without it leaves a gap."""
    told = [window[name] for window in windows]
    return {
        "x": [window["last"] for window in windows],
        "y": [one["value"] for one in told],
        "error_y": dict(
            type="data", symmetric=False, thickness=1, width=3,
            array=[None if one["lo"] is None else one["hi"] - one["value"] for one in told],
            arrayminus=[None if one["lo"] is None else one["value"] - one["lo"] for one in told],
        ),
        "customdata": [[w["first"], w["last"], w["began"][:10], w["ended"][:10], w["n"]] for w in windows],
        "hovertemplate": (
            "labels %{customdata[0]}–%{customdata[1]} (%{customdata[2]} to %{customdata[3]}): "
            "%{y:.1%} of %{customdata[4]}<extra></extra>"
        ),
    }  # fmt: skip
