"""How far a judge can be trusted: agreement, report."""

from __future__ import annotations

from pathlib import Path

import click

from commands.common import Refused, as_json, known_run, say
from data.reports.everything import full_report
from data.reports.headline import agreement_report
from data.reports.html import report_html
from data.store.agreement import BASES


def measured(command):
    """The options that say what is measured: which run, against which labels, at which threshold, for which claim."""
    for option in (
        click.option("--planned", type=click.IntRange(1), help="How many labelled cases the claim is to be tested on, once."),
        click.option(
            "--at-least", type=click.FloatRange(0, 1), help="A claim to test: agreement of at least so much, e.g. 0.85."
        ),
        click.option("--threshold", type=click.FloatRange(0, 1), help="Another threshold than the run's own."),
        click.option(
            "--basis", type=click.Choice(list(BASES)), default="blind", show_default=True,
            help="First labels given blind, or everybody's current labels.",
        ),
        click.option("--run", "run_id", required=True, type=int),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@measured
@as_json
def agreement(
    run_id: int, basis: str, threshold: float | None, at_least: float | None, planned: int | None, as_json: bool
) -> None:
    """How far a run's judge agrees with people; with --json every figure of the Agreement page."""
    known_run(run_id)
    report = (full_report if as_json else agreement_report)(run_id, basis, threshold, at_least, planned)
    say(report, as_json, report["words"])


@click.command()
@measured
@click.option("-o", "output", required=True, type=click.Path(dir_okay=False, path_type=Path))
@as_json
def report(
    run_id: int, basis: str, threshold: float | None, at_least: float | None, planned: int | None, output: Path,
    as_json: bool,
) -> None:  # fmt: skip
    """Write a run's report as one HTML page that needs nothing else: figures, charts, method, telling cases.

    For example: cli.py report --run 3 -o report.html
    """
    known_run(run_id)
    page = report_html(run_id, basis, threshold, at_least, planned).encode("utf-8", "replace")
    try:
        output.write_bytes(page)
    except OSError as error:
        raise Refused(f"{output} cannot be written: {error.strerror}.") from error
    say(
        {"run": run_id, "file": str(output), "bytes": len(page)},
        as_json,
        [f"The report of run {run_id} is in {output}."],
    )
