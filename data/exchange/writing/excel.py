"""Excel: typed columns, a frozen header, thumbnails if wished. Rows are written as they come (XlsxWriter's constant memory)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

import xlsxwriter
from PIL import Image

from data.exchange.columns import as_typed
from data.exchange.writing.table import PICTURE, Column, ExportRefused, Table, plain_text
from data.images import smaller_path
from evaluators.errors import CaseUnfit

#: What a sheet and a cell of it can hold.
MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1_048_575, 16_384, 32_767
#: The longest side of a thumbnail in a sheet, in pixels.
THUMBNAIL = 96
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LONG = re.compile("prompt|reason|problem|comment|output|context|replies")


class _Exact(float):
    """A number that is written with all its digits; XlsxWriter asks for 16, which is one short of some."""

    def __format__(self, wanted: str) -> str:
        return repr(float(self))


def write_xlsx(table: Table, path: Path, thumbnails: bool = False) -> int:
    """A table as an Excel file; gives how many cells had to be cut to what Excel can hold.

    thumbnails: a first column with each row's picture, where the rows have one.

    :raises ExportRefused: if it has more rows or columns than a sheet.
    """
    if table.count > MOST_ROWS or len(table.columns) >= MOST_COLUMNS:
        told = f"{table.count:,} rows and {len(table.columns):,} columns"
        raise ExportRefused(
            f"The table has {told}; an Excel sheet holds {MOST_ROWS:,} and {MOST_COLUMNS:,}. Write CSV or Parquet."
        )
    options = {
        "constant_memory": True,
        "tmpdir": str(path.parent),
        "strings_to_formulas": False,
        "strings_to_urls": False,
    }
    book = xlsxwriter.Workbook(str(path), options)
    try:
        return _Sheet(book, table, thumbnails).write()
    finally:
        book.close()


class _Sheet:
    """One sheet while it is written, row by row."""

    def __init__(self, book: xlsxwriter.Workbook, table: Table, thumbnails: bool):
        self.table, self.thumbnails, self.cut = table, thumbnails, 0
        self.sheet = book.add_worksheet(table.name[:31])
        self.bold = book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
        self.time = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"})
        self.writers: dict[str, Callable] = {
            "number": self._number, "whole": self._number, "yes": self._yes, "time": self._time,
        }  # fmt: skip

    def write(self) -> int:
        shift = int(self.thumbnails)
        if self.thumbnails:
            self.sheet.set_column(0, 0, THUMBNAIL / 7)
            self.sheet.write_string(0, 0, "picture", self.bold)
        for place, column in enumerate(self.table.columns, shift):
            self.sheet.set_column(place, place, _width(column))
            self.sheet.write_string(0, place, self._fitting(column.name), self.bold)
        self.sheet.freeze_panes(1, shift + 1)
        last = max(self.table.count, 1), len(self.table.columns) - 1 + shift
        self.sheet.autofilter(0, 0, *last)
        for number, row in enumerate(self.table.rows, 1):
            if self.thumbnails:
                self._thumbnail(number, row)
            for place, column in enumerate(self.table.columns, shift):
                value = row.get(column.name)
                if value is not None and value != "":
                    self.writers.get(column.kind, self._text)(number, place, value)
        return self.cut

    def _number(self, row: int, place: int, value: float | str) -> None:
        if isinstance(value, str):
            self._text(row, place, value)
        else:
            self.sheet.write_number(row, place, _Exact(value) if isinstance(value, float) else value)

    def _yes(self, row: int, place: int, value: bool) -> None:
        self.sheet.write_boolean(row, place, bool(value))

    def _time(self, row: int, place: int, value: str) -> None:
        try:
            at = datetime.fromisoformat(value).replace(tzinfo=None)
            self.sheet.write_datetime(row, place, at, self.time)
        except ValueError:
            self._text(row, place, value)

    def _text(self, row: int, place: int, value: object) -> None:
        text = value if isinstance(value, str) else str(value) if isinstance(value, int | float) else plain_text(value)
        text = "'" + text if as_typed(text) != text else text  # a reader takes one apostrophe before a formula off
        self.sheet.write_string(row, place, self._fitting(text))

    def _fitting(self, text: str) -> str:
        """A text without what XML forbids, as long as a cell can be (Excel counts in UTF-16)."""
        text = _NOT_XML.sub("", text)
        units = text.encode("utf-16-le")
        if len(units) <= 2 * MOST_CHARACTERS:
            return text
        self.cut += 1
        return units[: 2 * MOST_CHARACTERS].decode("utf-16-le", "ignore")

    def _thumbnail(self, row: int, cells: Mapping) -> None:
        picture = cells.get(PICTURE)
        if not picture:
            return
        try:
            path = smaller_path(*picture, "thumb")
            with Image.open(path) as image:
                scale = THUMBNAIL / max(image.size)
        except (CaseUnfit, OSError) as error:
            self.sheet.write_string(row, 0, self._fitting(str(error)))
            return
        self.sheet.set_row_pixels(row, THUMBNAIL + 4)
        places = {"x_scale": scale, "y_scale": scale, "x_offset": 2, "y_offset": 2, "object_position": 1}
        self.sheet.insert_image(row, 0, str(path), places)


def _width(column: Column) -> int:
    """The width of a column in characters."""
    if column.kind in ("number", "whole", "yes"):
        return 10
    return 22 if column.kind == "time" else 48 if _LONG.search(column.name) else 18
