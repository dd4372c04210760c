"""How fast people label, and what there is left to label."""

from __future__ import annotations

from data.store.agreement import Basis
from data.store.connection import row, value
from data.store.counts import refresh

# A person's first label of a case; later ones revise it. What was taken back was no work that counts.
_FIRSTS = """
WITH firsts AS (
    SELECT r.case_id, substr(min(r.created), 1, 10) AS day FROM reviews r JOIN cases c ON c.id = r.case_id
    WHERE c.dataset_id = :dataset AND r.criterion = :criterion AND r.label IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM reviews u WHERE u.undoes = r.id) GROUP BY r.case_id, r.reviewer_id
),
latest AS (SELECT DISTINCT day FROM firsts ORDER BY day DESC LIMIT :days)
"""


def pace_of_labels(dataset_id: int, criterion: str, days: int = 14) -> dict:
    """How many labels all reviewers together give on a dataset, over the last `days` days (UTC) that have any.

    days: how many such days there are; first_day, last_day: as 2026-11-30, None without labels; labels: given on them, one
    a person and case, however drawn; cases: how many different cases they are about.
    """
    return row(
        f"{_FIRSTS} SELECT count(DISTINCT f.day) AS days, min(f.day) AS first_day, max(f.day) AS last_day, "
        "count(*) AS labels, count(DISTINCT f.case_id) AS cases FROM firsts f JOIN latest USING (day)",
        {"dataset": dataset_id, "criterion": criterion, "days": days},
    )


def count_unlabelled(basis: Basis) -> int:
    """How many judged test cases of the run have no label that counts on the basis, tied and unsure ones left out; the cases
    of its audits are left for the random order."""
    refresh()
    return value(
        "SELECT coalesce(sum(n), 0) FROM agreement_counts WHERE run_id = ? AND basis = ? AND audited = 0 AND split = 'test' "
        "AND gold = 'unlabelled'",
        [basis.run_id, basis.name],
    )
