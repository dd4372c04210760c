"""A server of its own with a home of its own, and a browser page that talks to nothing else.

A page fails its test on an error in its scripts and on any request that leaves this machine.
"""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from data.store import connection
from tests.browser.chromium import chromium
from tests.conftest import load_sample

# Two browsers and two servers share two cores when the suite runs two files at a time.
expect.set_options(timeout=15_000)

ROOT = Path(__file__).resolve().parents[2]
_asked = itertools.count()
SCREENSHOTS = Path(__file__).parent / "screenshots"
_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


class App:
    """`streamlit run app.py` on a free port, with a workspace in `home`."""

    def __init__(self, home: Path, **environment: str):
        self.home, self.environment = home, environment
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = home.parent / f"{home.name}-server.log"
        self.process: subprocess.Popen | None = None

    def start(self) -> App:
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)],
                cwd=ROOT, env={**os.environ, "SECOND_LOOK_HOME": str(self.home), **self.environment},
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip
        for _ in range(240):
            if self.process.poll() is not None:
                pytest.fail(f"the server died:\n{self.log.read_text()}")
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1) as answer:
                    if answer.status == 200:
                        return self
            except OSError:
                time.sleep(0.1)
        pytest.fail("the server did not answer within 24 s")

    def kill(self) -> None:
        """As a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(15)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=_FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """The app on the sample workspace."""
    load_sample()
    connection.close()
    started = App(tmp_path / "home").start()
    yield started
    started.stop()


@pytest.fixture
def first_start(tmp_path: Path) -> Iterator[App]:
    """The app on an empty home: it loads the sample workspace by itself."""
    started = App(tmp_path / "home").start()
    yield started
    started.stop()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
    opened = context.new_page()
    opened.set_default_timeout(15_000)
    errors, strays = [], []
    opened.on("pageerror", lambda error: errors.append(str(error)))

    def only_here(route):
        if route.request.url.startswith(("http://127.0.0.1", "data:", "blob:")):
            route.continue_()
        else:
            strays.append(route.request.url)
            route.abort()

    context.route("**/*", only_here)
    yield opened
    context.close()
    assert not errors
    assert not strays, f"the page asked for something from outside: {strays}"


#: The page is idle: connected, no script running or asked for, and nothing on it that the last script left behind; and
#: that for a moment, since what a click sets off may not have been asked for yet.
_SETTLED = """(asked) => {
  const idle = "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
  const isIdle = document.querySelector(idle) && !document.querySelector("[data-stale=true]")
  if (!isIdle || window.settling?.asked !== asked) window.settling = { asked, since: performance.now() }
  return isIdle && performance.now() - window.settling.since > 200
}"""


def settled(page: Page) -> None:
    """Wait until the page is idle."""
    page.wait_for_function(_SETTLED, arg=next(_asked), timeout=30_000)


def enter(page: Page, app: App, name: str = "Cleo", path: str = "/") -> None:
    """Open the app and say who one is."""
    page.goto(app.url + path)
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text(f"Reviewing as {name}")).to_be_visible()
    settled(page)


def go(page: Page, title: str) -> None:
    """Click a page in the sidebar."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title).click()
    settled(page)


def painted(page: Page) -> str:
    """Wait for the desk to have a case on the screen; gives the case's name."""
    expect(page.locator(".desk")).to_have_count(1)  # while one desk gives way to another there are two for a moment
    expect(page.locator(".desk:not([data-painted=''])[data-painted]")).to_be_visible()
    return page.locator(".desk .case-name").inner_text()


def all_saved(page: Page) -> None:
    """Wait until the server holds everything that the desk sent."""
    expect(page.locator(".desk[data-waiting='0']")).to_be_attached()


def shoot(page: Page, name: str) -> None:
    """A screenshot to look at."""
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")
