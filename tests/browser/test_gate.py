"""A cold server lets nobody past the door."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT, App

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


def test_a_deep_link_on_a_cold_server_asks_who_is_there(page: Page, app: App):
    for name in PAGES:
        page.goto(f"{app.url}/{'' if name == 'overview' else name}?case=1")
        expect(page.get_by_label("Your name")).to_be_visible()
        expect(page.get_by_test_id("stMain").get_by_role("heading")).to_have_count(1)


def test_a_picture_without_a_signature_is_refused(page: Page, app: App):
    sha = next((app.home / "images").rglob("*.png")).name
    assert page.request.get(f"{app.url}/picture/original/{sha}").status == 403
    assert page.request.get(f"{app.url}/picture/original/..%2f..%2fsecond_look.db?s=1").status in (400, 403, 404)
