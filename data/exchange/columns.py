"""The columns of every table that comes in or goes out, and what a cell of them may hold."""

from __future__ import annotations

import json
import re

CASE_COLUMNS = (
    "case_id",
    "prompt",
    "input_images",
    "result_image",
    "actual_output",
    "expected_output",
    "retrieval_context",
    "generator",
    "tags",
)
VERDICT_COLUMNS = ("judge", "metric", "status", "score", "label", "reasoning")
REVIEW_COLUMNS = ("reviewer", "human_label", "human_score", "blind", "comment")


def split_list(cell: str) -> list[str]:
    """The entries of a list in a cell: a JSON list, or one entry a line, or separated by commas or semicolons.

    >>> split_list('["a.png", "b.png"]'), split_list("a.png; b.png"), split_list("a.png")
    (['a.png', 'b.png'], ['a.png', 'b.png'], ['a.png'])
    """
    cell = cell.strip()
    if cell.startswith("["):
        try:
            found = json.loads(cell)
        except ValueError:
            found = None
        if isinstance(found, list):
            return [str(entry).strip() for entry in found if str(entry).strip()]
    separator = r"\n" if "\n" in cell else r"[;；]" if re.search("[;；]", cell) else r"[,，]"
    return [entry.strip() for entry in re.split(separator, cell) if entry.strip()]


def texts(cell: str) -> list[str]:
    """The texts of a cell: a JSON list of texts, else the cell as one text; nothing for an empty cell."""
    cell = cell.strip()
    if cell.startswith("["):
        try:
            found = json.loads(cell)
        except ValueError:
            found = None
        if isinstance(found, list) and all(isinstance(entry, str) for entry in found):
            return [entry for entry in found if entry.strip()]
    return [cell] if cell else []


def join_list(entries: list[str]) -> str:
    """A list as a cell that `split_list` reads back: plain for one entry, JSON for more."""
    return entries[0] if len(entries) == 1 else json.dumps(entries, ensure_ascii=False) if entries else ""
