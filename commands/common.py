"""What commands share: how they answer and refuse, and how they find what was named."""

from __future__ import annotations

import json

import click

from data.store import cases as case_store
from data.store import judges as judge_store
from data.store import runs as run_store

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")


class Refused(click.ClickException):
    """Nothing was done; the message says why."""

    exit_code = 2


def say(report: dict, as_json: bool, lines: list[str]) -> None:
    """Print a report as JSON, or in lines."""
    click.echo(json.dumps(report, ensure_ascii=False, indent=2) if as_json else "\n".join(lines))


def dataset_id(name: str) -> int:
    """The id of a dataset that must exist."""
    found = case_store.dataset_id(name)
    if found is None:
        known = ", ".join(repr(d["name"]) for d in case_store.datasets()) or "none yet"
        raise click.UsageError(f"There is no dataset {name!r}; there are: {known}.")
    return found


def known_run(run_id: int) -> dict:
    """The row of a run that must exist."""
    found = run_store.run_by_id(run_id)
    if found is None:
        raise click.UsageError(f"There is no run {run_id}; 'runs' lists them.")
    return found


def known_judge(name: str) -> dict:
    """The row of a judge that must exist."""
    found = judge_store.judge_named(name)
    if found is None:
        known = ", ".join(repr(j["name"]) for j in judge_store.judges()) or "none yet"
        raise click.UsageError(f"There is no judge {name!r}; there are: {known}.")
    return found
