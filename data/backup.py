"""A consistent copy of a workspace while people work, and a check of one."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from pathlib import Path

from data.home import database_path, home
from data.images import original_path
from data.store.connection import database, rows


def backup(destination: Path) -> dict[str, int]:
    """Copy the workspace into a new or empty folder; gives how many pictures were copied.

    The database goes first: a picture is always kept before a row names it, so every picture that the copied rows name
    is there to be copied. Smaller copies and logs are left out; they can be made again.

    :raises FileExistsError: if the folder holds something.
    """
    if destination.exists() and any(destination.iterdir()):
        raise FileExistsError(f"{destination} is not empty; name a new folder.")
    destination.mkdir(parents=True, exist_ok=True)
    copy = sqlite3.connect(destination / database_path().name)
    database().conn.backup(copy)
    named = copy.execute("SELECT sha256, extension FROM images").fetchall()
    copy.close()
    copied = 0
    for sha256, extension in named:
        original = original_path(sha256, extension)
        if original.exists():
            target = destination / original.relative_to(home())
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(original, target)
            copied += 1
    return {"pictures": copied, "missing": len(named) - copied}


def check() -> list[str]:
    """Everything that is wrong with the workspace, a sentence each; empty when nothing is. Reads all pictures."""
    problems = [
        f"The database is damaged: {text}"
        for (text,) in database().conn.execute("PRAGMA integrity_check")
        if text != "ok"
    ]
    problems += [
        f"A row of {found[0]} names a {found[2]} that is gone."
        for found in database().conn.execute("PRAGMA foreign_key_check")
    ]
    for picture in rows("SELECT sha256, extension FROM images"):
        path = original_path(picture["sha256"], picture["extension"])
        if not path.exists():
            problems.append(f"The picture {path.name} is missing.")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != picture["sha256"]:
            problems.append(f"The picture {path.name} has been changed: its content is not its name.")
    for run in rows(
        "SELECT r.id, (SELECT count(*) FROM run_cases c WHERE c.run_id = r.id) AS cases, "
        "(SELECT count(*) FROM verdicts v WHERE v.run_id = r.id) AS verdicts FROM runs r WHERE r.status = 'done'"
    ):
        if run["cases"] != run["verdicts"]:
            problems.append(f"Run {run['id']} is done but has {run['verdicts']} verdicts for {run['cases']} cases.")
    return problems
