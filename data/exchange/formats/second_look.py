"""Second Look's own tables of verdicts, reviews, adjudications: read back so that the same figures come out again.

Cases come from the table of cases: prompt and generator in these tables only repeat them, so they are not read.
"""

from __future__ import annotations

from data.exchange.mapping import Choices, Mapping
from data.exchange.proposing import Proposal
from data.exchange.reading import Table

_VERDICTS = {
    "case_id": "case_id", "run": "run", "judge": "judge", "metric": "metric", "status": "status", "score": "score",
    "reasoning": "reason", "problem": "problem", "threshold": "threshold", "created": "judged", "criterion": "criterion",
    "revision": "revision", "current_revision": "current_revision", "items": "items",
}  # fmt: skip
_REVIEWS = {
    "case_id": "case_id", "criterion": "criterion", "reviewer": "reviewer", "human_label": "human_label",
    "human_score": "human_score", "blind": "blind", "comment": "comment", "tags": "human_tags", "undoes": "undoes",
    "basis": "basis", "queue": "queue", "stratum": "stratum", "pi": "pi", "token": "token", "created": "labelled",
    "revision": "revision", "current_revision": "current_revision",
}  # fmt: skip
_DECISIONS = {
    "case_id": "case_id", "criterion": "criterion", "reviewer": "adjudicated_by", "label": "adjudicated",
    "reason": "adjudication_reason", "created": "adjudicated_at", "revision": "revision",
    "current_revision": "current_revision",
}  # fmt: skip


def recognise(table: Table) -> Proposal | None:
    """A proposal for one of the three tables, told by the columns that only they have together."""
    columns = set(table.columns)
    if {"case_id", "run", "judge", "metric", "status", "score", "metric_version", "raw_replies"} <= columns:
        fields, prefix, what = _VERDICTS, "item:", "verdicts"
    elif {"case_id", "criterion", "reviewer", "human_label", "token", "basis", "stands"} <= columns:
        fields, prefix, what = _REVIEWS, "human_item:", "reviews"
    elif {"case_id", "criterion", "reviewer", "label", "reason", "token", "current_revision"} <= columns:
        fields, prefix, what = _DECISIONS, "", "adjudications"
    else:
        return None
    found = {column: fields[column] for column in table.columns if column in fields}
    if prefix:
        found |= {column: column for column in table.columns if column.startswith(prefix)}
    return Proposal(table, Mapping(found), Choices(scale=1.0), f"Second Look's table of {what}")
