"""Nothing is lost: a cut connection, a server that comes back with a newer schema, two people who share the cases."""

from __future__ import annotations

import sqlite3
import time

from playwright.sync_api import Browser, Page, expect

from data.store import connection
from data.store.connection import rows, value
from data.store.migrations import MIGRATIONS
from data.store.review_settings import set_review_settings
from tests.browser.conftest import App, all_saved, enter, painted, settled, shoot
from tests.browser.wire import Wire

CUT_SECONDS = 30
NEWEST = [migration.name for migration in MIGRATIONS.pending(connection.open_database(":memory:"))][-1]


def labels_of(name: str) -> list[dict]:
    return rows(
        "SELECT r.*, c.external_id FROM reviews r JOIN reviewers p ON p.id = r.reviewer_id JOIN cases c ON c.id = r.case_id "
        "WHERE p.name = ? ORDER BY r.id",
        [name],
    )


def decide(page: Page, key: str) -> str:
    """Decide on the case that is on the screen; gives its name."""
    name = painted(page)
    page.keyboard.press(key)
    expect(page.locator(".desk .case-name")).not_to_have_text(name)
    return name


def test_labelling_goes_on_while_the_connection_is_cut(page: Page, app: App):
    wire = Wire(app.port)
    try:
        page.goto(f"{wire.url}/review?dataset=1&run=1&mode=shown")
        page.get_by_label("Your name").fill("Cleo")
        page.get_by_role("button", name="Start").click()
        settled(page)
        names = [decide(page, "u")]
        all_saved(page)
        wire.cut()
        until = time.monotonic() + CUT_SECONDS
        names += [decide(page, key) for key in ("b", "u", "b", "b")]
        expect(page.get_by_text("4 on the way to the server, kept in this browser")).to_be_visible()
        assert len(labels_of("Cleo")) == 1
        shoot(page, "desk-offline")
        page.wait_for_timeout(max(0.0, until - time.monotonic()) * 1000)
        wire.mend()
        expect(page.locator(".desk[data-waiting='0']")).to_be_attached(timeout=40_000)
    finally:
        wire.close()
    said = labels_of("Cleo")
    assert [r["external_id"] for r in said] == names
    assert [r["label"] for r in said] == ["usable", "badcase", "usable", "badcase", "badcase"]


def test_labels_arrive_at_a_server_that_came_back_with_a_newer_schema(page: Page, app: App):
    enter(page, app, path="/review?dataset=1&run=1&mode=shown")
    first = decide(page, "u")
    all_saved(page)
    app.kill()
    second = decide(page, "b")
    _forget_newest_migration()
    connection.close()
    app.start()
    expect(page.locator(".desk[data-waiting='0']")).to_be_attached(timeout=40_000)
    assert [(r["external_id"], r["label"]) for r in labels_of("Cleo")] == [(first, "usable"), (second, "badcase")]
    with sqlite3.connect(app.home / "second_look.db") as after:
        assert after.execute("SELECT count(*) FROM _sqlite_migrations WHERE name = ?", [NEWEST]).fetchone() == (1,)


def _forget_newest_migration() -> None:
    """The database as the version before this one left it."""
    before = connection.open_database(":memory:")
    MIGRATIONS.apply(before, stop_before=NEWEST)
    with connection.writing() as db:
        for kind in ("trigger", "index", "table"):
            for (name,) in db.conn.execute(
                "SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite_%'", [kind]
            ).fetchall():  # fmt: skip
                if not before.conn.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [name]).fetchone():
                    db.conn.execute(f"DROP {kind} {name}")
        for (table,) in before.conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [
                {row[1] for row in one.execute(f"PRAGMA table_xinfo({table})")} for one in (db.conn, before.conn)
            ]
            for column in columns[0] - columns[1]:
                db.conn.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        db.conn.execute("DELETE FROM _sqlite_migrations WHERE name = ?", [NEWEST])


def test_two_people_who_share_a_dataset_are_never_shown_the_same_case(browser: Browser, page: Page, app: App):
    app_home_settings()
    enter(page, app, path="/review?dataset=1&run=1&mode=shown")
    other_context = browser.new_context(viewport={"width": 1280, "height": 720})
    other = other_context.new_page()
    enter(other, app, name="Ben", path="/review?dataset=1&run=1&mode=shown")
    mine, theirs = [], []
    for _ in range(6):
        mine.append(decide(page, "u"))
        theirs.append(decide(other, "b"))
    all_saved(page)
    all_saved(other)
    other_context.close()
    assert not set(mine) & set(theirs)
    assert len(labels_of("Cleo")) == len(labels_of("Ben")) == 6


def app_home_settings() -> None:
    """One label a case from now on, on top of what the sample's reviewers said."""
    set_review_settings(1, None, 3)


def test_a_lead_decides_conflicts_with_the_same_keys_and_the_reason_is_kept(page: Page, app: App):
    enter(page, app, name="Lee", path="/review?dataset=1&run=1&mode=adjudicate")
    name = painted(page)
    expect(page.locator(".people")).to_contain_text("Ada")
    expect(page.locator(".people")).to_contain_text("badcase")
    expect(page.locator(".people")).to_contain_text("usable")
    expect(page.locator(".headline")).to_be_visible()
    expect(page.get_by_role("button", name="Unsure")).to_be_hidden()
    shoot(page, "desk-adjudicate")
    page.keyboard.press("m")
    page.keyboard.type("the cube is cut off")
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    expect(page.locator(".desk .case-name")).not_to_have_text(name)
    all_saved(page)
    [decision] = rows("SELECT a.*, c.external_id FROM adjudications a JOIN cases c ON c.id = a.case_id")
    assert (decision["external_id"], decision["label"], decision["reason"]) == (name, "badcase", "the cube is cut off")
    assert labels_of("Lee") == []


def test_an_unsaved_label_stays_a_label_whatever_desk_sends_it(page: Page, app: App):
    """Given on the ordinary desk, sent by the one that adjudicates: it must not become the decision of a lead."""
    enter(page, app, path="/review?dataset=1&run=1&mode=shown")
    painted(page)
    app.kill()
    name = decide(page, "b")
    app.start()
    page.goto(app.url + "/review?dataset=1&run=1&mode=adjudicate")
    settled(page)
    all_saved(page)
    expect(page.get_by_text("all saved")).to_be_visible()
    assert [(r["external_id"], r["label"]) for r in labels_of("Cleo")] == [(name, "badcase")]
    assert value("SELECT count(*) FROM adjudications") == 0
