"""Usable rates of generators, and the places that they may have."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from data.reports.charts.groups import axis_names
from data.reports.charts.look import BLUE, GREY, ORANGE, WHISKERS, laid_out

_LINE = 46  # pixels of a generator


def usable_rates(report: Mapping) -> go.Figure:
    """The true usable rate of each generator with its interval, the judge's own rate and that of labels alone beside it."""
    chart = go.Figure()
    rows, names = report["generators"], _names(report)
    _add(chart, rows, names, "usable_rate", "true rate, from the judge and people", BLUE, "circle", 11, 0.0)
    _add(chart, rows, names, "labels_only", "from people's random labels alone", ORANGE, "square", 7, 0.22)
    _add(chart, rows, names, "judge_rate", "the judge's own, not the true one", GREY, "diamond", 7, -0.22)
    worst = [(y, row["usable_rate"]) for y, row in enumerate(rows) if row["usable_rate"]["method"] == "worst cases"]
    if worst:
        chart.add_scatter(
            x=[x for _y, rate in worst for x in (rate["lo"], rate["hi"], None)],
            y=[at for y, _rate in worst for at in (y, y, None)],
            mode="lines", line=dict(color=BLUE, width=2, dash="dot"), name="worst cases: some labels are missing",
            hovertemplate="%{x:.1%}<extra></extra>",
        )  # fmt: skip
    chart.update_xaxes(range=[-0.02, 1.03], tickformat=".0%")
    _lines(chart, names)
    return laid_out(chart, 130 + _LINE * len(rows), margin=dict(l=0, r=10, t=70, b=30),
                    legend=dict(orientation="h", y=1.0, yanchor="bottom", x=0))  # fmt: skip


def rank_ranges(report: Mapping) -> go.Figure:
    """The places that each generator may have, 1 the highest true rate."""
    rows, names = report["generators"], _names(report)
    chart = go.Figure()
    for y, row in enumerate(rows):
        best, worst = row["rank"]["best"], row["rank"]["worst"]
        chart.add_scatter(
            x=[best, worst], y=[y, y], mode="lines+markers", line=dict(color=BLUE, width=6), marker=dict(size=10),
            hovertemplate=f"place {best}" + (f" to {worst}" if worst > best else "") + "<extra></extra>",
        )  # fmt: skip
    chart.update_xaxes(
        range=[0.7, len(rows) + 0.3],
        dtick=1 if len(rows) <= 20 else 5,
        tick0=0,
        title_text="place, 1 is the highest rate",
    )
    _lines(chart, names)
    return laid_out(chart, 100 + 34 * len(rows), showlegend=False)


def _add(
    chart: go.Figure, rows: list, names: list[str], rate: str, words: str, color: str, symbol: str, size: int, shift: float
) -> None:  # fmt: skip
    """One kind of rate of all generators; those without a value are left out."""
    drawn = [(y, name, row[rate]) for y, (name, row) in enumerate(zip(names, rows, strict=True))
             if row[rate]["value"] is not None]  # fmt: skip
    below = [value["value"] - (value["value"] if value["lo"] is None else value["lo"]) for _y, _name, value in drawn]
    above = [(value["value"] if value["hi"] is None else value["hi"]) - value["value"] for _y, _name, value in drawn]
    chart.add_scatter(
        x=[value["value"] for _y, _name, value in drawn], y=[y + shift for y, _name, _value in drawn], mode="markers",
        marker=dict(color=color, symbol=symbol, size=size), name=words, customdata=[name for _y, name, _value in drawn],
        error_x=dict(type="data", symmetric=False, array=above, arrayminus=below, **WHISKERS),
        hovertemplate="%{customdata}: %{x:.1%}<extra>" + words + "</extra>",
    )  # fmt: skip


def _names(report: Mapping) -> list[str]:
    rows = report["generators"]
    return axis_names(
        [row["name"] for row in rows],
        [f"{row['labelled']} of {row['cases']} labelled{', small' if row['small'] else ''}" for row in rows],
    )


def _lines(chart: go.Figure, names: list[str]) -> None:
    """A line for each generator, the first on top."""
    chart.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=names,
        range=[len(names) - 0.5, -0.5],
        automargin=True,
        zeroline=False,
    )
