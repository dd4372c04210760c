"""What one row of a file says, given the mapping: of the case, of judges' verdicts, of people's labels."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from data.exchange.columns import split_list
from data.exchange.mapping import CASE, DECISION, FIELDS, LABEL, Choices, split_field
from data.exchange.mapping import Mapping as ColumnMapping
from data.exchange.synonyms import label_from
from data.store.bulk import clean

_FRACTION = re.compile(r"([-+]?\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)")
#: Fields that a verdict, a label and a decision in a row have in common.
_SHARED = ("criterion", "revision", "current_revision")
_NONE: dict[str, str] = {}
#: Fields of which there can be several columns, or several values in a cell.
_LISTS = frozenset({"item:", "items", "rating:", "human_item:", "human_tags"})
_STATUSES = frozenset({"ok", "unreadable", "refused", "failed", "skipped"})


class RowWrong(ValueError):  # noqa: N818 - it names what the row is
    """A cell that cannot be taken; field and text say what is wrong with it."""

    def __init__(self, column: str, told: str):
        super().__init__(told)
        self.column = column


class SaidItem(NamedTuple):
    """One piece of a verdict: a number, or an answer with what was expected where that is known."""

    key: str
    value: float | None = None
    answer: str | None = None
    expected: str | None = None
    text: str = ""


class SaidVerdict(NamedTuple):
    """A verdict as the file has it; the score on the file's own scale."""

    judge: str
    run: str
    metric: str
    aspect: str
    score: float | None
    label: str | None
    reason: str
    items: tuple[SaidItem, ...]
    status: str
    problem: str
    threshold: str | None
    created: str
    shared: Mapping[str, str]


class SaidLabel(NamedTuple):
    """A label as the file has it. facts: the cells of the other fields of a label, by field."""

    reviewer: str
    label: str | None
    ratings: tuple[tuple[str, float], ...]
    facts: Mapping[str, str]
    items: tuple[SaidItem, ...]


class Rows:
    """Reads rows of one table by its mapping. Columns are sorted out once, so that a row is quick."""

    def __init__(self, mapping: ColumnMapping, choices: Choices, file: str):
        self.choices, self.file = choices, clean(file)
        self.case_columns: list[tuple[str, str]] = []
        self.tags: list[str] = []
        self._verdicts: dict[str, dict[str, list[tuple[str, str]]]] = {}  # judge -> field -> (key, column)
        self._labels: dict[str, dict[str, list[tuple[str, str]]]] = {}
        self._decision: dict[str, str] = {}
        self._shared: dict[str, str] = {}
        for column, target in mapping.fields.items():
            found, key, name = split_field(clean(target))
            kind = FIELDS[found][0]
            if found in _SHARED:
                self._shared[found] = column
            elif found == "tags":
                self.tags.append(column)
            elif kind == CASE:
                self.case_columns.append((found, column))
            elif kind == DECISION:
                self._decision[found] = column
            else:
                groups = self._labels if kind == LABEL else self._verdicts
                groups.setdefault(name, {}).setdefault(found, []).append((key, column))
        for groups in (self._verdicts, self._labels):  # what has no name belongs to each, or stands alone
            shared = groups.pop("", None)
            if shared and not groups:
                groups[""] = shared
            for own in groups.values():
                for found, columns in (shared or {}).items():
                    own.setdefault(found, columns)
        self.gives_verdicts, self.gives_labels = bool(self._verdicts), bool(self._labels)
        self.is_long = any("judge" in own or "run" in own or "aspect" in own for own in self._verdicts.values()) or any(
            "reviewer" in own for own in self._labels.values()
        )

    def case_cells(self, row: Mapping[str, str]) -> dict[str, str]:
        """The cells of the case, by field."""
        cells = {found: row.get(column, "").strip() for found, column in self.case_columns}
        if self.tags:
            told = [row.get(column, "") for column in self.tags]
            cells["tags"] = told[0] if len(told) == 1 else json.dumps([t for one in told for t in split_list(one)])
        return cells

    def verdicts(self, row: Mapping[str, str]) -> list[SaidVerdict | RowWrong]:
        """What each judge says in the row; what cannot be taken of it is an error in its place."""
        return _each(self._verdict, row, self._verdicts)

    def labels(self, row: Mapping[str, str]) -> list[SaidLabel | RowWrong]:
        """What each person says in the row, as `verdicts`."""
        return _each(self._label, row, self._labels)

    def decision(self, row: Mapping[str, str]) -> dict[str, str] | None:
        """The lead's decision: adjudicated (usable or badcase), and who, when, why; None if there is none.

        :raises RowWrong: if it is neither usable nor badcase.
        """
        said = {found: row.get(column, "").strip() for found, column in self._decision.items()}
        if not said.get("adjudicated"):
            return None
        said |= self._common(row)
        label = label_from(said["adjudicated"])
        if label not in ("usable", "badcase"):
            raise RowWrong(
                self._decision["adjudicated"], f"{_short(said['adjudicated'])} is neither usable nor badcase"
            )
        return said | {"adjudicated": label}

    def _common(self, row: Mapping[str, str]) -> dict[str, str]:
        return (
            _NONE
            if not self._shared
            else {found: row.get(column, "").strip() for found, column in self._shared.items()}
        )

    def _verdict(self, row: Mapping[str, str], name: str, own: Mapping) -> SaidVerdict | None:
        cells = {found: row.get(columns[0][1], "").strip() for found, columns in own.items() if found not in _LISTS}
        cell = cells.get
        score, label, problem, told = None, self._judge_label(cells, own), cell("problem", ""), cell("score")
        if told:
            score = number(told)
            if score is None and (as_label := label_from(told)) and as_label != "unsure":
                label = label or as_label
            elif score is None:
                problem = problem or f"the file has {_short(told)} for a score"
        items = self._items(row, own)
        status = cell("status", "").lower()
        status = status if status in _STATUSES else ""
        if score is None and label is None and not items and not problem and status in ("", "ok"):
            return None
        return SaidVerdict(
            name or cell("judge") or self.choices.judge or self.file, cell("run", ""),
            cell("metric") or self.choices.metric, cell("aspect", ""), score, label, cell("reason", ""), items, status, problem,
            cell("threshold"), cell("judged", ""), self._common(row),
        )  # fmt: skip

    def _judge_label(self, cells: Mapping[str, str], own: Mapping) -> str | None:
        if told := cells.get("judge_label"):
            label = label_from(told)
            if label is None:
                raise RowWrong(own["judge_label"][0][1], f"{_short(told)} is neither usable nor badcase")
            return None if label == "unsure" else label
        told = cells.get("judge_bad")
        return _turned(told, own["judge_bad"][0][1]) if told else None

    def _label(self, row: Mapping[str, str], name: str, own: Mapping) -> SaidLabel | None:
        facts = {found: row.get(columns[0][1], "").strip() for found, columns in own.items() if found not in _LISTS}
        told, bad, label, ratings = facts.pop("human_label", ""), facts.pop("human_bad", ""), None, []
        if told:
            label = label_from(told)
            if label is None:
                raise RowWrong(own["human_label"][0][1], f"{_short(told)} is neither usable, badcase nor unsure")
        elif bad:
            label = _turned(bad, own["human_bad"][0][1])
        for key, column in own.get("rating:", ()):
            if told := row.get(column, "").strip():
                value = number(told)
                if value is None:
                    raise RowWrong(column, f"{_short(told)} is not a number")
                ratings.append((key, value))
        if label is None and not ratings and (told := facts.get("human_score")):
            value = number(told)
            if value is None:
                raise RowWrong(own["human_score"][0][1], f"{_short(told)} is not a number")
            ratings.append(("score", value))
        if label is None and not ratings and not facts.get("undoes"):
            return None
        if "human_tags" in own:
            facts["human_tags"] = json.dumps([t for _k, c in own["human_tags"] for t in split_list(row.get(c, ""))])
        if self._shared:
            facts |= self._common(row)
        items = self._items(row, own, "human_item:") if "human_item:" in own else ()
        reviewer = name or facts.get("reviewer") or self.choices.reviewer or f"labels of {self.file}"[:80]
        return SaidLabel(reviewer, label, tuple(ratings), facts, items)

    @staticmethod
    def _items(row: Mapping[str, str], own: Mapping, wanted: str = "item:") -> tuple[SaidItem, ...]:
        items = []
        for key, column in own.get(wanted, ()):
            if told := row.get(column, "").strip():
                value = number(told)
                items.append(SaidItem(key, value, told if value is None else None))
        for _key, column in own.get("items", ()) if wanted == "item:" else ():
            items += listed_items(row.get(column, "").strip(), column)
        return tuple(items)


def _each(read: Callable, row: Mapping[str, str], groups: Mapping[str, Mapping]) -> list:
    said = []
    for name, own in groups.items():
        try:
            found = read(row, name, own)
        except RowWrong as error:
            found = error
        if found is not None:
            said.append(found)
    return said


def listed_items(cell: str, column: str) -> Iterable[SaidItem]:
    """The items in one cell: a JSON list of numbers (keys 1, 2, …), of objects, or an object of key -> value.

    :raises RowWrong: if it is none of them.
    """
    if not cell:
        return []
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        raise RowWrong(column, f"{_short(cell)} is neither a JSON list nor a JSON object") from None
    pairs = found.items() if isinstance(found, dict) else enumerate(found, 1) if isinstance(found, list) else ()
    return [_item(str(key), value) for key, value in pairs]


def _item(key: str, value: object) -> SaidItem:
    if isinstance(value, dict):
        told = {name.lower(): v for name, v in value.items()}
        key = str(told.get("key") or told.get("name") or told.get("question") or key)
        expected = told.get("expected")
        value = next((told[name] for name in ("value", "score", "answer", "verdict") if name in told), None)
        question = str(told["question"]) if "question" in told else ""
        return _item(key, value)._replace(expected=str(expected) if expected else None, text=question)
    if isinstance(value, bool):
        return SaidItem(key[:300], answer="yes" if value else "no")
    if isinstance(value, int | float):
        return SaidItem(key[:300], float(value))
    return SaidItem(key[:300], answer=None if value is None else str(value)[:300])


def number(cell: str) -> float | None:
    """A number as cells have it: 0.5, 85%, 7/10, 0,5; None for anything else.

    >>> number("0.5"), number("85%"), number("7/10"), number("0,5"), number("n/a"), number("inf")
    (0.5, 0.85, 0.7, 0.5, None, None)
    """
    try:
        value = float(cell)
    except ValueError:
        if cell.endswith(("%", "％")):
            value = number(cell[:-1].strip())
            return None if value is None else value / 100
        if found := _FRACTION.fullmatch(cell):
            return float(found[1]) / float(found[2]) if float(found[2]) else None
        if re.fullmatch(r"[-+]?\d+,\d+", cell):
            return float(cell.replace(",", "."))
        return None
    return value if abs(value) < 1e12 else None


def check_revision(shared: Mapping[str, str]) -> None:
    """What is said of an earlier revision of a case is about pictures or texts that the file does not hold.

    :raises RowWrong: if it is.
    """
    about, current = shared.get("revision"), shared.get("current_revision")
    if about and current and about != current:
        raise RowWrong("revision", f"it is about revision {about[:20]} of the case, which is at {current[:20]} now")


def shared_label(ratings: Sequence[tuple[str, float]], scale: float, usable_from: float) -> str:
    """The label that ratings come to: usable if each is at least that share of the scale."""
    return "usable" if all(value >= usable_from * scale for _key, value in ratings) else "badcase"


def _turned(cell: str, column: str) -> str | None:
    """The label of a cell that says whether something is a badcase."""
    label = label_from(cell)
    if label is None:
        raise RowWrong(column, f"{_short(cell)} says neither yes nor no")
    if cell.strip().casefold() in ("badcase", "bad", "usable", "good"):
        return label
    return {"usable": "badcase", "badcase": "usable"}.get(label)


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 60 else cell[:59] + "…")
