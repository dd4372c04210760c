"""Writes that are committed together: each has its own outcome, all of them are kept or tried again."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest

from data.store import batches, connection
from data.store.batches import Batches
from data.store.connection import database, insert, value, writing


def add(name: str) -> int:
    with writing() as db:
        return insert(db, "datasets", name=name, created=connection.now())


def add_and_fail(name: str) -> None:
    with writing() as db:
        insert(db, "datasets", name=name, created=connection.now())
        raise ValueError(f"not {name}")


def written(*writes: tuple) -> list:
    """The outcomes of writes that come at once."""

    async def main() -> list:
        store = Batches()
        try:
            return await asyncio.gather(*(store.write(*write) for write in writes), return_exceptions=True)
        finally:
            await store.close()

    return asyncio.run(main())


def names() -> set[str]:
    return {row[0] for row in database().conn.execute("SELECT name FROM datasets")}


def test_many_writes_share_a_few_commits():
    commits = []
    database()  # the store is there before it is watched
    with pytest.MonkeyPatch.context() as patch:
        real = Batches._commit
        patch.setattr(Batches, "_commit", lambda self, batch: commits.append(len(batch)) or real(self, batch))
        ids = written(*((add, f"d{n}") for n in range(100)))
    assert len(set(ids)) == 100
    assert sum(commits) == 100
    assert len(commits) <= 3


def test_one_that_fails_fails_alone():
    first, failed, last = written((add, "a"), (add_and_fail, "b"), (add, "c"))
    assert isinstance(failed, ValueError)
    assert isinstance(first, int) and isinstance(last, int)
    assert names() == {"a", "c"}


def test_a_value_that_the_store_does_not_take_fails_alone():
    outcomes = written((add, "a"), (add, "a"), (add, "b"))
    assert isinstance(outcomes[1], sqlite3.IntegrityError)
    assert names() == {"a", "b"}


def test_a_store_that_is_full_is_tried_again_as_a_whole(monkeypatch):
    monkeypatch.setattr(batches, "_PAUSE", 0.01)
    tries = []

    def full_twice(name: str) -> int:
        tries.append(name)
        if len(tries) <= 2:
            with writing() as db:
                db.conn.execute(f"PRAGMA max_page_count = {value('PRAGMA page_count')}")
                db.conn.execute("CREATE TABLE big (x)")
                db.conn.execute("INSERT INTO big VALUES (zeroblob(1000000))")
        database().conn.execute("PRAGMA max_page_count = 1000000")
        return add(name)

    one, two = written((add, "a"), (full_twice, "b"))
    assert isinstance(one, int) and isinstance(two, int)
    assert len(tries) == 3
    assert names() == {"a", "b"}


def test_a_mistake_in_a_statement_is_no_reason_to_wait():
    def wrong() -> None:
        database().conn.execute("SELECT * FROM no_such_table")

    [outcome] = written((wrong,))
    assert isinstance(outcome, sqlite3.OperationalError)


def test_a_part_of_a_transaction_fails_without_the_rest():
    with writing():
        add("kept")
        with pytest.raises(ValueError, match="not lost"):
            add_and_fail("lost")
        add("also kept")
    assert names() == {"kept", "also kept"}


def test_a_part_is_kept_only_with_the_whole():
    with pytest.raises(RuntimeError), writing():
        add("part")
        raise RuntimeError("the whole fails")
    assert names() == set()
