"""Judging: metrics, run, resume, cancel, runs."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path
from urllib.parse import urlsplit

import click

from commands.common import Refused, as_json, dataset_id, known_judge, known_run, say
from commands.importing import imported
from data.exchange import case_table
from data.exchange.tables import write_judged
from data.reports.repeats import consistency_report
from data.run_words import plan_lines, run_lines
from data.runs import Budget, Plan, RunRefused, judge_run, plan
from data.store import cases as case_store
from data.store import judges as judge_store
from data.store import run_figures
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from evaluators.judges.settings import DEFAULT_KEY_VARIABLE, EndpointSettings
from evaluators.metrics import METRICS
from evaluators.verdict import Options


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


@click.command()
@as_json
def metrics(as_json: bool) -> None:
    """The metrics there are, and what each needs of a case."""
    found = [
        {"name": m.name, "title": m.title, "criterion": m.criterion, "needs": m.needs, "version": m.version}
        for m in METRICS.values()
    ]
    say({"metrics": found}, as_json, [f"{m['name']:24} needs {m['needs']}" for m in found])


@click.command()
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
        dataset_id(dataset)
    if (judge is None) == (model is None):
        raise click.UsageError("Name either --judge or --model.")
    try:
        chosen, options = _settled(METRICS[metric], threshold, strict, settings)
    except (ValueError, TypeError) as error:
        raise click.UsageError(str(error)) from error
    found = known_judge(judge) if judge else _endpoint_judge(model, base_url, api_key_env)
    budget = _budget(found, max_calls, max_tokens, max_cost)
    if found["kind"] != "endpoint" and (fresh or repeats > 1):
        raise click.UsageError(f"{judge!r} only replays stored replies; it has nothing fresh to say.")
    matched, case_ids = None, None
    if table is not None:
        dataset = dataset or table.stem
        matched = imported(table, dataset, images)
        case_ids = [case_store.find_case(dataset, case.id) for _row, case in matched.cases][:limit]
    if dry_run:
        _tell_plan(plan(dataset_id(dataset), chosen, found, options, limit, fresh=fresh, repeats=repeats), as_json)
        return
    run_id = run_store.create_run(
        dataset_id(dataset), chosen, found, options, concurrency=concurrency, limit=limit, case_ids=case_ids,
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
    say(report, as_json, lines)
    sys.exit(_status_of(report))


@click.command()
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
        found = known_run(run_id)
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
    say(reports[0] if len(run_ids) == 1 else {"runs": reports}, as_json, lines)
    sys.exit(max(map(_status_of, reports)))


@click.command()
@click.argument("run_id", metavar="RUN", type=int)
@as_json
def cancel(run_id: int, as_json: bool) -> None:
    """Ask the worker of a run to stop; what was judged is kept."""
    known_run(run_id)
    cancelled = run_store.request_cancel(run_id)
    said = f"Run {run_id} is being cancelled." if cancelled else f"Run {run_id} was over already."
    say({"run": run_id, "cancelled": cancelled}, as_json, [said])


@click.command()
@click.argument("run_id", metavar="[RUN]", type=int, required=False)
@as_json
def runs(run_id: int | None, as_json: bool) -> None:
    """All runs, newest last; or one, with its errors by kind and its slowest calls."""
    if run_id is not None:
        known_run(run_id)
        report = run_figures.summary(run_id)
        report["errors"] = run_figures.reasons(run_id, 20)
        report["slowest_calls"] = run_figures.slowest_calls(run_id)
        say(report, as_json, run_lines(report))
        return
    found = [run_figures.summary(run["id"]) for run in run_store.runs()]
    say({"runs": found}, as_json, [line for report in found for line in run_lines(report)[:1]] or ["No runs yet."])


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
    known_run(run_id)
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
    say({**asdict(planned), "new_calls": planned.new_calls}, as_json, plan_lines(planned))


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
