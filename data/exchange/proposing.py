"""What the columns of a file probably are: a known format, a kept mapping, else by names and cells."""

from __future__ import annotations

import re
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from data.exchange.columns import CASE_COLUMNS, split_list
from data.exchange.mapping import FIELDS, KEPT_CHOICES, Choices, Mapping
from data.exchange.reading import EmbeddedPictures, Table
from data.exchange.saying import number
from data.exchange.synonyms import field_named, label_from, of_somebody, plain_name
from data.images import MEDIA_TYPES
from data.store import mappings as mapping_store

_ENDINGS = tuple(f".{ending}" for ending in [*MEDIA_TYPES, "jpeg", "tiff"])
#: What a sample's cells must be, for nine in ten of those that hold something.
_MOST = 0.9
#: Cells that say nothing.
_NOTHING = frozenset({"", "[]", "{}", "null", "None", "nan", "NaN", "-", "N/A"})
#: Words that are labels in whatever column they stand; yes, 0 or good may be anything.
_ONLY_LABELS = frozenset(map(plain_name, ("usable", "unusable", "badcase", "bad case", "bad_case", "可用", "不可用")))


@dataclass(frozen=True)
class Proposal:
    """A table with what its columns are taken for. table: its rows as the format gives them, if it is a known one.

    format: the known format or the kept mapping that it was recognised by, empty if it was guessed.
    """

    table: Table
    mapping: Mapping
    choices: Choices = field(default_factory=Choices)
    format: str = ""


def propose(table: Table) -> Proposal:
    """What a table probably is. Nothing is saved, and everything can be changed."""
    from data.exchange.formats import FORMATS  # the formats make proposals as well

    for known in FORMATS:
        found = known.recognise(table)
        if found:
            return found
    for kept in mapping_store.mappings():
        if set(kept["fields"]) == set(table.columns):
            return with_kept(Proposal(table, Mapping()), kept["name"])
    return Proposal(table, guessed(table))


def with_kept(proposal: Proposal, name: str) -> Proposal:
    """A proposal with a kept mapping's fields for the columns that are there.

    :raises KeyError: if there is no such mapping.
    """
    kept = mapping_store.mapping_named(name)
    fields = {c: f for c, f in kept["fields"].items() if f and c in proposal.table.columns}
    said = {name: told for name, told in kept["choices"].items() if name in KEPT_CHOICES}
    choices = replace(proposal.choices, **said)
    return replace(proposal, mapping=Mapping(fields), choices=choices, format=f"kept mapping {name}")


def guessed(table: Table) -> Mapping:
    """A mapping by the columns' names, and by their cells where a name leaves it open."""
    sample = table.sample()
    cells = {
        column: [c for row in sample if (c := row.get(column, "")).strip() not in _NOTHING] for column in table.columns
    }
    named = {column: _by_name(column) for column in table.columns}
    has_judge = any(_field(f) in ("judge", "score", "judge_label") for f in named.values())
    has_reviewer = "reviewer" in named.values()
    fields: dict[str, str] = {}
    for exact in (True, False):  # a column with a field's very name comes before one with a like name
        for column, target in named.items():
            if column in fields or (exact and plain_name(column) != plain_name(_field(target).rstrip(":"))):
                continue
            target = _by_cells(column, target, cells[column], has_judge, has_reviewer)
            if target and (target in ("tags", "human_tags") or target not in fields.values()):
                fields[column] = target
    ordered = {column: fields[column] for column in table.columns if column in fields}
    return Mapping(_pictures(ordered, cells))


def _by_name(column: str) -> str:
    if re.fullmatch(r"(item|human_item|rating):.+", column):
        return column
    if re.fullmatch(r"(SC|PQ)[._ ].+", column):
        return f"item:{column}"
    found = field_named(column)
    somebody = None if found in CASE_COLUMNS else of_somebody(column)
    if somebody and (not found or somebody[0] in ("judge_bad", "human_bad")) and _is_field(somebody[0]):
        return f"{somebody[0]}@{somebody[1]}"
    return found


def _is_field(target: str) -> bool:
    return target.partition(":")[0] in {name.rstrip(":") for name in FIELDS}


def _field(target: str) -> str:
    return target.partition("@")[0]


def _by_cells(column: str, target: str, cells: Sequence[str], has_judge: bool, has_reviewer: bool) -> str:
    """The field of a column once its cells were looked at."""
    if plain_name(column) in ("label", "标签", "labels"):
        if not _are(cells, lambda cell: label_from(cell) is not None):
            return target or "tags"
        return "judge_label" if has_judge and not has_reviewer else "human_label"
    if not cells:
        return target
    told, at, who = target.partition("@")
    if target in CASE_COLUMNS and plain_name(column) == plain_name(target):
        return target
    if target in ("result_image", "actual_output"):
        return "result_image" if are_pictures(cells) else "actual_output" if _says_text(column) else ""
    if target == "input_images" and not are_pictures(cells):
        return ""
    if target == "human_score" and not _are(cells, lambda cell: number(cell) is not None):
        return "human_label"
    if told in ("human_label", "human_bad") and not _are(cells, lambda cell: label_from(cell) is not None):
        if _are(cells, lambda cell: number(cell) is not None):
            return f"rating:{column if at else 'rating'}{at}{who}"
        return ""
    if told == "judge_label" and not _are(cells, lambda cell: label_from(cell) is not None):
        return f"score{at}{who}" if _are(cells, lambda cell: number(cell) is not None) else ""
    if told == "score" and not _are(cells, lambda cell: number(cell) is not None or label_from(cell) is not None, 0.5):
        return ""
    if target == "run" and not has_judge:
        return ""
    if told in ("reviewer", "judge") and len(set(cells)) > 20 and len(set(cells)) == len(cells):
        return ""
    if (
        not target
        and has_reviewer
        and _are(cells, lambda cell: number(cell) is not None)
        and not _looks_like_key(column)
    ):
        return f"rating:{column}"
    if not target and not has_reviewer and _are(cells, lambda cell: plain_name(cell) in _ONLY_LABELS):
        return f"human_label@{column}"  # a person's name over that person's labels
    return target


def _looks_like_key(column: str) -> bool:
    return bool(re.search(r"(id|time|date|index|编号|序号|时间|count|seconds|duration)", column, re.IGNORECASE))


def _says_text(column: str) -> bool:
    """Whether a column's name allows its cells to be texts: `output` does, `image_url` does not."""
    return field_named(column) == "actual_output" or plain_name(column) == "result"


def _pictures(fields: dict[str, str], cells: AnyMapping[str, Sequence[str]]) -> dict[str, str]:
    """Columns of unknown names whose cells are pictures: the last one is the result, one with lists the input."""
    free = [column for column in cells if column not in fields and cells[column] and are_pictures(cells[column])]
    told = set(fields.values())
    for column in reversed(free):
        several = any(len(split_list(cell)) > 1 for cell in cells[column])
        target = "input_images" if several or "result_image" in told else "result_image"
        if target not in told:
            fields[column] = target
            told.add(target)
    return fields


def _are(cells: Sequence[str], is_one, share: float = _MOST) -> bool:
    return bool(cells) and sum(map(bool, map(is_one, cells))) >= share * len(cells)


def are_pictures(cells: Sequence[str]) -> bool:
    """Whether cells are names, links or lists of pictures and videos, or pictures themselves."""
    return _are(cells, _is_picture)


def _is_picture(cell: str) -> bool:
    if isinstance(cell, EmbeddedPictures):
        return True
    entries = split_list(cell) if len(cell) < 20_000 else []
    return bool(entries) and all(is_picture_name(entry) for entry in entries)


def is_picture_name(entry: str) -> bool:
    """Whether a text is the name of a picture file, or a link.

    >>> is_picture_name("a/b.PNG"), is_picture_name("https://x.test/1?size=2"), is_picture_name("a cat")
    (True, True, False)
    """
    if "\n" in entry or len(entry) > 4_000:
        return False
    if entry.lower().startswith(("http://", "https://", "gs://", "s3://", "oss://", "tos://", "data:image/")):
        return True
    try:
        return urlsplit(entry).path.lower().endswith(_ENDINGS)
    except ValueError:
        return entry.lower().endswith(_ENDINGS)
