"""In which order cases are offered to a reviewer, and with what chance.

The random queue shuffles the whole dataset for each reviewer before the first case is shown, and writes that order
down: whatever part of it somebody gets through is a simple random sample of the cases that were there. Cases that come
later are shuffled behind. A label on a case that somebody picked does not take it out of the queue: picked are the
suspicious ones, and a sample without them would flatter the judge.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from data.store.connection import insert_many, now, rows, value, writing

RANDOM = "random"

_UNDRAWN = """
SELECT c.id FROM cases c WHERE c.dataset_id = ? AND NOT EXISTS (
    SELECT 1 FROM queue_draws d
    WHERE d.queue = ? AND d.reviewer_id = ? AND d.case_id = c.id AND d.criterion = ?)
ORDER BY c.id
"""


def next_cases(
    dataset_id: int, criterion: str, reviewer_id: int, count: int, skipped: Sequence[int] = ()
) -> list[dict]:
    """The next cases of the random queue that this person has not labelled when drawn: case_id, draw_id, in order.

    Cases in `skipped` come last.
    """
    _draw(dataset_id, criterion, reviewer_id)
    marks = ",".join("?" * len(skipped))
    return rows(
        "SELECT d.case_id, d.id AS draw_id FROM queue_draws d JOIN cases c ON c.id = d.case_id "
        "WHERE d.queue = ? AND d.reviewer_id = ? AND d.criterion = ? AND c.dataset_id = ? AND NOT EXISTS ("
        "  SELECT 1 FROM standing_reviews r WHERE r.case_id = d.case_id AND r.criterion = d.criterion "
        "  AND r.reviewer_id = d.reviewer_id AND r.basis != 'opportunistic') "
        f"ORDER BY d.case_id IN ({marks}), d.id LIMIT ?",
        [RANDOM, reviewer_id, criterion, dataset_id, *skipped, count],
    )


def draw_of(case_id: int, criterion: str, reviewer_id: int) -> int | None:
    """The id of the draw that has a case in this person's random queue, or None."""
    return value(
        "SELECT id FROM queue_draws WHERE queue = ? AND reviewer_id = ? AND criterion = ? AND case_id = ?",
        [RANDOM, reviewer_id, criterion, case_id],
    )


def _draw(dataset_id: int, criterion: str, reviewer_id: int) -> None:
    """Write down the order of the cases that are not in this person's queue yet. Each case's chance is 1: all will come."""
    asked = [dataset_id, RANDOM, reviewer_id, criterion]
    if value(f"SELECT 1 FROM ({_UNDRAWN})", asked) is None:
        return
    with writing() as db:
        drawn = [found[0] for found in db.conn.execute(_UNDRAWN, asked)]
        random.Random(f"{RANDOM}/{dataset_id}/{criterion}/{reviewer_id}/{len(drawn)}").shuffle(drawn)
        columns = ("queue", "reviewer_id", "case_id", "criterion", "stratum", "pi", "basis", "created")
        drawn_at = now()
        values = [(RANDOM, reviewer_id, case_id, criterion, "all", 1.0, "random", drawn_at) for case_id in drawn]
        insert_many(db, "queue_draws", columns, values)
