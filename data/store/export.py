"""What the exported tables are made of."""

from __future__ import annotations

from data.store.connection import rows


def verdicts(dataset_id: int, run_id: int | None) -> list[dict]:
    """Verdicts of a dataset, or of one run, with their items as key -> value or answer, and their tokens."""
    found = rows(
        "SELECT v.id, c.external_id AS case_id, c.prompt, c.generator, v.run_id AS run, j.name AS judge, r.metric, "
        "r.metric_version, r.threshold, v.status, v.score, v.reason AS reasoning, v.problem, v.flags_json, v.created, "
        "(SELECT sum(p.input_tokens) FROM verdict_replies vr JOIN replies p ON p.id = vr.reply_id "
        "  WHERE vr.verdict_id = v.id) AS input_tokens, "
        "(SELECT sum(p.output_tokens) FROM verdict_replies vr JOIN replies p ON p.id = vr.reply_id "
        "  WHERE vr.verdict_id = v.id) AS output_tokens "
        "FROM verdicts v JOIN runs r ON r.id = v.run_id JOIN judges j ON j.id = r.judge_id "
        "JOIN cases c ON c.id = v.case_id WHERE r.dataset_id = ? AND (? IS NULL OR v.run_id = ?) ORDER BY v.run_id, c.id",
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
        "SELECT r.*, c.external_id AS case_id, c.prompt, c.generator, p.name AS reviewer, d.queue, d.pi, "
        "(SELECT u.token FROM reviews u WHERE u.id = r.undoes) AS undoes, "
        "r.id IN (SELECT id FROM current_reviews) AS stands FROM reviews r JOIN cases c ON c.id = r.case_id "
        "JOIN reviewers p ON p.id = r.reviewer_id LEFT JOIN queue_draws d ON d.id = r.draw_id "
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
    """One row a case with a verdict in the run: case, case_id, prompt, generator, status, score, adjudicated."""
    return rows(
        'SELECT c.id AS "case", c.external_id AS case_id, c.prompt, c.generator, v.status, v.score, a.label AS adjudicated '
        "FROM verdicts v JOIN runs r ON r.id = v.run_id JOIN cases c ON c.id = v.case_id "
        "LEFT JOIN current_adjudications a ON a.case_id = c.id AND a.criterion = r.criterion "
        "WHERE v.run_id = ? ORDER BY c.id",
        [run_id],
    )


def labels_of_run(run_id: int) -> dict[int, dict[str, dict[str, str]]]:
    """By case and reviewer: the first and the current label under the run's criterion, hand-picked ones included."""
    said: dict[int, dict[str, dict[str, str]]] = {}
    for which, view in (("first", "first_reviews"), ("current", "current_reviews")):
        for r in rows(
            f"SELECT r.case_id, p.name, r.label FROM {view} r JOIN reviewers p ON p.id = r.reviewer_id "
            "JOIN runs run ON run.id = ? AND run.criterion = r.criterion "
            "JOIN verdicts v ON v.run_id = run.id AND v.case_id = r.case_id",
            [run_id],
        ):
            said.setdefault(r["case_id"], {}).setdefault(r["name"], {})[which] = r["label"]
    return said


def _by(found: list[dict], owner: str) -> dict[int, dict]:
    grouped: dict[int, dict] = {}
    for r in found:
        grouped.setdefault(r[owner], {})[r["key"]] = r["said"]
    return grouped
