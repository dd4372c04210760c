"""Scores in counts: a judge's scores by people's label, and beside people's scores."""

from __future__ import annotations

from typing import NamedTuple

from data.store.agreement import Basis
from data.store.connection import database, value
from data.store.counts import refresh


class ScorePair(NamedTuple):
    """n cases of a prompt to which judge and people gave these scores; on so many of them a person corrected the judge's."""

    key: str
    cluster: str
    judge: float
    human: float
    n: int
    corrected: int


# A score to a thousandth, on its own side of the threshold: so many continuous scores have few values.
_CUT = """
CASE WHEN :threshold IS NULL OR (round(score, 3) >= :threshold) = (score >= :threshold) THEN round(score, 3)
    WHEN score >= :threshold THEN :threshold ELSE round(round(score, 3) - 0.001, 3) END
"""


def score_histogram(basis: Basis) -> list[tuple[str, float, int, int]]:
    """(cluster, score, usable, badcase): the labelled cases that the judge scored, by prompt and score to a thousandth;
    none changes its side of the basis' threshold by that."""
    return (
        database()
        .conn.execute(
            f"{basis.sql} SELECT cluster, {_CUT} AS cut, sum(gold = 'usable'), sum(gold = 'badcase') FROM pairs "
            "WHERE gold IS NOT NULL AND score IS NOT NULL GROUP BY cluster, cut ORDER BY cut, cluster",
            basis.parameters,
        )
        .fetchall()
    )


def count_unscored(basis: Basis) -> int:
    """How many labelled cases the judge gave no score."""
    return value(f"{basis.sql} SELECT count(*) FROM pairs WHERE gold IS NOT NULL AND score IS NULL", basis.parameters)


def sub_score_counts(run_id: int) -> list[ScorePair]:
    """What judge and people give for the sub-scores, 0-10, to a tenth.

    human: the mean of those who spoke of the sub-score on that case. Who labels with a verdict on the screen, or corrects any
    of its items, speaks of all of them: those that were left as they were are right to that person. It is what one says of
    the case, so it counts for every run with that sub-score, whichever run's verdict it was said of. Each person's current
    review counts, on the cases whose labels count in the basis `all`.
    """
    return _counted(
        "SELECT i.key, c.cluster, c.id AS case_id, round(i.value, 1) AS judge, "
        "round(avg(CASE WHEN x.key IS NULL THEN a.value ELSE x.value END), 1) AS human, "
        "max(x.key IS NOT NULL) AS corrected "
        f"{SPOKEN} {ANSWERED} WHERE r.id = :run AND i.kind = 'sub_score' AND i.value IS NOT NULL GROUP BY i.key, c.id",
        run_id,
    )


def overall_score_counts(run_id: int) -> list[ScorePair]:
    """The same for the score of the verdict, 0-1 to a hundredth, under the key `score`.

    human: what the corrected items come to; where nothing was corrected beside the verdict, the judge's own score. Only
    what was said beside this run's verdict counts: another metric makes another score of the same items.
    """
    return _counted(
        "SELECT 'score' AS key, c.cluster, c.id AS case_id, round(v.score, 2) AS judge, "
        "round(avg(coalesce(s.score, v.score)), 2) AS human, max(s.score IS NOT NULL) AS corrected "
        f"{SPOKEN} WHERE r.id = :run AND v.score IS NOT NULL AND s.run_id = r.id AND (s.score BETWEEN 0 AND 1 "
        "OR s.score IS NULL AND NOT EXISTS (SELECT 1 FROM review_items x WHERE x.review_id = s.id)) GROUP BY c.id",
        run_id,
    )


#: The run r, its verdicts v on the test cases c as they are, each person's current review s of them, where it counts and
#: speaks of items, and the verdict w, of whichever run, that it speaks of.
SPOKEN = """
FROM runs r JOIN verdicts v ON v.run_id = r.id JOIN cases c ON c.id = v.case_id AND c.revision = v.revision AND c.split = 'test'
JOIN counted_labels l ON l.case_id = c.id AND l.criterion = r.criterion AND l.basis = 'all' AND l.audit_run = 0
JOIN reviews s ON s.id = l.review_id AND (s.shown OR EXISTS (SELECT 1 FROM review_items x WHERE x.review_id = s.id))
JOIN verdicts w ON w.run_id = s.run_id AND w.case_id = c.id AND w.revision = c.revision
"""
#: An item i of the run's verdict, the same one a of the verdict that was spoken of, and its correction x, if there is any.
ANSWERED = """
JOIN items i ON i.verdict_id = v.id JOIN items a ON a.verdict_id = w.id AND a.key = i.key
LEFT JOIN review_items x ON x.review_id = s.id AND x.key = i.key
"""


def _counted(by_case: str, run_id: int) -> list[ScorePair]:
    refresh()
    found = database().conn.execute(
        f"SELECT key, cluster, judge, human, count(*) AS n, sum(corrected) AS corrected FROM ({by_case}) "
        "WHERE human IS NOT NULL GROUP BY key, cluster, judge, human ORDER BY key, cluster, judge, human",
        {"run": run_id},
    )
    return [ScorePair._make(row) for row in found]
