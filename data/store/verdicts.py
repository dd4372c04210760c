"""What runs said of cases: verdicts with their items and raw replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from data.store.connection import insert, insert_many, now, rows, writing
from data.store.runs import metric_of
from evaluators.verdict import Item, Verdict, label_of

_ITEM_COLUMNS = (
    "verdict_id", "position", "key", "kind", "group", "text", "value", "low", "high", "answer", "expected",
    "choices_json", "node",
)  # fmt: skip


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
    return 0.0 if run["options"]["strict"] and score is not None and score < 1 else score


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
