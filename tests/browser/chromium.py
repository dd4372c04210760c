"""Where a Chromium for the browser tests is. Run by hand it says which, or exits with 1."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def chromium() -> str | None:
    """The path of a Chromium: CHROMIUM, one on the PATH, or Playwright's own; None if there is none."""
    named = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if named:
        return named
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if own and Path(own).exists() else None


if __name__ == "__main__":
    found = chromium()
    print(found or "no Chromium was found")
    sys.exit(0 if found else 1)
