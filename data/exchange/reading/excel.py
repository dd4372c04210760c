"""XLSX: values streamed row by row, merged cells and headers of two rows understood, pictures taken from their cells."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime

import openpyxl

from data.exchange.columns import as_typed
from data.exchange.reading.excel_parts import Sheet, content_types, sheets_parts
from data.exchange.reading.headers import Header, find_header
from data.exchange.reading.table import (
    MAX_CELL,
    MAX_ROWS,
    EmbeddedPictures,
    Source,
    Table,
    TableUnreadable,
    check_columns,
    too_long,
    too_many_rows,
)

#: Bytes that an XLSX file may unpack to, and those of its parts that are held in memory whole.
MAX_UNPACKED = 500_000_000
_MAX_STRINGS = 80_000_000
_MAX_PART = 30_000_000
_ERRORS = frozenset({"#N/A", "#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "#NAME?", "#NULL!"})
#: Rows in which a header is looked for.
_HEADER_ROWS = 12


def open(source: Source, sheet: str | None = None) -> Table:
    """The rows of a sheet.

    :raises TableUnreadable: if the file is damaged, hostile, or has no such sheet or no rows.
    """
    name = source.short_name
    check_zip(source)
    parts = sheets_parts(source)
    for title, found in parts.items():
        if found.filled > MAX_ROWS + _HEADER_ROWS and sheet in (None, title):
            raise too_many_rows(f"{name}, sheet {title}")  # before anybody counts them one by one
    with _workbook(source) as book:
        sheets = tuple(s.title for s in book.worksheets)
        if sheet is not None and sheet not in sheets:
            raise TableUnreadable(f"{name} has no sheet {sheet!r}; there are: {', '.join(sheets)}.")
        named = [sheet] if sheet else sheets
        found = [(title, header) for title in named if (header := _header(book, title, parts.get(title, Sheet())))]
    if not found:
        raise TableUnreadable(f"{name} has no sheet with a header and rows.")
    chosen, header = max(found, key=lambda one: one[1].known)  # the first of those that know as much
    check_columns(header.columns, f"{name}, sheet {chosen}")
    of_sheet = parts.get(chosen, Sheet())
    if _is_all_formulas(source, chosen, header, of_sheet):
        told = "its cells hold formulas without results; open it in Excel, save it, and give it again"
        raise TableUnreadable(f"{name}, sheet {chosen}: {told}.")
    others = ", ".join(title for title, _header in found if title != chosen)
    notes = (f"{name}: only the sheet {chosen} is read; choose another one with --sheet: {others}.",) if others else ()
    return Table(
        source,
        tuple(filter(None, header.columns)),
        lambda: _rows(source, chosen, header, of_sheet),
        chosen,
        sheets,
        notes,
    )


def check_zip(source: Source) -> None:
    """Sizes are checked as declared: Python's zip reader gives no more than that of a member.

    :raises TableUnreadable: if the workbook would unpack to too much.
    """
    name = source.short_name
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            members, kinds = archive.infolist(), content_types(archive)
    except Exception as error:  # on a damaged file the zip reader raises many kinds
        raise TableUnreadable(f"{name} cannot be read as an Excel file: {error}.") from error
    unpacked = sum(member.file_size for member in members)
    if unpacked > MAX_UNPACKED:
        raise TableUnreadable(f"{name} would unpack to {unpacked:,} bytes, more than {MAX_UNPACKED:,}.")
    for member in members:
        kind = kinds.get(member.filename, "")
        if kind.endswith(".worksheet+xml") or kind.startswith("image/"):
            continue  # read as a stream, or only if a row names it
        limit = _MAX_STRINGS if kind.endswith(".sharedStrings+xml") else _MAX_PART
        if member.file_size > limit:
            told = f"{member.filename[-60:]} would unpack to {member.file_size:,} bytes, more than {limit:,}"
            raise TableUnreadable(f"{name}: {told}.")


@contextmanager
def _workbook(source: Source, results: bool = True) -> Iterator[openpyxl.Workbook]:
    """The workbook, read as a stream; whatever its damaged parts raise is one sentence."""
    try:
        with source.open() as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl tells what it leaves out; here only the values matter
            book = openpyxl.load_workbook(file, read_only=True, data_only=results, keep_links=False)
            yield book
            book.close()
    except (TableUnreadable, GeneratorExit):
        raise
    except Exception as error:  # on a damaged file openpyxl raises whatever its zip and XML readers raise
        told = str(error).split("\n")[0][:200] or type(error).__name__
        raise TableUnreadable(f"{source.short_name} cannot be read as an Excel file: {told}.") from error


def _lines(sheet) -> Iterator[tuple]:
    sheet.reset_dimensions()  # what a sheet says of its size may be wrong
    return sheet.iter_rows(values_only=True)


def _header(book: openpyxl.Workbook, title: str, parts: Sheet) -> Header | None:
    """The header of a sheet, None if it has no rows below one."""
    first = []
    for number, line in enumerate(_lines(book[title]), 1):
        first.append([as_typed(text(cell)) for cell in line])
        if number == _HEADER_ROWS:
            break
    while first and not any(first[-1]):
        first.pop()
    return find_header(first, parts.merged) if first else None


def _is_all_formulas(source: Source, title: str, header: Header, parts: Sheet) -> bool:
    """Whether no row below the header has a value, since no program has worked out its formulas yet."""
    if next(_rows(source, title, header, parts), None) is not None:
        return False
    with _workbook(source, results=False) as book:
        below = (line for at, line in enumerate(_lines(book[title]), 1) if at >= header.first_row)
        return any(isinstance(cell, str) and cell.startswith("=") for line in below for cell in line)


def _rows(source: Source, title: str, header: Header, parts: Sheet) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows that hold something; a merged cell's value stands in each of its rows."""
    name, columns, given = f"{source.short_name}, sheet {title}", header.columns, 0
    spread: dict[int, tuple[str, int]] = {}  # a column -> the value of the merged cell above, and its last row
    with _workbook(source) as book:
        for at, line in enumerate(_lines(book[title]), 1):
            if at < header.first_row:
                continue
            cells = [text(cell) for cell in line[: len(columns)]]
            cells += [""] * (len(columns) - len(cells))
            for place, readers in parts.pictures.get(at, {}).items():
                if place <= len(columns):
                    cells[place - 1] = EmbeddedPictures.of(readers)
            if not any(cells):  # what is merged over an empty row does not fill it
                continue
            for place, (value, last) in spread.items():
                if at <= last:
                    cells[place - 1] = value
            for place, last in parts.below.get(at, {}).items():
                if place <= len(columns):
                    spread[place] = (cells[place - 1], last)
            if (given := given + 1) > MAX_ROWS:
                raise too_many_rows(name)
            number = at - header.first_row + 1
            row = dict.fromkeys(filter(None, columns), "")
            for column, cell in zip(columns, cells, strict=False):
                if column and cell:
                    if len(cell) > MAX_CELL:
                        raise too_long(name, number, column, len(cell))
                    row[column] = cell if isinstance(cell, EmbeddedPictures) else as_typed(cell)
            yield number, row


def text(value: object) -> str:
    """A cell as text: 3.0 is "3", a date is ISO, nothing and an error are empty."""
    if value is None:
        return ""
    if isinstance(value, str):
        return "" if value in _ERRORS else value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value)
