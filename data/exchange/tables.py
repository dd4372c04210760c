"""Tables of cases that are judged and written back as the file they were: each row keeps its place.

Files that are only brought in are read by `reading`, which understands more of them.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import openpyxl
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, MergedCell

from data.exchange.columns import CASE_COLUMNS, SYNONYMS, as_typed, harmless
from data.exchange.reading import SURPLUS, Source, TableUnreadable, delimited
from data.exchange.reading.excel import MAX_UNPACKED
from data.exchange.reading.excel import text as _text

_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")
_KNOWN = {*CASE_COLUMNS, *SYNONYMS}


def read_table(content: bytes, name: str) -> list[dict[str, str]]:
    """The rows of a CSV or XLSX file, all cells as texts. An XLSX file starts like the zip that it is.

    :raises TableUnreadable: if it is neither, has no known column, or no rows.
    """
    found = _read_xlsx(content, name) if content[:4] == b"PK\x03\x04" else read_csv(content, name)
    return _checked(found, name)


def read_csv(content: bytes, name: str) -> list[dict[str, str]]:
    """The rows of a delimited text, see `reading.delimited`.

    :raises TableUnreadable: as `read_table`.
    """
    table = delimited.open(Source(name, content))
    _check_names([column.removesuffix(" (2)") for column in table.columns], name)
    return _checked([row for _number, row in table.rows()], name)


def write_judged(source: Path, verdicts: Mapping[int, tuple[float | None, str]], output: Path) -> None:
    """The table in `source` with the columns score and reasoning filled, as `output` (by its ending .xlsx or .csv).

    verdicts: row number, counted from 1 without the header -> score (None: no score) and reasoning. An XLSX file keeps
    whatever else is in it.

    :raises TableUnreadable: as `read_table`.
    """
    content = source.read_bytes()
    if output.suffix.lower() == ".xlsx":
        book = (
            _workbook(content, source.name)
            if content[:4] == b"PK\x03\x04"
            else _as_workbook(read_csv(content, source.name))
        )
        _fill_sheet(_sheet(book, source.name), verdicts)
        book.save(output)
        return
    rows = [{c: cell for c, cell in row.items() if c != SURPLUS} for row in read_table(content, source.name)]
    columns = list(dict.fromkeys([*rows[0], "score", "reasoning"]))
    with output.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        for number, row in enumerate(rows, 1):
            score, reasoning = verdicts.get(number, (None, ""))
            filled = row | {"score": _number(score), "reasoning": reasoning}
            writer.writerow({column: harmless(cell) for column, cell in filled.items()})


def _read_xlsx(content: bytes, name: str) -> list[dict[str, str]]:
    book = _workbook(content, name, read_only=True)
    try:
        lines = _sheet(book, name).iter_rows(values_only=True)
        names = [_text(cell).strip() for cell in next(lines, ())]
        _check_names(names, name)
        found = []
        for line in lines:
            cells = [_text(cell) for cell in line] + [""] * (len(names) - len(line))
            found.append({column: as_typed(cell) for column, cell in zip(names, cells, strict=False) if column})
    except TableUnreadable:
        raise
    except Exception as error:  # a damaged sheet is only met while its rows are read
        raise TableUnreadable(f"{name} cannot be read as an Excel file: {error}.") from error
    while found and not any(cell.strip() for cell in found[-1].values()):
        found.pop()  # Excel keeps formatted rows that hold nothing
    return found


def _workbook(content: bytes, name: str, read_only: bool = False) -> openpyxl.Workbook:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > MAX_UNPACKED:
            raise TableUnreadable(f"{name} would unpack to {unpacked:,} bytes, more than {MAX_UNPACKED:,}.")
        return openpyxl.load_workbook(io.BytesIO(content), read_only=read_only, data_only=read_only)
    except TableUnreadable:
        raise
    except Exception as error:  # on a damaged file openpyxl raises whatever its zip and XML readers raise
        raise TableUnreadable(f"{name} cannot be read as an Excel file: {error}.") from error


def _sheet(book: openpyxl.Workbook, name: str):
    """The first sheet whose first row names a known column."""
    for sheet in book.worksheets:
        header = next(sheet.iter_rows(min_row=1, max_row=1, values_only=True), ())
        if {_text(cell).strip() for cell in header} & _KNOWN:
            return sheet
    raise TableUnreadable(f"{name} has no sheet whose first row names one of: {', '.join(CASE_COLUMNS)}.")


def _as_workbook(rows: Sequence[Mapping[str, str]]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    for number, row in enumerate([dict(zip(rows[0], rows[0], strict=True)), *rows], 1):
        for place, text in enumerate(row.values(), 1):
            _put_text(book.active.cell(number, place), text)
    return book


def _fill_sheet(sheet, verdicts: Mapping[int, tuple[float | None, str]]) -> None:
    """Fill or add the two columns; a row without a verdict loses what stood there."""
    places = {_text(cell.value).strip(): cell.column for cell in sheet[1]}
    last_row, free = sheet.max_row, sheet.max_column + 1
    for title in ("score", "reasoning"):
        if title not in places:
            places[title], free = free, free + 1
            sheet.cell(1, places[title], title)
    for number in range(1, max(last_row, *(n + 1 for n in verdicts)) if verdicts else last_row):
        score, reasoning = verdicts.get(number, (None, ""))
        cells = [sheet.cell(number + 1, places[title]) for title in ("score", "reasoning")]
        if not any(isinstance(cell, MergedCell) for cell in cells):
            cells[0].value = int(score) if score is not None and float(score).is_integer() else score
            _put_text(cells[1], reasoning)


def _put_text(cell, text: str) -> None:
    """A text into a cell, as a text: without what XML forbids, as long as a cell can be, and never run as a formula."""
    cell.value = _NOT_XML.sub("", ILLEGAL_CHARACTERS_RE.sub("", text))[:32_767] or None
    if cell.value is not None:
        cell.data_type = "s"


def _check_names(names: Sequence[str], name: str) -> None:
    if not set(names) & _KNOWN:
        raise TableUnreadable(f"{name} has none of the known columns: {', '.join(CASE_COLUMNS)}.")
    repeated = {column for column in names if column in _KNOWN and names.count(column) > 1}
    if repeated:
        raise TableUnreadable(f"{name} has the column {sorted(repeated)[0]} more than once.")


def _checked(rows: list[dict[str, str]], name: str) -> list[dict[str, str]]:
    if not rows:
        raise TableUnreadable(f"{name} has a header and no rows.")
    return rows


def _number(score: float | None) -> str:
    """A score as text, to its last digit; a whole one without a point."""
    return "" if score is None else str(int(score)) if float(score).is_integer() else repr(float(score))
