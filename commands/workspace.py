"""The workspace as a whole: backup, restore, check, sample."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from commands.common import Refused, as_json, say
from data.backup import BackupUnusable
from data.backup import backup as copy_workspace
from data.backup import check as check_workspace
from data.backup import restore as restore_workspace
from data.home import database_path, home
from data.sample.load import load as load_sample
from data.store import cases as case_store


@click.command()
@click.argument("destination", type=click.Path(path_type=Path))
@as_json
def backup(destination: Path, as_json: bool) -> None:
    """Copy the workspace into a new folder or zip, consistent while people work.

    For example: cli.py backup monday.zip
    """
    try:
        report = copy_workspace(destination)
    except FileExistsError as error:
        raise Refused(str(error)) from error
    except OSError as error:
        raise Refused(f"{destination} cannot be written: {error.strerror}.") from error
    said = f"Copied the database and {report['pictures']} pictures to {destination}."
    if report["missing"]:
        said += f" {report['missing']} pictures were missing; see 'check'."
    say({"folder": str(destination), **report}, as_json, [said])
    sys.exit(1 if report["missing"] else 0)


@click.command()
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@as_json
def restore(source: Path, as_json: bool) -> None:
    """Bring a backup (folder or zip) back into an empty home.

    For example: SECOND_LOOK_HOME=/srv/second-look cli.py restore monday.zip
    """
    try:
        report = restore_workspace(source)
    except (FileExistsError, BackupUnusable) as error:
        raise Refused(str(error)) from error
    except OSError as error:
        raise Refused(f"{home()} cannot be written: {error.strerror}.") from error
    said = f"Restored the database and {report['pictures']} pictures into {home()}."
    say({"home": str(home()), **report}, as_json, [said, *report["problems"]])
    sys.exit(1 if report["problems"] else 0)


@click.command()
@as_json
def check(as_json: bool) -> None:
    """Look the whole workspace over: database, pictures, runs."""
    if not database_path().exists():
        raise Refused(f"There is no workspace in {home()}.")
    problems = check_workspace()
    say({"home": str(home()), "problems": problems}, as_json, problems or [f"Nothing wrong with {home()}."])
    sys.exit(1 if problems else 0)


@click.command()
@as_json
def sample(as_json: bool) -> None:
    """Load the sample workspace (the app does so by itself when it first starts with an empty home)."""
    load_sample()
    found = [f"{d['name']}: {d['cases']} cases" for d in case_store.datasets()]
    say({"datasets": case_store.datasets()}, as_json, found)
