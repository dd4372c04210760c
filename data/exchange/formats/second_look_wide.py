"""Second Look's own wide table `everything`: one row a case, `JUDGE METRIC (run N).FIELD` and `NAME (CRITERION).FIELD`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from data.exchange.columns import CASE_COLUMNS
from data.exchange.formats.rewriting import rewritten
from data.exchange.mapping import Choices
from data.exchange.proposing import Proposal
from data.exchange.reading import Table
from evaluators.metrics import CRITERIA

_RUN = re.compile(r"(?P<judge>.+) (?P<metric>\S+) \(run (?P<run>\d+)\)\.(?P<field>item:.+|[a-z_]+)")
_PERSON = re.compile(rf"(?P<who>.+) \((?P<criterion>{'|'.join(CRITERIA)})\)\.(?P<field>item:.+|[a-z_]+)")
_GOLD = re.compile(
    r"(?P<field>adjudicated|adjudicated_by|adjudicated_at|adjudication_reason) "
    rf"\((?P<criterion>{'|'.join(CRITERIA)})\)"
)
_FIELDS = {
    **{column: column for column in (*CASE_COLUMNS, "split")},
    "judge": "judge", "metric": "metric", "run": "run", "status": "status", "score": "score", "threshold": "threshold",
    "reason": "reason", "problem": "problem", "created": "judged", "items": "items",
    "reviewer": "reviewer", "criterion": "criterion", "human_label": "human_label", "blind": "blind", "time": "labelled",
    "pi": "pi", "basis": "basis", "human_tags": "human_tags", "comment": "comment",
    "adjudicated": "adjudicated", "adjudicated_by": "adjudicated_by", "adjudicated_at": "adjudicated_at",
    "adjudication_reason": "adjudication_reason",
}  # fmt: skip


def recognise(table: Table) -> Proposal | None:
    """A proposal for that table: a row for each run, each person's label, and each decision of a case."""
    runs, people, decisions = _grouped(table, _RUN), _grouped(table, _PERSON), _grouped(table, _GOLD)
    if "case_id" not in table.columns or not (runs or people):
        return None

    def rewrite(row: Mapping[str, str]) -> Iterator[dict[str, str]]:
        case = {column: row.get(column, "") for column in (*CASE_COLUMNS, "split")}
        yield case
        alone = {"case_id": case["case_id"]}
        for (judge, metric, run), columns in runs.items():
            said = {field: row.get(column, "") for field, column in columns.items()}
            if said.get("status"):
                wanted = ("status", "score", "threshold", "reason", "problem", "created")
                facts = {name: said.get(name, "") for name in wanted} | {"items": _items(said)}
                yield alone | facts | {"judge": judge, "metric": metric, "run": run}
        for (who, criterion), columns in people.items():
            yield from _labels({field: row.get(column, "") for field, column in columns.items()}, alone, who, criterion)
        for (criterion,), columns in decisions.items():
            said = {field: row.get(column, "") for field, column in columns.items()}
            if said.get("adjudicated"):
                yield alone | said | {"criterion": criterion}

    return rewritten(table, "Second Look's table of everything", _FIELDS, rewrite, Choices(scale=1.0))


def _labels(said: Mapping[str, str], alone: Mapping[str, str], who: str, criterion: str) -> Iterator[dict[str, str]]:
    """The first label, and the current one where it is another."""
    person = {**alone, "reviewer": who, "criterion": criterion}
    first = {f: said.get(f"first_{f}", "") for f in ("label", "blind", "time", "pi", "basis")}
    now = {f: said.get(f, "") for f in ("label", "blind", "time", "pi", "basis")}
    remarks = {"human_tags": said.get("tags", ""), "comment": said.get("comment", "")}
    if first["label"] and first != now:
        yield person | _told(first)
    if now["label"]:
        yield person | _told(now) | remarks


def _told(label: Mapping[str, str]) -> dict[str, str]:
    return {"human_label": label["label"], **{f: label[f] for f in ("blind", "time", "pi", "basis")}}


def _items(said: Mapping[str, str]) -> str:
    items = [
        {"key": f.removeprefix("item:"), "value": _number(v)} for f, v in said.items() if f.startswith("item:") and v
    ]
    return json.dumps(items, ensure_ascii=False) if items else ""


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def _grouped(table: Table, pattern: re.Pattern) -> dict[tuple[str, ...], dict[str, str]]:
    """Columns by whom they are of: the parts of the name before the field -> field -> column."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for column in table.columns:
        if match := pattern.fullmatch(column):
            facts = match.groupdict()
            field = facts.pop("field")
            found.setdefault(tuple(facts.values()), {})[field] = column
    return found
