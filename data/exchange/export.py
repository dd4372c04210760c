"""Tables in memory: the first rows of one, and figures as CSV. Files are written by `data.exchange.writing`."""

from __future__ import annotations

import io

import pandas as pd

from data.exchange.writing import opened, snapshot
from data.exchange.writing.table import peeked
from data.exchange.writing.text import put_csv


def first_rows(table: str, dataset: str, run_id: int | None = None, most: int = 100) -> pd.DataFrame:
    """The first rows of a table, for looking at; all its columns, even without rows.

    :raises ExportRefused: if there is no such table, dataset or run, with a sentence.
    """
    with snapshot() as of:
        found = opened(of, table, dataset, run_id)
        return pd.DataFrame(peeked(found, most), columns=found.names)


def frame_csv(frame: pd.DataFrame) -> bytes:
    """A table of figures as CSV: UTF-8 with BOM, CRLF, texts that look like formulas made harmless; what is undefined is
    empty."""
    plain = frame.astype(object).where(frame.notna(), None)
    buffer = io.BytesIO()
    put_csv(map(str, plain.columns), plain.itertuples(index=False), buffer)
    return buffer.getvalue()
