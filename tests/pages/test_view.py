"""What the views of the Agreement page share: reports are kept until anything changes."""

from __future__ import annotations

import threading

from data.store import connection, reviews
from data.store.agreement import Basis, counts
from data.store.changes import state
from data.store.connection import writing
from pages.parts.agreement.view import cached
from tests.data.test_groups import filled, labelled
from tests.data.test_queues import judged

asked: list[tuple] = []


def report(basis: Basis, by: str, claim: float = 0.5) -> dict:
    asked.append((basis, by, claim))
    return {"counts": counts(basis), "by": by, "claim": claim}


def test_a_report_is_computed_once_until_something_changes(home):
    asked.clear()
    run = judged(filled("shoes", [{}, {}]), {1: 0.9, 2: 0.1})
    basis = Basis(run, 0.5)
    assert cached(report, basis, "tag")["counts"]["tn"] == 0
    cached(report, basis, "tag")["counts"]["tn"] = 99  # a copy
    assert cached(report, basis, "tag")["counts"]["tn"] == 0 and len(asked) == 1
    cached(report, basis, "flag"), cached(report, basis, "tag", claim=0.9), cached(report, Basis(run, 0.6), "tag")
    assert len(asked) == 4
    labelled(1, {1: "usable"})
    assert cached(report, basis, "tag")["counts"]["tn"] == 1


def test_no_change_is_missed_whoever_makes_it(home):
    dataset = filled("shoes", [{"tags": ("red",)}])
    for change in (
        lambda: reviews.reviewer_named("Ada"),
        lambda: _execute("UPDATE cases SET tags_json = '[]'"),
        lambda: _execute("UPDATE cases SET generator = 'aster', split = 'tuning'"),
        lambda: _execute("UPDATE datasets SET overlap = 2"),
        lambda: judged(dataset, {1: 0.9}),
        lambda: _elsewhere("UPDATE cases SET generator = 'borage'"),
    ):
        before = state()
        assert state() == before
        change()
        assert state() != before


def test_another_workspace_is_another_one(home, monkeypatch, tmp_path):
    first = state()
    monkeypatch.setenv("SECOND_LOOK_HOME", str(tmp_path / "second"))
    assert state() != first
    monkeypatch.setenv("SECOND_LOOK_HOME", str(home))
    assert state() != first  # it may have changed while nobody watched


def _execute(sql: str) -> None:
    with writing() as db:
        db.conn.execute(sql)


def _elsewhere(sql: str) -> None:
    """The same by another thread, which has a connection of its own."""

    def run() -> None:
        _execute(sql)
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
