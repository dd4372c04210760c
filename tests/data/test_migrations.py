"""A workspace is the same whether it is new or has grown through every version before."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from data.home import database_path
from data.store import connection
from data.store.migrations import MIGRATIONS
from tests.conftest import REPOSITORY

VERSIONS = [migration.name for migration in MIGRATIONS.pending(connection.open_database(":memory:"))]


def schema(db) -> list[tuple]:
    """Every table, index and view as SQLite keeps it, and every column."""
    made = db.conn.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchall()
    columns = [
        (name, *column)
        for kind, name, *_ in made
        if kind in ("table", "view")
        for column in db.conn.execute(f'PRAGMA table_info("{name}")')
    ]
    return made + columns


def fresh() -> list[tuple]:
    return schema(connection.database())


def test_a_new_workspace_has_its_tables_and_views():
    names = {name for kind, name, *_ in fresh() if kind in ("table", "view")}
    assert names >= {
        "datasets", "images", "cases", "parts", "judges", "runs", "run_cases", "rubrics", "replies", "verdicts", "items",
        "verdict_replies", "reviewers", "queue_draws", "reviews", "review_items", "adjudications",
        "standing_reviews", "first_reviews", "current_reviews", "current_adjudications",
    }  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_a_workspace_of_an_earlier_version_becomes_like_a_new_one(version):
    database_path().parent.mkdir(parents=True)
    old = connection.open_database(database_path())
    MIGRATIONS.apply(old, stop_before=version)
    old.conn.close()
    upgraded = fresh()
    connection.close()
    database_path().unlink()
    assert upgraded == fresh()


def test_an_upgrade_keeps_what_is_there():
    database_path().parent.mkdir(parents=True)
    old = connection.open_database(database_path())
    MIGRATIONS.apply(old, stop_before=VERSIONS[1])
    old.conn.execute("INSERT INTO datasets (name, created) VALUES ('shoes', '2026-01-01T00:00:00.000000Z')")
    old.conn.close()
    assert connection.rows("SELECT name FROM datasets") == [{"name": "shoes"}]


def test_opening_it_again_changes_nothing():
    before = fresh()
    connection.close()
    assert fresh() == before
    assert not MIGRATIONS.pending(connection.database())


def test_the_settings_that_the_store_relies_on_are_in_force():
    pragma = {name: connection.value(f"PRAGMA {name}") for name in ("journal_mode", "foreign_keys", "busy_timeout")}
    assert pragma == {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 30_000}


def test_several_processes_may_open_an_empty_home_at_once():
    code = "from data.store.connection import value; print(value('SELECT count(*) FROM reviews'))"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code], cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(5)
    ]
    ended = [process.communicate(timeout=60) for process in started]
    assert [out.strip() for out, _ in ended] == ["0"] * 5, [error for _, error in ended]


def test_a_write_that_fails_half_way_leaves_nothing():
    with pytest.raises(ZeroDivisionError), connection.writing() as db:
        connection.insert(db, "datasets", name="half", created=connection.now())
        raise ZeroDivisionError
    assert connection.rows("SELECT * FROM datasets") == []


def test_a_thread_whose_first_look_failed_migrates_at_the_next(home, monkeypatch):
    home.mkdir()
    with monkeypatch.context() as busy:
        busy.setattr(connection, "BUSY_SECONDS", 0.1)
        other = sqlite3.connect(home / "second_look.db", isolation_level=None)
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            connection.database()
        other.execute("COMMIT")
        other.close()
    assert connection.value("SELECT count(*) FROM datasets") == 0
