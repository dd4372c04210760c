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
        lines = _Ending(itertools.islice(_lines(source, encoding), skipped, None))
        reader, begins = csv.reader(lines, delimiter=delimiter), skipped + 1
        try:
            for cells in reader:
                if lines.over:  # a row is whole with its line: this one asked for another, which there is not
                    at = reader.line_num + skipped - _lines_in(cells[-1]) + 1
                    raise TableUnreadable(
                        f"{name} cannot be read as CSV: a quote in line {at} begins a cell and is never closed; "
                        "close it, or write it twice between quotes."
                    )
                begins = reader.line_num + skipped + 1
                if cells:
                    yield cells
        except csv.Error as error:
            told = (
                f"a cell of the row that begins in line {begins} has more than {MAX_CELL:,} characters, or a quote before it "
                "is never closed"
                if "field limit" in str(error)
                else f"line {reader.line_num + skipped}: {error}"
            )
            raise TableUnreadable(f"{name} cannot be read as CSV: {told}.") from error

    header = [as_typed(cell.strip()) for cell in next(parsed(), [])]
    check_columns(header, name)
    columns = unique(header)
    notes = tuple(_unnamed(parsed(), columns, name)) if "" in columns else ()
    return Table(source, tuple(filter(None, columns)), lambda: _rows(parsed(), columns, name), notes=notes)


def _unnamed(parsed: Iterator[list[str]], columns: tuple[str, ...], name: str) -> Iterator[str]:
    """A sentence for each column that holds something and has no name, as far as the first rows tell."""
    next(parsed)
    filled = {at for cells in itertools.islice(parsed, 1_000) for at, cell in enumerate(cells) if cell.strip()}
    for at, column in enumerate(columns):
        if not column and at in filled:
            yield f"{name}: column {at + 1} has no name and is not read; give it one in the header."


class _Ending:
    """Lines, and whether somebody asked for more than there are."""

    def __init__(self, lines: Iterator[str]):
        self._lines, self.over = lines, False

    def __iter__(self) -> Iterator[str]:
        yield from self._lines
        self.over = True


def _lines_in(cell: str) -> int:
    """How many lines a cell stands in that goes on to the end of the file."""
    breaks = len(re.findall(r"\r\n|\r|\n", cell))
    return breaks if cell.endswith(("\r", "\n")) else breaks + 1


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
