"""What the exported tables are made of. Every row says which revision of its case it is about, and shows that prompt."""

from __future__ import annotations

from data.store.connection import rows

#: The prompt of a case in the revision that a row is about.
_PROMPT = (
    "(SELECT group_concat(p.text, char(10)) FROM (SELECT text FROM parts WHERE case_id = c.id AND revision = {of}.revision "
    "AND role = 'input' AND kind = 'text' ORDER BY position) p) AS prompt"
)
_CASE = f'c.id AS "case", c.external_id AS case_id, {_PROMPT}, c.generator, c.revision AS current_revision'


def verdicts(dataset_id: int, run_id: int | None) -> list[dict]:
    """Verdicts of a dataset, or of one run, with their items as key -> value or answer, their tokens and raw replies."""
    found = rows(
        f"SELECT v.id, {_CASE.format(of='v')}, v.revision, v.run_id AS run, j.name AS judge, r.metric, "
        "r.metric_version, r.threshold, v.status, v.score, v.reason AS reasoning, v.problem, v.flags_json, v.created, "
        "g.version AS rubric_version, "
        "(SELECT sum(p.input_tokens) FROM verdict_replies vr JOIN replies p ON p.id = vr.reply_id "
        "  WHERE vr.verdict_id = v.id) AS input_tokens, "
        "(SELECT sum(p.output_tokens) FROM verdict_replies vr JOIN replies p ON p.id = vr.reply_id "
        "  WHERE vr.verdict_id = v.id) AS output_tokens, "
        "(SELECT json_group_array(json_object('aspect', vr.aspect, 'attempt', vr.attempt, 'text', p.text, "
        "  'finish_reason', p.finish_reason, 'refusal', p.refusal)) FROM verdict_replies vr "
        "  JOIN replies p ON p.id = vr.reply_id WHERE vr.verdict_id = v.id) AS raw_replies "
        "FROM verdicts v JOIN runs r ON r.id = v.run_id JOIN judges j ON j.id = r.judge_id "
        "JOIN cases c ON c.id = v.case_id LEFT JOIN rubrics g ON g.id = v.rubric_id "
        "WHERE r.dataset_id = ? AND (? IS NULL OR v.run_id = ?) ORDER BY v.run_id, c.id",
        [dataset_id, run_id, run_id],
    )
    items = _by(
        rows(
            "SELECT i.verdict_id, i.key, coalesce(i.value, i.answer) AS said FROM items i "
            "JOIN verdicts v ON v.id = i.verdict_id JOIN runs r ON r.id = v.run_id "
            "WHERE r.dataset_id = ? AND (? IS NULL OR v.run_id = ?) ORDER BY i.verdict_id, i.position",
            [dataset_id, run_id, run_id],
        ),
        "verdict_id",
    )
    return [{**v, "items": items.get(v["id"], {})} for v in found]


def reviews(dataset_id: int) -> list[dict]:
    """Everything people said in a dataset, in the order they said it, with corrected items."""
    found = rows(
        f"SELECT r.*, {_CASE.format(of='r')}, w.name AS reviewer, d.queue, d.stratum, d.pi, "
        "(SELECT u.token FROM reviews u WHERE u.id = r.undoes) AS undoes, "
        "r.id IN (SELECT id FROM first_reviews) AS first, r.id IN (SELECT id FROM current_reviews) AS stands "
        "FROM reviews r JOIN cases c ON c.id = r.case_id "
        "JOIN reviewers w ON w.id = r.reviewer_id LEFT JOIN queue_draws d ON d.id = r.draw_id "
        "WHERE c.dataset_id = ? ORDER BY r.id",
        [dataset_id],
    )
    items = _by(
        rows(
            "SELECT i.review_id, i.key, coalesce(i.value, i.answer) AS said FROM review_items i "
            "JOIN reviews r ON r.id = i.review_id JOIN cases c ON c.id = r.case_id WHERE c.dataset_id = ?",
            [dataset_id],
        ),
        "review_id",
    )
    return [{**r, "items": items.get(r["id"], {})} for r in found]


def judged_cases(run_id: int) -> list[dict]:
    """One row a case with a verdict in the run on the case as it is now, with its adjudication."""
    return rows(
        f"SELECT {_CASE.format(of='v')}, v.revision, v.status, v.score, a.label AS adjudicated, w.name AS adjudicated_by, "
        "a.created AS adjudicated_at, a.reason AS adjudication_reason "
        "FROM verdicts v JOIN runs r ON r.id = v.run_id JOIN cases c ON c.id = v.case_id AND c.revision = v.revision "
        "LEFT JOIN current_adjudications a ON a.case_id = c.id AND a.criterion = r.criterion "
        "LEFT JOIN reviewers w ON w.id = a.reviewer_id WHERE v.run_id = ? ORDER BY c.id",
        [run_id],
    )


def labels_of_run(run_id: int) -> dict[int, dict[str, dict[str, str]]]:
    """By case and reviewer: the first and the current label under the run's criterion, hand-picked ones included."""
    said: dict[int, dict[str, dict[str, str]]] = {}
    for which, view in (("first", "first_reviews"), ("current", "current_reviews")):
        for r in rows(
            f"SELECT r.case_id, w.name, r.label FROM {view} r JOIN reviewers w ON w.id = r.reviewer_id "
            "JOIN runs run ON run.id = ? AND run.criterion = r.criterion "
            "JOIN verdicts v ON v.run_id = run.id AND v.case_id = r.case_id AND v.revision = r.revision",
            [run_id],
        ):
            said.setdefault(r["case_id"], {}).setdefault(r["name"], {})[which] = r["label"]
    return said


def _by(found: list[dict], owner: str) -> dict[int, dict]:
    grouped: dict[int, dict] = {}
    for r in found:
        grouped.setdefault(r[owner], {})[r["key"]] = r["said"]
    return grouped
