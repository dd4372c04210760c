"""A table on its way out: its columns are known before its first row, and its rows come one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from data.exchange.columns import harmless, join_list

#: What a column holds. time: a UTC time as the store keeps it. list: texts. json: any plain values.
Kind = Literal["text", "number", "whole", "yes", "time", "list", "json"]
#: The key under which a row may say which picture shows it: (sha256, extension). It is no column.
PICTURE = "\x00picture"
#: More items than this have no column of their own each: questions differ from prompt to prompt.
MOST_ITEM_COLUMNS = 200


class ExportRefused(ValueError):  # noqa: N818 - it names what happened
    """What was asked for cannot be written; the text says why."""


@dataclass(frozen=True)
class Column:
    """A column of a table, and what it holds."""

    name: str
    kind: Kind = "text"


@dataclass(frozen=True)
class Table:
    """Rows with the same columns; a row lacks what it does not say. rows can be gone through once; count is how many."""

    name: str
    columns: tuple[Column, ...]
    count: int
    rows: Iterator[Mapping[str, object]]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


def columns_of(words: str) -> tuple[Column, ...]:
    """Columns as `name` (a text) or `name:kind`, separated by spaces.

    >>> columns_of("case_id score:number")
    (Column(name='case_id', kind='text'), Column(name='score', kind='number'))
    """
    return tuple(Column(*word.split(":")) for word in words.split())


def item_columns(prefix: str, rest: str, kinds: Mapping[str, str]) -> tuple[Column, ...]:
    """A column for every item, `PREFIX KEY`; but only sub-scores have one when there are too many, and the other items
    of a row then stand together in the column `rest`, as JSON.

    kinds: by key `sub_score`, `number` or `text`.
    """
    fits = len(kinds) <= MOST_ITEM_COLUMNS
    own = [key for key, kind in kinds.items() if fits or kind == "sub_score"][:MOST_ITEM_COLUMNS]
    found = [Column(prefix + key, "text" if kinds[key] == "text" else "number") for key in own]
    return (*found, *([] if len(own) == len(kinds) else [Column(rest, "json")]))


def item_cells(prefix: str, rest: str, items: Mapping[str, object], names: set[str]) -> dict[str, object]:
    """The items of a row as cells of such columns; names: the columns of the table."""
    own = {prefix + key: value for key, value in items.items() if prefix + key in names}
    others = {key: value for key, value in items.items() if prefix + key not in names}
    return own | ({rest: others} if others else {})


def cell_text(value: object) -> object:
    """A value as a cell of a CSV file: numbers to their last digit, yes and no as 1 and 0, no formulas, no NUL."""
    match value:
        case None:
            return ""
        case bool():
            return int(value)
        case str():
            return harmless(value.replace("\x00", ""))
        case list() | tuple() | dict():
            return harmless(plain_text(value))
    return value


def plain_text(value: object) -> str:
    """A list or a JSON value as one text."""
    if isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value):
        return join_list(list(value)).replace("\x00", "")
    return json.dumps(value, ensure_ascii=False)


def unbroken(text: str) -> str:
    """A text without halves of surrogate pairs, which no file can hold: a question mark stands for each."""
    return re.sub("[\ud800-\udfff]", "?", text)


def cells(table: Table) -> Iterator[Sequence[object]]:
    """The rows of a table as values in the order of its columns."""
    names = table.names
    return ([row.get(name) for name in names] for row in table.rows)


def peeked(table: Table, count: int) -> list[dict[str, object]]:
    """The first rows of a table, for looking at; lists as texts."""
    rows: Iterable = (row for _, row in zip(range(count), table.rows, strict=False))
    texts = (list, tuple, dict)
    return [
        {name: plain_text(row.get(name)) if isinstance(row.get(name), texts) else row.get(name) for name in table.names}
        for row in rows
    ]
