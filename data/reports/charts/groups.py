"""Figures of groups of cases."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from data.reports.charts.forest import forest
from data.reports.groups import GROUP_FIGURES

_LONGEST = 40


def groups_chart(report: Mapping, figure: str = "accuracy") -> go.Figure:
    """A figure (a key of GROUP_FIGURES) of each group with its interval, and that of all cases as a line."""
    names = axis_names([row["name"] for row in report["groups"]], [_aside(row) for row in report["groups"]])
    rows = [{"name": name, **row[figure]} for name, row in zip(names, report["groups"], strict=True)]
    chart = forest(rows, report["overall"][figure]["value"], "all cases", share=figure != "kappa")
    chart.update_yaxes(type="category", automargin=True)
    chart.update_xaxes(title_text=GROUP_FIGURES[figure])
    return chart


def axis_names(names: Sequence[str], asides: Sequence[str]) -> list[str]:
    """Names for an axis with what stands beside them: short, each once, as text and never as markup."""
    found: list[str] = []
    for name, aside in zip(names, asides, strict=True):
        short = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
        shown = html.escape(f"{short} · {aside}", quote=False)
        while shown in found:
            shown += "\u200b"
        found.append(shown)
    return found


def _aside(row: Mapping) -> str:
    return f"n {row['n']}{', small' if row['small'] else ''}"
