"""The one folder that holds a workspace. Copying it moves the workspace."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


def home() -> Path:
    """SECOND_LOOK_HOME, or data/local beside this file."""
    return Path(os.environ.get("SECOND_LOOK_HOME") or PROJECT / "data" / "local").expanduser().resolve()


def database_path() -> Path:
    return home() / "second_look.db"


def images_folder() -> Path:
    return home() / "images"


def thumbs_folder() -> Path:
    return home() / "thumbs"


def logs_folder() -> Path:
    return home() / "logs"
