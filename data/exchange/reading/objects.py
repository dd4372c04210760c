"""JSON and JSONL: a list of objects, one object a line, or an object that has such a list somewhere inside.

An object of objects that all name the same things is a list too; its keys become the column `key`.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator

from data.exchange.reading.encoding import encoding_of
from data.exchange.reading.table import (
    MAX_CELL,
    MAX_ROWS,
    Source,
    Table,
    TableUnreadable,
    check_columns,
    too_long,
    too_many_rows,
)

#: A whole JSON file is held in memory while it is read; JSONL is not.
MAX_JSON = 150_000_000
_DEPTH = 6
#: Objects whose keys are taken for the header.
_HEADER_ROWS = 1_000


def open(source: Source, sheet: str | None = None) -> Table:
    """The objects of a JSON or JSONL file as rows; what lies deeper gets a name with dots, a list stays JSON.

    :raises TableUnreadable: if it holds no objects.
    """
    name, encoding = source.short_name, encoding_of(source)
    if _is_lines(source, encoding):

        def objects() -> Iterator[object]:
            return _lines(source, encoding)

        notes: tuple[str, ...] = ()
    else:
        whole = _whole(source, encoding)
        found, path = _list_in(whole)
        if found is None:
            raise TableUnreadable(f"{name} is JSON without a list of objects: there are no rows in it.")
        notes = (f"{name}: the rows are the list under {path}.",) if path else ()

        def objects() -> Iterator[object]:
            return iter(found)

    columns: dict[str, None] = {}
    for number, (_, row) in enumerate(_rows(objects(), name), 1):
        columns.update(dict.fromkeys(row))
        if number == _HEADER_ROWS:
            break
    check_columns(list(columns), name)
    return Table(source, tuple(columns), lambda: _rows(objects(), name), notes=notes)


def flattened(entry: dict) -> dict[str, str]:
    """An object as a row of texts.

    >>> flattened({"a": {"b": 1, "c": None}, "d": ["x"], "e": True})
    {'a.b': '1', 'a.c': '', 'd': '["x"]', 'e': 'true'}
    """
    row: dict[str, str] = {}
    _flatten(entry, "", 0, row)
    return row


def text_of(value: object) -> str:
    """A value as the text of a cell; what is nested becomes JSON."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _flatten(entry: dict, prefix: str, depth: int, row: dict[str, str]) -> None:
    for key, value in entry.items():
        name = f"{prefix}{key}".strip()
        if isinstance(value, dict) and value and depth < _DEPTH:
            _flatten(value, f"{name}.", depth + 1, row)
        else:
            row[name] = text_of(value)


def _rows(objects: Iterator[object], name: str) -> Iterator[tuple[int, dict[str, str]]]:
    for number, entry in enumerate(objects, 1):
        if number > MAX_ROWS:
            raise too_many_rows(name)
        if not isinstance(entry, dict):
            raise TableUnreadable(f"{name}, row {number}: it is not an object with named values.")
        row = flattened(entry)
        for column, cell in row.items():
            if len(cell) > MAX_CELL:
                raise too_long(name, number, column, len(cell))
        yield number, row


def _is_lines(source: Source, encoding: str) -> bool:
    """Whether the first line with something in it is an object of its own."""
    with io.TextIOWrapper(source.open(), encoding=encoding) as file:
        first = next(filter(None, (line.strip() for line in iter(lambda: file.readline(20 * MAX_CELL), ""))), "")
    try:
        return isinstance(json.loads(first), dict) and not _is_one_object(source, encoding, first)
    except (ValueError, RecursionError):
        return False


def _is_one_object(source: Source, encoding: str, first: str) -> bool:
    """Whether that line is all there is, and holds a list of objects itself: then it is JSON without line breaks."""
    with io.TextIOWrapper(source.open(), encoding=encoding) as file:
        rest = file.read(len(first) + 1_000).lstrip()[len(first) :].strip()
    return not rest and _list_in(json.loads(first))[0] is not None


def _lines(source: Source, encoding: str) -> Iterator[object]:
    with io.TextIOWrapper(source.open(), encoding=encoding) as file:
        for number, line in enumerate(iter(lambda: file.readline(20 * MAX_CELL), ""), 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError) as error:
                    told = f"{source.short_name}, line {number} is not JSON: {_why(error)}."
                    raise TableUnreadable(told) from error


def _whole(source: Source, encoding: str) -> object:
    name = source.short_name
    if source.size > MAX_JSON:
        told = f"has {source.size:,} bytes; JSON of more than {MAX_JSON:,} is read as JSONL only, one object a line"
        raise TableUnreadable(f"{name} {told}.")
    try:
        with io.TextIOWrapper(source.open(), encoding=encoding) as file:
            return json.load(file)
    except (ValueError, RecursionError) as error:
        raise TableUnreadable(f"{name} is not JSON: {_why(error)}.") from error


def _why(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _is_keyed(found: dict) -> bool:
    """Whether an object is a table by its keys: two or more objects that name the same things."""
    rows = list(found.values())
    return len(rows) > 1 and all(isinstance(row, dict) and row and row.keys() == rows[0].keys() for row in rows)


def _list_in(found: object, path: str = "", depth: int = 0) -> tuple[list | None, str]:
    """The longest list of objects, at most three levels down, and the path to it."""
    if isinstance(found, list):
        return (found, path) if found and all(isinstance(entry, dict) for entry in found) else (None, path)
    if not isinstance(found, dict) or depth == 3:
        return None, path
    if _is_keyed(found):
        return [{"key": key, **value} for key, value in found.items()], path
    inside = [_list_in(value, f"{path}.{key}".lstrip("."), depth + 1) for key, value in found.items()]
    return max(inside, key=lambda one: len(one[0] or ()), default=(None, path))
