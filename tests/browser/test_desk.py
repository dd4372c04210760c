"""The desk keeps its promises: no decision on what nobody saw, none lost, none twice, nothing shown as markup."""

import random
import time

import pytest
from playwright.sync_api import Page, expect

from data.sample.load import JUDGE
from data.sample.load import load as load_sample
from data.store import connection, reviews
from data.store import judges as judge_store
from data.store import runs as run_store
from data.store.connection import row, rows, value
from evaluators.metrics import METRICS
from evaluators.metrics.viescore import overall_score
from evaluators.verdict import Options, shown_score
from tests.browser.conftest import ROOT, App, all_saved, enter, painted, settled, shoot


def my_reviews() -> list[dict]:
    return rows(
        "SELECT r.* FROM reviews r JOIN reviewers p ON p.id = r.reviewer_id WHERE p.name = 'Cleo' ORDER BY r.id"
    )


@pytest.fixture
def desk(page: Page, app: App) -> Page:
    """The desk with the verdict shown: every decision goes straight on."""
    enter(page, app, path="/review?dataset=1&run=1&mode=shown")
    painted(page)
    return page


def test_a_held_key_decides_once(desk: Page):
    first = painted(desk)
    desk.keyboard.down("u")
    for _ in range(8):
        desk.keyboard.down("u")  # what the browser sends while a key is held
    desk.keyboard.up("u")
    expect(desk.locator(".desk .case-name")).not_to_have_text(first)
    all_saved(desk)
    assert len(my_reviews()) == 1


def test_keys_are_dead_while_typing_and_with_a_modifier(desk: Page):
    first = painted(desk)
    desk.keyboard.press("m")
    desk.keyboard.type("bubble")
    desk.keyboard.press("Escape")
    desk.keyboard.press("Control+u")
    desk.keyboard.press("Alt+b")
    assert painted(desk) == first
    assert desk.locator(".comment").input_value() == "bubble"
    assert not my_reviews()


def test_nothing_is_decided_before_the_picture_is_painted(page: Page, app: App):
    enter(page, app)
    held = []
    page.context.route("**/picture/**", lambda route: held.append(route))  # answered only when the test says so
    page.goto(app.url + "/review?dataset=1&run=1&mode=shown")
    settled(page)
    expect(page.locator(".desk .case-name")).not_to_be_empty()
    page.keyboard.press("u")
    expect(page.get_by_text("Not yet: the picture is not on the screen.")).to_be_visible()
    assert not my_reviews()
    while not page.locator(".desk[data-painted]:not([data-painted=''])").count():
        while held:
            held.pop().continue_()
        page.wait_for_timeout(50)
    page.keyboard.press("u")
    all_saved(page)
    expect(page.get_by_text("all saved")).to_be_visible()


def test_thirty_quick_decisions_are_thirty_reviews_in_order(desk: Page):
    names = []
    for number in range(30):
        names.append(painted(desk))
        desk.keyboard.press("b" if number % 2 else "u")
        if number < 29:
            expect(desk.locator(".desk .case-name")).not_to_have_text(names[-1])
    all_saved(desk)
    said = my_reviews()
    assert [r["label"] for r in said] == ["usable", "badcase"] * 15
    assert [value("SELECT external_id FROM cases WHERE id = ?", [r["case_id"]]) for r in said] == names
    assert all(r["basis"] == "random" and r["blind"] == 0 for r in said)


def test_undo_takes_back_and_shows_the_case_again(desk: Page):
    first = painted(desk)
    desk.keyboard.press("b")
    expect(desk.locator(".desk .case-name")).not_to_have_text(first)
    second = painted(desk)
    desk.keyboard.press("u")
    expect(desk.locator(".desk .case-name")).not_to_have_text(second)
    painted(desk)
    desk.keyboard.press("z")
    desk.keyboard.press("z")
    expect(desk.locator(".desk .case-name")).to_have_text(first)
    painted(desk)
    desk.keyboard.press("u")
    all_saved(desk)
    expect(desk.locator(".desk .case-name")).to_have_text(second)
    case_id = value("SELECT id FROM cases WHERE external_id = ?", [first])
    assert [r["label"] for r in my_reviews() if r["case_id"] == case_id] == ["badcase", None, "usable"], (
        "rows are only added"
    )
    reviewer = reviews.reviewer_named("Cleo")
    assert reviews.current_review(case_id, "overall", reviewer)["label"] == "usable"


def test_a_skipped_case_comes_back_at_the_end(desk: Page):
    first = painted(desk)
    desk.keyboard.press("s")
    expect(desk.locator(".desk .case-name")).not_to_have_text(first)
    for _ in range(35):
        name = painted(desk)
        assert name != first
        desk.keyboard.press("u")
        expect(desk.locator(".desk .case-name")).not_to_have_text(name)
    assert painted(desk) == first
    desk.keyboard.press("n")
    expect(desk.get_by_text("You have looked at every case here")).to_be_visible()
    shoot(desk, "desk-all-done")


def test_a_label_survives_the_death_of_the_server(page: Page, app: App):
    enter(page, app, path="/review?dataset=1&run=1&mode=shown")
    painted(page)
    app.kill()
    page.keyboard.press("b")
    expect(page.get_by_text("1 on the way to the server, kept in this browser")).to_be_visible()
    assert not my_reviews()
    app.start()
    expect(page.locator(".desk[data-waiting='0']")).to_be_attached(timeout=30_000)
    time.sleep(1)  # room for a second copy to arrive, if one were sent
    assert [r["label"] for r in my_reviews()] == ["badcase"]


def test_labels_in_a_closed_tab_arrive_when_it_is_opened_again(page: Page, app: App):
    enter(page, app, path="/review?dataset=1&run=1&mode=shown")
    painted(page)
    app.kill()
    for _ in range(2):
        name = painted(page)
        page.keyboard.press("u")
        expect(page.locator(".desk .case-name")).not_to_have_text(name)
    context = page.context
    page.close()
    app.start()
    again = context.new_page()
    again.goto(app.url + "/review?dataset=1&run=1&mode=shown")
    all_saved(again)
    painted(again)
    expect(again.get_by_text("all saved")).to_be_visible()
    assert [r["label"] for r in my_reviews()] == ["usable", "usable"]


def test_the_verdict_is_not_in_the_browser_before_the_label_is_committed(page: Page, app: App):
    frames = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    enter(page, app, path="/review?dataset=1&run=1&mode=reveal")
    painted(page)
    assert not any(b"Semantic consistency" in _bytes(frame) for frame in frames)
    page.keyboard.press("u")
    expect(page.locator(".keep-row")).to_be_visible()
    assert any(b"Semantic consistency" in _bytes(frame) for frame in frames)
    blind, *_ = my_reviews()
    assert blind["blind"] == 1
    page.keyboard.press("Enter")
    all_saved(page)
    assert [(r["label"], r["blind"]) for r in my_reviews()] == [("usable", 1), ("usable", 0)]


def test_a_label_given_after_seeing_the_verdict_is_never_blind(page: Page, app: App):
    enter(page, app, path="/review?dataset=1&run=1&mode=reveal")
    painted(page)
    page.keyboard.press("u")
    expect(page.locator(".keep-row")).to_be_visible()
    page.keyboard.press("z")
    painted(page)
    page.keyboard.press("b")
    all_saved(page)
    expect(page.locator(".desk .progress")).to_have_text("1 of 36")
    assert [(r["label"], r["blind"]) for r in my_reviews()] == [("usable", 1), (None, 0), ("badcase", 0)]
    counted = row("SELECT r.* FROM first_reviews r JOIN reviewers p ON p.id = r.reviewer_id WHERE p.name = 'Cleo'")
    assert counted["label"] == "usable", "a label taken back after the verdict was seen stays the first, blind one"


def test_no_detour_makes_a_label_blind_that_was_not(page: Page, app: App):
    enter(page, app, path="/review?dataset=1&run=1&mode=reveal")
    name = painted(page)
    case_id = value("SELECT id FROM cases WHERE external_id = ?", [name])
    page.keyboard.press("u")
    expect(page.locator(".keep-row")).to_be_visible()
    page.keyboard.press("z")
    all_saved(page)
    page.reload()
    settled(page)
    assert painted(page) == name, "the case is back, as if nobody had seen its verdict"
    page.keyboard.press("b")
    all_saved(page)
    assert [r["blind"] for r in my_reviews() if r["case_id"] == case_id] == [1, 0, 0]
    other = value("SELECT id FROM cases WHERE dataset_id = 1 AND id != ? ORDER BY id", [case_id])
    page.goto(f"{app.url}/case?case={other}")
    settled(page)
    page.get_by_role("link", name="Review this case").click()
    settled(page)
    painted(page)
    page.keyboard.press("u")
    all_saved(page)
    assert [r["blind"] for r in my_reviews() if r["case_id"] == other] == [0]


def test_a_case_that_the_run_has_not_judged_does_not_stop_the_desk(page: Page, app: App):
    judge, dataset = judge_store.judge_named(JUDGE), 1
    run_id = run_store.create_run(dataset, METRICS["text_to_image"], judge, Options(), limit=1)
    enter(page, app, path=f"/review?dataset=1&run={run_id}&mode=reveal")
    first = painted(page)
    expect(page.get_by_text("This run has no verdict on this case yet")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator(".desk .case-name")).not_to_have_text(first)
    all_saved(page)
    page.keyboard.press("z")
    expect(page.locator(".desk .case-name")).to_have_text(first)
    painted(page)
    page.keyboard.press("b")
    all_saved(page)
    assert [(r["label"], r["blind"]) for r in my_reviews() if r["label"]] == [("usable", 1), ("badcase", 1)]
    counted = row("SELECT r.* FROM first_reviews r JOIN reviewers p ON p.id = r.reviewer_id WHERE p.name = 'Cleo'")
    assert counted["label"] == "badcase", "no verdict was shown, so a slip taken back does not count"


def test_a_tab_keeps_its_name(page: Page, app: App):
    enter(page, app, name="Alice", path="/review?dataset=1&run=1&mode=shown")
    painted(page)
    other = page.context.new_page()
    other.goto(app.url)
    settled(other)
    other.get_by_role("button", name="Reviewing as Alice").click()
    other.get_by_role("button", name="I am somebody else").click()
    other.get_by_label("Your name").fill("Bob")
    other.get_by_role("button", name="Start").click()
    expect(other.get_by_text("Reviewing as Bob")).to_be_visible()
    settled(other)
    app.kill()
    page.bring_to_front()
    painted(page)
    page.keyboard.press("b")
    expect(page.locator(".desk[data-waiting='1']")).to_be_attached()
    app.start()
    expect(page.get_by_text("Reviewing as Alice")).to_be_visible()
    said = "SELECT p.name FROM reviews r JOIN reviewers p ON p.id = r.reviewer_id WHERE p.name IN ('Alice', 'Bob')"
    until = time.monotonic() + 30  # a desk that has only just come back has not sent what it keeps
    while not rows(said) and time.monotonic() < until:
        page.wait_for_timeout(200)
    all_saved(page)
    assert [r["name"] for r in rows(said)] == ["Alice"]


def test_a_review_that_cannot_be_kept_stops_no_other_and_is_said(page: Page, app: App):
    enter(page, app, path="/review?dataset=1&run=1&mode=shown")
    painted(page)
    page.evaluate(
        """([workspace, reviewer]) => {
            const entry = { kind: "review", reviewer, case_id: 2 ** 60, revision: 1, criterion: "overall", label: "usable",
                items: {}, tags: [], comment: "", blind: false, run_id: null, draw_id: null, dwell_ms: 1,
                token: "broken", place: 0, decided: "" }
            localStorage.setItem(`second-look/outbox/${workspace}/${reviewer}/broken`, JSON.stringify(entry))
        }""",
        [connection.workspace_id(), reviews.reviewer_named("Cleo")],
    )
    page.reload()
    settled(page)
    first = painted(page)
    expect(page.get_by_text("Not saved (usable, a case): There is no revision 1 of case")).to_be_visible(timeout=15_000)
    page.keyboard.press("u")
    expect(page.locator(".desk .case-name")).not_to_have_text(first)
    all_saved(page)
    assert len(my_reviews()) == 1
    page.reload()
    expect(page.get_by_text("Not saved (usable")).to_be_visible(timeout=15_000)  # it is kept until somebody has read it
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("Not saved")).to_have_count(0)
    page.reload()
    painted(page)
    expect(page.get_by_text("Not saved")).to_have_count(0)


def test_the_desk_computes_scores_as_the_metric_does(desk: Page):
    script = (ROOT / "pages/parts/desk/score.js").read_text()
    chance = random.Random(5)
    for _ in range(200):
        sc = [chance.randint(0, 20) / 2 for _ in range(chance.randint(1, 3))]
        pq = [chance.randint(0, 20) / 2 for _ in range(2)]
        items = [
            {"key": f"k{i}", "group": g, "value": v}
            for i, (g, v) in enumerate([("SC", v) for v in sc] + [("PQ", v) for v in pq])
        ]
        threshold = chance.choice([0.5, 0.7, round(overall_score(sc, pq), 2)])
        score, shown = desk.evaluate(
            f"([items, threshold]) => {{ {script}; const s = correctedScore({{items, score_rule: {{name: 'viescore'}}}}, {{}});"
            " return [s, shownScore(s, threshold)] }",
            [items, threshold],
        )
        assert score == overall_score(sc, pq)
        assert shown == shown_score(score, threshold)


HOSTILE = '<script>alert(1)</script> ![x](http://198.51.100.7/x.png) $x^2$ :red[x] <img src=x onerror="alert(2)">'


def test_text_of_people_and_models_is_shown_as_typed(page: Page, app: App):
    with connection.writing() as db:
        db.conn.execute("UPDATE cases SET prompt = ?, generator = ? WHERE dataset_id = 1", [HOSTILE, HOSTILE])
        db.conn.execute("UPDATE parts SET text = ? WHERE kind = 'text'", [HOSTILE])
        db.conn.execute("UPDATE verdicts SET reason = ?", [HOSTILE])
        db.conn.execute("UPDATE replies SET text = ?", [HOSTILE])
        db.conn.execute("UPDATE reviews SET comment = ?", [HOSTILE])
        db.conn.execute("UPDATE judges SET name = ?", [HOSTILE])
        db.conn.execute("UPDATE datasets SET name = ? WHERE id = 1", [HOSTILE])
        db.conn.execute("UPDATE reviewers SET name = ? WHERE name LIKE 'Ada%'", [HOSTILE])
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    enter(page, app, name="![me](//198.51.100.7/me.png)", path="/review?dataset=1&run=1&mode=shown")
    painted(page)
    expect(page.locator(".desk .prompt")).to_have_text(HOSTILE)
    expect(page.locator(".desk .reason")).to_have_text(HOSTILE)
    for path in (
        "/",
        "/cases",
        "/case?case=1",
        "/runs?dataset=1",
        "/agreement?dataset=1&view=apart",
        "/export?dataset=1",
        "/judges",
    ):
        page.goto(app.url + path)
        settled(page)
        expect(page.get_by_test_id("stMain").locator("h1, h2, h3").first).to_be_visible()
    page.goto(app.url + "/case?case=1")
    settled(page)
    expect(page.get_by_text(HOSTILE).first).to_be_visible()
    assert not dialogs
    # The page fixture fails the test if any of these asked for something from outside.


def test_a_case_without_any_verdict_can_be_labelled(page: Page, app: App):
    enter(page, app, path="/review?dataset=1&run=none")
    painted(page)
    expect(page.get_by_text("No run is chosen: your label will measure whatever judge comes.")).to_be_visible()
    page.keyboard.press("u")
    all_saved(page)
    expect(page.locator(".desk .progress")).to_have_text("1 of 36")
    assert my_reviews()[0]["blind"] == 1


def test_a_picture_whose_file_is_gone_leaves_the_form_usable(page: Page, tmp_path):
    load_sample()
    for picture in (tmp_path / "home" / "images").rglob("*.png"):
        picture.unlink()
    app = App(tmp_path / "home").start()
    try:
        enter(page, app, path="/review?dataset=2&run=2&mode=shown")
        painted(page)
        expect(page.get_by_text("its file is missing from the workspace").first).to_be_visible()
        shoot(page, "desk-file-gone")
        page.keyboard.press("u")
        all_saved(page)
        assert len(my_reviews()) == 1
        for path in ("/cases", "/case?case=1", "/agreement?view=apart"):
            page.goto(app.url + path)
            settled(page)
            expect(page.get_by_text("its file is missing from the workspace").first).to_be_visible()
    finally:
        app.stop()


def test_both_themes_and_both_sizes(page: Page, app: App):
    enter(page, app)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width, height in ((1280, 720), (1920, 1080)):
            page.set_viewport_size({"width": width, "height": height})
            for dataset in (1, 2):
                page.goto(f"{app.url}/review?dataset={dataset}&run={dataset}&mode=shown")
                settled(page)
                painted(page)
                shoot(page, f"desk-{dataset}-{scheme}-{width}")
                box = page.locator(".desk").bounding_box()
                assert box["y"] + box["height"] <= height, "the desk must end within the window"
                result = page.locator(".desk .results img").bounding_box()
                side = page.locator(".desk .side").bounding_box()
                assert result["width"] * result["height"] > side["width"] * side["height"], (
                    "the picture is the largest thing"
                )
            page.goto(f"{app.url}/agreement?dataset=1")
            settled(page)
            shoot(page, f"agreement-{scheme}-{width}")


def _bytes(frame: str | bytes) -> bytes:
    return frame.encode() if isinstance(frame, str) else frame
