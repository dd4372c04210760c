"""Labels given blind and labels given with a run's verdict on the screen."""

from __future__ import annotations

from data.store.connection import rows

# Each person's first label on a case drawn at random, as the view first_reviews has it: blind, or with the run's verdict on
# the screen. A label taken back before any verdict was seen was a slip.
_FIRST = """
SELECT m.* FROM reviews m
WHERE m.run_id = :run AND m.basis = 'random' AND m.label IN ('badcase', 'usable') AND (m.blind OR m.shown)
AND NOT EXISTS (SELECT 1 FROM reviews u WHERE u.undoes = m.id AND u.blind = 1)
AND NOT EXISTS (
    SELECT 1 FROM reviews e WHERE e.case_id = m.case_id AND e.criterion = m.criterion AND e.reviewer_id = m.reviewer_id
    AND e.revision = m.revision AND e.id < m.id AND e.label IS NOT NULL AND e.basis != 'opportunistic'
    AND NOT EXISTS (SELECT 1 FROM reviews u WHERE u.undoes = e.id AND u.blind = 1))
"""


# What the same person says of the case by now, from whichever queue.
_NOW = """
(SELECT n.label FROM reviews n WHERE n.case_id = t.case_id AND n.criterion = t.criterion AND n.reviewer_id = t.reviewer_id
    AND n.revision = t.revision AND n.label IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reviews u WHERE u.undoes = n.id)
    ORDER BY n.id DESC LIMIT 1)
"""


def first_labels(run_id: int) -> list[dict]:
    """Counts n of people's first labels on randomly drawn cases that this run's judge labelled too, at its own threshold, by
    prompt (cluster).

    blind: given before the verdict was seen, else with the verdict of this run on the screen. drawn: chance decided which.
    agrees: it is the judge's label. went_over: it is blind and is not, but the same person's current label is.
    """
    return rows(
        f"""WITH first AS ({_FIRST}), told AS (
            SELECT c.cluster, f.case_id, f.reviewer_id, f.criterion, f.revision, f.label, f.blind,
                CASE WHEN v.score >= r.threshold THEN 'usable' ELSE 'badcase' END AS judge
            FROM first f JOIN runs r ON r.id = f.run_id AND r.criterion = f.criterion AND r.threshold IS NOT NULL
            JOIN cases c ON c.id = f.case_id AND c.revision = f.revision AND c.split = 'test'
            JOIN verdicts v ON v.run_id = r.id AND v.case_id = c.id AND v.revision = c.revision AND v.score IS NOT NULL
        )
        SELECT t.cluster, t.blind, coalesce(d.blind = t.blind, 0) AS drawn, t.label = t.judge AS agrees,
            CASE WHEN t.blind AND t.label != t.judge THEN coalesce({_NOW} = t.judge, 0) ELSE 0 END AS went_over, count(*) AS n
        FROM told t
        LEFT JOIN blind_draws d ON d.case_id = t.case_id AND d.criterion = t.criterion AND d.reviewer_id = t.reviewer_id
        GROUP BY 1, 2, 3, 4, 5""",
        {"run": run_id},
    )
