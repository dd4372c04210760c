"""A run's report as one page that needs nothing else: figures, charts, method, the most instructive disagreements.

The page makes no request: charts, pictures and styles are in it, and its own policy forbids any other source. All texts of
people and models are escaped.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path

import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.io import to_html
from plotly.offline import get_plotlyjs

from data.images import smaller_path
from data.reports.headline import agreement_report
from data.reports.instructive import instructive_disagreements
from data.reports.method_notes import method_notes
from data.reports.sections import made
from data.reports.sections.section import INK, Reported, with_plain_names
from data.store.agreement import BASES, Basis
from data.store.badcase_tags import tag_words
from data.store.cases import load_cases
from data.store.connection import now
from data.store.runs import run_by_id
from evaluators.agreement import WARNING_WORDS
from evaluators.case import Case, Part
from evaluators.errors import CaseUnfit
from evaluators.verdict import shown_score

#: Pixels: a chart is as wide on the screen as on paper (A4 with its margins).
CHART_WIDTH = 680
#: Signs of a text that are shown at most, and pictures of a case.
LONGEST, MOST_PICTURES = 1200, 6

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
    lstrip_blocks=True,
)  # fmt: skip


def report_html(
    run_id: int, basis_name: str = "blind", threshold: float | None = None, target: float | None = None,
    planned: int | None = None,
) -> str:  # fmt: skip
    """The report of a run on a basis, as HTML.

    threshold: another one than the run's own, to try it. target, planned: a claim to test, as in `agreement_report`. It shows
    the verdicts of `cases_shown`: whoever reads it labels none of these cases blind any more.
    """
    run = run_by_id(run_id)
    report = agreement_report(run_id, basis_name, threshold, target, planned)
    basis = Basis(run_id, report["threshold"], basis_name)
    sections = made(Reported(run, basis, report))
    charts = [chart for _title, section in sections for chart, _alt in section.charts]
    drawn = iter([_fragment(chart, place) for place, chart in enumerate(charts, 1)])
    laid_out = [(title, section, [(next(drawn), alt) for _chart, alt in section.charts]) for title, section in sections]
    return _TEMPLATES.get_template("report.html.j2").render(
        run=run,
        report=report,
        basis_words=BASES[basis_name],
        threshold=None if basis.threshold is None else shown_score(basis.threshold),
        is_tried=basis.threshold != run["threshold"],
        made_on=now()[:10],
        warnings=[WARNING_WORDS[code] for code in report["warnings"]],
        sections=laid_out,
        notes=method_notes(basis, report),
        cases=_cases(basis),
        plotly=Markup(get_plotlyjs()) if charts else None,
        cell=_cell,
        is_number=lambda value: isinstance(value, int | float),
    )


def cases_shown(run_id: int, basis_name: str = "blind", threshold: float | None = None) -> list[int]:
    """The ids of the cases whose verdicts that report shows."""
    at = run_by_id(run_id)["threshold"] if threshold is None else threshold
    return [case["case_id"] for case in instructive_disagreements(Basis(run_id, at, basis_name))]


def _fragment(chart: go.Figure, place: int) -> Markup:
    """A chart as HTML that draws itself once plotly.js is on the page."""
    font = dict(family="system-ui, sans-serif", color=INK)
    with_plain_names(chart).update_layout(width=CHART_WIDTH, template="plotly_white", paper_bgcolor="white", font=font)
    apart = dict(include_plotlyjs=False, include_mathjax=False, full_html=False, div_id=f"chart-{place}")
    return Markup(to_html(chart, config={"displayModeBar": False, "responsive": False}, **apart))


def _cell(value: object) -> str:
    """A cell of a table as a text."""
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _cases(basis: Basis) -> list[dict]:
    """The most instructive disagreements as the page shows them."""
    found = instructive_disagreements(basis)
    whole = load_cases([one["case_id"] for one in found])
    return [_case(one, whole[one["case_id"]], basis.threshold) for one in found]


def _case(found: Mapping, case: Case, threshold: float | None) -> dict:
    words = tag_words()
    return {
        "id": case.id,
        "prompt": _short(case.prompt),
        "generator": case.generator,
        "judge": f"{found['judge']}, score {shown_score(found['score'], threshold)}",
        "people": f"{found['gold']} ({found['bad']} badcase, {found['usable']} usable"
        + (", decided by the lead)" if found["adjudicated"] else ")"),
        "reason": _short(found["reason"]),
        "said": [
            {"label": said["label"], "tags": ", ".join(words.get(tag, tag) for tag in said["tags"]),
             "comment": _short(said["comment"])}
            for said in found["said"] if said["comment"] or said["tags"]
        ],
        "inputs": [_picture(part) for part in case.input_images[:MOST_PICTURES]],
        "outputs": [_picture(part) for part in case.output[:MOST_PICTURES]],
    }  # fmt: skip


def _picture(part: Part) -> dict:
    """A part to show: the address of a small JPEG in itself (`source`), else a text, or why there is no picture."""
    if part.kind == "text":
        return {"source": None, "text": _short(part.text)}
    if part.path is None:
        return {"source": None, "text": part.problem or "there is no picture"}
    try:
        path = smaller_path(part.sha256, part.path.suffix.removeprefix("."), "thumb")
    except CaseUnfit as error:
        return {"source": None, "text": str(error)}
    return {"source": f"data:image/jpeg;base64,{base64.b64encode(path.read_bytes()).decode()}"}


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
