"""How far a judge can be trusted: agreement."""

from __future__ import annotations

import click

from commands.common import as_json, known_run, say
from data.reports.headline import agreement_report
from data.store import agreement as agreement_store


@click.command()
@click.option("--run", "run_id", required=True, type=int)
@click.option(
    "--basis",
    type=click.Choice(list(agreement_store.BASES)),
    default="blind",
    show_default=True,
    help="First labels given blind, or everybody's current labels.",
)
@click.option("--threshold", type=click.FloatRange(0, 1), help="Another threshold than the run's own.")
@click.option(
    "--at-least", type=click.FloatRange(0, 1), help="A claim to test: agreement of at least so much, e.g. 0.85."
)
@click.option("--planned", type=click.IntRange(1), help="How many labelled cases the claim is to be tested on, once.")
@as_json
def agreement(
    run_id: int, basis: str, threshold: float | None, at_least: float | None, planned: int | None, as_json: bool
) -> None:
    """How far a run's judge agrees with people."""
    known_run(run_id)
    report = agreement_report(run_id, basis, threshold, at_least, planned)
    say(report, as_json, report["words"])
