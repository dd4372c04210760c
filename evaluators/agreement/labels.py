"""From several people's labels to the one that counts."""

from __future__ import annotations

from collections.abc import Iterable


def majority(labels: Iterable[int | None]) -> int | None:
    """The label (1 badcase, 0 usable) that more than half of those given have; None on a tie or without labels.

    A missing label (None) is not a vote, and neither is "unsure": pass it as None.
    """
    votes = [label for label in labels if label is not None]
    bad = sum(votes)
    if 2 * bad == len(votes):
        return None
    return 1 if 2 * bad > len(votes) else 0
