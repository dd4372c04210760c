"""The history of the schema. A migration is applied once and never edited afterwards; changes are new ones at the end.

Rules that the tables keep: nothing a person or a judge said is updated or deleted. Reviews, replies, verdicts and
adjudications are only ever inserted; what counts now is a view or a query. Times are UTC texts. Columns that end in
`_json` hold JSON.
"""

from __future__ import annotations

import secrets

import sqlite_utils
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("second_look")


def _execute(db: sqlite_utils.Database, statements: str) -> None:
    """Run statements one by one; `executescript` would commit the migration's transaction."""
    for statement in statements.split(";\n"):
        if statement.strip():
            db.conn.execute(statement)


@MIGRATIONS()
def m001_cases(db: sqlite_utils.Database) -> None:
    """Datasets, images by content hash, cases with their parts.

    A case whose content changes gets a new revision; its older parts, verdicts and reviews stay.
    `prompt` repeats the input texts, for search and grouping.
    """
    _execute(
        db,
        """
        CREATE TABLE datasets (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created TEXT NOT NULL
        ) STRICT;
        CREATE TABLE images (
            sha256 TEXT PRIMARY KEY, extension TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,
            bytes INTEGER NOT NULL, created TEXT NOT NULL
        ) STRICT;
        CREATE TABLE cases (
            id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL REFERENCES datasets(id), external_id TEXT NOT NULL,
            revision INTEGER NOT NULL DEFAULT 1, prompt TEXT NOT NULL, generator TEXT NOT NULL,
            tags_json TEXT NOT NULL, split TEXT NOT NULL DEFAULT 'test', created TEXT NOT NULL,
            UNIQUE (dataset_id, external_id)
        ) STRICT;
        CREATE TABLE parts (
            case_id INTEGER NOT NULL REFERENCES cases(id), revision INTEGER NOT NULL,
            role TEXT NOT NULL CHECK (role IN ('input', 'output', 'expected', 'context')), position INTEGER NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('text', 'image', 'video')), text TEXT NOT NULL,
            sha256 TEXT REFERENCES images(sha256), source TEXT NOT NULL, problem TEXT NOT NULL,
            PRIMARY KEY (case_id, revision, role, position)
        ) STRICT;
        CREATE INDEX parts_sha256 ON parts(sha256);
        """,
    )


@MIGRATIONS()
def m002_judging(db: sqlite_utils.Database) -> None:
    """Judges, runs with the cases chosen for them, verdicts with items, replies by question key, rubrics by prompt."""
    _execute(
        db,
        """
        CREATE TABLE judges (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL CHECK (kind IN ('endpoint', 'recorded', 'imported')),
            settings_json TEXT NOT NULL, mode TEXT NOT NULL DEFAULT '', created TEXT NOT NULL
        ) STRICT;
        CREATE TABLE runs (
            id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL REFERENCES datasets(id),
            judge_id INTEGER NOT NULL REFERENCES judges(id), judge_json TEXT NOT NULL,
            metric TEXT NOT NULL, metric_version TEXT NOT NULL, metric_settings_json TEXT NOT NULL,
            criterion TEXT NOT NULL, threshold REAL, options_json TEXT NOT NULL, prompts_json TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'done', 'cancelled', 'stopped')),
            problem TEXT NOT NULL DEFAULT '', cancel_requested INTEGER NOT NULL DEFAULT 0,
            worker TEXT NOT NULL DEFAULT '', heartbeat REAL, created TEXT NOT NULL, started TEXT, finished TEXT
        ) STRICT;
        CREATE TABLE run_cases (
            run_id INTEGER NOT NULL REFERENCES runs(id), position INTEGER NOT NULL,
            case_id INTEGER NOT NULL REFERENCES cases(id), revision INTEGER NOT NULL,
            PRIMARY KEY (run_id, position), UNIQUE (run_id, case_id)
        ) STRICT;
        CREATE TABLE rubrics (
            id INTEGER PRIMARY KEY, prompt_sha256 TEXT NOT NULL, medium TEXT NOT NULL, version INTEGER NOT NULL,
            prompt TEXT NOT NULL, questions_json TEXT NOT NULL, author TEXT NOT NULL, created TEXT NOT NULL,
            UNIQUE (prompt_sha256, medium, version)
        ) STRICT;
        CREATE TABLE replies (
            id INTEGER PRIMARY KEY, key TEXT NOT NULL, run_id INTEGER REFERENCES runs(id),
            metric TEXT NOT NULL, aspect TEXT NOT NULL,
            model TEXT NOT NULL, mode TEXT NOT NULL, text TEXT NOT NULL, finish_reason TEXT, refusal TEXT,
            input_tokens INTEGER, output_tokens INTEGER, seconds REAL NOT NULL, created TEXT NOT NULL
        ) STRICT;
        CREATE INDEX replies_key ON replies(key);
        CREATE TABLE verdicts (
            id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs(id),
            case_id INTEGER NOT NULL REFERENCES cases(id), revision INTEGER NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('ok', 'unreadable', 'refused', 'failed', 'skipped')),
            score REAL, reason TEXT NOT NULL, flags_json TEXT NOT NULL, problem TEXT NOT NULL, steps_json TEXT NOT NULL,
            rubric_id INTEGER REFERENCES rubrics(id), seconds REAL NOT NULL, created TEXT NOT NULL,
            CHECK ((status = 'ok') = (score IS NOT NULL)), UNIQUE (run_id, case_id)
        ) STRICT;
        CREATE INDEX verdicts_case ON verdicts(case_id);
        CREATE TABLE items (
            verdict_id INTEGER NOT NULL REFERENCES verdicts(id), position INTEGER NOT NULL, key TEXT NOT NULL,
            kind TEXT NOT NULL, "group" TEXT NOT NULL, text TEXT NOT NULL, value REAL, low REAL, high REAL, answer TEXT,
            PRIMARY KEY (verdict_id, key)
        ) STRICT;
        CREATE TABLE verdict_replies (
            verdict_id INTEGER NOT NULL REFERENCES verdicts(id), position INTEGER NOT NULL,
            aspect TEXT NOT NULL, attempt INTEGER NOT NULL, cached INTEGER NOT NULL,
            reply_id INTEGER NOT NULL REFERENCES replies(id),
            PRIMARY KEY (verdict_id, position)
        ) STRICT;
        """,
    )


@MIGRATIONS()
def m003_reviewing(db: sqlite_utils.Database) -> None:
    """Reviewers, queue draws, reviews (append-only; an undo is a row that names what it undoes), adjudications.

    A review stands when nothing undid it and the case is still in the revision that was looked at.
    """
    _execute(
        db,
        """
        CREATE TABLE reviewers (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, created TEXT NOT NULL
        ) STRICT;
        CREATE TABLE queue_draws (
            id INTEGER PRIMARY KEY, queue TEXT NOT NULL, reviewer_id INTEGER NOT NULL REFERENCES reviewers(id),
            case_id INTEGER NOT NULL REFERENCES cases(id), criterion TEXT NOT NULL, stratum TEXT NOT NULL, pi REAL,
            basis TEXT NOT NULL CHECK (basis IN ('random', 'designed', 'opportunistic')), created TEXT NOT NULL,
            UNIQUE (queue, reviewer_id, case_id, criterion)
        ) STRICT;
        CREATE TABLE reviews (
            id INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE,
            case_id INTEGER NOT NULL REFERENCES cases(id), revision INTEGER NOT NULL, criterion TEXT NOT NULL,
            reviewer_id INTEGER NOT NULL REFERENCES reviewers(id),
            label TEXT CHECK (label IN ('usable', 'badcase', 'unsure')),
            undoes INTEGER REFERENCES reviews(id), score REAL, tags_json TEXT NOT NULL, comment TEXT NOT NULL,
            blind INTEGER NOT NULL, run_id INTEGER REFERENCES runs(id), draw_id INTEGER REFERENCES queue_draws(id),
            basis TEXT NOT NULL CHECK (basis IN ('random', 'designed', 'opportunistic')),
            decided TEXT, dwell_ms INTEGER, created TEXT NOT NULL,
            CHECK ((label IS NULL) = (undoes IS NOT NULL))
        ) STRICT;
        CREATE INDEX reviews_case ON reviews(case_id, criterion, reviewer_id);
        CREATE INDEX reviews_reviewer ON reviews(reviewer_id);
        CREATE UNIQUE INDEX reviews_undoes ON reviews(undoes) WHERE undoes IS NOT NULL;
        CREATE TABLE review_items (
            review_id INTEGER NOT NULL REFERENCES reviews(id), key TEXT NOT NULL, value REAL, answer TEXT,
            PRIMARY KEY (review_id, key)
        ) STRICT;
        CREATE TABLE adjudications (
            id INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE,
            case_id INTEGER NOT NULL REFERENCES cases(id), revision INTEGER NOT NULL, criterion TEXT NOT NULL,
            reviewer_id INTEGER NOT NULL REFERENCES reviewers(id),
            label TEXT NOT NULL CHECK (label IN ('usable', 'badcase')), reason TEXT NOT NULL, created TEXT NOT NULL
        ) STRICT;
        CREATE INDEX adjudications_case ON adjudications(case_id, criterion);
        CREATE VIEW standing_reviews AS
            SELECT r.* FROM reviews r JOIN cases c ON c.id = r.case_id AND c.revision = r.revision
            WHERE r.label IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reviews u WHERE u.undoes = r.id);
        CREATE VIEW first_reviews AS
            SELECT * FROM standing_reviews
            WHERE id IN (SELECT min(id) FROM standing_reviews GROUP BY case_id, criterion, reviewer_id);
        CREATE VIEW current_reviews AS
            SELECT * FROM standing_reviews
            WHERE id IN (SELECT max(id) FROM standing_reviews GROUP BY case_id, criterion, reviewer_id);
        CREATE VIEW current_adjudications AS
            SELECT a.* FROM adjudications a JOIN cases c ON c.id = a.case_id AND c.revision = a.revision
            WHERE a.id IN (SELECT max(id) FROM adjudications GROUP BY case_id, criterion)
        """,
    )


@MIGRATIONS()
def m004_workspace(db: sqlite_utils.Database) -> None:
    """An id of the workspace, so that a browser never sends one workspace's unsaved reviews to another."""
    _execute(db, "CREATE TABLE workspace (id TEXT PRIMARY KEY, created TEXT NOT NULL) STRICT")
    db.conn.execute(
        "INSERT INTO workspace (id, created) VALUES (?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))", [secrets.token_hex(8)]
    )


@MIGRATIONS()
def m005_answers(db: sqlite_utils.Database) -> None:
    """Items that are answers: which answer is the expected one, among which choices, supported by which context entry."""
    for column in ("expected TEXT", "choices_json TEXT NOT NULL DEFAULT '[]'", "node INTEGER"):
        db.conn.execute(f"ALTER TABLE items ADD COLUMN {column}")
    db.conn.execute("ALTER TABLE rubrics ADD COLUMN keywords TEXT NOT NULL DEFAULT ''")
    db.conn.execute("ALTER TABLE rubrics ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0")


@MIGRATIONS()
def m006_seen(db: sqlite_utils.Database) -> None:
    """Who has seen a verdict on which revision of a case, how long workers worked, and first labels that stay first.

    An undo row is `blind` when the verdict had not been seen by then: a slip. Taking a label back after seeing the verdict
    does not make it unsaid; it stays that person's first label. A drawn label comes before a picked one.
    """
    _execute(
        db,
        """
        CREATE TABLE seen_verdicts (
            reviewer_id INTEGER NOT NULL REFERENCES reviewers(id), case_id INTEGER NOT NULL REFERENCES cases(id),
            revision INTEGER NOT NULL, seen TEXT NOT NULL, PRIMARY KEY (reviewer_id, case_id, revision)
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE runs ADD COLUMN seconds REAL NOT NULL DEFAULT 0;
        DROP VIEW first_reviews;
        CREATE VIEW first_reviews AS
            SELECT * FROM (
                SELECT r.*, row_number() OVER (
                    PARTITION BY r.case_id, r.criterion, r.reviewer_id ORDER BY r.basis = 'opportunistic', r.id
                ) AS place
                FROM reviews r JOIN cases c ON c.id = r.case_id AND c.revision = r.revision
                WHERE r.label IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reviews u WHERE u.undoes = r.id AND u.blind = 1)
            ) WHERE place = 1
        """,
    )


@MIGRATIONS()
def m007_costs(db: sqlite_utils.Database) -> None:
    """Runs that ask anew, repeat each other, have a budget and count their trouble; what a reply's request weighed.

    repeat_of: the first of the runs that measure the same again. trouble: how often what went wrong, by kind. Judges
    saved with the former default of five tries get the new one, which outlasts an endpoint that is down for a minute.
    """
    _execute(
        db,
        """
        ALTER TABLE runs ADD COLUMN fresh INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE runs ADD COLUMN repeat_of INTEGER REFERENCES runs(id);
        ALTER TABLE runs ADD COLUMN budget_json TEXT NOT NULL DEFAULT '{}';
        ALTER TABLE runs ADD COLUMN trouble_json TEXT NOT NULL DEFAULT '{}';
        ALTER TABLE replies ADD COLUMN image_tokens INTEGER;
        ALTER TABLE replies ADD COLUMN sent_bytes INTEGER;
        CREATE INDEX replies_run ON replies(run_id, metric);
        CREATE INDEX runs_judge ON runs(judge_id);
        UPDATE judges SET settings_json = json_set(settings_json, '$.attempts', 10)
            WHERE kind = 'endpoint' AND json_extract(settings_json, '$.attempts') = 5
        """,
    )


@MIGRATIONS()
def m008_desk(db: sqlite_utils.Database) -> None:
    """How a dataset is reviewed, who holds which case, which cases are shown blind, whether a review had the verdict of its
    run on the screen, and the list of badcase tags.

    blind_share: 1 blind, 0 shown, between: that share of the cases blind, drawn once per case and reviewer; null leaves
    it to the reviewer. overlap: how many people label each case; null: everybody every case. A tag without a place is not
    offered any more; reviews that have it keep it.
    """
    _execute(
        db,
        """
        ALTER TABLE datasets ADD COLUMN blind_share REAL CHECK (blind_share BETWEEN 0 AND 1);
        ALTER TABLE datasets ADD COLUMN overlap INTEGER CHECK (overlap > 0);
        ALTER TABLE reviews ADD COLUMN shown INTEGER NOT NULL DEFAULT 0;
        UPDATE reviews SET shown = 1 WHERE blind = 0 AND run_id IS NOT NULL AND label IS NOT NULL;
        CREATE TABLE leases (
            case_id INTEGER NOT NULL REFERENCES cases(id), criterion TEXT NOT NULL,
            reviewer_id INTEGER NOT NULL REFERENCES reviewers(id), until REAL NOT NULL,
            PRIMARY KEY (case_id, criterion)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE blind_draws (
            case_id INTEGER NOT NULL REFERENCES cases(id), criterion TEXT NOT NULL,
            reviewer_id INTEGER NOT NULL REFERENCES reviewers(id), blind INTEGER NOT NULL, created TEXT NOT NULL,
            PRIMARY KEY (case_id, criterion, reviewer_id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE badcase_tags (key TEXT PRIMARY KEY, words TEXT NOT NULL, place INTEGER) STRICT;
        CREATE INDEX queue_draws_order ON queue_draws(reviewer_id, queue, criterion, id)
        """,
    )
    words = (
        "missing object", "wrong object", "wrong count", "wrong attribute", "wrong relation", "identity not kept",
        "over-edited", "text wrong", "anatomy", "artefact", "unnatural", "unsafe", "other",
    )  # fmt: skip
    db.conn.executemany(
        "INSERT INTO badcase_tags (key, words, place) VALUES (?, ?, ?)",
        [(text.replace(" ", "_").replace("-", "_"), text, place) for place, text in enumerate(words)],
    )


@MIGRATIONS()
def m009_counts(db: sqlite_utils.Database) -> None:
    """What agreement figures are made of, kept up to date: which labels count, gold by case, counts by run and prompt.

    All of it follows from reviews, adjudications and verdicts; `data/store/counts.py` makes it anew for the prompts in
    stale_clusters, which triggers fill. cluster: what belongs together, the prompt; a case without one stands for itself.
    counted_labels: each person's label that counts for a case on a basis (blind: the first one, if blind; all: the current
    one); audit_run: 0 when it counts everywhere, else the run whose audit drew the case with unequal chances. random_reach:
    the last draw of a random order that its reviewer has labelled. labels_left_out: labels that nobody drew the case for,
    that were not given blind (seen), that are about an earlier revision. claim_looks: when a claim was looked at, by labels n.
    """
    _execute(
        db,
        """
        ALTER TABLE cases ADD COLUMN cluster TEXT GENERATED ALWAYS AS
            (CASE WHEN prompt = '' THEN 'case ' || external_id ELSE prompt END) VIRTUAL;
        CREATE INDEX cases_cluster ON cases(dataset_id, cluster);
        CREATE TABLE clusters (
            id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, cluster TEXT NOT NULL, UNIQUE (dataset_id, cluster)
        ) STRICT;
        CREATE TABLE stale_clusters (
            dataset_id INTEGER NOT NULL, cluster TEXT NOT NULL, PRIMARY KEY (dataset_id, cluster)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE random_reach (
            reviewer_id INTEGER NOT NULL, dataset_id INTEGER NOT NULL, criterion TEXT NOT NULL, queue TEXT NOT NULL,
            last INTEGER NOT NULL, PRIMARY KEY (reviewer_id, dataset_id, criterion, queue)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE counted_labels (
            case_id INTEGER NOT NULL, criterion TEXT NOT NULL, basis TEXT NOT NULL, reviewer_id INTEGER NOT NULL,
            audit_run INTEGER NOT NULL, label TEXT NOT NULL, review_id INTEGER NOT NULL,
            PRIMARY KEY (case_id, criterion, basis, reviewer_id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE gold_labels (
            case_id INTEGER NOT NULL, criterion TEXT NOT NULL, basis TEXT NOT NULL, audit_run INTEGER NOT NULL,
            bad INTEGER NOT NULL, usable INTEGER NOT NULL, known TEXT NOT NULL, adjudicated TEXT, gold TEXT,
            PRIMARY KEY (case_id, criterion, basis, audit_run)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE labels_left_out (
            case_id INTEGER NOT NULL, criterion TEXT NOT NULL, picked INTEGER NOT NULL, seen INTEGER NOT NULL,
            stale INTEGER NOT NULL, PRIMARY KEY (case_id, criterion)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX counted_labels_audits ON counted_labels(criterion, case_id) WHERE audit_run > 0;
        CREATE TABLE agreement_counts (
            run_id INTEGER NOT NULL, basis TEXT NOT NULL, audited INTEGER NOT NULL, split TEXT NOT NULL,
            cluster_id INTEGER NOT NULL, judge TEXT NOT NULL, gold TEXT NOT NULL, bad INTEGER NOT NULL,
            usable INTEGER NOT NULL, n INTEGER NOT NULL,
            PRIMARY KEY (run_id, basis, audited, split, cluster_id, judge, gold, bad, usable)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX agreement_counts_cluster ON agreement_counts(cluster_id);
        CREATE TABLE claim_looks (
            id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs(id), basis TEXT NOT NULL,
            threshold REAL NOT NULL, target REAL NOT NULL, n INTEGER NOT NULL, created TEXT NOT NULL,
            UNIQUE (run_id, basis, threshold, n)
        ) STRICT;
        INSERT INTO stale_clusters SELECT DISTINCT dataset_id, cluster FROM cases;
        INSERT INTO random_reach
            SELECT r.reviewer_id, c.dataset_id, r.criterion, d.queue, max(d.id) FROM reviews r
            JOIN cases c ON c.id = r.case_id JOIN queue_draws d ON d.id = r.draw_id
            WHERE r.basis = 'random' AND r.label IS NOT NULL GROUP BY 1, 2, 3, 4
        """,
    )
    of_case = "INSERT OR IGNORE INTO stale_clusters SELECT dataset_id, cluster FROM cases WHERE id = NEW.case_id;"
    for table in ("verdicts", "adjudications"):
        db.conn.execute(f"CREATE TRIGGER {table}_counted AFTER INSERT ON {table} BEGIN {of_case} END")
    db.conn.execute(
        "CREATE TRIGGER cases_counted AFTER UPDATE OF revision, prompt, split ON cases BEGIN "
        "INSERT OR IGNORE INTO stale_clusters VALUES (OLD.dataset_id, OLD.cluster), (NEW.dataset_id, NEW.cluster); END"
    )
    # With an overlap nobody follows the random order strictly, so no audited case is ever passed by it.
    db.conn.execute(
        "CREATE TRIGGER datasets_counted AFTER UPDATE OF overlap ON datasets "
        "WHEN (OLD.overlap IS NULL) != (NEW.overlap IS NULL) BEGIN "
        "INSERT OR IGNORE INTO stale_clusters SELECT c.dataset_id, c.cluster FROM cases c WHERE c.dataset_id = NEW.id "
        "AND EXISTS (SELECT 1 FROM reviews r WHERE r.case_id = c.id AND r.basis = 'designed'); END"
    )
    # A random label passes the cases before it in that order: what their reviewer audited among them counts from now on.
    db.conn.execute(
        f"""CREATE TRIGGER reviews_counted AFTER INSERT ON reviews BEGIN
            {of_case}
            INSERT OR IGNORE INTO stale_clusters
                SELECT c.dataset_id, c.cluster FROM queue_draws own JOIN cases mine ON mine.id = NEW.case_id
                JOIN queue_draws d ON d.reviewer_id = own.reviewer_id AND d.queue = own.queue
                    AND d.criterion = own.criterion AND d.id < own.id AND d.id >= coalesce((
                        SELECT last FROM random_reach p WHERE p.reviewer_id = own.reviewer_id AND p.queue = own.queue
                        AND p.criterion = own.criterion AND p.dataset_id = mine.dataset_id), 0)
                JOIN cases c ON c.id = d.case_id AND c.dataset_id = mine.dataset_id
                JOIN reviews r ON r.case_id = d.case_id AND r.criterion = d.criterion
                    AND r.reviewer_id = d.reviewer_id AND r.basis = 'designed'
                WHERE own.id = NEW.draw_id AND NEW.basis = 'random' AND NEW.label IS NOT NULL;
            INSERT INTO random_reach
                SELECT NEW.reviewer_id, c.dataset_id, NEW.criterion, d.queue, d.id FROM queue_draws d
                JOIN cases c ON c.id = NEW.case_id
                WHERE d.id = NEW.draw_id AND NEW.basis = 'random' AND NEW.label IS NOT NULL
                ON CONFLICT DO UPDATE SET last = max(last, excluded.last);
        END"""
    )


@MIGRATIONS()
def m010_exchange(db: sqlite_utils.Database) -> None:
    """Files that came in: kept mappings of columns to fields, each file with how it was read, and the runs made of it.

    digest: of everything that the run's verdicts say and of how they are read; the same verdicts never make two runs.
    """
    _execute(
        db,
        """
        CREATE TABLE mappings (
            name TEXT PRIMARY KEY, fields_json TEXT NOT NULL, choices_json TEXT NOT NULL, created TEXT NOT NULL
        ) STRICT;
        CREATE TABLE imports (
            id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL REFERENCES datasets(id), file TEXT NOT NULL,
            sheet TEXT NOT NULL, sha256 TEXT NOT NULL, fields_json TEXT NOT NULL, choices_json TEXT NOT NULL,
            report_json TEXT NOT NULL, created TEXT NOT NULL
        ) STRICT;
        CREATE TABLE imported_runs (
            run_id INTEGER PRIMARY KEY REFERENCES runs(id), file TEXT NOT NULL, digest TEXT NOT NULL
        ) STRICT;
        CREATE INDEX imported_runs_digest ON imported_runs(digest)
        """,
    )


@MIGRATIONS()
def m011_links(db: sqlite_utils.Database) -> None:
    """Links to pictures, each fetched once for all cases that name it, and the one worker that fetches.

    status `failed` stays until somebody asks to try again. A fetched picture completes the parts that name its link.
    """
    _execute(
        db,
        """
        CREATE TABLE links (
            url TEXT PRIMARY KEY, status TEXT NOT NULL CHECK (status IN ('fetched', 'failed')),
            sha256 TEXT REFERENCES images(sha256), problem TEXT NOT NULL, attempts INTEGER NOT NULL, tried TEXT NOT NULL,
            CHECK ((status = 'fetched') = (sha256 IS NOT NULL))
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE link_worker (
            id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL, heartbeat REAL NOT NULL
        ) STRICT;
        CREATE INDEX parts_links ON parts(source) WHERE sha256 IS NULL AND kind != 'text'
        """,
    )
