"""The terminal's door: the same work without a browser.

Exit status: 0 done, 1 done with problems listed, 2 not done because of how it was asked for.
"""

from __future__ import annotations

import logging
import sqlite3
import sys

import click

from commands import agreement, exporting, fetching, importing, judging, workspace
from data.home import home


@click.group(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)  # the rest is in the run's log
    logging.basicConfig(handlers=[handler], format="%(asctime)s %(levelname)s: %(message)s")


for room in (judging, importing, fetching, exporting, agreement, workspace):
    for command in vars(room).values():
        if isinstance(command, click.Command):
            cli.add_command(command)


def main() -> None:
    """The command line; a workspace that cannot be used is a sentence, not a traceback."""
    try:
        cli()
    except (sqlite3.OperationalError, OSError) as error:
        click.echo(f"Error: the workspace in {home()} cannot be used: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
