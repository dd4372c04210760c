"""CSV that spreadsheets open right, and JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from data.exchange.writing.table import Table, cell_text, cells, unbroken


def write_csv(table: Table, path: Path) -> None:
    """A table as CSV: UTF-8 with BOM, CRLF, texts that look like formulas made harmless."""
    with path.open("wb") as file:
        put_csv(table.names, cells(table), file)


def put_csv(header: Iterable[str], rows: Iterable[Iterable[object]], file: BinaryIO) -> None:
    """Rows as such a CSV into a file that stays open."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="", write_through=False)
    writer = csv.writer(text)
    writer.writerow([cell_text(name) for name in header])
    writer.writerows([cell_text(value) for value in row] for row in rows)
    text.flush()
    text.detach()


def write_jsonl(table: Table, path: Path) -> None:
    """A table as JSON lines in UTF-8: lists are lists, what a row does not say is null."""
    names = table.names
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in cells(table):
            file.write(unbroken(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False)) + "\n")
