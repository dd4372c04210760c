"""A run's labels in the order in which gold was known, in windows of so many."""

from __future__ import annotations

from data.store.agreement import CELL_SUMS, CELLS, Basis
from data.store.connection import rows


def windows(basis: Basis, size: int) -> list[dict]:
    """Windows of `size` gold-labelled cases, oldest first, as rows of prompts that look the same there.

    place: of the window, from 0; began, ended: when the gold of its first and last case was known; prompts: how many have these
    counts in it: tp, fp, fn, tn, unanswered_bad, unanswered_usable. So a window gives a handful of rows, not one a case.
    """
    names = ", ".join(CELLS)
    return rows(
        f"{basis.sql}, numbered AS ("
        "  SELECT cluster, gold, judge, known, (row_number() OVER (ORDER BY known, case_id) - 1) / :size AS place "
        "  FROM pairs WHERE gold IS NOT NULL"
        f"), prompts AS (SELECT place, cluster, min(known) AS began, max(known) AS ended, {CELL_SUMS} FROM numbered "
        "  GROUP BY place, cluster) "
        f"SELECT place, min(began) AS began, max(ended) AS ended, count(*) AS prompts, {names} FROM prompts "
        f"GROUP BY place, {names} ORDER BY place",
        {**basis.parameters, "size": size},
    )
