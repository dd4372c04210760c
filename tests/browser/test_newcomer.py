"""A person who has never seen it: ten sample cases, some overridden, the accuracy moves, the table opens."""

import csv
import io
import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import App, all_saved, enter, go, painted, settled, shoot


def labelled_cases(page: Page) -> int:
    """How many cases the sentence on the Agreement page rests on."""
    sentence = page.get_by_text(re.compile(r"On \d+ blind, randomly drawn cases")).inner_text()
    return int(re.search(r"On (\d+) blind", sentence)[1])


def test_the_first_five_minutes(page: Page, first_start: App):
    app = first_start
    enter(page, app)
    expect(page.get_by_role("heading", name="What to do next")).to_be_visible()
    shoot(page, "overview")

    go(page, "Agreement")
    before = labelled_cases(page)
    expect(page.get_by_text("Agreement with people").first).to_be_visible()
    shoot(page, "agreement-before")

    go(page, "Review")
    seen, kept, revised = [], 0, 0
    for number in range(10):
        seen.append(painted(page))
        if number == 0:
            expect(page.get_by_text("The judge's verdict is hidden")).to_be_visible()
            shoot(page, "desk-blind")
        page.keyboard.press("b" if number % 3 == 0 else "u")
        expect(page.locator(".keep-row")).to_be_visible()  # saved, and the verdict is revealed
        if number == 0:
            shoot(page, "desk-revealed")
        if number % 4 == 1:
            page.keyboard.press("n")
            revised += 1
        else:
            page.keyboard.press("Enter")
            kept += 1
        expect(page.locator(".desk .case-name")).not_to_have_text(seen[-1])
    assert len(set(seen)) == 10
    all_saved(page)
    expect(page.locator(".desk .progress")).to_have_text("10 of 36")

    go(page, "Agreement")
    assert labelled_cases(page) > before, "new blind labels must widen what the figure rests on"
    shoot(page, "agreement-after")
    page.set_viewport_size({"width": 1920, "height": 1080})
    shoot(page, "agreement-1920")

    go(page, "Export")
    with page.expect_download() as download:
        page.locator(".st-key-export-reviews").get_by_role("button").click()
    content = download.value.path().read_bytes()
    assert content.startswith(b"\xef\xbb\xbf"), "a spreadsheet needs the BOM to read Chinese texts"
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    mine = [row for row in rows if row["reviewer"] == "Cleo"]
    assert len(mine) == 20, "ten first labels and ten final ones"
    assert [row["blind"] for row in mine[:2]] == ["1", "0"]
    assert sum(row["human_label"] == "unsure" for row in mine) == revised
    assert {row["case_id"] for row in mine} == set(seen)


def test_every_page_has_an_address_that_can_be_sent(page: Page, app: App):
    enter(page, app)
    page.goto(f"{app.url}/cases?dataset=1")
    settled(page)
    page.get_by_label("Search in prompts and ids").fill("blue cube")
    page.keyboard.press("Enter")
    settled(page)
    expect(page.get_by_text("6 cases", exact=True)).to_be_visible()
    expect(page.get_by_text("judged · 2 labels").first).to_be_visible()
    page.get_by_text("Show verdicts and labels").click()
    settled(page)
    expect(page.get_by_text("judge: usable 0.85 · people: usable, usable")).to_be_visible()
    shoot(page, "cases")
    page.get_by_role("link", name="Open").first.click()
    settled(page)
    expect(page.get_by_role("heading", name="What judges said")).to_be_visible()
    shoot(page, "case")
    address = page.url
    assert re.search(r"/case\?case=\d+", address)
    page.goto(address)
    settled(page)
    expect(page.get_by_role("heading", name="What judges said")).to_be_visible()
    expect(page.get_by_text("Reviewing as Cleo")).to_be_visible()
