"""What the views of the Agreement page share: what is looked at, and how a chart stands there with its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from data.exchange.export import frame_csv
from data.store.agreement import Basis
from data.store.changes import state
from data.store.connection import data_revision
from evaluators.agreement import REASON_WORDS

_NO_TOOLBAR = {"displayModeBar": False}  # it lies over titles and legends


@dataclass(frozen=True)
class Chosen:
    """What is looked at: rows of the dataset, the run and the reviewer who looks; the basis with its threshold."""

    dataset: dict
    run: dict
    basis: Basis
    reviewer: dict


def cached(report: Callable[..., dict], *arguments: object, **named: object) -> dict:
    """A report as `report(*arguments, **named)` gives it, computed anew only when the workspace has changed since."""
    return _kept(f"{report.__module__}.{report.__name__}", arguments, named, state(), report)


@st.cache_data(max_entries=64, show_spinner=False)
def _kept(name: str, arguments: tuple, named: dict, workspace: tuple, _report: Callable[..., dict]) -> dict:
    return _report(*arguments, **named)


def draw_chart(name: str, chart: go.Figure, table: pd.DataFrame, alt: str) -> None:
    """A chart, the table behind it, and that table as a file. name: unlike any other on the page."""
    st.plotly_chart(chart, config=_NO_TOOLBAR, key=name, alt=alt)
    draw_table(name, table)


def draw_table(name: str, table: pd.DataFrame, title: str = "The table behind", expanded: bool = False) -> None:
    """A table to look into, with a download."""
    with st.expander(title, expanded=expanded):
        st.dataframe(table, hide_index=True, key=f"table-{name}")
        st.download_button(
            "Download as CSV", data=lambda: frame_csv(table), file_name=f"{name}-r{data_revision()}.csv", mime="text/csv",
            key=f"download-{name}", on_click="ignore", icon=":material/download:",
        )  # fmt: skip


def text_color() -> str:
    """The colour of texts on this page, for texts in a chart's cells."""
    return "#e8ecf2" if st.context.theme.type == "dark" else "#1b2430"


def shown_share(estimate: dict) -> str:
    """84.3 %, or undefined."""
    return "undefined" if estimate["value"] is None else f"{100 * estimate['value']:.1f} %"


def shown_interval(estimate: dict, times: float = 100, digits: int = 1) -> str:
    """79.1–88.5 of a share (times 1: of another figure), or why there is none."""
    if estimate["value"] is None:
        return REASON_WORDS[estimate["reason"]]
    if estimate["lo"] is None:
        return f"no interval: {REASON_WORDS[estimate['reason']]}"
    return f"{times * estimate['lo']:.{digits}f}–{times * estimate['hi']:.{digits}f}"


def limits(estimate: Mapping, words: str) -> dict:
    """The columns of an estimate in a table: its value under these words, and both ends of its interval."""
    return {words: estimate["value"], f"{words}: from": estimate["lo"], f"{words}: to": estimate["hi"]}


def columns(estimate: Mapping, words: str = "Value") -> dict:
    """The same with the cases that it rests on, and why it is undefined if it is."""
    remark = REASON_WORDS.get(estimate["reason"], "")
    return {**limits(estimate, words), f"{words}: over": estimate["n"], f"{words}: remark": remark}
