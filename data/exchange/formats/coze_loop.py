"""The CSV that coze-loop exports of an experiment.

Columns: ID, status, the data set's own fields, the target's output (actual_output), then for each evaluator
`NAME<VERSION>` with its score and `NAME<VERSION>_reason`, and for each annotation tag its name (coze-loop,
backend/modules/evaluation/domain/service/expt_export_impl.go).
"""

from __future__ import annotations

import re

from data.exchange.mapping import Choices, Mapping
from data.exchange.proposing import Proposal, guessed
from data.exchange.reading import Table

_EVALUATOR = re.compile(r"(.+)<([^<>]+)>")


def recognise(table: Table) -> Proposal | None:
    """A proposal for such a table: every evaluator is a judge, named with its version."""
    if table.columns[:2] != ("ID", "status"):
        return None
    evaluators = [column for column in table.columns if _EVALUATOR.fullmatch(column)]
    if not evaluators:
        return None
    fields = {c: f for c, f in guessed(table).fields.items() if "@" not in f and f not in ("status", "score", "reason")}
    for column in evaluators:
        name, version = _EVALUATOR.fullmatch(column).groups()
        judge = f"{name} {version}".replace("@", " ")
        fields[column] = f"score@{judge}"
        if f"{column}_reason" in table.columns:
            fields[f"{column}_reason"] = f"reason@{judge}"
    fields["ID"] = "case_id"
    return Proposal(table, Mapping(fields), Choices(), "an experiment of coze-loop")
