"""Tables out."""

from __future__ import annotations

from pathlib import Path

import click

from commands.common import Refused, as_json, say
from data.exchange.writing import FORMATS, TABLES, WHOLE, ExportRefused, ending_of, write


@click.command()
@click.argument("table", type=click.Choice([*TABLES, *WHOLE]))
@click.option("--dataset", required=True)
@click.option("--run", "run_id", type=int, help="Only this run (agreement and coze need one).")
@click.option("--format", type=click.Choice(list(FORMATS)), help="If not said: by the ending of FILE, else CSV.")
@click.option("--thumbnails", is_flag=True, help="Put small pictures into an Excel file.")
@click.option("-o", "output", required=True, metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@as_json
def export(
    table: str, dataset: str, run_id: int | None, format: str | None, thumbnails: bool, output: Path, as_json: bool
) -> None:
    """Write a table of a dataset: CSV that opens right in a spreadsheet, Excel, JSON lines, Parquet.

    coze, labelstudio and bundle (everything of a dataset in one zip) are tables and formats at once.

    For example: cli.py export everything --dataset shoes -o shoes.xlsx --thumbnails
    """
    format = _format(table, format, output)
    try:
        report = write(table, dataset, output, format=format, run_id=run_id, thumbnails=thumbnails)
    except ExportRefused as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise Refused(f"{output} cannot be written: {error.strerror}.") from error
    lines = [f"{report['rows']} rows in {output}"]
    if report.get("cut"):
        lines.append(
            f"{report['cut']} cells were longer than Excel allows and were cut; CSV and Parquet have them whole."
        )
    if report.get("missing"):
        lines.append(f"{report['missing']} pictures are missing from the workspace; see 'check'.")
    say({"table": table, "format": format, **report, "file": str(output)}, as_json, lines)


def _format(table: str, format: str | None, output: Path) -> str:
    """The format that was asked for, or that the file's name asks for."""
    if table in WHOLE:
        if format not in (None, table) and not (table == "coze" and format in ("csv", "xlsx")):
            raise click.UsageError(f"{table} is a format of its own; leave --format out.")
        return table
    if format in WHOLE and table not in ("cases", "everything"):
        raise click.UsageError(f"{format} holds whole cases: export cases or everything.")
    if format is not None:
        return format
    endings = {ending_of(name): name for name in FORMATS if name not in WHOLE}
    return endings.get(output.suffix.lower(), "csv")
