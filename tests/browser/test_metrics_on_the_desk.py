"""Every metric on the desk: its pictures, its items, one key to change an answer, the corrected score at once."""

import random

import pytest
from playwright.sync_api import Page, expect

from data.store.connection import row, rows
from evaluators.metrics import METRICS
from evaluators.verdict import Item
from tests.browser.conftest import ROOT, App, all_saved, enter, painted, settled, shoot

#: Dataset and run of each sample set.
SETS = {
    "text_to_image": 1,
    "image_editing": 2,
    "image_text_match": 3,
    "gecko_image": 4,
    "gecko_video": 5,
    "contextual_recall": 6,
}


def test_every_metric_blind_and_revealed(page: Page, app: App):
    enter(page, app)
    for name, number in SETS.items():
        page.goto(f"{app.url}/review?dataset={number}&run={number}&mode=reveal")
        settled(page)
        painted(page)
        expect(page.get_by_text("The judge's verdict is hidden: label first.")).to_be_visible()
        shoot(page, f"metric-{name}-blind")
        page.keyboard.press("u")
        expect(page.locator(".keep-row")).to_be_visible()
        expect(page.locator(".headline")).to_be_visible()
        shoot(page, f"metric-{name}-revealed")
        page.keyboard.press("Enter")
        all_saved(page)


def open_case(page: Page, app: App, name: str) -> None:
    """The desk on one case, verdict shown."""
    found = row("SELECT id, dataset_id FROM cases WHERE external_id = ?", [name])
    page.goto(f"{app.url}/review?dataset={found['dataset_id']}&run={found['dataset_id']}&mode=shown&case={found['id']}")
    settled(page)
    assert painted(page) == name


def test_a_question_is_flipped_by_its_key_and_the_score_moves(page: Page, app: App):
    enter(page, app)
    open_case(page, app, "gecko-01-aster")
    expect(page.locator(".headline .score")).to_have_text("1.00")
    page.keyboard.press("3")
    expect(page.locator(".corrected")).to_have_text("corrected: 0.75 usable")
    page.locator(".answer").nth(0).click()
    expect(page.locator(".corrected")).to_have_text("corrected: 0.50 usable")
    page.keyboard.press("4")
    expect(page.locator(".corrected")).to_have_text("corrected: 0.25 badcase")
    page.keyboard.press("4")
    expect(page.locator(".corrected")).to_have_text("corrected: 0.50 usable")
    page.keyboard.press("b")
    all_saved(page)
    said = rows(
        "SELECT i.answer, r.score FROM review_items i JOIN reviews r ON r.id = i.review_id "
        "JOIN reviewers p ON p.id = r.reviewer_id WHERE p.name = 'Cleo'"
    )
    assert [(r["answer"], r["score"]) for r in said] == [("no", 0.5), ("no", 0.5)]


def test_a_missing_answer_is_shown_as_missing_and_can_be_given(page: Page, app: App):
    enter(page, app)
    open_case(page, app, "gecko-04-comfrey")
    missing = page.locator(".answer", has_text="missing")
    expect(missing).to_have_count(1)
    expect(missing.locator(".mark")).to_have_text("?")
    missing.click()
    expect(page.locator(".corrected")).to_have_text("corrected: 0.71 usable")


def test_a_contradiction_makes_a_match_a_badcase(page: Page, app: App):
    enter(page, app)
    open_case(page, app, "match-02-aster")
    expect(page.get_by_text("The judge's stated score does not follow from what it listed.")).to_be_visible()
    page.keyboard.press("5")
    expect(page.locator(".corrected")).to_have_text("corrected: 0.00 badcase")


def test_a_choice_goes_round_and_the_video_plays(page: Page, app: App):
    enter(page, app)
    open_case(page, app, "video-01-borage")
    expect(page.locator("video")).to_have_js_property("videoWidth", 320)
    third = page.locator(".answer[data-number='3']")
    expect(third.locator(".given")).to_have_text("b) right to left")
    for _ in range(3):
        page.keyboard.press("3")
    expect(third.locator(".given")).to_have_text("a) left to right")
    expect(page.locator(".corrected")).to_have_text("corrected: 1.00 usable")


def test_statements_stand_beside_their_context(page: Page, app: App):
    enter(page, app)
    open_case(page, app, "recall-02-borage")
    expect(page.locator(".answer").nth(0)).to_contain_text("(context 1)")
    picture = page.locator(".context .entry", has_text="context 1").locator("img")
    expect(picture).to_be_visible()
    assert picture.bounding_box()["height"] > 100
    page.keyboard.press("2")
    expect(page.locator(".corrected")).to_have_text("corrected: 1.00 usable")


def test_a_rubric_is_edited_and_an_older_verdict_says_so(page: Page, app: App):
    enter(page, app)
    case_id = row("SELECT id FROM cases WHERE external_id = 'gecko-01-aster'")["id"]
    page.goto(f"{app.url}/case?case={case_id}")
    settled(page)
    page.get_by_role("link", name="See or edit the rubric").click()
    settled(page)
    page.get_by_label("Question 3").fill("is there exactly one croissant?")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Save as the next version")).to_be_enabled()
    page.get_by_role("button", name="Save as the next version").click()
    expect(page.get_by_text("Version 2, by Cleo.")).to_be_visible()
    shoot(page, "rubric")
    open_case(page, app, "gecko-01-aster")
    expect(page.get_by_text("This verdict answered version 1 of the rubric; it is at version 2 now.")).to_be_visible()
    expect(page.locator(".answer").nth(2)).to_contain_text("is there a croissant?")


@pytest.mark.parametrize("name", ["gecko_image", "image_text_match", "contextual_recall"])
def test_the_desk_computes_shares_as_the_metric_does(page: Page, app: App, name: str):
    script, chance, metric = (ROOT / "pages/parts/desk/score.js").read_text(), random.Random(7), METRICS[name]
    page.goto(app.url)
    for _ in range(100):
        kind = {"gecko_image": "question", "image_text_match": "element", "contextual_recall": "statement"}[name]
        items = [
            Item(f"k{i}", kind, "", answer=chance.choice(["yes", "no", None]), expected="yes")
            for i in range(chance.randint(1, 7))
        ]
        if name == "image_text_match":
            items.append(Item("contradiction", "contradiction", "", answer=chance.choice(["yes", "no"]), expected="no"))
        verdict = {
            "items": [{"key": i.key, "kind": i.kind, "answer": i.answer, "expected": i.expected} for i in items],
            "score_rule": metric.score_rule,
        }
        score = page.evaluate(f"(verdict) => {{ {script}; return correctedScore(verdict, {{}}) }}", verdict)
        assert score == metric.score(items)
