"""Parquet, read in batches. Pictures in it (as Hugging Face's data sets have them) are taken from their cells."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import PurePath

from data.exchange.reading.objects import flattened
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

_BATCH = 64


def open(source: Source, sheet: str | None = None) -> Table:
    """The rows of a Parquet file.

    :raises TableUnreadable: if it is damaged.
    """
    import pyarrow.parquet as pq  # it takes a while to load, and few files need it

    name = source.short_name

    def rows() -> Iterator[tuple[int, dict[str, str]]]:
        number = 0
        try:
            with source.open() as file:
                for batch in pq.ParquetFile(file).iter_batches(batch_size=_BATCH):
                    for entry in batch.to_pylist():
                        number += 1
                        yield number, _row(entry, number, name)
        except TableUnreadable:
            raise
        except Exception as error:  # pyarrow raises many kinds on a damaged file
            raise TableUnreadable(f"{name} cannot be read as Parquet: {str(error)[:200]}.") from error

    try:
        with source.open() as file:
            facts = pq.ParquetFile(file)
            if facts.metadata.num_rows > MAX_ROWS:
                raise too_many_rows(name)
    except TableUnreadable:
        raise
    except Exception as error:
        raise TableUnreadable(f"{name} cannot be read as Parquet: {str(error)[:200]}.") from error
    columns: dict[str, None] = {}
    for number, row in rows():
        columns.update(dict.fromkeys(row))
        if number == 50:
            break
    check_columns(list(columns) or facts.schema_arrow.names, name)
    return Table(source, tuple(columns), rows)


def _row(entry: dict, number: int, name: str) -> dict[str, str]:
    pictures = {column: _picture(value) for column, value in entry.items() if _is_picture(value)}
    row = flattened({column: value for column, value in entry.items() if column not in pictures})
    for column, cell in row.items():
        if len(cell) > MAX_CELL:
            raise too_long(name, number, column, len(cell))
    return row | {str(column): cell for column, cell in pictures.items()}


def _is_picture(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_picture, value))
    return isinstance(value, bytes) or (isinstance(value, dict) and isinstance(value.get("bytes"), bytes))


def _picture(value: bytes | dict | list) -> EmbeddedPictures:
    return EmbeddedPictures.of(dict(map(_named, value if isinstance(value, list) else [value])))


def _named(value: bytes | dict):
    content, path = (value["bytes"], value.get("path")) if isinstance(value, dict) else (value, None)
    stem = PurePath(str(path)).stem if path else "embedded"
    ending = PurePath(str(path)).suffix.lower() if path else ".png"
    return f"{stem[:60]}-{hashlib.sha256(content).hexdigest()[:12]}{ending or '.png'}", lambda: content
