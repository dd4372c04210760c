"""A run's labels against the people's: counts for figures, rows for lists and exports.

What counts is decided in `data/store/counts.py`; every query here brings it up to date first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from data.store.connection import row, rows, tuples, value
from data.store.counts import WITH_AUDITS, refresh

BASES = {
    "blind": "first labels, given blind",
    "all": "current labels, blind or not",
}
CELLS = ("tp", "fp", "fn", "tn", "unanswered_bad", "unanswered_usable")

# One row a test case of the run that people labelled: gold (badcase, usable or null), the judge's label, when gold was
# known. Cases that a prompt showed as examples, or that a judge was tuned on, measure nothing.
_PAIRS = """
WITH pairs AS (
    SELECT c.id AS case_id, c.external_id, c.prompt, c.cluster, c.generator, g.bad, g.usable, g.known, g.adjudicated, g.gold,
        v.status, v.score,
        CASE WHEN v.score IS NULL OR :threshold IS NULL THEN NULL WHEN v.score >= :threshold THEN 'usable' ELSE 'badcase' END
            AS judge
    FROM runs r JOIN verdicts v ON v.run_id = r.id AND v.status != 'skipped'
    JOIN cases c ON c.id = v.case_id AND c.revision = v.revision AND c.split = 'test'
    JOIN gold_labels g ON g.case_id = c.id AND g.criterion = r.criterion AND g.basis = :basis AND g.audit_run = {gold}
    WHERE r.id = :run
)
"""

#: The counts of CELLS over rows of `pairs`, and n.
CELL_SUMS = """
    count(*) AS n,
    coalesce(sum(gold = 'badcase' AND judge = 'badcase'), 0) AS tp, coalesce(sum(gold = 'usable' AND judge = 'badcase'), 0) AS fp,
    coalesce(sum(gold = 'badcase' AND judge = 'usable'), 0) AS fn, coalesce(sum(gold = 'usable' AND judge = 'usable'), 0) AS tn,
    coalesce(sum(gold = 'badcase' AND judge IS NULL), 0) AS unanswered_bad,
    coalesce(sum(gold = 'usable' AND judge IS NULL), 0) AS unanswered_usable
"""

# The kept counts in the place of rows, for the run's own threshold. Where a prompt has audited cases and they are wanted,
# its counts with them stand for those without.
_COUNTED = """
WITH counted AS (
    SELECT a.cluster_id, nullif(a.judge, 'none') AS judge, CASE WHEN a.gold IN ('badcase', 'usable') THEN a.gold END AS gold,
        a.gold != 'unlabelled' AS labelled, a.bad, a.usable, a.n, a.split
    FROM agreement_counts a
    WHERE a.run_id = :run AND a.basis = :basis AND (a.audited = :audited OR (:audited AND NOT EXISTS (
        SELECT 1 FROM agreement_counts w WHERE w.run_id = a.run_id AND w.basis = a.basis AND w.audited = 1
        AND w.cluster_id = a.cluster_id)))
)
"""
_SUMS = """
    coalesce(sum(n * (gold = 'badcase' AND judge = 'badcase')), 0) AS tp,
    coalesce(sum(n * (gold = 'usable' AND judge = 'badcase')), 0) AS fp,
    coalesce(sum(n * (gold = 'badcase' AND judge = 'usable')), 0) AS fn,
    coalesce(sum(n * (gold = 'usable' AND judge = 'usable')), 0) AS tn,
    coalesce(sum(n * (gold = 'badcase' AND judge IS NULL)), 0) AS unanswered_bad,
    coalesce(sum(n * (gold = 'usable' AND judge IS NULL)), 0) AS unanswered_usable
"""


@dataclass(frozen=True)
class Basis:
    """What to compare: a run at a threshold (0-1, the run's own unless one tries another), on a basis.

    with_audits: with the labels of this run's audits, whose cases were drawn with unequal chances by what the judge said;
    only what is told within each of the judge's two labels at the run's own threshold is right then.
    """

    run_id: int
    threshold: float | None
    name: str = "blind"
    with_audits: bool = False

    @property
    def sql(self) -> str:
        """The WITH clause of `pairs`, one row a labelled case; what it reads is brought up to date first."""
        refresh()
        return _PAIRS.format(gold=WITH_AUDITS.format(basis=":basis") if self.with_audits else "0")

    @property
    def parameters(self) -> dict:
        return {"run": self.run_id, "threshold": self.threshold, "basis": self.name, "audited": self.with_audits}

    @property
    def is_own(self) -> bool:
        """Whether the threshold is the run's own, by which counts are kept."""
        own = value("SELECT threshold FROM runs WHERE id = ?", [self.run_id])
        return own is not None and own == self.threshold


def with_own_audits(basis: Basis) -> Basis:
    """For lists of cases, not for figures: the same with the labels of the run's audits, at the run's own threshold."""
    return replace(basis, with_audits=True) if basis.is_own else basis


def counts(basis: Basis) -> dict:
    """tp, fp, fn, tn, unanswered_bad, unanswered_usable: cases with a gold label, by what the judge said."""
    by_prompt = counts_by_prompt(basis).values()
    return {name: sum(cells[place] for cells in by_prompt) for place, name in enumerate(CELLS)}


def counts_by_prompt(basis: Basis) -> dict[str, list[int]]:
    """tp, fp, fn, tn, unanswered_bad, unanswered_usable by prompt."""
    if basis.is_own:
        refresh()
        sql = f"{_COUNTED} SELECT k.cluster, {_SUMS} FROM counted JOIN clusters k ON k.id = cluster_id "
        sql += "WHERE gold IS NOT NULL AND split = 'test' GROUP BY cluster_id"
    else:
        sql = f"{basis.sql} SELECT cluster, {CELL_SUMS} FROM pairs WHERE gold IS NOT NULL GROUP BY cluster"
    return {cluster: cells[-len(CELLS) :] for cluster, *cells in tuples(sql, basis.parameters)}


def has_audits(basis: Basis) -> bool:
    """Whether any label of the run's own audits counts beside the random ones."""
    refresh()
    sql = "SELECT EXISTS (SELECT 1 FROM agreement_counts WHERE run_id = ? AND basis = ? AND audited = 1)"
    return bool(value(sql, [basis.run_id, basis.name]))


def judged_by_prompt(basis: Basis) -> dict[str, tuple[int, int]]:
    """(flagged, passed) of all judged test cases by prompt, labelled or not; without the cases that got no label."""
    if basis.threshold is None:
        return {}
    if basis.is_own:
        refresh()
        sql = (
            f"{_COUNTED} SELECT k.cluster, sum(n * (judge = 'badcase')) AS flagged, sum(n * (judge = 'usable')) AS passed "
            "FROM counted JOIN clusters k ON k.id = cluster_id WHERE judge IS NOT NULL AND split = 'test' GROUP BY cluster_id"
        )
    else:
        sql = (
            "SELECT c.cluster, sum(v.score < :threshold) AS flagged, sum(v.score >= :threshold) AS passed FROM verdicts v "
            "JOIN cases c ON c.id = v.case_id AND c.revision = v.revision "
            "WHERE v.run_id = :run AND v.score IS NOT NULL AND c.split = 'test' GROUP BY c.cluster"
        )
    return {cluster: (flagged, passed) for cluster, flagged, passed in tuples(sql, basis.parameters)}


def disagreements(basis: Basis, limit: int = 500) -> list[dict]:
    """The cases on which gold and the judge differ, or on which the judge gave no label."""
    return rows(
        f"{basis.sql} SELECT * FROM pairs WHERE gold IS NOT NULL AND (judge IS NULL OR judge != gold) "
        "ORDER BY case_id LIMIT :limit",
        {**basis.parameters, "limit": limit},
    )


def unresolved(basis: Basis, limit: int = -1) -> list[dict]:
    """The labelled cases that have no gold label: a tie, or only unsure."""
    return rows(
        f"{basis.sql} SELECT * FROM pairs WHERE gold IS NULL ORDER BY case_id LIMIT :limit",
        {**basis.parameters, "limit": limit},
    )


def vote_patterns(basis: Basis) -> dict[str, list[tuple[int, int, int]]]:
    """(labels m, badcase labels b, number of cases) by prompt over the run's labelled cases with at least two votes."""
    refresh()
    found: dict[str, list[tuple[int, int, int]]] = {}
    for cluster, labels, bad, cases in tuples(
        f"{_COUNTED} SELECT k.cluster, bad + usable, bad, sum(n) FROM counted JOIN clusters k ON k.id = cluster_id "
        "WHERE bad + usable >= 2 AND split = 'test' GROUP BY cluster_id, bad, usable",
        basis.parameters,
    ):
        found.setdefault(cluster, []).append((labels, bad, cases))
    return found


def count_unanswered(basis: Basis) -> int:
    """How many of the run's test cases, labelled or not, got no label from the judge (skipped ones left out)."""
    refresh()
    return value(
        "SELECT coalesce(sum(a.n), 0) FROM agreement_counts a JOIN runs r ON r.id = a.run_id WHERE a.run_id = ? "
        "AND a.basis = ? AND a.audited = 0 AND a.judge = 'none' AND a.split = 'test' AND r.threshold IS NOT NULL",
        [basis.run_id, basis.name],
    )


def left_out(basis: Basis) -> dict:
    """What does not count on the run's cases. unresolved: labelled cases without gold. examples: labelled cases that a
    prompt shows or that a judge was tuned on. Labels: picked (nobody drew the case), seen (of basis blind: not given
    blind), stale (the case has changed), audited (of this run's audits: they count over all judged cases only),
    audited_elsewhere (of another run's audits)."""
    refresh()
    cases = row(
        f"{_COUNTED} SELECT coalesce(sum(n * (labelled AND gold IS NULL AND split = 'test')), 0) AS unresolved, "
        "coalesce(sum(n * (labelled AND split != 'test')), 0) AS examples FROM counted",
        replace(basis, with_audits=False).parameters,
    )
    labels = row(
        "SELECT coalesce(sum(o.picked), 0) AS picked, coalesce(sum(o.seen), 0) AS seen, coalesce(sum(o.stale), 0) AS stale "
        "FROM runs r JOIN labels_left_out o ON o.criterion = r.criterion "
        "JOIN run_cases rc ON rc.run_id = r.id AND rc.case_id = o.case_id WHERE r.id = ?",
        [basis.run_id],
    )
    audits = row(
        "SELECT coalesce(sum(n.audit_run = r.id), 0) AS audited, coalesce(sum(n.audit_run != r.id), 0) AS audited_elsewhere "
        "FROM runs r JOIN counted_labels n ON n.criterion = r.criterion AND n.audit_run > 0 AND n.basis = ? "
        "JOIN run_cases rc ON rc.run_id = r.id AND rc.case_id = n.case_id WHERE r.id = ?",
        [basis.name, basis.run_id],
    )
    return {**cases, **labels, "seen": labels["seen"] if basis.name == "blind" else 0, **audits}
