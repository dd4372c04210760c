"""The terminal's door: the same work without a browser.

Exit status: 0 done, 1 done with problems listed, 2 not done because of how it was asked for.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import sys
from dataclasses import asdict, replace
from pathlib import Path
from urllib.parse import urlsplit

import click

from data.backup import backup as copy_workspace
from data.backup import check as check_workspace
from data.exchange import case_table
from data.exchange.columns import TABLES
from data.exchange.export import as_csv, table_rows
from data.exchange.pictures import Pictures, PicturesBeside, PicturesUnusable
from data.exchange.tables import TableUnreadable, read_table, write_judged
from data.home import database_path, home
from data.report import agreement_report, consistency_report
from data.run_words import plan_lines, run_lines
from data.runs import Budget, Plan, RunRefused, judge_run, plan
from data.sample.load import load as load_sample
from data.store import agreement as agreement_store
from data.store import cases as case_store
from data.store import judges as judge_store
from data.store import run_figures
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from evaluators.judges.settings import DEFAULT_KEY_VARIABLE, EndpointSettings
from evaluators.metrics import METRICS
from evaluators.verdict import Options


class Refused(click.ClickException):
    """Nothing was done; the message says why."""

    exit_code = 2


as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")


def budgets(command):
    """The options that limit what a run may take in all."""
    for option in (
        click.option(
            "--max-cost", type=click.FloatRange(0, min_open=True), help="Stop before this much money is spent."
        ),
        click.option("--max-tokens", type=click.IntRange(1), help="Stop before so many tokens are taken, in and out."),
        click.option("--max-calls", type=click.IntRange(1), help="Stop after so many calls."),
    ):
        command = option(command)
    return command


@click.group(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)  # the rest is in the run's log
    logging.basicConfig(handlers=[handler], format="%(asctime)s %(levelname)s: %(message)s")


@cli.command()
@as_json
def metrics(as_json: bool) -> None:
    """The metrics there are, and what each needs of a case."""
    found = [
        {"name": m.name, "title": m.title, "criterion": m.criterion, "needs": m.needs, "version": m.version}
        for m in METRICS.values()
    ]
    _say({"metrics": found}, as_json, [f"{m['name']:24} needs {m['needs']}" for m in found])


@cli.command("import")
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
    _say(report, as_json, lines)
    sys.exit(1 if report["problems"] else 0)


@cli.command()
@click.argument("table", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dataset", help="The dataset to judge; with a TABLE, where its cases go (default: the file's name).")
@click.option(
    "--images", type=click.Path(exists=True, path_type=Path), help="The folder or zip with a TABLE's pictures."
)
@click.option(
    "-o",
    "output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the TABLE with score and reasoning filled (.xlsx or .csv).",
)
@click.option("--metric", required=True, type=click.Choice(list(METRICS)))
@click.option("--judge", help="A judge that the workspace knows.")
@click.option("--model", help="A model behind an OpenAI-compatible endpoint; saved as a judge.")
@click.option("--base-url", default="", help="Its address. Default: OPENAI_BASE_URL, else OpenAI.")
@click.option("--api-key-env", default=DEFAULT_KEY_VARIABLE, show_default=True, help="The variable with its key.")
@click.option("--threshold", default="0.5", show_default=True, help="Usable from this score on; 'none' for no label.")
@click.option("--strict", is_flag=True, help="Only a perfect score is usable; a lower one becomes 0.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="An option or a setting of the metric.")
@click.option("--concurrency", type=click.IntRange(1, 512), help="Requests in flight at once.")
@click.option("--limit", type=click.IntRange(1), help="Judge only the first N cases.")
@click.option("--fresh", is_flag=True, help="Ask anew what was asked before; both replies are kept.")
@click.option(
    "--repeats", type=click.IntRange(1, 100), default=1, help="Measure N times and tell how steady the judge is."
)
@click.option("--dry-run", is_flag=True, help="Tell calls, tokens and cost; ask nothing.")
@budgets
@as_json
def run(
    table: Path | None, dataset: str | None, images: Path | None, output: Path | None, metric: str, judge: str | None,
    model: str | None, base_url: str, api_key_env: str, threshold: str, strict: bool, settings: tuple[str, ...],
    concurrency: int | None, limit: int | None, fresh: bool, repeats: int, dry_run: bool, max_calls: int | None,
    max_tokens: int | None, max_cost: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Judge a dataset, or a table of cases, with a metric, here and now.

    For example: cli.py run --dataset shoes --metric text_to_image --model gpt-4o

    Or, a file in and a file out: cli.py run cases.xlsx --metric image_text_match --model gpt-4o -o result.xlsx
    """
    if table is None and dataset is None:
        raise click.UsageError("Name a --dataset, or a TABLE of cases.")
    if output is not None and not os.access(output if output.exists() else output.parent, os.W_OK):
        raise Refused(f"{output} cannot be written.")
    if dry_run and table is not None:
        raise click.UsageError("--dry-run goes with a --dataset: 'import' the table first; nothing is asked by that.")
    if output is not None and table is None:
        raise click.UsageError("-o goes with a TABLE; 'export' writes what a dataset's runs found.")
    if table is None:
        _dataset_id(dataset)
    if (judge is None) == (model is None):
        raise click.UsageError("Name either --judge or --model.")
    try:
        chosen, options = _settled(METRICS[metric], threshold, strict, settings)
    except (ValueError, TypeError) as error:
        raise click.UsageError(str(error)) from error
    found = _known_judge(judge) if judge else _endpoint_judge(model, base_url, api_key_env)
    budget = _budget(found, max_calls, max_tokens, max_cost)
    if found["kind"] != "endpoint" and (fresh or repeats > 1):
        raise click.UsageError(f"{judge!r} only replays stored replies; it has nothing fresh to say.")
    matched, case_ids = None, None
    if table is not None:
        dataset = dataset or table.stem
        matched = _imported(table, dataset, images)
        case_ids = [case_store.find_case(dataset, case.id) for _row, case in matched.cases][:limit]
    if dry_run:
        _tell_plan(plan(_dataset_id(dataset), chosen, found, options, limit, fresh=fresh, repeats=repeats), as_json)
        return
    run_id = run_store.create_run(
        _dataset_id(dataset), chosen, found, options, concurrency=concurrency, limit=limit, case_ids=case_ids,
        fresh=fresh, budget=budget,
    )  # fmt: skip
    report, lines = _judge(run_id)
    for _ in range(repeats - 1):
        if report["status"] == "done":
            report, more = _judge(run_store.repeat(run_id, as_measurement=True))
            lines += more
    if repeats > 1:
        report["self_consistency"] = consistency_report(run_id)
        lines += [report["self_consistency"]["words"]]
    if output is not None:
        _write_judged(table, matched, run_id, output)
        report["file"] = str(output)
        lines.append(f"  written: {output}")
    _say(report, as_json, lines)
    sys.exit(_status_of(report))


@cli.command()
@click.argument("run_ids", metavar="RUN...", type=int, nargs=-1, required=True)
@click.option("--unless-cancelled", is_flag=True, help="Leave a cancelled run alone, as the app's own worker does.")
@budgets
@as_json
def resume(
    run_ids: tuple[int, ...], unless_cancelled: bool, max_calls: int | None, max_tokens: int | None,
    max_cost: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Judge the cases of runs that have no verdict yet: the worker that the app starts, by hand.

    A run that its budget stopped goes on with a larger one.
    """
    reports, lines = [], []
    for run_id in run_ids:
        found = _run(run_id)
        budget = _budget(found["judge"], max_calls, max_tokens, max_cost)
        if unless_cancelled and found["status"] == "cancelled":
            lines.append(f"Run {run_id} was cancelled.")
            reports.append(run_figures.summary(run_id))
            continue
        if not unless_cancelled:
            run_store.requeue(run_id, {**found["budget"], **budget} if budget else None)
        report, more = _judge(run_id)
        reports.append(report)
        lines += more
    _say(reports[0] if len(run_ids) == 1 else {"runs": reports}, as_json, lines)
    sys.exit(max(map(_status_of, reports)))


@cli.command()
@click.argument("run_id", metavar="RUN", type=int)
@as_json
def cancel(run_id: int, as_json: bool) -> None:
    """Ask the worker of a run to stop; what was judged is kept."""
    _run(run_id)
    cancelled = run_store.request_cancel(run_id)
    said = f"Run {run_id} is being cancelled." if cancelled else f"Run {run_id} was over already."
    _say({"run": run_id, "cancelled": cancelled}, as_json, [said])


@cli.command()
@click.argument("run_id", metavar="[RUN]", type=int, required=False)
@as_json
def runs(run_id: int | None, as_json: bool) -> None:
    """All runs, newest last; or one, with its errors by kind and its slowest calls."""
    if run_id is not None:
        _run(run_id)
        report = run_figures.summary(run_id)
        report["errors"] = run_figures.reasons(run_id, 20)
        report["slowest_calls"] = run_figures.slowest_calls(run_id)
        _say(report, as_json, run_lines(report))
        return
    found = [run_figures.summary(run["id"]) for run in run_store.runs()]
    _say({"runs": found}, as_json, [line for report in found for line in run_lines(report)[:1]] or ["No runs yet."])


@cli.command()
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
@as_json
def agreement(run_id: int, basis: str, threshold: float | None, at_least: float | None, as_json: bool) -> None:
    """How far a run's judge agrees with people."""
    _run(run_id)
    report = agreement_report(run_id, basis, threshold, at_least)
    _say(report, as_json, report["words"])


@cli.command()
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
    _say({"table": table, "rows": len(rows), "file": str(output)}, as_json, [f"{len(rows)} rows in {output}"])


@cli.command()
@click.argument("destination", type=click.Path(file_okay=False, path_type=Path))
@as_json
def backup(destination: Path, as_json: bool) -> None:
    """Copy the workspace into a new folder, consistent while people work."""
    try:
        report = copy_workspace(destination)
    except FileExistsError as error:
        raise Refused(str(error)) from error
    except OSError as error:
        raise Refused(f"{destination} cannot be written: {error.strerror}.") from error
    said = f"Copied the database and {report['pictures']} pictures to {destination}."
    if report["missing"]:
        said += f" {report['missing']} pictures were missing; see 'check'."
    _say({"folder": str(destination), **report}, as_json, [said])
    sys.exit(1 if report["missing"] else 0)


@cli.command()
@as_json
def check(as_json: bool) -> None:
    """Look the whole workspace over: database, pictures, runs."""
    if not database_path().exists():
        raise Refused(f"There is no workspace in {home()}.")
    problems = check_workspace()
    _say({"home": str(home()), "problems": problems}, as_json, problems or [f"Nothing wrong with {home()}."])
    sys.exit(1 if problems else 0)


@cli.command()
@as_json
def sample(as_json: bool) -> None:
    """Load the sample workspace (the app does so by itself when it first starts with an empty home)."""
    load_sample()
    found = [f"{d['name']}: {d['cases']} cases" for d in case_store.datasets()]
    _say({"datasets": case_store.datasets()}, as_json, found)


def _imported(table: Path, dataset: str, images: Path | None) -> case_table.Matched:
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


def _write_judged(table: Path, matched: case_table.Matched, run_id: int, output: Path) -> None:
    """The table again, each row with the score and reasoning of its case, or why it has none."""
    found = {row["external_id"]: row for row in verdict_store.result_rows(run_id)}
    rejected = {problem.row: (None, problem.problem) for problem in matched.problems}
    judged = {
        number: (row["score"], row["reason"] if row["status"] == "ok" else f"{row['status']}: {row['problem']}")
        for number, case in matched.cases
        if (row := found.get(case.id)) and row["status"]
    }
    try:
        write_judged(table, rejected | judged, output)
    except OSError as error:
        raise Refused(f"{output} cannot be written: {error.strerror}.") from error


def _judge(run_id: int) -> tuple[dict, list[str]]:
    """Judge a run with progress on stderr; what came of it, and that in lines."""
    _run(run_id)
    done = 0

    def on_verdict(_verdict) -> None:
        nonlocal done
        done += 1
        if sys.stderr.isatty():
            click.echo(f"\r{done} judged", nl=False, err=True)

    try:
        judge_run(run_id, on_verdict)
    except RunRefused as error:
        raise Refused(str(error)) from error
    report = run_figures.summary(run_id)
    report["errors"] = run_figures.reasons(run_id)
    return report, run_lines(report)


def _status_of(report: dict) -> int:
    """The exit status that a run's report comes to."""
    return int(report["status"] != "done" or report["ok"] < report["cases"])


def _budget(judge: dict, calls: int | None, tokens: int | None, money: float | None) -> dict[str, float]:
    """The budget that was asked for, if it can be kept with the judge."""
    budget = Budget(calls, tokens, money)
    problem = budget.problem(judge_store.endpoint_settings(judge)) if judge["kind"] == "endpoint" else None
    if problem:
        raise click.UsageError(problem)
    return budget.as_dict()


def _tell_plan(planned: Plan, as_json: bool) -> None:
    _say({**asdict(planned), "new_calls": planned.new_calls}, as_json, plan_lines(planned))


def _settled(metric, threshold: str, strict: bool, settings: tuple[str, ...]):
    """The metric and the options with every KEY=VALUE in its place."""
    given: dict[str, object] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise ValueError(f"{setting!r} is not KEY=VALUE.")
        try:
            given[key.strip()] = json.loads(text)
        except ValueError:
            given[key.strip()] = text
    fields = {"include_reason", "concurrent", "verbose", "flaky"}
    options = {key: given.pop(key) for key in list(given) if key in fields}
    wrong = [key for key, value in options.items() if not isinstance(value, bool)]
    if wrong:
        raise ValueError(f"{wrong[0]} is true or false.")
    at = None if threshold.casefold() == "none" else float(threshold)
    return metric.with_settings(given), Options(threshold=at, strict=strict, **options)


def _dataset_id(name: str) -> int:
    found = case_store.dataset_id(name)
    if found is None:
        known = ", ".join(repr(d["name"]) for d in case_store.datasets()) or "none yet"
        raise click.UsageError(f"There is no dataset {name!r}; there are: {known}.")
    return found


def _run(run_id: int) -> dict:
    found = run_store.run_by_id(run_id)
    if found is None:
        raise click.UsageError(f"There is no run {run_id}; 'runs' lists them.")
    return found


def _known_judge(name: str) -> dict:
    found = judge_store.judge_named(name)
    if found is None:
        known = ", ".join(repr(j["name"]) for j in judge_store.judges()) or "none yet"
        raise click.UsageError(f"There is no judge {name!r}; there are: {known}.")
    return found


def _endpoint_judge(model: str, base_url: str, key_variable: str) -> dict:
    settings = EndpointSettings(model=model, base_url=base_url, key_variable=key_variable)
    problem = settings.problem()
    if problem:
        raise click.UsageError(problem)
    parts = urlsplit(settings.url)
    name = f"{model} @ {parts.netloc}{parts.path}"
    known = judge_store.judge_named(name)
    if known is None:
        judge_store.save_endpoint(name, settings)
    elif known["settings"]["key_variable"] != key_variable:
        judge_store.save_endpoint(name, replace(judge_store.endpoint_settings(known), key_variable=key_variable))
    return judge_store.judge_named(name)


def _say(report: dict, as_json: bool, lines: list[str]) -> None:
    click.echo(json.dumps(report, ensure_ascii=False, indent=2) if as_json else "\n".join(lines))


def main() -> None:
    """The command line; a workspace that cannot be used is a sentence, not a traceback."""
    try:
        cli()
    except (sqlite3.OperationalError, OSError) as error:
        click.echo(f"Error: the workspace in {home()} cannot be used: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
