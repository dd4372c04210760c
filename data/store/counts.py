"""Which labels count, what is gold, and the counts by run and prompt that agreement figures are made of.

All of it follows from reviews, adjudications and verdicts, and is made anew only for the prompts about which something was
said since: triggers (migration m009) write those into stale_clusters. So a page costs as much as there are prompts, however
many reviews there are.

Basis `blind`: each person's first label, if it was given with the verdict hidden. Basis `all`: each person's current label.
A label counts where its case was drawn at random; one of an audit does so as well once its reviewer's random order has come
past the case: the queue does not offer it again, and a sample without the audited cases would be short of flagged ones.
Before that it counts only beside the other labels of that run's audits, within each of the judge's two labels. Labels on
picked cases never count. Gold is the adjudication, else the strict majority; "unsure" is no vote.
"""

from __future__ import annotations

from data.store.connection import value, writing

# CROSS JOIN: what is stale comes first, and the rest is looked up; the planner knows no better from an empty table.
# Each person's labels on the cases in question, as the views first_reviews and current_reviews have them for all cases.
_LABELS = """
SELECT basis, case_id, criterion, reviewer_id, id, label, drawn, draw_id, created FROM (
    SELECT 'all' AS basis, r.case_id, r.criterion, r.reviewer_id, r.id, r.label, r.basis AS drawn, r.draw_id, r.created,
        1 AS blind, row_number() OVER (PARTITION BY r.case_id, r.criterion, r.reviewer_id ORDER BY r.id DESC) AS place
    FROM stale_cases s CROSS JOIN cases c ON c.id = s.case_id CROSS JOIN reviews r ON r.case_id = c.id AND r.revision = c.revision
    WHERE r.label IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reviews u WHERE u.undoes = r.id)
    UNION ALL
    SELECT 'blind', r.case_id, r.criterion, r.reviewer_id, r.id, r.label, r.basis, r.draw_id, r.created, r.blind,
        row_number() OVER (PARTITION BY r.case_id, r.criterion, r.reviewer_id ORDER BY r.basis = 'opportunistic', r.id)
    FROM stale_cases s CROSS JOIN cases c ON c.id = s.case_id CROSS JOIN reviews r ON r.case_id = c.id AND r.revision = c.revision
    WHERE r.label IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reviews u WHERE u.undoes = r.id AND u.blind = 1)
) WHERE place = 1 AND blind = 1
"""
# Whose random order has come past the audited case l.
_PASSED = """EXISTS (
    SELECT 1 FROM queue_draws d JOIN cases c ON c.id = d.case_id JOIN datasets s ON s.id = c.dataset_id
    JOIN random_reach p ON p.reviewer_id = d.reviewer_id AND p.dataset_id = c.dataset_id AND p.criterion = d.criterion
        AND p.queue = d.queue AND d.id < p.last
    WHERE d.reviewer_id = l.reviewer_id AND d.case_id = l.case_id AND d.criterion = l.criterion AND d.basis = 'random'
        AND s.overlap IS NULL)"""

_STEPS = (
    "CREATE TEMP TABLE IF NOT EXISTS stale_cases (case_id INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE IF NOT EXISTS stale_labels (basis TEXT, case_id INTEGER, criterion TEXT, reviewer_id INTEGER, "
    "id INTEGER, label TEXT, drawn TEXT, draw_id INTEGER, created TEXT, "
    "PRIMARY KEY (basis, case_id, criterion, reviewer_id)) WITHOUT ROWID",
    "DELETE FROM stale_cases",
    "DELETE FROM stale_labels",
    "INSERT INTO stale_cases SELECT c.id FROM stale_clusters s CROSS JOIN cases c USING (dataset_id, cluster)",
    f"INSERT INTO stale_labels {_LABELS}",
    *(
        f"DELETE FROM {table} WHERE case_id IN (SELECT case_id FROM stale_cases)"
        for table in ("counted_labels", "gold_labels", "labels_left_out")
    ),
    # The name of an audit's queue says whose it is: audit/run 7/0.5 of flagged, …
    f"""
    INSERT INTO counted_labels SELECT case_id, criterion, basis, reviewer_id, audit_run, label, id FROM (
        SELECT l.*, CASE WHEN l.drawn = 'random' OR (l.drawn = 'designed' AND {_PASSED}) THEN 0 ELSE (
            SELECT CAST(substr(d.queue, 11) AS INTEGER) FROM queue_draws d
            WHERE d.id = l.draw_id AND d.queue GLOB 'audit/run *') END AS audit_run
        FROM stale_labels l WHERE l.drawn != 'opportunistic'
    ) WHERE audit_run IS NOT NULL
    """,
    """
    INSERT INTO gold_labels
    SELECT case_id, criterion, basis, audit_run, bad, usable, max(known, coalesce(decided, '')), adjudicated,
        coalesce(adjudicated, CASE WHEN bad > usable THEN 'badcase' WHEN usable > bad THEN 'usable' END)
    FROM (
        SELECT g.case_id, g.criterion, g.basis, g.audit_run, sum(l.label = 'badcase') AS bad,
            sum(l.label = 'usable') AS usable, max(r.created) AS known, a.label AS adjudicated, a.created AS decided
        FROM (SELECT DISTINCT n.case_id, n.criterion, n.basis, n.audit_run
              FROM stale_cases s CROSS JOIN counted_labels n USING (case_id)) g
        CROSS JOIN counted_labels l ON l.case_id = g.case_id AND l.criterion = g.criterion AND l.basis = g.basis
            AND l.audit_run IN (0, g.audit_run)
        JOIN reviews r ON r.id = l.review_id JOIN cases c ON c.id = g.case_id
        LEFT JOIN adjudications a ON a.revision = c.revision AND a.id = (
            SELECT max(x.id) FROM adjudications x WHERE x.case_id = g.case_id AND x.criterion = g.criterion)
        GROUP BY g.case_id, g.criterion, g.basis, g.audit_run
    )
    """,
    """
    INSERT INTO labels_left_out SELECT case_id, criterion, sum(picked), sum(seen), sum(stale) FROM (
        SELECT l.case_id, l.criterion, l.drawn = 'opportunistic' AS picked, l.drawn != 'opportunistic' AND NOT EXISTS (
            SELECT 1 FROM stale_labels b WHERE b.basis = 'blind' AND b.case_id = l.case_id
            AND b.criterion = l.criterion AND b.reviewer_id = l.reviewer_id) AS seen, 0 AS stale
        FROM stale_labels l WHERE l.basis = 'all'
        UNION ALL
        SELECT r.case_id, r.criterion, 0, 0, count(DISTINCT r.reviewer_id) FROM stale_cases s
        CROSS JOIN cases c ON c.id = s.case_id CROSS JOIN reviews r ON r.case_id = c.id AND r.revision != c.revision
        WHERE r.label IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reviews u WHERE u.undoes = r.id) AND NOT EXISTS (
            SELECT 1 FROM stale_labels l WHERE l.basis = 'all' AND l.case_id = r.case_id
            AND l.reviewer_id = r.reviewer_id AND l.criterion = r.criterion)
        GROUP BY r.case_id, r.criterion
    ) GROUP BY case_id, criterion HAVING sum(picked) + sum(seen) + sum(stale)
    """,
    "INSERT OR IGNORE INTO clusters (dataset_id, cluster) SELECT dataset_id, cluster FROM stale_clusters",
    "DELETE FROM agreement_counts WHERE cluster_id IN (SELECT id FROM stale_clusters JOIN clusters USING (dataset_id, cluster))",
)

# Every judged case, labelled or not, by what the judge said and what the people did. {gold}: which of a case's gold rows.
_COUNTS = """
INSERT INTO agreement_counts
SELECT run_id, basis, {audited}, split, cluster_id, judge, gold, bad, usable, count(*)
FROM (
    SELECT v.run_id, b.basis, c.split, k.id AS cluster_id,
        CASE WHEN v.score IS NULL OR r.threshold IS NULL THEN 'none' WHEN v.score >= r.threshold THEN 'usable'
            ELSE 'badcase' END AS judge,
        CASE WHEN g.case_id IS NULL THEN 'unlabelled' ELSE coalesce(g.gold, 'none') END AS gold,
        coalesce(g.bad, 0) AS bad, coalesce(g.usable, 0) AS usable
    FROM stale_cases s CROSS JOIN cases c ON c.id = s.case_id CROSS JOIN clusters k USING (dataset_id, cluster)
    CROSS JOIN verdicts v ON v.case_id = c.id AND v.revision = c.revision AND v.status != 'skipped'
    JOIN runs r ON r.id = v.run_id CROSS JOIN (SELECT 'blind' AS basis UNION ALL SELECT 'all') b
    LEFT JOIN gold_labels g ON g.case_id = c.id AND g.criterion = r.criterion AND g.basis = b.basis AND g.audit_run = {gold}
    {where}
) GROUP BY run_id, basis, split, cluster_id, judge, gold, bad, usable
"""
#: A case's gold with the labels of the run's audits, where it has any.
WITH_AUDITS = """coalesce((SELECT a.audit_run FROM gold_labels a WHERE a.case_id = c.id AND a.criterion = r.criterion
    AND a.basis = {basis} AND a.audit_run = r.id), 0)"""
# Only where there are such labels: elsewhere the counts without them say the same.
_AUDITED_CLUSTERS = """WHERE (r.id, k.id) IN (
    SELECT a.audit_run, q.id FROM stale_cases t CROSS JOIN gold_labels a ON a.case_id = t.case_id AND a.audit_run > 0
    JOIN cases w ON w.id = t.case_id JOIN clusters q ON q.dataset_id = w.dataset_id AND q.cluster = w.cluster)"""


def refresh() -> None:
    """Bring the counts up to date with what was said since they were last looked at."""
    if not value("SELECT EXISTS (SELECT 1 FROM stale_clusters)"):
        return
    with writing() as db:
        for step in _STEPS:
            db.conn.execute(step)
        db.conn.execute(_COUNTS.format(audited=0, gold=0, where=""))
        db.conn.execute(_COUNTS.format(audited=1, gold=WITH_AUDITS.format(basis="b.basis"), where=_AUDITED_CLUSTERS))
        db.conn.execute("DELETE FROM stale_clusters")
