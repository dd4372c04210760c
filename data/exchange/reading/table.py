"""What every reader takes and gives: a source of bytes, and a table whose rows can be read more than once."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

#: Characters that a cell may hold; more is not a prompt but an accident.
MAX_CELL = 1_000_000
MAX_COLUMNS = 2_000
#: Rows that hold something.
MAX_ROWS = 500_000
MAX_FILE = 1_000_000_000
#: The key of a row that has more cells than the header; no column can have this name.
SURPLUS = "\x00surplus"


class TableUnreadable(ValueError):  # noqa: N818 - it names what the table is
    """The file is not a table that can be read; the text says why."""


class EmbeddedPictures(str):
    """The cell of a picture that lies in the file itself: a text with the picture's name, and how to read its bytes.

    The name is made from the content, so that it stays when rows move. Several pictures are a JSON list of names.
    """

    readers: Mapping[str, Callable[[], bytes]]

    @classmethod
    def of(cls, readers: Mapping[str, Callable[[], bytes]]) -> EmbeddedPictures:
        names = list(readers)
        cell = cls(names[0] if len(names) == 1 else json.dumps(names))
        cell.readers = dict(readers)
        return cell


@dataclass(frozen=True)
class Source:
    """A file by its path, or its bytes in memory; `name` is what people call it."""

    name: str
    at: Path | bytes

    @classmethod
    def of_path(cls, path: Path) -> Source:
        return cls(path.name, path)

    def open(self) -> BinaryIO:
        return self.at.open("rb") if isinstance(self.at, Path) else io.BytesIO(self.at)

    @cached_property
    def size(self) -> int:
        """Bytes."""
        return self.at.stat().st_size if isinstance(self.at, Path) else len(self.at)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the content."""
        with self.open() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @property
    def short_name(self) -> str:
        """The name as a sentence can hold it."""
        return self.name if len(self.name) <= 100 else f"{self.name[:60]}…{self.name[-30:]}"

    @property
    def stem(self) -> str:
        """The name without its ending, as a name for what is in it."""
        return Path(self.short_name).stem or "file"


@dataclass(frozen=True)
class Table:
    """A file's rows. columns: as its header names them, each once. sheet: which one, of `sheets` (none but in a workbook).

    rows() reads them anew at each call: (number, cells), the number counted from 1 without the header, the cells as
    texts by column. A row with more cells than the header has the surplus under SURPLUS; a column that turns up later
    than the header (in JSON) is in the cells only. Reading may raise TableUnreadable at any row.
    """

    source: Source
    columns: tuple[str, ...]
    rows: Callable[[], Iterator[tuple[int, dict[str, str]]]]
    sheet: str = ""
    sheets: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        return f"{self.source.short_name}, sheet {self.sheet}" if self.sheet else self.source.short_name

    def sample(self, count: int = 200) -> list[dict[str, str]]:
        """The first rows."""
        found = []
        for _number, cells in self.rows():
            found.append(cells)
            if len(found) == count:
                break
        return found


def unique(names: list[str]) -> tuple[str, ...]:
    """Names as they are, a repeated one with (2), (3) … behind it; empty ones stay empty."""
    seen: dict[str, int] = {}
    taken, found = set(names), []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        one = name
        while name and seen[name] > 1 and one in taken:
            one = f"{name} ({seen[name]})"
            seen[name] += one in taken
        taken.add(one)
        found.append(one)
    return tuple(found)


def check_columns(columns: list[str] | tuple[str, ...], name: str) -> None:
    """:raises TableUnreadable: if there are none, or too many, or one has a name that is a text."""
    if not any(columns):
        raise TableUnreadable(f"{name} has no header: its first row names no column.")
    if len(columns) > MAX_COLUMNS:
        raise TableUnreadable(f"{name} has {len(columns):,} columns, more than {MAX_COLUMNS:,}.")
    long = next((column for column in columns if len(column) > 500), None)
    if long:
        raise TableUnreadable(f"{name} has a column with a name of {len(long):,} characters; is its header missing?")


def too_many_rows(name: str) -> TableUnreadable:
    return TableUnreadable(f"{name} has more than {MAX_ROWS:,} rows; split it into several files.")


def too_long(name: str, number: int, column: str, length: int) -> TableUnreadable:
    return TableUnreadable(
        f"{name}, row {number}, column {column}: the cell has {length:,} characters, more than {MAX_CELL:,}."
    )
