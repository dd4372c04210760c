"""A person's own pictures: dropped with a table of prompts, judged by a real endpoint, looked at, overridden."""

import csv
import io

from playwright.sync_api import Page, expect

from tests.browser.conftest import App, all_saved, enter, go, painted, settled, shoot
from tests.chat_server import ChatServer, by_aspect, scores
from tests.conftest import png


def choose(page: Page, label: str, option: str) -> None:
    """Pick an entry of a select box."""
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option).click()
    settled(page)


def drop(page: Page, box: str, *files: tuple[str, str, bytes]) -> None:
    """Drop files (name, media type, content) on an upload box, and wait until they have arrived: until then the page
    grows under the mouse, and a click on what stands below is lost."""
    page.locator(f".st-key-{box} input[type=file]").set_input_files(
        [{"name": name, "mimeType": kind, "buffer": content} for name, kind, content in files]
    )
    for name, _kind, _content in files:
        expect(page.get_by_role("button", name=f"Remove {name}")).to_be_visible()
    settled(page)


def test_two_pictures_from_upload_to_override(page: Page, app: App):
    enter(page, app)
    with ChatServer(answers=by_aspect(scores(8, reasoning="看起来对。"), scores(7, 9)), model="tester") as judge:
        go(page, "Judges")
        choose(page, "Start from", "another OpenAI-compatible endpoint")
        expect(page.get_by_label("Base URL")).to_have_value("")  # the preset's own form is there
        page.get_by_label("Name", exact=True).fill("House judge")
        page.get_by_label("Model", exact=True).fill("tester")
        page.get_by_label("Base URL").fill(judge.url)
        page.get_by_role("button", name="Save judge").click()
        settled(page)
        page.get_by_role("button", name="Send it one small picture").click()
        expect(page.get_by_text("The judge answers.")).to_be_visible()
        shoot(page, "judges")

        go(page, "Cases")
        page.get_by_role("tab", name="Add many").click()
        page.locator(".st-key-many-new-dataset input").fill("红色方块")
        page.keyboard.press("Tab")
        settled(page)
        drop(page, "many-pictures-0", *((f"{c}.png", "image/png", png(c, (64, 48))) for c in ("red", "blue")))
        table = "case_id,prompt,result_image\nred,一个红色的方块,red.png\nblue,a blue square,blue.png\nlost,a green one,green.png\n"
        drop(page, "many-table-0", ("prompts.csv", "text/csv", table.encode()))
        expect(page.get_by_text("3 rows: 3 cases, 1 rows with something wrong, 0 rejected.")).to_be_visible()
        shoot(page, "add-many")
        page.get_by_role("button", name="Save 3 cases").click()
        expect(page.get_by_text("红色方块: 3 new")).to_be_visible()

        go(page, "Runs")
        choose(page, "Dataset", "红色方块 (3 cases)")
        choose(page, "Judge", "House judge")
        expect(page.get_by_text("2 of 3 cases fit the metric. It will make 4 calls.")).to_be_visible()
        shoot(page, "run-start")
        page.get_by_role("button", name="Start", exact=True).click()
        expect(page.get_by_text("3 of 3 cases")).to_be_visible(timeout=30_000)
        expect(page.get_by_text("is done.")).to_be_visible()
        expect(page.get_by_text("2 of 3", exact=True)).to_be_visible()
        shoot(page, "run-done")
        assert judge.replies == 5, "one for the test of the judge, two for each case that fits"

    page.get_by_role("link", name="Review beside this run").click()
    settled(page)
    choose(page, "The verdict is", "Verdict shown")
    expect(page.locator(".desk[data-mode=shown]")).to_be_visible()
    names = set()
    for _ in range(3):
        name = painted(page)
        names.add(name)
        if name == "red":
            expect(page.get_by_text("看起来对。")).to_be_visible()
            expect(page.locator(".headline .score")).to_have_text("0.75")
            slider = page.get_by_label("follows the prompt")
            slider.fill("2")
            expect(page.locator(".corrected")).to_have_text("corrected: 0.37 badcase")
            page.get_by_role("button", name="wrong attribute").click()
            page.keyboard.press("m")
            page.keyboard.type("it is orange, not red")
            page.keyboard.press("Escape")
            shoot(page, "desk-corrected")
        if name == "lost":
            expect(page.locator(".stage").get_by_text("no picture named green.png")).to_be_visible()
            shoot(page, "desk-missing")
        page.keyboard.press("b")
        if len(names) < 3:
            expect(page.locator(".desk .case-name")).not_to_have_text(name)
    expect(page.get_by_text("You have looked at every case here")).to_be_visible()
    all_saved(page)
    assert names == {"red", "blue", "lost"}

    go(page, "Export")
    with page.expect_download() as download:
        page.locator(".st-key-export-reviews").get_by_role("button").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    red = next(row for row in rows if row["case_id"] == "red")
    assert (red["human_label"], red["blind"], red["human_item:SC.prompt_following"]) == ("badcase", "0", "2.0")
    assert (red["comment"], red["tags"]) == ("it is orange, not red", "wrong_attribute")


def test_one_case_by_hand(page: Page, app: App):
    enter(page, app)
    go(page, "Cases")
    page.get_by_role("tab", name="Add one").click()
    page.locator(".st-key-one-new-dataset input").fill("by hand")
    page.get_by_label("Prompt", exact=True).fill("make the square red")
    page.keyboard.press("Tab")
    settled(page)
    drop(page, "one-inputs-0", ("before.png", "image/png", png("blue")))
    drop(page, "one-result-0", ("after.png", "image/png", png("red")))
    page.get_by_role("button", name="Save case").click()
    expect(page.get_by_text("by hand: 1 new")).to_be_visible()
    shoot(page, "add-one-saved")
    page.get_by_role("link", name="Open the case").click()
    settled(page)
    expect(page.get_by_alt_text("input", exact=True)).to_be_visible()
    expect(page.get_by_alt_text("result")).to_have_js_property("naturalWidth", 8)


def test_a_picture_from_the_clipboard(page: Page, app: App):
    enter(page, app)
    go(page, "Cases")
    page.get_by_role("tab", name="Add one").click()
    page.locator(".st-key-one-new-dataset input").fill("pasted")
    page.get_by_label("Prompt", exact=True).fill("a red square")
    page.keyboard.press("Tab")
    settled(page)
    box = page.get_by_role("button", name="paste the result")
    expect(box).to_be_visible()
    box.evaluate(
        """(box, bytes) => {
            const clipboard = new DataTransfer()
            clipboard.items.add(new File([new Uint8Array(bytes)], "image.png", { type: "image/png" }))
            box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: clipboard, bubbles: true }))
        }""",
        list(png("red")),
    )
    expect(box.get_by_role("img")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Save case").click()
    expect(page.get_by_text("pasted: 1 new")).to_be_visible()


def test_links_labels_and_verdicts_of_one_table(page: Page, app: App):
    """Links are fetched behind the page, which goes on saying what was saved; a refused one never holds up a review."""
    enter(page, app, path="/cases")
    page.get_by_role("tab", name="Add many").click()
    page.locator(".st-key-many-new-dataset input").fill("杯子")
    page.keyboard.press("Tab")
    settled(page)
    rows = [f"c{i},杯子 {i},http://127.0.0.1:9/{i}.png,{i % 2},{'usable' if i % 3 else 'badcase'}" for i in range(6)]
    table = "\n".join(["case_id,prompt,result_image,gpt.score,Ann", *rows])
    drop(page, "many-table-0", ("cups.csv", "text/csv", table.encode()))
    page.get_by_role("button", name="Save 6 cases, 6 verdicts, 6 labels").click()
    saved = page.get_by_text("Saved.", exact=True)
    expect(saved).to_be_visible()
    expect(page.get_by_text("6 links gave no picture")).to_be_visible(timeout=30_000)
    settled(page)
    expect(saved).to_be_visible()
    shoot(page, "links")
    page.get_by_role("link", name="Review it").click()
    assert painted(page).startswith("c")
    expect(page.get_by_text("is not a public address").first).to_be_visible()
    page.keyboard.press("u")
    all_saved(page)
