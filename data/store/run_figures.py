"""Runs in numbers: what came of them, how fast, what they cost, and what went wrong."""

from __future__ import annotations

from data.store.connection import row, rows, value
from data.store.judges import endpoint_settings
from data.store.runs import run_by_id
from evaluators.judges.question import FILTERED
from evaluators.judges.settings import EndpointSettings

STATUSES = ("ok", "unreadable", "refused", "failed", "skipped")


def summary(run_id: int) -> dict:
    """A run in numbers: cases, verdicts by status, mean score of the scored ones, calls, tokens, cost, seconds.

    calls were made and paid for by this run; cached_calls are uses of replies that were paid for already. Token sums
    are None when no reply of the run reported any (unknown is not 0); silent_calls did not report theirs, so sums and
    cost are then lower bounds. cost is in `currency`, None when a price or every token count is unknown; it is 0 when
    nothing was asked. projected_cost is what all cases will cost if they go on like this. sent_bytes is the size of all
    requests. seconds is the time that workers worked on it; rate is verdicts per such second. trouble counts what went
    wrong and was tried again, by kind.
    """
    run = run_by_id(run_id)
    statuses = dict.fromkeys(STATUSES, 0)
    found = rows("SELECT status, count(*) AS n FROM verdicts WHERE run_id = ? GROUP BY status", [run_id])
    statuses.update({r["status"]: r["n"] for r in found})
    used = value(
        "SELECT count(*) FROM verdicts v JOIN verdict_replies vr ON vr.verdict_id = v.id WHERE v.run_id = ?", [run_id]
    )
    paid_and_used = value(
        "SELECT count(DISTINCT p.id) FROM verdicts v JOIN verdict_replies vr ON vr.verdict_id = v.id "
        "JOIN replies p ON p.id = vr.reply_id WHERE v.run_id = ? AND p.run_id = v.run_id",
        [run_id],
    )
    worked, taken = bool(run["started"]), spent(run)
    so_far = taken["cost"]
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
        **taken,
        "projected_cost": so_far * run["cases"] / run["done"] if so_far is not None and run["done"] else None,
        "cached_calls": used - paid_and_used,
        "seconds": round(run["seconds"], 3) if worked else None,
        "rate": run["done"] / run["seconds"] if worked and run["seconds"] else None,
        "fresh": bool(run["fresh"]),
        "repeat_of": run["repeat_of"],
        "budget": run["budget"],
        "trouble": run["trouble"],
        "problem": run["problem"],
    }


def spent(run: dict) -> dict:
    """What a run's calls took so far: calls, tokens, silent_calls, sent_bytes, cost and currency; see `summary`."""
    found = row(
        "SELECT count(*) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, "
        "sum(image_tokens) AS image_tokens, sum(sent_bytes) AS sent_bytes, coalesce(sum("
        "  input_tokens + output_tokens IS NULL AND finish_reason IS NOT ?), 0) AS silent_calls "
        "FROM replies WHERE run_id = ?",
        [FILTERED, run["id"]],
    )
    if run["judge"]["kind"] != "endpoint":  # replaying costs nothing; what was imported cost somebody else something
        return {**found, "cost": 0.0 if run["judge"]["kind"] == "recorded" else None, "currency": ""}
    settings = endpoint_settings(run["judge"])
    tokens = (found["input_tokens"], found["output_tokens"]) if found["calls"] else (0, 0)
    return {**found, "cost": settings.cost(*tokens, found["image_tokens"]), "currency": settings.currency}


def progress(run_id: int, window: float = 30.0) -> dict:
    """How far a run is: done, cases, status; rate (verdicts a second over the last `window` seconds, None if none came)
    and seconds left."""
    run = run_by_id(run_id)
    recent = row(
        "SELECT count(*) AS n, (julianday('now') - julianday(min(created))) * 86400 AS span FROM verdicts "
        "WHERE run_id = ? AND julianday(created) > julianday('now') - ? / 86400.0",
        [run_id, window],
    )
    rate = recent["n"] / max(recent["span"], 0.5) if recent["n"] else None
    left = (run["cases"] - run["done"]) / rate if rate else None
    return {"done": run["done"], "cases": run["cases"], "status": run["status"], "rate": rate, "seconds_left": left}


def slowest_calls(run_id: int, limit: int = 5) -> list[dict]:
    """The calls of a run that took longest: case (its external id, None before its verdict), aspect, seconds, tokens."""
    return rows(
        "SELECT p.aspect, p.seconds, p.input_tokens, p.output_tokens, (SELECT c.external_id FROM verdict_replies vr "
        "JOIN verdicts v ON v.id = vr.verdict_id JOIN cases c ON c.id = v.case_id "
        'WHERE vr.reply_id = p.id AND v.run_id = p.run_id LIMIT 1) AS "case" '
        "FROM replies p WHERE p.run_id = ? ORDER BY p.seconds DESC LIMIT ?",
        [run_id, limit],
    )


def reasons(run_id: int, limit: int = 5) -> list[dict]:
    """Why verdicts of a run are not ok: status, problem and how many, the most frequent first."""
    return rows(
        "SELECT status, problem, count(*) AS n FROM verdicts WHERE run_id = ? AND status != 'ok' "
        "GROUP BY status, problem ORDER BY n DESC LIMIT ?",
        [run_id, limit],
    )


def usual_call(metric: str, settings: EndpointSettings) -> dict | None:
    """What a call of this metric took with this model and these pictures, by the last 1,000 such calls: mean
    input_tokens, output_tokens, image_tokens; calls is how many those are. None without history."""
    found = row(
        "SELECT count(*) AS calls, avg(input_tokens) AS input_tokens, avg(output_tokens) AS output_tokens, "
        "avg(image_tokens) AS image_tokens FROM (SELECT p.* FROM replies p JOIN runs r ON r.id = p.run_id "
        "WHERE r.metric = ? AND p.input_tokens IS NOT NULL AND p.output_tokens IS NOT NULL "
        "AND json_extract(r.judge_json, '$.settings.model') = ? AND json_extract(r.judge_json, '$.settings.base_url') = ? "
        "AND json_extract(r.judge_json, '$.settings.image_side') = ? ORDER BY p.id DESC LIMIT 1000)",
        [metric, settings.model, settings.url, settings.image_side],
    )
    return found if found["calls"] else None


def repeated_scores(run_ids: list[int]) -> dict[int, list[tuple[float | None, float | None]]]:
    """(score, threshold) of each of these runs in their order, by case id; no score where there is no ok verdict."""
    found: dict[int, list[tuple[float | None, float | None]]] = {}
    for place, run_id in enumerate(run_ids):
        for r in rows(
            "SELECT rc.case_id, v.score, r.threshold FROM run_cases rc JOIN runs r ON r.id = rc.run_id "
            "LEFT JOIN verdicts v ON v.run_id = rc.run_id AND v.case_id = rc.case_id WHERE rc.run_id = ?",
            [run_id],
        ):
            found.setdefault(r["case_id"], [(None, None)] * len(run_ids))[place] = (r["score"], r["threshold"])
    return found


def clusters_of(run_ids: list[int]) -> dict[int, str]:
    """By case id, what each case of these runs belongs to: its prompt."""
    slots = ",".join("?" * len(run_ids))
    found = rows(
        f"SELECT DISTINCT c.id, c.cluster FROM run_cases rc JOIN cases c ON c.id = rc.case_id WHERE rc.run_id IN ({slots})",
        run_ids,
    )
    return {r["id"]: r["cluster"] for r in found}
