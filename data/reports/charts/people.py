"""Reviewers against each other, and the judge against each of them."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from data.reports.charts.forest import forest
from data.reports.charts.groups import axis_names
from data.reports.charts.look import laid_out
from evaluators.agreement import SMALL

_MOST_TOLD = 10  # with more people the cells are too small for texts


def pairs_chart(report: Mapping, text_color: str) -> go.Figure:
    """The share of equal labels of every two reviewers as a heat map, with kappa and the number of common cases.

    text_color: of the page; plotly picks the colour of texts in cells as if the page were white.
    """
    people = sorted({name for pair in report["pairs"] for name in (pair["one"], pair["other"])})
    votes = {reviewer["name"]: reviewer["votes"] for reviewer in report["reviewers"]}
    names = axis_names(people, [f"n {votes[name]}" for name in people])
    place = {name: i for i, name in enumerate(people)}
    values = [[None] * len(people) for _ in people]
    cells = [
        [["the same person" if row == column else "no common case", "", ""] for column in people] for row in people
    ]
    for pair in report["pairs"]:
        if pair["n"]:
            for row, column in ((pair["one"], pair["other"]), (pair["other"], pair["one"])):
                values[place[row]][place[column]] = pair["agreement"]["value"]
                cells[place[row]][place[column]] = _cell(pair)
    is_told = len(people) <= _MOST_TOLD
    chart = go.Figure(
        go.Heatmap(
            z=values, x=names, y=names, customdata=cells, zmin=0.5, zmax=1, textfont=dict(size=12, color=text_color),
            texttemplate="%{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]}" if is_told else None,
            colorscale=[[0, "rgba(31,119,180,0.05)"], [1, "rgba(31,119,180,0.75)"]],
            colorbar=dict(title="agreement", tickformat=".0%"),
            hovertemplate="%{y} and %{x}: %{customdata[0]} %{customdata[1]} %{customdata[2]}<extra></extra>",
        )
    )  # fmt: skip
    chart.update_xaxes(type="category", automargin=True)
    chart.update_yaxes(type="category", autorange="reversed", automargin=True)
    return laid_out(chart, height=160 + max(34, 62 if is_told else 22) * len(people))


def reviewers_chart(report: Mapping, figure: str = "judge") -> go.Figure:
    """A share of each reviewer with its interval; figure: judge, others, adjudicated, bad or unsure."""
    names = axis_names(
        [reviewer["name"] for reviewer in report["reviewers"]],
        [
            f"n {reviewer[figure]['n']:.0f}{', small' if reviewer[figure]['n'] < SMALL else ''}"
            for reviewer in report["reviewers"]
        ],
    )
    rows = [{"name": name, **reviewer[figure]} for name, reviewer in zip(names, report["reviewers"], strict=True)]
    ceiling = report["ceiling"]
    line = ceiling["hh_agreement"] if figure == "judge" else None
    chart = forest(rows, line, "two people")
    chart.update_yaxes(type="category", automargin=True)
    return chart


def _cell(pair: Mapping) -> list[str]:
    """Agreement, kappa and the number of common cases, as texts."""
    kappa = pair["kappa"]["value"]
    return [
        f"{pair['agreement']['value']:.0%}",
        "κ undefined" if kappa is None else f"κ {kappa:.2f}",
        f"n {pair['n']}{', small' if pair['small'] else ''}",
    ]
