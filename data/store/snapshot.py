"""The workspace as it is at one moment, for whoever reads long while others write."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from data.home import database_path
from data.store.agreement import Basis
from data.store.connection import database, open_database


class Snapshot:
    """What the database held when it was opened. Rows come one by one: memory does not grow with their number."""

    def __init__(self, connection: sqlite3.Connection):
        self._connection = connection

    def rows(self, sql: str, parameters: Sequence | dict = ()) -> Iterator[dict]:
        """The rows of a query as dicts, columns named `…_json` parsed, as `connection.rows` gives them all at once."""
        cursor = self._connection.execute(sql, parameters)
        names = [column[0].removesuffix("_json") for column in cursor.description]
        parsed = [place for place, column in enumerate(cursor.description) if column[0].endswith("_json")]
        for found in cursor:
            row = dict(zip(names, found, strict=True))
            for place in parsed:
                row[names[place]] = None if found[place] is None else json.loads(found[place])
            yield row

    def value(self, sql: str, parameters: Sequence | dict = ()):
        """The first column of the first row, or None."""
        found = self._connection.execute(sql, parameters).fetchone()
        return found[0] if found else None

    def keep(self, name: str, columns: str, sql: str, parameters: Sequence | dict = ()) -> None:
        """The result of a query as a temporary table of this snapshot, to be computed once."""
        self._connection.execute(f'CREATE TEMP TABLE "{name}" ({columns})')
        self._connection.execute(f'INSERT INTO "{name}" {sql}', parameters)


@contextmanager
def snapshot() -> Iterator[Snapshot]:
    """A snapshot, on a connection of its own: it disturbs nobody's transaction and nobody waits for it."""
    database()  # created and migrated if need be
    _ = Basis(0, None).sql  # what gold labels are read from is brought up to date before, not in a moment that is over
    connection = open_database(database_path()).conn
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM workspace").fetchone()  # the snapshot begins with the first read
        yield Snapshot(connection)
    finally:
        connection.close()
