"""Runs beside each other: differences on the same cases, and every version with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import plotly.graph_objects as go

from data.reports.charts.forest import forest

#: The differences of a comparison in words.
DIFFERENCES = {"difference": "agreement", "recall_bad": "badcases found", "specificity": "usable cases passed"}


def differences(report: Mapping) -> go.Figure:
    """The differences of a comparison_report with their intervals: right of the line the run is better than the first one."""
    rows = [
        {"name": f"run {row['run']}: {words}", **row[name]}
        for row in report["comparisons"]
        for name, words in DIFFERENCES.items()
    ]
    reference = report["runs"][0]["id"] if report["runs"] else ""
    chart = forest(rows, 0.0, f"run {reference}")
    limits = [limit for row in rows if row["lo"] is not None for limit in (row["lo"], row["hi"])]
    reach = max([0.05, *map(abs, limits)]) * 1.1
    chart.update_xaxes(
        range=[-reach, reach], tickformat="+.0%" if reach > 0.1 else "+.1%", title="difference in share of cases"
    )
    return chart.update_traces(hovertemplate="%{y}: %{x:+.1%}<extra></extra>").update_layout(margin=dict(b=50))


def versions(report: Mapping) -> go.Figure:
    """The agreement of each run of a versions_report with its interval, oldest on top; no line joins them."""
    rows = [{"name": version_name(version), **version["accuracy"]} for version in report["versions"]]
    return forest(rows)


def version_name(version: Mapping) -> str:
    """A run in the few words of an axis; a judge's name is text, not markup."""
    return f"run {version['run']} · {escape(version['judge'])} · {version['created'][:10]} (n = {version['n']})"
