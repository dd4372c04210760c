"""Tables whose rows a format has made plain."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from data.exchange.mapping import Choices
from data.exchange.mapping import Mapping as ColumnMapping
from data.exchange.proposing import Proposal
from data.exchange.reading import SURPLUS, Table

Rewrite = Callable[[Mapping[str, str]], Iterable[dict[str, str]]]


def rewritten(
    table: Table, title: str, fields: Mapping[str, str], rewrite: Rewrite, choices: Choices | None = None
) -> Proposal:
    """A proposal for a table whose rows go through `rewrite`, which gives none, one or several for each; all keep the
    number of the row that they came from. fields: column after rewriting -> field, "" for one that is not read."""

    def rows() -> Iterator[tuple[int, dict[str, str]]]:
        for number, row in table.rows():
            if SURPLUS in row:
                yield number, row
                continue
            for made in rewrite(row):
                yield number, made

    mapping = ColumnMapping({column: field for column, field in fields.items() if field})
    return Proposal(replace(table, columns=tuple(fields), rows=rows), mapping, choices or Choices(), title)


def parsed(cell: str) -> object:
    """A cell that holds JSON, or Python's way to write such values; None if it is neither."""
    cell = cell.strip()
    if not cell or len(cell) > 1_000_000:
        return None
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(cell) if cell[0] in "[{('\"" else None
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def text(value: object) -> str:
    """A value as a cell."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
