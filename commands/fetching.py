"""Pictures that are links: fetch them."""

from __future__ import annotations

import sys

import click

from commands.common import Refused, as_json, dataset_id, say
from data.links import ALLOW_PRIVATE, FetchRefused, fetch_links
from data.store import links as link_store


@click.command()
@click.option("--dataset", help="Only the links of this dataset.")
@click.option("--retry", is_flag=True, help="Try again what could not be fetched before.")
@as_json
def fetch(dataset: str | None, retry: bool, as_json: bool) -> None:
    """Fetch the pictures that cases name by links: the worker that the app starts, by hand.

    Each link is fetched once. For example: cli.py fetch --dataset shoes --retry
    """
    which = None if dataset is None else dataset_id(dataset)
    if retry:
        link_store.try_again(which)
    try:
        counts = fetch_links(which)
    except FetchRefused as error:
        raise Refused(str(error)) from error
    problems = [failed["problem"] for failed in link_store.failed(which)]
    lines = [f"{counts['fetched']} pictures fetched, {counts['failed']} links failed.", *problems]
    if any(ALLOW_PRIVATE in problem for problem in problems):
        lines.append(f"{ALLOW_PRIVATE}=1 allows links to this machine and this network.")
    now = {f"{what}_now": number for what, number in counts.items()}
    say({**now, **link_store.progress(which), "problems": problems}, as_json, lines)
    sys.exit(1 if problems else 0)
