"""Delimited text: CSV, TSV and their relatives, with whatever sign stands between the cells."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator

from data.exchange.columns import as_typed
from data.exchange.reading.encoding import encoding_of
from data.exchange.reading.table import (
    MAX_CELL,
    MAX_ROWS,
    SURPLUS,
    Source,
    Table,
    TableUnreadable,
    check_columns,
    too_many_rows,
    unique,
)

DELIMITERS = ",;\t|^~\x01\x1f，；、"
#: No file has this between its cells: a table of one column, whose texts may hold commas.
_NONE = "\x1e"
_MAX_LINE = 20 * MAX_CELL
_SAMPLE = 60


def open(source: Source, sheet: str | None = None) -> Table:
    """The rows of a delimited text.

    :raises TableUnreadable: if it is not one.
    """
    name, encoding = source.short_name, encoding_of(source)
    lines = list(itertools.islice(_lines(source, encoding), _SAMPLE))
    told = re.fullmatch(r"sep=(.)", lines[0].strip("\r\n")) if lines else None
    delimiter = told[1] if told else sniffed(lines)
    skipped = 1 if told else 0

    def parsed() -> Iterator[list[str]]:
        csv.field_size_limit(MAX_CELL)
        reader = csv.reader(itertools.islice(_lines(source, encoding), skipped, None), delimiter=delimiter)
        try:
            for cells in reader:
                if cells:
                    yield cells
        except csv.Error as error:
            told = (
                f"a cell that ends in line {reader.line_num + skipped} has more than {MAX_CELL:,} characters, or a quote "
                "before it is never closed"
                if "field limit" in str(error)
                else f"line {reader.line_num + skipped}: {error}"
            )
            raise TableUnreadable(f"{name} cannot be read as CSV: {told}.") from error

    header = [cell.strip() for cell in next(parsed(), [])]
    check_columns(header, name)
    columns = unique(header)
    return Table(source, tuple(filter(None, columns)), lambda: _rows(parsed(), columns, name))


def _rows(parsed: Iterator[list[str]], columns: tuple[str, ...], name: str) -> Iterator[tuple[int, dict[str, str]]]:
    width, nameless = len(columns), "" in columns
    next(parsed)
    for number, cells in enumerate(parsed, 1):
        if number > MAX_ROWS:
            raise too_many_rows(name)
        row = dict(zip(columns, [as_typed(c) if c[:1] == "'" else c for c in cells], strict=False))
        if len(cells) != width or nameless:
            surplus = [cell for cell in cells[width:] if cell]
            row.pop("", None)  # what stands in a column without a name
            row.update((column, "") for column in columns[len(cells) :] if column)
            if surplus:
                row[SURPLUS] = ", ".join(surplus)
        yield number, row


def sniffed(lines: list[str]) -> str:
    """The sign between the cells: the one that gives most rows as many cells as the header, and the most cells.

    >>> sniffed(["a;b\\n", "1,5;2\\n", "2,5;3\\n"])
    ';'
    """
    best, best_worth = _NONE, (0.0, 0)
    for delimiter in DELIMITERS:
        try:
            rows = [cells for cells in csv.reader(lines, delimiter=delimiter) if cells]
        except csv.Error:
            continue
        width = len(rows[0]) if rows else 0
        if width < 2:
            continue
        body = rows[1:-1] if len(lines) == _SAMPLE else rows[1:]  # the last may be cut
        fitting = sum(len(cells) == width for cells in body) / len(body) if body else 1.0
        if (worth := (round(fitting, 1), width)) > best_worth:
            best, best_worth = delimiter, worth
    return best


def _lines(source: Source, encoding: str) -> Iterator[str]:
    """The lines with their ends, none longer than a line can be."""
    with io.TextIOWrapper(source.open(), encoding=encoding, newline="") as file:
        while line := file.readline(_MAX_LINE):
            if len(line) == _MAX_LINE:
                raise TableUnreadable(f"{source.short_name} has a line of more than {_MAX_LINE:,} characters.")
            yield line
