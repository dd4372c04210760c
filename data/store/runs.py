"""Runs: one metric with its settings, one judge, one dataset, at a time; and the verdicts that came of them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import sqlite_utils

from data.store.connection import insert, insert_many, now, row, rows, update, value, writing
from data.store.judges import endpoint_settings
from evaluators.metrics import metric_named
from evaluators.metrics.base import Metric
from evaluators.verdict import Item, Options, Verdict, label_of

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

_ITEM_COLUMNS = (
    "verdict_id", "position", "key", "kind", "group", "text", "value", "low", "high", "answer", "expected",
    "choices_json", "node",
)  # fmt: skip
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
) -> int:
    """Write down a run with the cases that it will judge; gives its id. Nothing is asked yet.

    It is the whole dataset, or its first `limit` cases, or those in `case_ids`, in that order.

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


def beat(run_id: int, worker: str) -> str:
    """A worker's sign of life. Gives `go`, `cancel` when somebody asked for it, `lost` when another worker took over."""
    with writing() as db:
        found = db.conn.execute("SELECT worker, cancel_requested FROM runs WHERE id = ?", [run_id]).fetchone()
        if found is None or found[0] != worker:
            return "lost"
        _count_time(db, run_id)
        return "cancel" if found[1] else "go"


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


def requeue(run_id: int) -> None:
    """Let a worker take up again a run that was cancelled."""
    with writing() as db:
        db.conn.execute("UPDATE runs SET status = 'queued' WHERE id = ? AND status = 'cancelled'", [run_id])


def open_cases(run_id: int) -> list[dict]:
    """case_id and revision of the cases that still lack a verdict in this run, in order."""
    return rows(
        "SELECT case_id, revision FROM run_cases rc WHERE run_id = ? AND NOT EXISTS "
        "(SELECT 1 FROM verdicts v WHERE v.run_id = rc.run_id AND v.case_id = rc.case_id) ORDER BY position",
        [run_id],
    )


def save_verdicts(run_id: int, verdicts: Sequence[tuple[int, int, Verdict]]) -> None:
    """Commit verdicts, each with its case_id and revision. A case that already has one in this run keeps it."""
    with writing() as db:
        for case_id, revision, verdict in verdicts:
            if db.conn.execute("SELECT 1 FROM verdicts WHERE run_id = ? AND case_id = ?", [run_id, case_id]).fetchone():
                continue
            verdict_id = insert(
                db, "verdicts", run_id=run_id, case_id=case_id, revision=revision, status=verdict.status,
                score=verdict.score, reason=verdict.reason, flags_json=verdict.flags, problem=verdict.problem,
                steps_json=verdict.steps, seconds=verdict.seconds, created=now(),
                rubric_id=verdict.rubric.id if verdict.rubric else None,
            )  # fmt: skip
            items = [
                (verdict_id, position, i.key, i.kind, i.group, i.text, i.value, i.low, i.high, i.answer, i.expected,
                 i.choices, i.node)
                for position, i in enumerate(verdict.items)
            ]  # fmt: skip
            insert_many(db, "items", _ITEM_COLUMNS, items)
            replies = [
                (verdict_id, position, e.aspect, e.attempt, int(e.reply.cached), e.reply.reply_id)
                for position, e in enumerate(verdict.exchanges)
                if e.reply.reply_id is not None
            ]
            reply_columns = ("verdict_id", "position", "aspect", "attempt", "cached", "reply_id")
            insert_many(db, "verdict_replies", reply_columns, replies)


def summary(run_id: int) -> dict:
    """A run in numbers: cases, verdicts by status, mean score of the scored ones, calls, tokens, seconds.

    calls were made and paid for by this run; cached_calls are uses of replies that were paid for already. Token sums are
    None when no reply of the run reported any (unknown is not 0). seconds is the time that workers worked on it.
    """
    run = run_by_id(run_id)
    statuses = dict.fromkeys(("ok", "unreadable", "refused", "failed", "skipped"), 0)
    statuses.update(
        {
            r["status"]: r["n"]
            for r in rows("SELECT status, count(*) AS n FROM verdicts WHERE run_id = ? GROUP BY status", [run_id])
        }
    )
    calls = row(
        "SELECT count(*) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens "
        "FROM replies WHERE run_id = ?",
        [run_id],
    )
    used = value(
        "SELECT count(*) FROM verdicts v JOIN verdict_replies vr ON vr.verdict_id = v.id WHERE v.run_id = ?", [run_id]
    )
    paid_and_used = value(
        "SELECT count(DISTINCT p.id) FROM verdicts v JOIN verdict_replies vr ON vr.verdict_id = v.id "
        "JOIN replies p ON p.id = vr.reply_id WHERE v.run_id = ? AND p.run_id = v.run_id",
        [run_id],
    )
    return {
        "run": run_id,
        "dataset": run["dataset"],
        "metric": run["metric"],
        "judge": run["judge"]["name"],
        "status": run["status"],
        "cases": run["cases"],
        "done": run["done"],
        **statuses,
        "mean_score": value("SELECT avg(score) FROM verdicts WHERE run_id = ? AND status = 'ok'", [run_id]),
        **calls,
        "cached_calls": used - paid_and_used,
        "seconds": round(run["seconds"], 3) if run["started"] else None,
        "problem": run["problem"],
    }


def progress(run_id: int, window: float = 30.0) -> dict:
    """done, cases, rate (verdicts a second over the last `window` seconds, None if none came) and seconds left."""
    run = run_by_id(run_id)
    recent = row(
        "SELECT count(*) AS n, (julianday('now') - julianday(min(created))) * 86400 AS span FROM verdicts "
        "WHERE run_id = ? AND julianday(created) > julianday('now') - ? / 86400.0",
        [run_id, window],
    )
    rate = recent["n"] / max(recent["span"], 0.5) if recent["n"] else None
    left = (run["cases"] - run["done"]) / rate if rate else None
    return {"done": run["done"], "cases": run["cases"], "status": run["status"], "rate": rate, "seconds_left": left}


def reasons(run_id: int, limit: int = 5) -> list[dict]:
    """Why verdicts of a run are not ok: status, problem and how many, the most frequent first."""
    return rows(
        "SELECT status, problem, count(*) AS n FROM verdicts WHERE run_id = ? AND status != 'ok' "
        "GROUP BY status, problem ORDER BY n DESC LIMIT ?",
        [run_id, limit],
    )


def repeat(run_id: int) -> int:
    """Write down a new run just like this one, with the judge as it is now; gives its id."""
    run = run_by_id(run_id)
    judge = row("SELECT * FROM judges WHERE id = ?", [run["judge_id"]])
    case_ids = [
        r["case_id"] for r in rows("SELECT case_id FROM run_cases WHERE run_id = ? ORDER BY position", [run_id])
    ]
    return create_run(run["dataset_id"], metric_of(run), judge, Options(**run["options"]), case_ids=case_ids)


def result_rows(run_id: int) -> list[dict]:
    """One row a case of the run, in order: case, prompt, generator, status, score, label, reason, flags, problem."""
    found = rows(
        "SELECT rc.position, c.id AS case_id, c.external_id, c.prompt, c.generator, c.revision AS case_revision, "
        "rc.revision, v.id AS verdict_id, v.status, v.score, v.reason, v.flags_json, v.problem, v.seconds, v.created, "
        "r.threshold FROM run_cases rc JOIN cases c ON c.id = rc.case_id JOIN runs r ON r.id = rc.run_id "
        "LEFT JOIN verdicts v ON v.run_id = rc.run_id AND v.case_id = rc.case_id WHERE rc.run_id = ? ORDER BY rc.position",
        [run_id],
    )
    return [{**r, "label": label_of(r["score"], r["threshold"])} for r in found]


def verdicts_of_case(case_id: int) -> list[dict]:
    """Every verdict on a case, newest first, with its run, judge, items and raw replies."""
    found = rows(
        "SELECT v.*, r.metric, r.criterion, r.threshold, r.judge_json, r.metric_version FROM verdicts v "
        "JOIN runs r ON r.id = v.run_id WHERE v.case_id = ? ORDER BY v.id DESC",
        [case_id],
    )
    return [_whole_verdict(verdict) for verdict in found]


def verdicts_of_run(run_id: int, case_ids: Sequence[int]) -> dict[int, dict]:
    """The run's verdicts on these cases, by case id, with items; raw replies left out."""
    marks = ",".join("?" * len(case_ids))
    found = rows(
        "SELECT v.*, r.metric, r.criterion, r.threshold, r.judge_json FROM verdicts v JOIN runs r ON r.id = v.run_id "
        f"JOIN cases c ON c.id = v.case_id AND c.revision = v.revision WHERE v.run_id = ? AND v.case_id IN ({marks})",
        [run_id, *case_ids],
    )
    items: dict[int, list[dict]] = {}
    verdict_marks = ",".join("?" * len(found))
    ids = [verdict["id"] for verdict in found]
    for item in rows(f"SELECT * FROM items WHERE verdict_id IN ({verdict_marks}) ORDER BY position", ids):
        items.setdefault(item["verdict_id"], []).append(item)
    return {
        v["case_id"]: {**v, "items": items.get(v["id"], []), "label": label_of(v["score"], v["threshold"])}
        for v in found
    }


def corrected_score(run: Mapping, items: Sequence[Mapping], corrections: Mapping[str, float | str]) -> float | None:
    """The score that a verdict's items give once a person's corrections are in; None without corrections or items."""
    if not items or not set(corrections) & {item["key"] for item in items}:
        return None
    metric, fields = metric_of(run), ("key", "kind", "text", "group", "value", "low", "high", "answer", "expected")
    whole = [Item(**{name: item[name] for name in fields}) for item in items]
    corrected = [
        replace(i, **{"value" if i.kind == "sub_score" else "answer": corrections[i.key]})
        if i.key in corrections
        else i
        for i in whole
    ]
    score = metric.score(corrected)
    return 0.0 if run["options"]["strict"] and score < 1 else score


def metric_of(run: Mapping) -> Metric:
    """The metric of a run's row, with the settings that it ran with."""
    return metric_named(run["metric"]).with_settings(run["metric_settings"])


def _whole_verdict(verdict: dict) -> dict:
    replies = rows(
        "SELECT vr.aspect, vr.attempt, vr.cached, p.text, p.finish_reason, p.refusal, p.input_tokens, p.output_tokens, "
        "p.mode, p.seconds FROM verdict_replies vr JOIN replies p ON p.id = vr.reply_id WHERE vr.verdict_id = ? "
        "ORDER BY vr.position",
        [verdict["id"]],
    )
    return {
        **verdict,
        "items": rows("SELECT * FROM items WHERE verdict_id = ? ORDER BY position", [verdict["id"]]),
        "replies": replies,
        "label": label_of(verdict["score"], verdict["threshold"]),
    }


def _with_status(run: dict) -> dict:
    """`running` without a fresh heartbeat is `interrupted`: a dead worker cannot say so itself."""
    if run["status"] == "running" and time.time() - (run["heartbeat"] or 0) > HEARTBEAT_LIMIT:
        return {**run, "status": "interrupted"}
    return run
