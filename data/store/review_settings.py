"""How a dataset is reviewed: blind or shown, and by how many people."""

from __future__ import annotations

import random
from collections.abc import Sequence

from data.store.connection import now, row, rows, update, writing


def review_settings(dataset_id: int) -> dict:
    """blind_share (None: each reviewer chooses; 1 blind, 0 shown, between: that share blind) and overlap (None: everybody
    labels every case) of a dataset."""
    return row("SELECT blind_share, overlap FROM datasets WHERE id = ?", [dataset_id])


def set_review_settings(dataset_id: int, blind_share: float | None, overlap: int | None) -> None:
    """Change them, for cases shown from now on.

    :raises ValueError: if a number is out of range.
    """
    if blind_share is not None and not 0 <= blind_share <= 1:
        raise ValueError(f"a blind share of {blind_share} is outside 0-1")
    if overlap is not None and not 1 <= overlap <= 100:
        raise ValueError(f"an overlap of {overlap} is outside 1-100")
    with writing() as db:
        update(db, "datasets", dataset_id, blind_share=blind_share, overlap=overlap)


def blind_cases(case_ids: Sequence[int], criterion: str, reviewer_id: int, share: float) -> set[int]:
    """Those of these cases that this person labels blind: drawn with that chance when first asked for, then as it was."""
    marks = ",".join("?" * len(case_ids))
    sql = (
        f"SELECT case_id, blind FROM blind_draws WHERE criterion = ? AND reviewer_id = ? AND case_id IN ({marks})"
    )  # fmt: skip
    drawn = {r["case_id"]: r["blind"] for r in rows(sql, [criterion, reviewer_id, *case_ids])}
    new = [case_id for case_id in case_ids if case_id not in drawn]
    if new:
        chance = random.SystemRandom()
        with writing() as db:
            db.conn.executemany(
                "INSERT OR IGNORE INTO blind_draws (case_id, criterion, reviewer_id, blind, created) VALUES (?, ?, ?, ?, ?)",
                [(case_id, criterion, reviewer_id, int(chance.random() < share), now()) for case_id in new],
            )
        drawn = {r["case_id"]: r["blind"] for r in rows(sql, [criterion, reviewer_id, *case_ids])}
    return {case_id for case_id, blind in drawn.items() if blind}
