"""One connection a thread, and the one way to write.

Under WAL a deferred BEGIN that reads first and then writes fails at once when another writer came in between, whatever
the busy timeout. So every write begins with BEGIN IMMEDIATE, which waits its turn.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import sqlite_utils

from data.home import database_path
from data.store.migrations import MIGRATIONS

#: Seconds that a writer waits for another one.
BUSY_SECONDS = 30

#: What is raised when the store cannot take or give something now: a full disk, a locked or damaged database.
StoreError = sqlite3.Error

_local = threading.local()


def database() -> sqlite_utils.Database:
    """This thread's database, created and migrated if need be."""
    path = database_path()
    opened = getattr(_local, "opened", None)
    if opened is None or opened[0] != path:
        close()
        path.parent.mkdir(parents=True, exist_ok=True)
        db = open_database(path)
        _local.opened = (path, db)
        try:
            if MIGRATIONS.pending(db):
                with writing():
                    MIGRATIONS.apply(db)
        except BaseException:
            close()  # the next one to ask tries again
            raise
        return db
    return opened[1]


def open_database(path) -> sqlite_utils.Database:
    """A connection with the settings that this project relies on, nothing migrated."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    # FULL: what was said to be saved survives a power cut as well; NORMAL would lose the last commits.
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.create_function("casefold", 1, str.casefold, deterministic=True)
    return sqlite_utils.Database(connection)


def close() -> None:
    """Close this thread's connection, if it has one."""
    opened = getattr(_local, "opened", None)
    if opened is not None:
        opened[1].conn.close()
        _local.opened = None


@contextmanager
def writing() -> Iterator[sqlite_utils.Database]:
    """A transaction that holds the write lock from its start; all of it is kept or nothing.

    Within another one it is a part of that, which fails alone and is kept only with the whole.
    """
    db = database()
    is_part = db.conn.in_transaction
    db.conn.execute("SAVEPOINT part" if is_part else "BEGIN IMMEDIATE")
    try:
        yield db
        db.conn.execute("RELEASE part" if is_part else "COMMIT")
    except BaseException:
        if db.conn.in_transaction:  # a full disk may have ended it already
            db.conn.execute("ROLLBACK TO part" if is_part else "ROLLBACK")
            if is_part:
                db.conn.execute("RELEASE part")
        raise


def rows(sql: str, parameters: Sequence | dict = ()) -> list[dict]:
    """All rows of a query as dicts. Columns named `…_json` come back parsed, under the name without `_json`."""
    cursor = database().conn.execute(sql, parameters)
    names = [column[0] for column in cursor.description]
    return [_parsed(dict(zip(names, row, strict=True))) for row in cursor]


def tuples(sql: str, parameters: Sequence | dict = ()) -> Iterator[tuple]:
    """The rows of a query as they are, for the many."""
    return database().conn.execute(sql, parameters)


def row(sql: str, parameters: Sequence | dict = ()) -> dict | None:
    """The first row of a query, or None."""
    found = rows(sql, parameters)
    return found[0] if found else None


def value(sql: str, parameters: Sequence | dict = ()):
    """The first column of the first row, or None."""
    found = database().conn.execute(sql, parameters).fetchone()
    return found[0] if found else None


def insert(db: sqlite_utils.Database, table: str, **columns) -> int:
    """Insert one row inside `writing()`; gives its id. Dicts, lists and tuples go in as JSON."""
    names = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join("?" * len(columns))
    return db.conn.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', _plain(columns.values())).lastrowid


def insert_many(db: sqlite_utils.Database, table: str, columns: Sequence[str], values: Sequence[Sequence]) -> None:
    """Insert many rows inside `writing()`."""
    names = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join("?" * len(columns))
    db.conn.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', [_plain(row) for row in values])


def update(db: sqlite_utils.Database, table: str, row_id: int, **columns) -> None:
    """Set columns of one row inside `writing()`. For what a workspace is set to, never for what somebody said."""
    sets = ", ".join(f'"{name}" = ?' for name in columns)
    db.conn.execute(f'UPDATE "{table}" SET {sets} WHERE id = ?', [*_plain(columns.values()), row_id])


def now() -> str:
    """The time in UTC as it is stored everywhere: 2026-11-30T12:00:00.123456Z."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def data_revision() -> int:
    """A number that grows with everything that is said, judged or brought in; for caches and file names."""
    return value(
        "SELECT (SELECT coalesce(max(id), 0) FROM reviews) + (SELECT coalesce(max(id), 0) FROM verdicts) "
        "+ (SELECT coalesce(max(id), 0) FROM adjudications) + (SELECT coalesce(sum(revision), 0) FROM cases)"
    )


def workspace_id() -> str:
    """The id that this workspace has had from its start."""
    return value("SELECT id FROM workspace")


def _plain(values) -> list:
    """Values as SQLite takes them. Half a surrogate pair (half an emoji) becomes a question mark."""
    texts = [json.dumps(v, ensure_ascii=False) if isinstance(v, dict | list | tuple) else v for v in values]
    return [v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for v in texts]


def _parsed(found: dict) -> dict:
    return {
        name.removesuffix("_json"): json.loads(value) if name.endswith("_json") and value is not None else value
        for name, value in found.items()
    }
