"""Pictures that are links: which are still to be fetched, what came of the others, and who fetches.

A link is fetched once, for every part that names it. A fetched picture completes its cases in the revision that they are
in: what was meant is there now, so labels and verdicts stay, and the same file imported again changes nothing.
"""

from __future__ import annotations

import time

from data import images
from data.store.connection import now, row, rows, value, writing

#: What a part says whose link nobody has tried yet.
NOT_FETCHED = "the picture behind this link is not fetched yet"
#: Seconds without a sign of life after which the one who fetches is taken for dead.
HEARTBEAT_LIMIT = 15.0

# A picture that is a link and is not here; it is the part p.
_OPEN = "p.sha256 IS NULL AND p.kind != 'text' AND (p.source LIKE 'http://%' OR p.source LIKE 'https://%')"


def is_link(source: str) -> bool:
    """Whether a part's source is a link that can be fetched."""
    return source.lower().startswith(("http://", "https://"))


def waiting(dataset_id: int | None = None, limit: int = 1_000) -> list[str]:
    """Links that nobody has tried yet, or that were fetched for other cases before, those named first first."""
    found = rows(
        f"SELECT p.source FROM parts p JOIN cases c ON c.id = p.case_id LEFT JOIN links l ON l.url = p.source "
        f"WHERE {_OPEN} AND l.status IS NOT 'failed' AND (? IS NULL OR c.dataset_id = ?) "
        "GROUP BY p.source ORDER BY min(p.rowid) LIMIT ?",
        [dataset_id, dataset_id, limit],
    )
    return [r["source"] for r in found]


def fetched_before(url: str) -> images.Picture | None:
    """The picture that a link gave when it was fetched before; None if it was not."""
    found = row("SELECT i.* FROM links l JOIN images i ON i.sha256 = l.sha256 WHERE l.url = ?", [url])
    if found is None:
        return None
    return images.Picture(**{name: found[name] for name in ("sha256", "extension", "width", "height", "bytes")})


def keep_fetched(url: str, picture: images.Picture) -> None:
    """Write down what a link gave, and complete every part that names it."""
    kind = "video" if picture.extension in images.VIDEO_FORMATS else "image"
    with writing() as db:
        db.conn.execute(
            "INSERT OR IGNORE INTO images (sha256, extension, width, height, bytes, created) VALUES (?, ?, ?, ?, ?, ?)",
            [picture.sha256, picture.extension, picture.width, picture.height, picture.bytes, now()],
        )
        db.conn.execute(
            "INSERT INTO links (url, status, sha256, problem, attempts, tried) VALUES (?, 'fetched', ?, '', 1, ?) "
            "ON CONFLICT (url) DO UPDATE SET status = 'fetched', sha256 = excluded.sha256, problem = '', "
            "attempts = attempts + 1, tried = excluded.tried",
            [url, picture.sha256, now()],
        )
        db.conn.execute(
            f"UPDATE parts AS p SET sha256 = ?, kind = ?, problem = '' WHERE p.source = ? AND {_OPEN}",
            [picture.sha256, kind, url],
        )


def keep_failed(url: str, problem: str) -> None:
    """Write down why a link gave nothing; its parts say so until it is tried again."""
    with writing() as db:
        db.conn.execute(
            "INSERT INTO links (url, status, problem, attempts, tried) VALUES (?, 'failed', ?, 1, ?) "
            "ON CONFLICT (url) DO UPDATE SET status = 'failed', sha256 = NULL, problem = excluded.problem, "
            "attempts = attempts + 1, tried = excluded.tried",
            [url, problem, now()],
        )
        db.conn.execute(f"UPDATE parts AS p SET problem = ? WHERE p.source = ? AND {_OPEN}", [problem, url])


def try_again(dataset_id: int | None = None) -> int:
    """Let the links be tried again that gave nothing; gives how many."""
    with writing() as db:
        found = failed(dataset_id, limit=-1)
        db.conn.executemany("DELETE FROM links WHERE url = ?", [(r["url"],) for r in found])
        db.conn.executemany(
            f"UPDATE parts AS p SET problem = ? WHERE p.source = ? AND {_OPEN}",
            [(NOT_FETCHED, r["url"]) for r in found],
        )
    return len(found)


def failed(dataset_id: int | None = None, limit: int = 100) -> list[dict]:
    """The links that gave nothing: url, problem, tried, cases (how many name it)."""
    return rows(
        "SELECT l.url, l.problem, l.tried, count(DISTINCT p.case_id) AS cases FROM links l "
        "JOIN parts p ON p.source = l.url JOIN cases c ON c.id = p.case_id "
        f"WHERE l.status = 'failed' AND {_OPEN} AND (? IS NULL OR c.dataset_id = ?) "
        "GROUP BY l.url ORDER BY l.tried LIMIT ?",
        [dataset_id, dataset_id, limit],
    )


def progress(dataset_id: int | None = None) -> dict:
    """How far fetching is: links in all, fetched, failed, waiting; and whether somebody fetches now."""
    found = row(
        "SELECT count(*) AS links, coalesce(sum(is_here), 0) AS fetched, coalesce(sum(NOT is_here AND has_failed), 0) AS failed "
        "FROM (SELECT min(p.sha256 IS NOT NULL) AS is_here, max(l.status IS 'failed') AS has_failed FROM parts p "
        "  JOIN cases c ON c.id = p.case_id AND c.revision = p.revision LEFT JOIN links l ON l.url = p.source "
        "  WHERE p.kind != 'text' AND (p.source LIKE 'http://%' OR p.source LIKE 'https://%') "
        "  AND (? IS NULL OR c.dataset_id = ?) GROUP BY p.source)",
        [dataset_id, dataset_id],
    )
    return {**found, "waiting": found["links"] - found["fetched"] - found["failed"], "alive": is_alive()}


def is_alive() -> bool:
    """Whether somebody fetches now."""
    return bool(value("SELECT 1 FROM link_worker WHERE heartbeat > ?", [time.time() - HEARTBEAT_LIMIT]))


def claim(worker: str) -> bool:
    """Make `worker` the one that fetches; False if another one does."""
    with writing() as db:
        if is_alive():
            return False
        db.conn.execute(
            "INSERT OR REPLACE INTO link_worker (id, name, heartbeat) VALUES (1, ?, ?)", [worker, time.time()]
        )
    return True


def beat(worker: str) -> bool:
    """A sign of life of the one that fetches; False if it is another one by now."""
    with writing() as db:
        changed = db.conn.execute("UPDATE link_worker SET heartbeat = ? WHERE name = ?", [time.time(), worker])
    return changed.rowcount == 1


def release(worker: str) -> None:
    """The last word of the one that fetches."""
    with writing() as db:
        db.conn.execute("DELETE FROM link_worker WHERE name = ?", [worker])
