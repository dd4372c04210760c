"""How the labels that count came about: who gave them, from which queue, blind or not, when."""

from __future__ import annotations

from data.store.agreement import Basis
from data.store.connection import row, rows
from data.store.counts import refresh

# The labels that enter the figures of a run; with its audits, those that enter over all judged cases.
_LABELS = """
WITH labels AS (
    SELECT l.case_id, l.reviewer_id, r.blind, r.created, r.basis AS drawn, coalesce(d.queue, '') AS queue
    FROM runs JOIN verdicts v ON v.run_id = runs.id AND v.status != 'skipped'
    JOIN cases c ON c.id = v.case_id AND c.revision = v.revision AND c.split = 'test'
    JOIN counted_labels l ON l.case_id = c.id AND l.criterion = runs.criterion AND l.basis = :basis
        AND l.audit_run IN (0, runs.id)
    JOIN reviews r ON r.id = l.review_id LEFT JOIN queue_draws d ON d.id = r.draw_id
    WHERE runs.id = :run
)
"""
_SUMS = (
    "count(*) AS labels, count(DISTINCT case_id) AS cases, count(DISTINCT reviewer_id) AS reviewers, "
    "coalesce(sum(blind), 0) AS blind, min(created) AS first, max(created) AS last"
)


def how_labelled(basis: Basis) -> dict:
    """labels, cases, reviewers, blind (labels given with the verdict hidden), first and last (times, None without labels)
    of the labels that count for a run on a basis, its audits among them."""
    refresh()
    return row(f"{_LABELS} SELECT {_SUMS} FROM labels", basis.parameters)


def how_drawn(basis: Basis) -> list[dict]:
    """The same for each queue that the labels came from: queue (its stored name), drawn (random, designed), the most
    labels first."""
    refresh()
    return rows(
        f"{_LABELS} SELECT queue, drawn, {_SUMS} FROM labels GROUP BY queue, drawn ORDER BY labels DESC, queue",
        basis.parameters,
    )
