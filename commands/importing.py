"""Bringing files in: import."""

from __future__ import annotations

import os
import shlex
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from commands.common import Refused, as_json, say
from data.exchange import case_table, import_report
from data.exchange.bundles import BundleRefused, bring_in, is_bundle
from data.exchange.gathering import proposals_for, sources_at
from data.exchange.importing import ImportPlan, plan_import, run_import
from data.exchange.mapping import COMBINE, MappingWrong, kept_choices, parsed
from data.exchange.pictures import Pictures, PicturesBeside, PicturesUnusable
from data.exchange.proposing import Proposal, with_kept
from data.exchange.reading import TableUnreadable
from data.exchange.rejected import write_rejected
from data.exchange.tables import read_table
from data.store import mappings as mapping_store
from evaluators.metrics import CRITERIA


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--dataset", required=True, help="Where the cases go; it is created if need be.")
@click.option("--images", type=click.Path(exists=True, path_type=Path), help="The folder or zip with the pictures.")
@click.option(
    "--map", "mapped", multiple=True, metavar="FIELD=COLUMN", help="What a column is; --dry-run tells what is proposed."
)
@click.option("--mapping", "kept", help="Use a kept mapping.")
@click.option("--keep-mapping", "keep", help="Keep the mapping under this name, for files with the same columns.")
@click.option("--sheet", help="Which sheet of a workbook.")
@click.option(
    "--criterion", type=click.Choice(list(CRITERIA)), help="What was asked about the cases, if the file does not say."
)
@click.option("--judge", help="The judge's name, if no column has it.")
@click.option("--reviewer", help="The person's name, if no column has it.")
@click.option("--judge-threshold", type=float, help="Usable from this score on, 0-1.")
@click.option("--scale", type=float, help="The highest score there can be, if the scores do not show it.")
@click.option("--combine", type=click.Choice(list(COMBINE)), help="How several aspects of a verdict become one score.")
@click.option("--usable-from", type=float, help="A rating is usable from this share of its scale on (0.5).")
@click.option(
    "--labels-blind/--labels-shown", "blind", default=None, help="Were the labels given without seeing the judge?"
)
@click.option(
    "--labels-random/--labels-picked",
    "random",
    default=None,
    help="Are the labelled cases all cases or a random draw, or did somebody pick them?",
)
@click.option("--dry-run", is_flag=True, help="Tell what would be done, and do nothing.")
@click.option(
    "--rejected", type=click.Path(dir_okay=False, path_type=Path), help="A CSV for the rows that are not taken."
)
@as_json
def import_(
    paths: tuple[Path, ...], dataset: str, images: Path | None, mapped: tuple[str, ...], kept: str | None, keep: str | None,
    sheet: str | None, dry_run: bool, rejected: Path | None, as_json: bool, **told,
) -> None:  # fmt: skip
    """Import cases, judges' verdicts and people's labels from CSV, Excel, JSON, JSONL or Parquet files, or a folder or zip
    of them. Without --images, pictures are looked for beside the table.

    For example: cli.py import cases.csv --dataset shoes --images pictures/
    """
    if len(paths) == 1 and is_bundle(paths[0]):
        _bring_in(paths[0], dataset, dry_run, as_json)
        return
    try:
        proposals, pictures = proposals_at(paths, images, sheet, kept)
        proposals = [_told(proposal, mapped, told, len(proposals)) for proposal in proposals]
        _check_mapped(proposals, mapped)
        _check_outputs(keep, rejected)
        plan = (plan_import if dry_run else run_import)(dataset, proposals, pictures)
        if keep and not dry_run:
            keep_proposals(keep, proposals)
        if rejected:
            write_rejected(plan, rejected)
    except (TableUnreadable, PicturesUnusable, MappingWrong, KeyError) as error:
        raise Refused(str(error.args[0])) from error
    except ValueError as error:
        raise Refused(str(error)) from error
    report = plan.report | {"mapping": [mapping_words(p) for p in plan.proposals]}
    lines = import_report.lines(report)
    if report["pictures"]["links"] and not dry_run:
        lines.append(
            f"  cli.py fetch --dataset {shlex.quote(dataset)} fetches the linked pictures; the app does so by itself"
        )
    if dry_run:
        lines = ["Nothing was saved; this would happen:", *lines, *_mapping_lines(plan)]
    say(report, as_json, lines)
    sys.exit(1 if report["problems"] else 0)


def _bring_in(path: Path, dataset: str, dry_run: bool, as_json: bool) -> None:
    """A whole dataset that was exported as a bundle."""
    if dry_run:
        raise Refused(
            f"{path.name} is a bundle: it comes in whole, into a dataset that is not here yet, or not at all."
        )
    try:
        report = bring_in(path, dataset)
    except BundleRefused as error:
        raise Refused(str(error)) from error
    told = ", ".join(f"{report[kind]} {kind}" for kind in ("cases", "verdicts", "reviews", "pictures"))
    say(report, as_json, [f"{report['dataset']}: {told}", *(f"  {problem}" for problem in report["problems"])])
    sys.exit(1 if report["problems"] else 0)


def proposals_at(
    paths: Sequence[Path], images: Path | None, sheet: str | None = None, kept: str | None = None
) -> tuple[list[Proposal], Pictures]:
    """What the files at these paths are, and the pictures for them: those named, else those beside or in the first."""
    sources = [source for path in paths for source in sources_at(path)]
    proposals = proposals_for(sources, sheet)
    if kept:
        proposals = [with_kept(proposal, kept) for proposal in proposals]
    if images:
        return proposals, Pictures.at(images)
    first = paths[0]
    if first.is_file() and zipfile.is_zipfile(first) and sources[0].at is not first and sources[0].at != first:
        return proposals, Pictures.at(first)
    return proposals, PicturesBeside(first if first.is_dir() else first.parent)


def _told(proposal: Proposal, mapped: Sequence[str], told: dict, tables: int) -> Proposal:
    """A proposal with what was said on the command line. With several tables a column need be in one of them only."""
    columns = proposal.table.columns
    here = [text for text in mapped if tables == 1 or text.partition("=")[2] in columns]
    names = {"judge_threshold": "threshold"}
    choices = {names.get(name, name): value for name, value in told.items() if value is not None}
    return replace(
        proposal, mapping=parsed(here, proposal.mapping, columns), choices=replace(proposal.choices, **choices)
    )


def _check_mapped(proposals: Sequence[Proposal], mapped: Sequence[str]) -> None:
    known = {column for proposal in proposals for column in proposal.table.columns}
    for text in mapped:
        if "=" in text and text.partition("=")[2] not in known:
            raise MappingWrong(f"There is no column {text.partition('=')[2]!r} in any of the files.")


def _check_outputs(keep: str | None, rejected: Path | None) -> None:
    """Whether what comes after the import can be done, before anything is saved."""
    if keep is not None:
        mapping_store.checked_name(f"{keep} 99")
        mapping_store.checked_name(keep)
    if rejected is not None:
        if not rejected.parent.is_dir():
            raise Refused(f"There is no folder {rejected.parent} for --rejected.")
        if not os.access(rejected if rejected.exists() else rejected.parent, os.W_OK):
            raise Refused(f"{rejected} cannot be written.")


def mapping_words(proposal: Proposal) -> dict:
    """Which column is what, for the report."""
    return {"file": proposal.table.name, "format": proposal.format, "fields": proposal.mapping.as_dict()}


def _mapping_lines(plan: ImportPlan) -> list[str]:
    lines = []
    for proposal in plan.proposals:
        lines.append(f"  {proposal.table.name}: columns are read so; change it with --map FIELD=COLUMN")
        lines += [f"    {column} -> {target}" for column, target in proposal.mapping.fields.items()]
    return lines


def keep_proposals(name: str, proposals: Sequence[Proposal]) -> None:
    """Keep the mapping of a table; of several, each gets a number."""
    for number, proposal in enumerate(proposals, 1):
        fields = {column: proposal.mapping.fields.get(column, "") for column in proposal.table.columns}
        called = name if len(proposals) == 1 else f"{name} {number}"
        mapping_store.keep_mapping(called, fields, kept_choices(proposal.choices))


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
