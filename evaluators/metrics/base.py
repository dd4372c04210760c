"""What a metric is, and the one way in which every metric turns a case into a verdict.

A metric is a frozen dataclass: its fields are its settings, it has no state. It says what a case `lacks`, `ask`s the
judge, and `score`s the items. `evaluate` here does the rest the same way for all: statuses, strict, thresholds, times.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeVar

from evaluators.case import Case
from evaluators.errors import CaseUnfit, JudgeFailed, RefusedReply, UnreadableReply
from evaluators.judges.asking import ask_readably
from evaluators.judges.question import Exchange, Judge, Question
from evaluators.rubric import Rubric, Rubrics, RubricsInMemory
from evaluators.verdict import Item, Options, Status, Verdict, shown_score
from evaluators.waiting import wait_for

Answer = TypeVar("Answer")

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
    rubric: Rubric | None = None


@dataclass(frozen=True)
class Asking:
    """One case being asked about: who is asked, how, where rubrics are kept, and every exchange so far."""

    judge: Judge
    options: Options
    rubrics: Rubrics
    exchanges: list[Exchange] = field(default_factory=list)

    async def readably(self, question: Question, read: Callable[[str], Answer]) -> Answer:
        """What `read` makes of the judge's reply; see `ask_readably`."""
        return await ask_readably(self.judge, question, read, self.exchanges)

    async def all_readably(self, questions: Sequence[tuple[Question, Callable[[str], Answer]]]) -> list[Answer]:
        """Several questions at once, or one after the other when the options say so.

        When one fails the others in flight are let finish (they are paid for); then the first error is raised.
        """
        if not self.options.concurrent:
            return [await self.readably(question, read) for question, read in questions]
        results = await asyncio.gather(*(self.readably(q, read) for q, read in questions), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return results


@dataclass(frozen=True)
class Metric(ABC):
    """Base of all metrics."""

    name: ClassVar[str]
    title: ClassVar[str]
    criterion: ClassVar[str]
    needs: ClassVar[str]
    setting_names: ClassVar[tuple[str, ...]] = ()
    #: `image` or `video` for a metric whose questions are a rubric.
    rubric_medium: ClassVar[str] = ""

    @property
    @abstractmethod
    def version(self) -> str:
        """A hash of the prompt texts and the method: verdicts of different versions are never pooled."""

    @property
    @abstractmethod
    def prompts(self) -> dict[str, str]:
        """The prompt texts by name, as a run keeps them."""

    @property
    @abstractmethod
    def score_rule(self) -> dict[str, object]:
        """The rule by which the desk recomputes the score from corrected items at once: `name`, and its settings."""

    @abstractmethod
    def lacks(self, case: Case) -> str | None:
        """What the case lacks for this metric, in a sentence ("needs exactly 1 result image, found 0"), or None."""

    @abstractmethod
    def opening_questions(self, case: Case, options: Options, rubric: Rubric | None = None) -> list[Question]:
        """The questions that are known before any reply, given the prompt's rubric if there is one."""

    def later_calls(self, case: Case, options: Options, rubric: Rubric | None = None) -> int:
        """How many calls follow for a case whose questions are not known before a reply."""
        return 0

    @abstractmethod
    async def ask(self, case: Case, asking: Asking) -> Answers:
        """Put the questions to the judge and read the replies.

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

    async def evaluate(
        self, case: Case, judge: Judge, options: Options | None = None, rubrics: Rubrics | None = None
    ) -> Verdict:
        """One verdict for one case, always: whatever goes wrong becomes its status and its problem.

        rubrics: where a rubric metric finds and keeps its questions; without it they live as long as this call.
        """
        options = options or Options()
        started, asking = time.perf_counter(), Asking(judge, options, rubrics or RubricsInMemory())

        def verdict(status: Status, **facts) -> Verdict:
            seconds = time.perf_counter() - started
            return Verdict(
                case.id, self.name, status, threshold=options.deciding_threshold,
                exchanges=tuple(asking.exchanges), seconds=seconds, **facts,
            )  # fmt: skip

        lacking = self.lacks(case)
        if lacking:
            return verdict("skipped", problem=lacking)
        try:
            answers = await self.ask(case, asking)
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
            rubric=answers.rubric,
        )

    def measure(
        self, case: Case, judge: Judge, options: Options | None = None, rubrics: Rubrics | None = None
    ) -> Verdict:
        """`evaluate` for code that is not async."""
        return wait_for(self.evaluate(case, judge, options, rubrics))
