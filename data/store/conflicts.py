"""Cases that a lead has to decide: people's labels differ, and nobody has decided yet."""

from __future__ import annotations

from collections.abc import Sequence

from data.store.connection import rows, value

# Cases under a criterion whose standing labels differ, or are all unsure, by several people, without an adjudication.
_CONFLICTS = """
SELECT r.case_id, sum(r.label = 'badcase') AS bad, sum(r.label = 'usable') AS usable, count(*) AS labels
FROM current_reviews r JOIN cases c ON c.id = r.case_id
WHERE c.dataset_id = ? AND r.criterion = ? AND NOT EXISTS (
    SELECT 1 FROM current_adjudications a WHERE a.case_id = r.case_id AND a.criterion = r.criterion)
GROUP BY r.case_id HAVING count(*) >= 2 AND (bad > 0) + (usable > 0) != 1
"""


def conflicts(dataset_id: int, criterion: str, limit: int, skipped: Sequence[int] = ()) -> list[int]:
    """Ids of the cases to decide, ties before majorities; those in `skipped` last."""
    marks = ",".join(str(int(case_id)) for case_id in skipped)
    found = rows(
        f"SELECT case_id FROM ({_CONFLICTS}) ORDER BY case_id IN ({marks}), bad != usable, case_id LIMIT ?",
        [dataset_id, criterion, limit],
    )
    return [r["case_id"] for r in found]


def count_conflicts(dataset_id: int, criterion: str) -> int:
    """How many cases are to be decided."""
    return value(f"SELECT count(*) FROM ({_CONFLICTS})", [dataset_id, criterion])


def adjudicated_count(dataset_id: int, criterion: str) -> int:
    """How many cases have been decided."""
    return value(
        "SELECT count(*) FROM current_adjudications a JOIN cases c ON c.id = a.case_id "
        "WHERE c.dataset_id = ? AND a.criterion = ?",
        [dataset_id, criterion],
    )


def labels_on(case_ids: Sequence[int], criterion: str) -> dict[int, list[dict]]:
    """Everybody's standing label on these cases: reviewer, label, tags, comment, blind, items; by case id."""
    marks = ",".join("?" * len(case_ids))
    found: dict[int, list[dict]] = {}
    for r in rows(
        "SELECT r.case_id, p.name AS reviewer, r.label, r.tags_json, r.comment, r.blind FROM current_reviews r "
        f"JOIN reviewers p ON p.id = r.reviewer_id WHERE r.criterion = ? AND r.case_id IN ({marks}) ORDER BY r.id",
        [criterion, *case_ids],
    ):
        found.setdefault(r["case_id"], []).append(r)
    return found
