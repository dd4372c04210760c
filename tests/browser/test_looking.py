"""Looking closely at the desk: zoom, swipe, video frames, going back, and that everybody can use it."""

import os
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from data.images import keep, kept_part
from data.store import cases as case_store
from data.store import connection
from data.store.connection import row, rows, value
from evaluators.case import Case, Part
from tests.browser.conftest import App, all_saved, enter, painted, settled, shoot
from tests.conftest import load_sample


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """One server for this file: the sample, one large picture, and one edit whose result is not a picture."""
    folder = tmp_path_factory.mktemp("looking") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECOND_LOOK_HOME", str(folder))
        load_sample()
        _add_cases()
        connection.close()
        started = App(folder).start()
    yield started
    started.stop()


@pytest.fixture(autouse=True)
def home(app: App, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SECOND_LOOK_HOME", str(app.home))
    yield app.home
    connection.close()


def _add_cases() -> None:
    noise = BytesIO()
    Image.frombytes("RGB", (2000, 750), os.urandom(2000 * 750 * 3)).save(noise, "PNG", compress_level=0)
    large = keep(noise.getvalue(), "large.png")
    gone = Part(kind="image", problem="This file is broken.", source="broken.png")
    shown = kept_part(large, "large.png")
    prompt = Part.of_text("make it blue")
    made = [Case("large", (prompt,), (shown,)), Case("broken", (prompt, shown), (gone,))]
    case_store.save_cases("Looking", made, [large])


def desk_on(page: Page, app: App, name: str, reviewer: str = "Lena", mode: str = "shown") -> None:
    """The desk, opened on one case of the sample; its runs have their datasets' numbers."""
    found = row("SELECT id, dataset_id FROM cases WHERE external_id = ?", [name])
    run = found["dataset_id"] if found["dataset_id"] < 7 else "none"
    path = f"/review?dataset={found['dataset_id']}&run={run}&mode={mode}&case={found['id']}"
    if page.url == "about:blank":
        enter(page, app, reviewer, path)
    else:
        page.goto(app.url + path)
        settled(page)
    assert painted(page) == name


def said_by(name: str) -> list[dict]:
    return rows(
        "SELECT r.*, c.external_id AS name FROM reviews r JOIN reviewers p ON p.id = r.reviewer_id "
        "JOIN cases c ON c.id = r.case_id WHERE p.name = ? ORDER BY r.id",
        [name],
    )


def result(page: Page) -> Locator:
    return page.locator(".results .pane")


def under(pane: Locator, x: float, y: float) -> tuple[float, float]:
    """Which point of a picture (0 to 1 each way, of its box) is under a point of the screen."""
    box = pane.bounding_box()
    return (x - box["x"]) / box["width"], (y - box["y"]) / box["height"]


def wheel_over(page: Page, pane: Locator, by: float, across: float = 0.3) -> tuple[float, float]:
    box = pane.bounding_box()
    x, y = box["x"] + box["width"] * across, box["y"] + box["height"] * 0.4
    page.mouse.move(x, y)
    page.mouse.wheel(0, by)
    return x, y


def transform(pane: Locator) -> str:
    return pane.evaluate("pane => pane.style.transform")


def test_the_wheel_zooms_around_the_pointer_and_drag_pans_all_pictures(page: Page, app: App):
    desk_on(page, app, "edit-01-aster")
    page.set_viewport_size({"width": 1280, "height": 420})  # the page could scroll now
    image, source = result(page), page.locator(".inputs .pane").first
    rest = image.bounding_box()
    x, y = rest["x"] + rest["width"] * 0.5 + 30, rest["y"] + rest["height"] * 0.4
    before = under(image, x, y)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -600)
    expect(page.locator(".stage.zoomed")).to_be_attached()
    assert image.bounding_box()["width"] > 2 * rest["width"]
    assert under(image, x, y) == pytest.approx(before, abs=0.003), "what is under the pointer stays under it"
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0, "the page does not scroll"
    assert "scale(2.29" in transform(image) and "scale(2.29" in transform(source), "the pictures move together"
    page.set_viewport_size({"width": 1280, "height": 720})
    before = image.bounding_box()
    page.mouse.down()
    page.mouse.move(x - 40, y - 25, steps=4)
    page.mouse.up()
    after = image.bounding_box()
    assert (after["x"] - before["x"], after["y"] - before["y"]) == pytest.approx((-40, -25), abs=1)
    page.mouse.move(x, y)
    assert image.bounding_box() == after, "let go is let go"
    shoot(page, "looking-zoomed")
    page.keyboard.press("0")
    assert transform(image) == transform(source) == ""


def test_one_alone_by_keys_and_by_two_fingers(page: Page, app: App):
    desk_on(page, app, "edit-01-aster")
    image, source = result(page), page.locator(".inputs .pane").first
    alone = page.get_by_role("button", name="One alone")
    expect(alone).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("t")
    expect(alone).to_have_attribute("aria-pressed", "true")
    wheel_over(page, image, -300)
    assert transform(image) and not transform(source)
    image.dblclick()
    assert not transform(image)
    alone.click()
    wheel_over(page, source, -300)
    assert transform(image) and transform(source)
    expect(alone).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("0")
    page.keyboard.press("+")
    page.keyboard.press("Shift+ArrowRight")
    assert "scale(1.25)" in transform(image) and not transform(image).startswith("translate(0px"), "by keys alone"
    page.keyboard.press("0")
    image.evaluate(
        """image => {
            const box = image.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2
            image.setPointerCapture = () => {}  // these pointers are made up
            const say = (type, pointerId, dx) => image.dispatchEvent(new PointerEvent(type, { pointerId, pointerType: "touch",
                button: type === "pointermove" ? -1 : 0, buttons: 1, bubbles: true, clientX: x + dx, clientY: y }))
            say("pointerdown", 11, -50); say("pointerdown", 12, 50)
            say("pointermove", 11, -100); say("pointermove", 12, 100)
            say("pointerup", 11, -100); say("pointerup", 12, 100)
        }"""
    )
    assert "scale(2)" in transform(image)


def test_a_next_case_begins_at_rest(page: Page, app: App):
    enter(page, app, "Rita", "/review?dataset=2&run=2&mode=shown")
    first = painted(page)
    wheel_over(page, result(page), -600)
    page.keyboard.press("u")
    expect(page.locator(".desk .case-name")).not_to_have_text(first)
    painted(page)
    assert not transform(result(page))
    expect(page.locator(".stage.zoomed")).to_have_count(0)
    expect(page.locator(".scale")).to_be_hidden()


def test_one_to_one_loads_the_original_in_place(page: Page, app: App):
    desk_on(page, app, "large")
    image = result(page)
    assert "/picture/screen/" in image.get_attribute("src")
    page.evaluate("window.lost = 0")
    image.evaluate(
        """image => { const look = () => { if (!image.complete || !image.naturalWidth) window.lost++
             requestAnimationFrame(look) }; look() }"""
    )
    page.keyboard.press("f")
    expect(image).to_have_attribute("src", re.compile("/picture/original/"))
    expect(image).to_have_js_property("naturalWidth", 2000)
    expect(page.locator(".scale")).to_have_text("100 %")
    assert image.bounding_box()["width"] == pytest.approx(2000, abs=1), "one pixel of the original per CSS pixel"
    assert page.evaluate("window.lost") == 0, "there was a picture in every frame"
    actual = page.get_by_role("button", name="1:1")
    expect(actual).to_have_attribute("aria-pressed", "true")
    shoot(page, "looking-actual")
    actual.click()
    expect(actual).to_have_attribute("aria-pressed", "false")
    assert not transform(image)


def test_swipe_lays_the_result_over_the_input(page: Page, app: App):
    desk_on(page, app, "edit-01-aster")
    page.keyboard.press("w")
    divider = page.get_by_role("slider", name="Divider: input 1 to the left of it, result to the right")
    expect(divider).to_be_focused()
    expect(page.get_by_role("button", name="Swipe")).to_have_attribute("aria-pressed", "true")
    below, above = page.locator(".swipe .under .pane"), page.locator(".swipe .over .pane")
    assert below.bounding_box() == above.bounding_box(), "both are fitted into the same box"
    expect(divider).to_have_value("50")
    page.keyboard.press("ArrowRight")
    expect(divider).to_have_value("51")
    box = divider.bounding_box()
    page.mouse.move(box["x"] + 14 + (box["width"] - 28) * 0.51, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    assert 26 <= int(divider.input_value()) <= 31
    assert not transform(above), "dragging the divider moves no picture"
    shoot(page, "looking-swipe")
    wheel_over(page, above, -400, across=0.7)
    assert transform(above) == transform(below) != ""
    shoot(page, "looking-swipe-zoomed")
    page.keyboard.press("w")
    expect(page.locator(".swipe")).to_have_count(0)
    expect(result(page)).to_be_visible()


def test_a_video_goes_frame_by_frame(page: Page, app: App):
    desk_on(page, app, "video-01-borage")
    video = page.locator("video.pane")
    expect(page.locator(".time")).to_have_text(re.compile(r"^[0-2]\.\d\d / [12]\.\d\d s$"))
    page.wait_for_function("video => video.frame.measured", arg=video.element_handle())
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    video.evaluate("video => { video.currentTime = 0.5 }")
    page.wait_for_function("video => !video.seeking", arg=video.element_handle())
    lasts = video.evaluate("video => video.frame.lasts")
    assert 1 / 60 < lasts < 1 / 5

    def at() -> float:
        page.wait_for_function("video => !video.seeking", arg=video.element_handle())
        page.wait_for_timeout(60)  # for the frame to be on the screen
        return video.evaluate("video => video.frame.middle")

    start = at()
    page.keyboard.press(".")
    assert at() - start == pytest.approx(lasts, rel=0.1)
    page.keyboard.press(".")
    assert at() - start == pytest.approx(2 * lasts, rel=0.1)
    page.keyboard.press(",")
    assert at() - start == pytest.approx(lasts, rel=0.1)
    assert video.evaluate("video => video.paused")
    page.get_by_role("button", name="One frame back").click()
    assert at() == pytest.approx(start, abs=lasts * 0.1)
    page.get_by_role("slider", name="Time in the video").fill("0.5")
    expect(page.locator(".time")).to_have_text(re.compile(r"^(0\.9|1\.0)"))
    shoot(page, "looking-video")
    wheel_over(page, video, -300)
    assert transform(video), "a video is looked at closely as a picture is"
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_a_broken_picture_stops_none_of_it(page: Page, app: App):
    desk_on(page, app, "broken", "Bruno")
    expect(page.get_by_text("This file is broken.")).to_be_visible()
    for key in (
        "f",
        "w",
        "t",
        "0",
        "+",
        "-",
        ",",
        ".",
        "Space",
        "[",
        "]",
        "ArrowDown",
        "ArrowRight",
        "Shift+ArrowUp",
        "1",
    ):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="Swipe")).to_be_hidden()
    box = page.locator(".missing").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.wheel(0, -200)
    expect(page.get_by_text("This file is broken.")).to_be_visible()
    page.keyboard.press("b")
    all_saved(page)
    assert [r["label"] for r in said_by("Bruno")] == ["badcase"]
    page.context.route(re.compile(r"/picture/original/.*\.webm"), lambda route: route.abort())
    desk_on(page, app, "video-01-borage")
    expect(page.get_by_text("This video could not be played.")).to_be_visible()
    for key in (",", ".", "Space", "f", "+"):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="One frame back")).to_be_hidden()
    page.keyboard.press("u")
    all_saved(page)
    assert [r["label"] for r in said_by("Bruno")] == ["badcase", "usable"]
    # An error in the page's scripts fails the test by itself.


def test_tags_have_letters(page: Page, app: App):
    desk_on(page, app, "t2i-01-aster", "Tess")
    count = page.get_by_role("button", name="wrong count", exact=True)
    expect(count.locator("kbd")).to_have_text("C")
    page.keyboard.press("Shift+C")
    page.keyboard.press("Shift+A")
    page.keyboard.press("Shift+A")
    page.keyboard.press("Shift+U")  # a label's letter is no label with Shift
    expect(count).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="missing object", exact=True)).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("m")
    page.keyboard.type("C is Curious")
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    all_saved(page)
    [said] = said_by("Tess")
    assert (said["label"], said["tags"], said["comment"]) == ("badcase", ["wrong_count"], "C is Curious")


def test_arrows_choose_and_change_what_the_judge_said(page: Page, app: App):
    desk_on(page, app, "t2i-01-aster", "Arno")
    rows_ = page.locator(".verdict .item")
    first, judge = rows_.nth(0), float(rows_.nth(0).locator("output").inner_text())
    page.keyboard.press("ArrowRight")  # nothing is chosen yet
    page.keyboard.press("ArrowDown")
    expect(first).to_have_attribute("aria-current", "true")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(first.locator("output")).to_have_text(f"{judge - 1:g}")
    page.keyboard.press("ArrowDown")
    expect(rows_.nth(1)).to_have_attribute("aria-current", "true")
    expect(first).not_to_have_attribute("aria-current", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    expect(first.locator("output")).to_have_text(f"{judge - 0.5:g}")
    first.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")  # a slider that has the focus moves by itself, once
    expect(first.locator("output")).to_have_text(f"{judge - 1:g}")
    desk_on(page, app, "video-01-borage")
    answers = page.locator(".answer")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    expect(answers.nth(2)).to_have_attribute("aria-current", "true")
    page.keyboard.press("ArrowLeft")
    expect(answers.nth(2).locator(".given")).to_have_text("a) left to right")
    page.keyboard.press("ArrowRight")
    expect(answers.nth(2).locator(".given")).to_have_text("b) right to left")
    shoot(page, "looking-items")


def test_going_back_shows_what_i_said_and_changes_nothing(page: Page, app: App):
    enter(page, app, "Bela", "/review?dataset=1&run=1&mode=shown")
    names = []
    for label, tag in (("u", None), ("b", "Shift+A"), ("b", "Shift+C")):
        names.append(painted(page))
        if tag:
            page.keyboard.press(tag)
        page.keyboard.press(label)
        expect(page.locator(".desk .case-name")).not_to_have_text(names[-1])
    open_case = painted(page)
    page.keyboard.press("m")
    page.keyboard.type("half a thought")
    page.keyboard.press("Escape")
    page.keyboard.press("[")
    page.keyboard.press("[")
    expect(page.locator(".case-name")).to_have_text(names[1])
    painted(page)
    expect(page.locator("button.badcase")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="missing object", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".comment")).to_have_value("")
    expect(page.get_by_text("Decision 2 of 3. Another label revises it.")).to_be_visible()
    shoot(page, "looking-back")
    page.keyboard.press("Shift+B")  # not said: no label follows
    page.keyboard.press("]")
    expect(page.locator(".case-name")).to_have_text(names[2])
    page.keyboard.press("[")
    painted(page)
    expect(page.get_by_role("button", name="wrong object", exact=True)).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("b")
    expect(page.get_by_text("You have said that already.")).to_be_visible()
    page.get_by_role("button", name="Forward to the next decision").click()
    page.keyboard.press("]")
    expect(page.locator(".case-name")).to_have_text(open_case)
    expect(page.locator(".comment")).to_have_value("half a thought")
    expect(page.get_by_role("button", name="Forward to the next decision")).to_be_disabled()
    all_saved(page)
    assert [r["label"] for r in said_by("Bela")] == ["usable", "badcase", "badcase"]

    page.keyboard.press("[")
    page.keyboard.press("[")
    page.keyboard.press("[")
    expect(page.locator(".case-name")).to_have_text(names[0])
    painted(page)
    page.keyboard.press("n")
    expect(page.locator("button.unsure")).to_have_attribute("aria-pressed", "true")
    assert painted(page) == names[0], "a revised case stays on the screen"
    page.keyboard.press("Enter")
    expect(page.locator(".case-name")).to_have_text(open_case)
    all_saved(page)
    assert [(r["name"], r["label"], r["blind"]) for r in said_by("Bela")][3:] == [(names[0], "unsure", 0)]
    page.keyboard.press("z")
    expect(page.locator(".case-name")).to_have_text(names[2])
    page.keyboard.press("z")
    expect(page.locator(".case-name")).to_have_text(names[1])
    page.keyboard.press("z")
    expect(page.locator(".case-name")).to_have_text(names[0])
    all_saved(page)
    assert (
        value("SELECT count(*) FROM current_reviews r JOIN reviewers p ON p.id = r.reviewer_id WHERE p.name = 'Bela'")
        == 0
    )


def test_going_back_from_a_revealed_verdict_returns_to_it(page: Page, app: App):
    enter(page, app, "Blanka", "/review?dataset=1&run=1&mode=reveal")
    first = painted(page)
    page.keyboard.press("u")
    expect(page.locator(".headline")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".case-name")).not_to_have_text(first)
    second = painted(page)
    page.keyboard.press("b")
    expect(page.locator(".headline")).to_be_visible()
    page.keyboard.press("[")
    expect(page.locator(".case-name")).to_have_text(first)
    painted(page)
    expect(page.locator(".headline")).to_be_visible()
    page.keyboard.press("b")
    page.keyboard.press("]")
    expect(page.locator(".case-name")).to_have_text(second)
    expect(page.get_by_text(re.compile("the judge say"))).to_be_visible()
    painted(page)
    page.keyboard.press("Enter")
    expect(page.locator(".case-name")).not_to_have_text(second)
    all_saved(page)
    expected = [
        (first, "usable", 1),
        (first, "usable", 0),
        (second, "badcase", 1),
        (first, "badcase", 0),
        (second, "badcase", 0),
    ]
    assert [(r["name"], r["label"], r["blind"]) for r in said_by("Blanka")] == expected


def test_a_button_under_the_mouse_does_not_take_the_keys(page: Page, app: App):
    enter(page, app, "Mika", "/review?dataset=5&run=5&mode=shown")
    first = painted(page)
    page.get_by_role("button", name="Usable").click()
    expect(page.locator(".case-name")).not_to_have_text(first)
    second = painted(page)
    page.keyboard.press("Space")
    page.get_by_role("button", name="Badcase").focus()
    page.keyboard.down("Enter")
    expect(page.locator(".case-name")).not_to_have_text(second)
    for _ in range(3):
        painted(page)
        page.keyboard.down("Enter")  # held
    page.keyboard.up("Enter")
    all_saved(page)
    assert [r["label"] for r in said_by("Mika")] == ["usable", "badcase"]


def test_the_list_of_keys_opens_and_the_focus_is_seen(page: Page, app: App):
    desk_on(page, app, "edit-01-aster")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_be_visible()
    assert {"U", "W", "T", "F", "[", "]", ",", ".", "Space", "Shift"} <= set(keys.locator("kbd").all_inner_texts())
    shoot(page, "looking-keys")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.get_by_role("button", name="One alone").focus()
    page.keyboard.press("Tab")
    actual = page.get_by_role("button", name="1:1")
    expect(actual).to_be_focused()
    assert actual.evaluate("button => getComputedStyle(button).outlineStyle") == "solid", "one sees where one is"


# Every text of the desk that is not alike its surroundings, and how it is drawn: the ratio of WCAG 2, with opacities.
CONTRAST = """() => {
    const host = [...document.querySelectorAll("*")].map((e) => e.shadowRoot?.querySelector(".desk")).find(Boolean)
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true })
    const rgba = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1)
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255] }
    const over = (top, below, opacity) => [0, 1, 2].map((i) => top[i] * top[3] * opacity + below[i] * (1 - top[3] * opacity))
    const lightness = (color) => { const [r, g, b] = color.map((c) => c / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b }
    const parents = (e) => { const all = []; for (; e; e = e.parentElement ?? e.getRootNode().host) all.unshift(e); return all }
    const low = []
    for (const e of host.querySelectorAll("*")) {
        const ownText = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())
        if (!ownText || !e.checkVisibility() || e.closest(":disabled")) continue
        let below = [255, 255, 255], opacity = 1
        for (const one of parents(e)) {
            const style = getComputedStyle(one)
            opacity *= Number(style.opacity)
            below = over(rgba(style.backgroundColor), below, 1)
        }
        const text = over(rgba(getComputedStyle(e).color), below, opacity)
        const [high, dark] = [lightness(text), lightness(below)].sort((a, b) => b - a)
        const ratio = (high + 0.05) / (dark + 0.05)
        if (ratio < 4.5) low.push(`${e.tagName}.${e.className} "${e.textContent.slice(0, 30)}" ${ratio.toFixed(2)}`)
    }
    return low
}"""


def too_faint(page: Page) -> set[str]:
    """Texts below 4.5 : 1 in either theme."""
    found = set()
    for scheme, text in (("dark", "rgb(232, 236, 242)"), ("light", "rgb(27, 36, 48)")):
        page.emulate_media(color_scheme=scheme)
        expect(page.locator(".desk")).to_have_css("color", text)
        found |= {f"{scheme}: {one}" for one in page.evaluate(CONTRAST)}
    return found


def test_every_text_can_be_read_and_every_button_has_a_name(page: Page, app: App):
    low = set()
    for name in ("edit-01-aster", "gecko-04-comfrey", "recall-02-borage"):
        desk_on(page, app, name, "Iris")
        for key in ("Shift+A", "ArrowDown", "ArrowRight", "?"):
            page.keyboard.press(key)
        low |= too_faint(page)
        page.keyboard.press("?")
    for label in "ubn":  # each label pressed, on a case gone back to
        page.keyboard.press(label)
        page.keyboard.press("[")
        expect(page.locator("[data-label][aria-pressed=true] kbd", has_text=label.upper())).to_be_visible()
        painted(page)
        low |= too_faint(page)
        page.keyboard.press("z")
        painted(page)
    assert not low
    buttons = page.locator(".desk button:visible, .desk input:visible")
    unnamed = buttons.evaluate_all(
        "all => all.filter((one) => !(one.ariaLabel || one.textContent).trim()).map((one) => one.outerHTML)"
    )
    assert not unnamed
    all_saved(page)  # the last label taken back is a row as well
    before = len(said_by("Iris"))
    page.get_by_role("button", name="Open the original of context 1").click()  # a small picture among the texts
    opened = page.get_by_role("dialog", name="Original picture")
    expect(opened).to_be_visible()
    page.keyboard.press("u")
    page.keyboard.press("Escape")
    expect(opened).to_be_hidden()
    all_saved(page)
    assert len(said_by("Iris")) == before, "keys are dead while it is open"
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".desk")).to_have_css("color", "rgb(232, 236, 242)")
    desk_on(page, app, "edit-01-aster")
    page.keyboard.press("w")
    shoot(page, "looking-dark")


def test_the_pictures_stay_large_at_every_size(page: Page, app: App):
    for name in ("edit-01-aster", "video-01-borage"):
        desk_on(page, app, name)
        for width, height in ((820, 1180), (1280, 720), (1920, 1080)):
            page.set_viewport_size({"width": width, "height": height})
            shoot(page, f"looking-{name[:3]}-{width}")
            stage, tools = page.locator(".stage").bounding_box(), page.locator(".tools").bounding_box()
            assert tools["height"] <= 32
            assert tools["x"] >= stage["x"] and tools["x"] + tools["width"] <= stage["x"] + stage["width"]
            assert result(page).bounding_box()["height"] >= stage["height"] * 0.4
            assert page.locator(".prompt").bounding_box()["height"] > 10
            labels = page.locator("button.usable").bounding_box()
            assert labels["y"] + labels["height"] <= height, "the labels are within reach"
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    for seen in (".answer", ".tags button"):
        expect(page.locator(seen).first).to_be_visible()
