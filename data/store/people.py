"""What each reviewer said on the cases of a run: counts by person, and who said what where several people labelled."""

from __future__ import annotations

from dataclasses import replace

from data.store.agreement import Basis
from data.store.connection import database, rows

#: So many of a reviewer's labels tell how long they look at a case.
LATEST = 500

# One row a label that counts, on a case of `pairs`; votes: how many of the case's labels are one.
_VOICES = """
, voices AS (
    SELECT p.case_id, p.cluster, p.judge, p.adjudicated, p.bad + p.usable AS votes, l.reviewer_id, l.label, l.review_id
    FROM pairs p JOIN runs r ON r.id = :run
    JOIN counted_labels l ON l.case_id = p.case_id AND l.criterion = r.criterion AND l.basis = :basis AND l.audit_run = 0
)
"""


def cases_by_accord(basis: Basis) -> dict[str, int]:
    """How many labelled cases are adjudicated, else unanimous (two or more people, one label), split (a majority), single
    (one label only) or unresolved (a tie, or all unsure); those that do not occur are missing."""
    basis = _at_random(basis)
    found = rows(
        f"{basis.sql} SELECT CASE WHEN adjudicated IS NOT NULL THEN 'adjudicated' WHEN gold IS NULL THEN 'unresolved' "
        "WHEN bad + usable = 1 THEN 'single' WHEN bad = 0 OR usable = 0 THEN 'unanimous' ELSE 'split' END AS accord, "
        "count(*) AS n FROM pairs GROUP BY accord",
        basis.parameters,
    )
    return {r["accord"]: r["n"] for r in found}


def counts_by_reviewer(basis: Basis) -> dict[str, list[dict]]:
    """Each reviewer's labels by prompt, equal prompts together: how many prompts, and in each of them labels, bad, unsure,
    with_judge (the judge said the same), decided (not unsure, on an adjudicated case), with_decision (as adjudicated)."""
    basis = _at_random(basis)
    found = rows(
        f"""{basis.sql} {_VOICES}, told AS (
            SELECT reviewer_id, count(*) AS labels, sum(label = 'badcase') AS bad, sum(label = 'unsure') AS unsure,
                coalesce(sum(label = judge), 0) AS with_judge,
                sum(adjudicated IS NOT NULL AND label != 'unsure') AS decided,
                coalesce(sum(label = adjudicated), 0) AS with_decision
            FROM voices GROUP BY reviewer_id, cluster
        )
        SELECT p.name AS reviewer, labels, bad, unsure, with_judge, decided, with_decision, count(*) AS prompts
        FROM told JOIN reviewers p ON p.id = told.reviewer_id
        GROUP BY p.id, labels, bad, unsure, with_judge, decided, with_decision ORDER BY p.name, p.id""",
        basis.parameters,
    )
    by_name: dict[str, list[dict]] = {}
    for r in found:
        by_name.setdefault(r.pop("reviewer"), []).append(r)
    return by_name


def looking_times(basis: Basis, latest: int = LATEST) -> dict[str, list[float]]:
    """How many seconds each reviewer looked at a case, ascending, for the latest labels in the run's dataset under its
    criterion, whatever queue they came from; labels without a time are left out."""
    found = rows(
        """SELECT p.name AS reviewer, m.dwell_ms / 1000.0 AS seconds FROM reviewers p JOIN reviews m ON m.id IN (
            SELECT o.id FROM runs r JOIN reviews o ON o.reviewer_id = p.id AND o.criterion = r.criterion
            JOIN cases c ON c.id = o.case_id AND c.dataset_id = r.dataset_id
            WHERE r.id = :run AND o.label IS NOT NULL AND o.dwell_ms IS NOT NULL ORDER BY o.id DESC LIMIT :latest
        ) ORDER BY p.id, seconds""",
        {"run": basis.run_id, "latest": latest},
    )
    by_name: dict[str, list[float]] = {}
    for r in found:
        by_name.setdefault(r["reviewer"], []).append(r["seconds"])
    return by_name


def shared_votes(basis: Basis) -> list[tuple[str, str | None, dict[str, str], int]]:
    """(prompt, the judge's label, people's labels by reviewer, number of such cases), over the cases with two or more votes;
    unsure is no vote. Cases of a prompt that are alike in all that are one row."""
    basis = _at_random(basis)
    found = database().conn.execute(
        f"""{basis.sql} {_VOICES}, told AS (
            SELECT cluster, judge, group_concat(reviewer_id || CASE label WHEN 'badcase' THEN '+' ELSE '-' END, ' ') AS said
            FROM voices WHERE votes >= 2 AND label != 'unsure' GROUP BY case_id
        )
        SELECT cluster, judge, said, count(*) FROM told GROUP BY cluster, judge, said""",
        basis.parameters,
    )
    names = {str(r["id"]): r["name"] for r in rows("SELECT id, name FROM reviewers")}
    read: dict[str, dict[str, str]] = {}  # few different ones occur

    def votes(said: str) -> dict[str, str]:
        if said not in read:
            read[said] = {names[v[:-1]]: "badcase" if v.endswith("+") else "usable" for v in said.split()}
        return read[said]

    return [(cluster, judge, votes(said), n) for cluster, judge, said, n in found]


def _at_random(basis: Basis) -> Basis:
    """Without audits: how far people agree is told of cases drawn at random."""
    return replace(basis, with_audits=False)
