"""The counts that agreement figures are made of: a run's labels against the people's.

Basis `blind`: each person's first label, given with the verdict hidden. Basis `all`: each person's current label,
whether the verdict was hidden or shown. In both only labels on randomly drawn cases count: picked cases never do, and
those of an audit, drawn with unequal chances, count once the random order has come past them. Gold is the
adjudication, else the strict majority; "unsure" is no vote; a tie leaves the case unresolved.
"""

from __future__ import annotations

from dataclasses import dataclass

from data.store.connection import row, rows

BASES = {
    "blind": "first labels, given blind",
    "all": "current labels, blind or not",
}

_VOTES = {"blind": "(SELECT * FROM first_reviews WHERE blind = 1)", "all": "current_reviews"}

# Cases of one prompt belong together; a case without a prompt stands for itself. c is the case.
_CLUSTER = "CASE WHEN c.prompt = '' THEN 'case ' || c.id ELSE c.prompt END AS cluster"

# A randomly drawn case. One that its reviewer labelled in an audit is so as well once the random order has come past it:
# the queue does not offer it again, and a sample without the audited cases would be short of flagged ones.
_RANDOM = """(r.basis = 'random' OR (r.basis = 'designed' AND EXISTS (
    SELECT 1 FROM queue_draws d JOIN reach ON reach.reviewer_id = d.reviewer_id AND reach.queue = d.queue AND d.id < reach.last
    WHERE d.reviewer_id = r.reviewer_id AND d.case_id = r.case_id AND d.criterion = r.criterion AND d.basis = 'random')))"""
# The audits of the run itself: within each of its labels every case had the same chance.
_AUDITED = "r.draw_id IN (SELECT id FROM queue_draws WHERE queue GLOB 'audit/run ' || :run || '/*')"

# One row a case of the run that people labelled: gold (badcase, usable or null), the judge's label, when gold was known.
_PAIRS = """
WITH run AS (SELECT * FROM runs WHERE id = :run),
reach AS (
    SELECT m.reviewer_id, d.queue, max(d.id) AS last FROM run JOIN reviews m ON m.criterion = run.criterion
    JOIN cases c ON c.id = m.case_id AND c.dataset_id = run.dataset_id JOIN queue_draws d ON d.id = m.draw_id
    JOIN datasets s ON s.id = c.dataset_id AND s.overlap IS NULL -- with an overlap the order is not followed strictly
    WHERE m.basis = 'random' AND m.label IS NOT NULL GROUP BY m.reviewer_id, d.queue
),
votes AS (
    SELECT r.case_id, sum(r.label = 'badcase') AS bad, sum(r.label = 'usable') AS usable, max(r.created) AS known
    FROM {votes} r JOIN run ON run.criterion = r.criterion WHERE {drawn} GROUP BY r.case_id
),
pairs AS (
    SELECT c.id AS case_id, c.external_id, c.prompt, {cluster}, c.generator, votes.bad, votes.usable,
        max(votes.known, coalesce(a.created, '')) AS known, a.label AS adjudicated,
        coalesce(a.label, CASE WHEN votes.bad > votes.usable THEN 'badcase' WHEN votes.usable > votes.bad THEN 'usable' END)
            AS gold,
        v.status, v.score,
        CASE WHEN v.score IS NULL OR :threshold IS NULL THEN NULL WHEN v.score >= :threshold THEN 'usable' ELSE 'badcase' END
            AS judge
    FROM run JOIN verdicts v ON v.run_id = run.id
    JOIN cases c ON c.id = v.case_id AND c.revision = v.revision
    JOIN votes ON votes.case_id = c.id
    LEFT JOIN current_adjudications a ON a.case_id = c.id AND a.criterion = run.criterion
    WHERE v.status != 'skipped'
)
"""

_CELLS = """
    count(*) AS n,
    coalesce(sum(gold = 'badcase' AND judge = 'badcase'), 0) AS tp, coalesce(sum(gold = 'usable' AND judge = 'badcase'), 0) AS fp,
    coalesce(sum(gold = 'badcase' AND judge = 'usable'), 0) AS fn, coalesce(sum(gold = 'usable' AND judge = 'usable'), 0) AS tn,
    coalesce(sum(gold = 'badcase' AND judge IS NULL), 0) AS unanswered_bad,
    coalesce(sum(gold = 'usable' AND judge IS NULL), 0) AS unanswered_usable
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
        drawn = f"({_RANDOM} OR {_AUDITED})" if self.with_audits else _RANDOM
        return _PAIRS.format(votes=_VOTES[self.name], drawn=drawn, cluster=_CLUSTER)

    @property
    def parameters(self) -> dict:
        return {"run": self.run_id, "threshold": self.threshold}


def counts(basis: Basis) -> dict:
    """tp, fp, fn, tn, unanswered_bad, unanswered_usable: cases with a gold label, by what the judge said."""
    found = row(f"{basis.sql} SELECT {_CELLS} FROM pairs WHERE gold IS NOT NULL", basis.parameters)
    found.pop("n")
    return found


def counts_by_prompt(basis: Basis) -> dict[str, tuple[int, ...]]:
    """tp, fp, fn, tn, unanswered_bad, unanswered_usable by prompt."""
    found = rows(
        f"{basis.sql} SELECT cluster, {_CELLS} FROM pairs WHERE gold IS NOT NULL GROUP BY cluster",
        basis.parameters,
    )
    names = ("tp", "fp", "fn", "tn", "unanswered_bad", "unanswered_usable")
    return {r["cluster"]: tuple(r[name] for name in names) for r in found}


def judged_by_prompt(basis: Basis) -> dict[str, tuple[int, int]]:
    """(flagged, passed) of all judged cases by prompt, labelled or not; without the cases that got no label."""
    found = rows(
        f"SELECT {_CLUSTER}, sum(v.score < :threshold) AS flagged, sum(v.score >= :threshold) AS passed FROM verdicts v "
        "JOIN cases c ON c.id = v.case_id AND c.revision = v.revision "
        "WHERE v.run_id = :run AND v.score IS NOT NULL GROUP BY cluster",
        basis.parameters,
    )
    return {r["cluster"]: (r["flagged"], r["passed"]) for r in found}


def counts_by_day(basis: Basis) -> list[dict]:
    """The same counts by the day (UTC) on which gold was known, oldest first."""
    return rows(
        f"{basis.sql} SELECT substr(known, 1, 10) AS day, {_CELLS} FROM pairs WHERE gold IS NOT NULL "
        "GROUP BY day ORDER BY day",
        basis.parameters,
    )


def disagreements(basis: Basis, limit: int = 500) -> list[dict]:
    """The cases on which gold and the judge differ, or on which the judge gave no label."""
    return rows(
        f"{basis.sql} SELECT * FROM pairs WHERE gold IS NOT NULL AND (judge IS NULL OR judge != gold) "
        "ORDER BY case_id LIMIT :limit",
        {**basis.parameters, "limit": limit},
    )


def count_disagreements(basis: Basis) -> int:
    """How many such cases there are."""
    return row(
        f"{basis.sql} SELECT count(*) AS n FROM pairs WHERE gold IS NOT NULL AND (judge IS NULL OR judge != gold)",
        basis.parameters,
    )["n"]


def agreement_rows(basis: Basis) -> list[dict]:
    """Every case that people labelled, gold and the judge's label beside each other, for the export."""
    return rows(f"{basis.sql} SELECT * FROM pairs ORDER BY case_id", basis.parameters)


def unresolved(basis: Basis) -> list[dict]:
    """The labelled cases that have no gold label: a tie, or only unsure."""
    return rows(f"{basis.sql} SELECT * FROM pairs WHERE gold IS NULL ORDER BY case_id", basis.parameters)


def vote_patterns(basis: Basis) -> list[tuple[int, int, int]]:
    """(labels m, badcase labels b, number of cases) over the labelled cases of the run with at least two votes."""
    found = rows(
        f"{basis.sql} SELECT bad + usable AS m, bad AS b, count(*) AS n FROM pairs WHERE bad + usable >= 2 GROUP BY m, b",
        basis.parameters,
    )
    return [(r["m"], r["b"], r["n"]) for r in found]


def left_out(run_id: int) -> dict:
    """People's labels on the run's cases that do not count: picked (nobody drew the case), audited
    (drawn with unequal chances), stale (the case has changed)."""
    return row(
        "SELECT (SELECT count(*) FROM current_reviews r JOIN verdicts v ON v.case_id = r.case_id AND v.run_id = run.id "
        "  WHERE r.criterion = run.criterion AND r.basis = 'opportunistic') AS picked, "
        "(SELECT count(*) FROM current_reviews r JOIN verdicts v ON v.case_id = r.case_id AND v.run_id = run.id "
        "  WHERE r.criterion = run.criterion AND r.basis = 'designed') AS audited, "
        "(SELECT count(DISTINCT r.case_id || '/' || r.reviewer_id) FROM reviews r JOIN cases c ON c.id = r.case_id "
        "  JOIN run_cases rc ON rc.case_id = r.case_id AND rc.run_id = run.id "
        "  WHERE r.criterion = run.criterion AND r.label IS NOT NULL AND r.revision != c.revision "
        "  AND NOT EXISTS (SELECT 1 FROM reviews u WHERE u.undoes = r.id) "
        "  AND NOT EXISTS (SELECT 1 FROM standing_reviews s WHERE s.case_id = r.case_id "
        "    AND s.reviewer_id = r.reviewer_id AND s.criterion = r.criterion)) AS stale "
        "FROM runs run WHERE run.id = ?",
        [run_id],
    )


def item_pairs(run_id: int) -> list[dict]:
    """What judge and people say of the same item, one row a person and item: group, key, kind, the judge's value or
    answer and the person's.

    A person speaks of an item by correcting it, or by leaving it as it is beside this run's verdict: when it was on the
    screen for the label, or when another item of it was corrected. Each person's current review counts, on randomly drawn
    cases only.
    """
    return rows(
        'SELECT i."group", i.key, i.kind, i.text, i.value AS judge_value, i.answer AS judge_answer, '
        "CASE WHEN c.key IS NULL THEN i.value ELSE c.value END AS human_value, "
        "CASE WHEN c.key IS NULL THEN i.answer ELSE c.answer END AS human_answer "
        "FROM runs run JOIN verdicts v ON v.run_id = run.id JOIN items i ON i.verdict_id = v.id "
        "JOIN current_reviews r ON r.case_id = v.case_id AND r.revision = v.revision AND r.criterion = run.criterion "
        "LEFT JOIN review_items c ON c.review_id = r.id AND c.key = i.key "
        "WHERE run.id = ? AND r.basis = 'random' AND (c.key IS NOT NULL OR (r.run_id = run.id "
        "  AND (r.shown OR EXISTS (SELECT 1 FROM review_items x WHERE x.review_id = r.id))))",
        [run_id],
    )
