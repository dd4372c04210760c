"""What a section of report.html is, and how names and estimates stand in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from data.reports.words import number, percent
from data.store.agreement import Basis
from evaluators.agreement import REASON_WORDS, Estimate

#: The colour of texts in charts: the report is always light.
INK = "#1b2430"


@dataclass(frozen=True)
class Reported:
    """What is reported on: a run's row, the basis, and the report of its first figures."""

    run: Mapping
    basis: Basis
    report: Mapping


@dataclass(frozen=True)
class Table:
    """A table of texts and numbers; undefined is said in words."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True)
class Section:
    """A part of the report: sentences, then charts, each with what it shows in words, then tables."""

    words: Sequence[str] = ()
    charts: Sequence[tuple[go.Figure, str]] = ()
    tables: Sequence[Table] = ()


#: Makes a section; None leaves it out.
Maker = Callable[[Reported], Section | None]


def shown(estimate: Mapping, share: bool = True) -> str:
    """An estimate's dict in words: 84.3 % [79.1–88.5], or why there is none, with the worst cases if they are known."""
    found = Estimate(*(estimate[name] for name in ("value", "lo", "hi", "reason")))
    if found.value is None:
        worst = (
            "" if found.lo is None or not share else f"; at worst {100 * found.lo:.1f}, at best {100 * found.hi:.1f} %"
        )
        return f"undefined ({REASON_WORDS[found.reason]}{worst})"
    return percent(found) if share else number(found)


def with_plain_names(chart: go.Figure) -> go.Figure:
    """The chart with names from people and models as they are: plotly would read tags in them as markup."""
    for trace in chart.data:
        for place in ("x", "y", "text", "hovertext", "customdata", "name"):
            if place in trace and trace[place] is not None:
                trace[place] = _plain(trace[place])
    return chart


def _plain(value: object) -> object:
    if isinstance(value, str):
        return value.replace("<", "&lt;")
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else value
