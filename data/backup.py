"""A consistent copy of a workspace while people work, the way back from one, and a check of one.

A backup is a folder or a zip that holds what a workspace holds: `second_look.db` and `images/`. So a folder that
somebody copied by hand can be restored as well. Smaller copies and logs are left out; they can be made again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import sqlite_utils

from data.backup_source import BackupUnusable, opened_backup
from data.home import database_path, home
from data.images import original_path
from data.store import connection
from data.store.connection import database
from data.store.migrations import MIGRATIONS

#: How the names of folders begin that hold what is not whole yet.
_UNFINISHED = ".unfinished-"

__all__ = ["BackupUnusable", "backup", "check", "restore"]


def backup(destination: Path) -> dict[str, int]:
    """Copy the workspace into a new or empty folder, or into a new zip (a name that ends in .zip); gives how many
    pictures were copied, and how many are missing from the workspace.

    The database goes first: a picture is always kept before a row names it, so every picture that the copied rows name
    is there to be copied. The copy has its name only when it is whole.

    :raises FileExistsError: if there is something of that name already.
    """
    is_zip = destination.suffix.lower() == ".zip"
    if destination.exists() and (is_zip or not destination.is_dir()):
        raise FileExistsError(f"{destination} is there already; name a new file.")
    if destination.is_dir() and any(destination.iterdir()):
        raise FileExistsError(f"{destination} is not empty; name a new folder.")
    with _room_in(destination.parent if is_zip else destination) as unfinished:
        copied = unfinished / database_path().name
        with closing(sqlite3.connect(copied)) as copy:
            database().conn.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
            named = copy.execute("SELECT sha256, extension FROM images").fetchall()
        report = _zipped(unfinished, named) if is_zip else _copied(unfinished, named)
        if is_zip:
            os.replace(unfinished / "backup.zip", destination)
        else:
            _move(unfinished, destination)
    return report


def restore(source: Path) -> dict[str, object]:
    """Make the workspace what a backup (folder or zip) holds; gives how many pictures there are, and the problems.

    All is read and checked beside the workspace first: a damaged database restores nothing. A picture that is missing
    or not what its name says is left out and is a problem; its cases say so. There must be no workspace yet.

    :raises FileExistsError: if the workspace holds something.
    :raises BackupUnusable: if it is no backup, or a damaged or newer one.
    """
    if home().exists() and any(not path.name.startswith(_UNFINISHED) for path in home().iterdir()):
        raise FileExistsError(f"{home()} is not empty; set SECOND_LOOK_HOME to a new folder to restore into.")
    connection.close()
    with opened_backup(source, database_path().name) as found, _room_in(home()) as folder:
        path = folder / database_path().name
        found.copy_database(path)
        with closing(sqlite3.connect(path)) as copy:
            _refuse_damaged(copy, source)
            named = _named_pictures(copy, source)
        problems = [problem for picture in named if (problem := found.copy_picture(*picture, folder))]
        _move(folder, home())
    return {"pictures": len(named) - len(problems), "problems": [*problems, *_run_problems()]}


def check() -> list[str]:
    """Everything that is wrong with the workspace, a sentence each; empty when nothing is. Reads all pictures."""
    db = database().conn
    return [*_database_problems(db), *_picture_problems(db), *_run_problems()]


@contextmanager
def _room_in(folder: Path) -> Iterator[Path]:
    """A folder inside of one, on the same disk, that is gone in the end; so is the outer one if nothing came into it."""
    was_there = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=_UNFINISHED) as room:
            yield Path(room)
    finally:
        if not was_there and not any(folder.iterdir()):
            folder.rmdir()


def _move(unfinished: Path, destination: Path) -> None:
    """Move what a folder holds into another one, the database last: without it nothing counts as being there."""
    for path in sorted(unfinished.iterdir(), key=lambda path: path.name == database_path().name):
        os.replace(path, destination / path.name)


def _copied(folder: Path, named: list[tuple[str, str]]) -> dict[str, int]:
    copied = 0
    for original in _originals(named):
        target = folder / original.relative_to(home())
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(original, target)
        copied += 1
    return {"pictures": copied, "missing": len(named) - copied}


def _zipped(folder: Path, named: list[tuple[str, str]]) -> dict[str, int]:
    copied = 0
    with zipfile.ZipFile(folder / "backup.zip", "w") as archive:
        archive.write(folder / database_path().name, database_path().name, zipfile.ZIP_DEFLATED, compresslevel=4)
        for original in _originals(named):
            archive.write(original, original.relative_to(home()).as_posix(), zipfile.ZIP_STORED)
            copied += 1
    return {"pictures": copied, "missing": len(named) - copied}


def _originals(named: list[tuple[str, str]]) -> Iterator[Path]:
    """The pictures of these names that are in the workspace."""
    return (path for picture in named if (path := original_path(*picture)).exists())


def _refuse_damaged(copy: sqlite3.Connection, source: Path) -> None:
    """Say no to a database that this version cannot work with."""
    try:
        known = {migration.name for migration in MIGRATIONS.pending(sqlite_utils.Database(memory=True))}
        applied = {
            name for (name,) in copy.execute("SELECT name FROM _sqlite_migrations WHERE migration_set = 'second_look'")
        }
        problems = _database_problems(copy)
    except sqlite3.DatabaseError as error:
        raise BackupUnusable(f"{source} holds no workspace that can be read: {error}. Nothing was restored.") from error
    if applied - known:
        newer = sorted(applied - known)[0]
        raise BackupUnusable(
            f"{source} was made by a newer version of Second Look (it knows {newer}); restore it with that version or a "
            "later one."
        )
    if problems:
        raise BackupUnusable(f"{source} is damaged. {problems[0]} Nothing was restored.")


def _named_pictures(copy: sqlite3.Connection, source: Path) -> list[tuple[str, str]]:
    try:
        return copy.execute("SELECT sha256, extension FROM images ORDER BY sha256").fetchall()
    except sqlite3.DatabaseError as error:
        raise BackupUnusable(f"{source} holds no whole workspace: {error}. Nothing was restored.") from error


def _database_problems(db: sqlite3.Connection) -> list[str]:
    problems = [f"The database is damaged: {text}" for (text,) in db.execute("PRAGMA integrity_check") if text != "ok"]
    return problems + [
        f"A row of {found[0]} names a {found[2]} that is gone." for found in db.execute("PRAGMA foreign_key_check")
    ]


def _picture_problems(db: sqlite3.Connection) -> Iterator[str]:
    for sha256, extension in db.execute("SELECT sha256, extension FROM images"):
        path = original_path(sha256, extension)
        if not path.exists():
            yield f"The picture {path.name} is missing."
            continue
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                yield f"The picture {path.name} has been changed: its content is not its name."


def _run_problems() -> Iterator[str]:
    for run in connection.rows(
        "SELECT r.id, (SELECT count(*) FROM run_cases c WHERE c.run_id = r.id) AS cases, "
        "(SELECT count(*) FROM verdicts v WHERE v.run_id = r.id) AS verdicts FROM runs r WHERE r.status = 'done'"
    ):
        if run["cases"] != run["verdicts"]:
            yield f"Run {run['id']} is done but has {run['verdicts']} verdicts for {run['cases']} cases."
