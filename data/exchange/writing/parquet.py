"""Parquet: typed columns in row groups, for pandas, DuckDB and the like."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from data.exchange.writing.table import Column, Table, cells, unbroken

#: More would take more memory: a group is held as a whole.
ROWS_A_GROUP = 2_000
_TYPES = {
    "text": pa.string(),
    "number": pa.float64(),
    "whole": pa.int64(),
    "yes": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
    "list": pa.list_(pa.string()),
    "json": pa.string(),
}


def write_parquet(table: Table, path: Path) -> None:
    """A table as Parquet, Zstandard-compressed; a column of kind json holds JSON texts."""
    schema = pa.schema([(column.name, _TYPES[column.kind]) for column in table.columns])
    coming = cells(table)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(coming, ROWS_A_GROUP)):
            arrays = [
                _array(column, values) for column, values in zip(table.columns, zip(*group, strict=True), strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=ROWS_A_GROUP)


def _array(column: Column, values: Sequence) -> pa.Array:
    return pa.array([_value(column.kind, value) for value in values], _TYPES[column.kind])


def _value(kind: str, value: object) -> object:
    if value is None or (value == "" and kind not in ("text", "json")):
        return None
    match kind:
        case "time":
            return _time(str(value))
        case "json":
            return unbroken(json.dumps(value, ensure_ascii=False))
        case "list":
            return [unbroken(str(entry)) for entry in value]
        case "text":
            return unbroken(value if isinstance(value, str) else str(value))
    return value


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
