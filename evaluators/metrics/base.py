"""What a metric is, and the one way in which every metric turns a case into a verdict.

A metric is a frozen dataclass: its fields are its settings, it has no state. It says what a case `lacks`, `ask`s the
judge, and `score`s the items. `evaluate` here does the rest the same way for all: statuses, strict, thresholds, times.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from evaluators.case import Case
from evaluators.errors import CaseUnfit, JudgeFailed, RefusedReply, UnreadableReply
from evaluators.judges.question import Exchange, Judge, Question
from evaluators.verdict import Item, Options, Status, Verdict, shown_score
from evaluators.waiting import wait_for

#: What a person is asked about a case, by criterion; a metric has exactly one.
CRITERIA = {
    "match": "Does the result do what the prompt says?",
    "overall": "Is the result usable: right and well made?",
    "recall": "Does the context support what was expected?",
}


@dataclass(frozen=True)
class Answers:
    """What a judge's replies came to: items, why, flags on the replies, and the steps for those who look closely."""

    items: tuple[Item, ...]
    reason: str = ""
    flags: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Metric(ABC):
    """Base of all metrics."""

    name: ClassVar[str]
    title: ClassVar[str]
    criterion: ClassVar[str]
    needs: ClassVar[str]
    #: The name of the rule by which the desk recomputes the score from corrected items at once (see `score`).
    score_rule: ClassVar[str]
    setting_names: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def version(self) -> str:
        """A hash of the prompt texts and the method: verdicts of different versions are never pooled."""

    @property
    @abstractmethod
    def prompts(self) -> dict[str, str]:
        """The prompt texts by name, as a run keeps them."""

    @abstractmethod
    def lacks(self, case: Case) -> str | None:
        """What the case lacks for this metric, in a sentence ("needs exactly 1 result image, found 0"), or None."""

    @abstractmethod
    def opening_questions(self, case: Case, options: Options) -> list[Question]:
        """The questions that are known before any reply; a case that `lacks` nothing has at least one."""

    @abstractmethod
    async def ask(self, case: Case, judge: Judge, options: Options, exchanges: list[Exchange]) -> Answers:
        """Put the questions to the judge and read the replies; every exchange goes into `exchanges`.

        :raises EvaluationError: as `ask_readably`.
        """

    @abstractmethod
    def score(self, items: Sequence[Item]) -> float:
        """The score 0-1 of a full set of items; the same for a judge's items and for those a person corrected."""

    def settings(self) -> dict[str, object]:
        """The fields that are settings, as a run keeps them; empty for a metric without any."""
        return {name: getattr(self, name) for name in self.setting_names}

    def with_settings(self, settings: Mapping[str, object]) -> Metric:
        """This metric with some settings changed.

        :raises ValueError: if there is no such setting, with the names that there are.
        """
        unknown = sorted(set(settings) - set(self.setting_names))
        if unknown:
            known = ", ".join(self.setting_names) or "none"
            raise ValueError(f"{self.name} has no setting {unknown[0]!r}; its settings: {known}.")
        return replace(self, **settings)

    async def evaluate(self, case: Case, judge: Judge, options: Options | None = None) -> Verdict:
        """One verdict for one case, always: whatever goes wrong becomes its status and its problem."""
        options = options or Options()
        started, exchanges = time.perf_counter(), []

        def verdict(status: Status, **facts) -> Verdict:
            seconds = time.perf_counter() - started
            return Verdict(
                case.id, self.name, status, threshold=options.deciding_threshold,
                exchanges=tuple(exchanges), seconds=seconds, **facts,
            )  # fmt: skip

        lacking = self.lacks(case)
        if lacking:
            return verdict("skipped", problem=lacking)
        try:
            answers = await self.ask(case, judge, options, exchanges)
        except CaseUnfit as error:
            return verdict("skipped", problem=str(error))
        except UnreadableReply as error:
            return verdict("unreadable", problem=str(error))
        except RefusedReply as error:
            return verdict("refused", problem=str(error))
        except JudgeFailed as error:
            return verdict("failed", problem=str(error))
        score, reason = self.score(answers.items), answers.reason
        if options.strict and score < 1:
            reason = f"Strict: {shown_score(score, 1, 4)} is below 1, so the score is 0. {reason}".strip()
            score = 0.0
        return verdict(
            "ok",
            score=score,
            reason=reason,
            items=answers.items,
            flags=answers.flags,
            steps=answers.steps if options.verbose else (),
        )

    def measure(self, case: Case, judge: Judge, options: Options | None = None) -> Verdict:
        """`evaluate` for code that is not async."""
        return wait_for(self.evaluate(case, judge, options))
