"""Group by group: for which kind of case the judge is right."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from data.reports.charts.groups import groups_chart
from data.reports.groups import GROUP_FIGURES, GROUPINGS, groups_report
from pages.parts.agreement.view import Chosen, cached, columns, draw_chart
from pages.parts.choices import choose


def draw(chosen: Chosen) -> None:
    """A figure by groups of cases, with the line of all cases and what many looks are worth."""
    st.subheader("Group by group")
    grouped, compared = st.columns(2)
    with grouped:
        by = choose(
            "by", "Groups", {name: words.capitalize() for name, words in GROUPINGS.items()}, default="generator"
        )
    with compared:
        figure = choose("figure", "Figure", GROUP_FIGURES)
    report = cached(groups_report, chosen.basis, by)
    for words in report["words"]:
        st.text(words)
    if report["looks"]:
        title = f"{GROUP_FIGURES[figure]} by {GROUPINGS[by]}"
        draw_chart(f"groups-{by}-{figure}", groups_chart(report, figure), _table(report), title)


def _table(report: Mapping) -> pd.DataFrame:
    """All figures of all groups, the line of all cases last."""
    return pd.DataFrame(
        {
            "Group": row["name"], "Cases": row["n"], "Prompts": row["prompts"], "Small": row["small"],
            **{name: v for figure, words in GROUP_FIGURES.items() for name, v in columns(row[figure], words).items()},
            "Baseline": row["baseline"], "Baseline says": row["baseline_label"],
        }
        for row in [*report["groups"], report["overall"]]
    )  # fmt: skip
