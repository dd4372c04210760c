"""Runs: one metric with its settings, one judge, one dataset, at a time. Their figures are in `run_figures`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import sqlite_utils

from data.store.connection import insert, insert_many, now, row, rows, update, value, writing
from data.store.judges import endpoint_settings
from evaluators.metrics import metric_named
from evaluators.metrics.base import Metric
from evaluators.verdict import Options

#: Seconds without a heartbeat after which a worker is taken for dead.
HEARTBEAT_LIMIT = 15.0
#: Cases at once where the judge sets no limit.
RECORDED_AT_ONCE = 8

#: What each status of a run means; `interrupted` is a run whose worker fell silent.
RUN_STATUS_WORDS = {
    "queued": "waiting for its worker",
    "running": "running",
    "interrupted": "interrupted: what was judged is kept, resume goes on with the rest",
    "cancelled": "cancelled: what was judged is kept",
    "stopped": "stopped",
    "done": "done",
}

_RUNS = """
SELECT r.*, d.name AS dataset, j.name AS judge_name,
    (SELECT count(*) FROM run_cases rc WHERE rc.run_id = r.id) AS cases,
    (SELECT count(*) FROM verdicts v WHERE v.run_id = r.id) AS done
FROM runs r JOIN datasets d ON d.id = r.dataset_id JOIN judges j ON j.id = r.judge_id
"""


def create_run(
    dataset_id: int,
    metric: Metric,
    judge: Mapping,
    options: Options,
    *,
    concurrency: int | None = None,
    limit: int | None = None,
    case_ids: Sequence[int] | None = None,
    fresh: bool = False,
    repeat_of: int | None = None,
    budget: Mapping[str, float] | None = None,
) -> int:
    """Write down a run with the cases that it will judge; gives its id. Nothing is asked yet.

    It is the whole dataset, or its first `limit` cases, or those in `case_ids`, in that order.

    fresh: ask anew what was asked before; both replies are kept. repeat_of: the run that this one measures again.
    budget: the most that it may take, see `data.runs.budget`.

    The judge's settings, the metric's version and the prompt texts are kept with the run, as they are now.
    """
    settings = dict(judge["settings"])
    if judge["kind"] == "endpoint":
        # What OPENAI_BASE_URL says now, for whoever resumes the run later.
        settings["base_url"] = endpoint_settings(judge).url
    facts = {"name": judge["name"], "kind": judge["kind"], "settings": settings, "mode": judge["mode"]}
    facts["concurrency"] = concurrency or settings.get("concurrency") or RECORDED_AT_ONCE
    with writing() as db:
        run_id = insert(
            db, "runs",
            dataset_id=dataset_id,
            judge_id=judge["id"],
            judge_json=facts,
            metric=metric.name,
            metric_version=metric.version,
            metric_settings_json=metric.settings(),
            criterion=metric.criterion,
            threshold=options.deciding_threshold,
            options_json=options.as_dict(),
            prompts_json=metric.prompts,
            fresh=int(fresh and judge["kind"] == "endpoint"),  # a recorded judge cannot say anything new
            repeat_of=repeat_of,
            budget_json=dict(budget or {}),
            status="queued",
            created=now(),
        )  # fmt: skip
        chosen = db.conn.execute(
            "SELECT id, revision FROM cases WHERE dataset_id = ? ORDER BY id LIMIT ?",
            [dataset_id, -1 if limit is None or case_ids is not None else limit],
        ).fetchall()
        if case_ids is not None:
            revisions = dict(chosen)
            chosen = [(case_id, revisions[case_id]) for case_id in case_ids if case_id in revisions]
        values = [(run_id, position, case_id, revision) for position, (case_id, revision) in enumerate(chosen)]
        insert_many(db, "run_cases", ("run_id", "position", "case_id", "revision"), values)
    return run_id


def runs(dataset_id: int | None = None) -> list[dict]:
    """All runs, oldest first, each with dataset, judge_name, cases, done, and the status as it is now."""
    found = rows(f"{_RUNS} WHERE ? IS NULL OR r.dataset_id = ? ORDER BY r.id", [dataset_id, dataset_id])
    return [_with_status(run) for run in found]


def run_by_id(run_id: int) -> dict | None:
    """One run as in `runs`, or None."""
    found = row(f"{_RUNS} WHERE r.id = ?", [run_id])
    return _with_status(found) if found else None


def claim(run_id: int, worker: str) -> str | None:
    """Make `worker` the one that judges this run; gives None, or why it may not."""
    with writing() as db:
        run = run_by_id(run_id)
        if run is None:
            return f"There is no run {run_id}."
        if run["status"] == "cancelled":
            return f"Run {run_id} was cancelled."
        if run["metric_version"] != metric_of(run).version:
            return f"The metric {run['metric']} has changed since run {run_id} was made; start a new run."
        if run["status"] == "running":
            silent = time.time() - (run["heartbeat"] or 0)
            return f"Run {run_id} is being judged by another worker (its last sign of life was {silent:.0f} s ago)."
        if run["done"] == run["cases"] and run["status"] == "done":
            return None
        started = run["started"] or now()
        update(
            db, "runs", run_id, status="running", worker=worker, heartbeat=time.time(), started=started,
            finished=None, cancel_requested=0, problem="",
        )  # fmt: skip
    return None


class Beat(NamedTuple):
    """What a worker hears at a sign of life.

    word: `go`, `cancel` when somebody asked for it, `lost` when another worker took over. workers: how many, itself
    among them, ask the same judge now.
    """

    word: Literal["go", "cancel", "lost"]
    workers: int


def beat(run_id: int, worker: str, trouble: Mapping[str, int] | None = None) -> Beat:
    """A worker's sign of life. trouble: how often what went wrong in this run, by kind."""
    with writing() as db:
        found = row("SELECT worker, cancel_requested, judge_id FROM runs WHERE id = ?", [run_id])
        if found is None or found["worker"] != worker:
            return Beat("lost", 1)
        _count_time(db, run_id)
        if trouble:
            update(db, "runs", run_id, trouble_json=dict(trouble))
        workers = value(
            "SELECT count(*) FROM runs WHERE judge_id = ? AND status = 'running' AND heartbeat > ?",
            [found["judge_id"], time.time() - HEARTBEAT_LIMIT],
        )
        return Beat("cancel" if found["cancel_requested"] else "go", workers)


def finish(run_id: int, worker: str, status: str, problem: str = "") -> None:
    """The worker's last word on a run: done, cancelled or stopped."""
    with writing() as db:
        _count_time(db, run_id)
        db.conn.execute(
            "UPDATE runs SET status = ?, problem = ?, finished = ?, worker = '' WHERE id = ? AND worker = ?",
            [status, problem, now(), run_id, worker],
        )


def _count_time(db: sqlite_utils.Database, run_id: int) -> None:
    """Add the time since the last sign of life to the seconds that this run was worked on, and give a new one."""
    at = time.time()
    db.conn.execute(
        "UPDATE runs SET seconds = seconds + max(0, ? - heartbeat), heartbeat = ? WHERE id = ? AND status = 'running'",
        [at, at, run_id],
    )


def request_cancel(run_id: int) -> bool:
    """Ask the worker to stop; a run without a living worker is cancelled at once. False if it was over already."""
    with writing() as db:
        run = run_by_id(run_id)
        if run is None or run["status"] in ("done", "cancelled"):
            return False
        if run["status"] == "running":
            update(db, "runs", run_id, cancel_requested=1)
        else:
            update(db, "runs", run_id, status="cancelled", finished=now(), worker="")
    return True


def requeue(run_id: int, budget: Mapping[str, float] | None = None) -> None:
    """Let a worker take up again a run that ended before its end; with another budget if one is given."""
    with writing() as db:
        if run_by_id(run_id)["status"] in ("cancelled", "stopped", "interrupted"):
            update(db, "runs", run_id, status="queued", problem="")
        if budget is not None:
            update(db, "runs", run_id, budget_json=dict(budget))


def repeats(run_id: int) -> list[int]:
    """The ids of the runs that measure the same as this one, itself among them, oldest first."""
    found = rows(
        "SELECT id FROM runs WHERE coalesce(repeat_of, id) = (SELECT coalesce(repeat_of, id) FROM runs WHERE id = ?) "
        "ORDER BY id",
        [run_id],
    )
    return [r["id"] for r in found]


def open_cases(run_id: int) -> list[tuple[int, int]]:
    """(case_id, revision) of the cases that still lack a verdict in this run, in order."""
    found = rows(
        "SELECT case_id, revision FROM run_cases rc WHERE run_id = ? AND NOT EXISTS "
        "(SELECT 1 FROM verdicts v WHERE v.run_id = rc.run_id AND v.case_id = rc.case_id) ORDER BY position",
        [run_id],
    )
    return [(r["case_id"], r["revision"]) for r in found]


def repeat(run_id: int, *, as_measurement: bool = False) -> int:
    """Write down a new run just like this one, with the judge as it is now; gives its id.

    as_measurement: it asks everything anew and is counted among the `repeats` of this run.
    """
    run = run_by_id(run_id)
    judge = row("SELECT * FROM judges WHERE id = ?", [run["judge_id"]])
    case_ids = [
        r["case_id"] for r in rows("SELECT case_id FROM run_cases WHERE run_id = ? ORDER BY position", [run_id])
    ]
    return create_run(
        run["dataset_id"], metric_of(run), judge, Options(**run["options"]),
        concurrency=run["judge"]["concurrency"], case_ids=case_ids, budget=run["budget"], fresh=as_measurement,
        repeat_of=(run["repeat_of"] or run_id) if as_measurement else None,
    )  # fmt: skip


def metric_of(run: Mapping) -> Metric:
    """The metric of a run's row, with the settings that it ran with."""
    return metric_named(run["metric"]).with_settings(run["metric_settings"])


def _with_status(run: dict) -> dict:
    """`running` without a fresh heartbeat is `interrupted`: a dead worker cannot say so itself."""
    if run["status"] == "running" and time.time() - (run["heartbeat"] or 0) > HEARTBEAT_LIMIT:
        return {**run, "status": "interrupted"}
    return run
