"""Verdicts that came from a file: how they were made is not known here, so nothing can be asked or recomputed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from evaluators.case import Case
from evaluators.errors import CaseUnfit
from evaluators.judges.question import Question
from evaluators.metrics.base import Answers, Asking, Metric
from evaluators.rubric import Rubric
from evaluators.verdict import Item, Options

_TOLD = "these verdicts came from a file; their judge cannot be asked here"


@dataclass(frozen=True)
class Imported(Metric):
    """See the module. It is not among METRICS: no run of it can be started. A run's criterion is its own."""

    name: ClassVar[str] = "imported"
    title: ClassVar[str] = "From a file"
    criterion: ClassVar[str] = "overall"
    needs: ClassVar[str] = "nothing: it is not asked"

    @property
    def version(self) -> str:
        return "imported"

    @property
    def prompts(self) -> dict[str, str]:
        return {}

    @property
    def score_rule(self) -> dict[str, object]:
        return {"name": "given"}

    def lacks(self, case: Case) -> str | None:
        return _TOLD

    def opening_questions(self, case: Case, options: Options, rubric: Rubric | None = None) -> list[Question]:
        return []

    async def ask(self, case: Case, asking: Asking) -> Answers:
        raise CaseUnfit(_TOLD)

    def score(self, items: Sequence[Item]) -> float | None:
        """None: by which rule a score follows from the items is not known."""
        return None


IMPORTED = Imported()
