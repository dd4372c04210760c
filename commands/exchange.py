"""In and out: import, export."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from commands.common import Refused, as_json, say
from data.exchange import case_table
from data.exchange.columns import TABLES
from data.exchange.export import as_csv, table_rows
from data.exchange.pictures import Pictures, PicturesBeside, PicturesUnusable
from data.exchange.tables import TableUnreadable, read_table


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dataset", required=True, help="Where the cases go; it is created if need be.")
@click.option("--images", type=click.Path(exists=True, path_type=Path), help="The folder or zip with the pictures.")
@as_json
def import_(paths: tuple[Path, ...], dataset: str, images: Path | None, as_json: bool) -> None:
    """Import cases from CSV or Excel files. Without --images, pictures are looked for beside the table.

    For example: cli.py import cases.csv --dataset shoes --images pictures/
    """
    try:
        pictures = Pictures.at(images) if images else None
        tables = [(path, read_table(path.read_bytes(), path.name)) for path in paths]
    except (TableUnreadable, PicturesUnusable) as error:
        raise Refused(str(error)) from error
    matched = [case_table.match(rows, pictures or PicturesBeside(path.parent)) for path, rows in tables]
    report = case_table.merged([case_table.save(dataset, one) for one in matched], [path.name for path in paths])
    lines = [f"{dataset}: " + ", ".join(f"{n} {what}" for what, n in report["cases"].items())]
    if report["labels_set_aside"]:
        lines.append(
            f"  {report['labels_set_aside']} labels are about cases that changed; they count again if it is undone"
        )
    lines += [f"  not read here: column {column}" for column in report["unread_columns"]]
    lines += [f"  {p.get('file', '')} row {p['row']}, {p['column']}: {p['problem']}" for p in report["problems"]]
    say(report, as_json, lines)
    sys.exit(1 if report["problems"] else 0)


@click.command()
@click.argument("table", type=click.Choice(list(TABLES)))
@click.option("--dataset", required=True)
@click.option("--run", "run_id", type=int, help="Only this run (the agreement table needs one).")
@click.option("-o", "output", required=True, type=click.Path(dir_okay=False, path_type=Path))
@as_json
def export(table: str, dataset: str, run_id: int | None, output: Path, as_json: bool) -> None:
    """Write a table as CSV that opens right in a spreadsheet."""
    try:
        rows = table_rows(table, dataset, run_id)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    try:
        output.write_bytes(as_csv(table, rows))
    except OSError as error:
        raise Refused(f"{output} cannot be written: {error.strerror}.") from error
    say({"table": table, "rows": len(rows), "file": str(output)}, as_json, [f"{len(rows)} rows in {output}"])


def imported(table: Path, dataset: str, images: Path | None) -> case_table.Matched:
    """The cases of a table, saved into a dataset."""
    try:
        rows = read_table(table.read_bytes(), table.name)
        matched = case_table.match(rows, Pictures.at(images) if images else PicturesBeside(table.parent))
    except (TableUnreadable, PicturesUnusable) as error:
        raise Refused(str(error)) from error
    case_table.save(dataset, matched)
    for problem in matched.problems:
        click.echo(f"{table.name} row {problem.row}, {problem.column}: {problem.problem}", err=True)
    return matched
