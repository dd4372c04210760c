"""The most that a run may take: calls, tokens or money. It ends the run cleanly, before it is passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from evaluators.judges.question import FILTERED, Reply
from evaluators.judges.settings import EndpointSettings


@dataclass(frozen=True)
class Budget:
    """At most so many calls, tokens (in and out), or so much money in the judge's currency; None for no limit."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None

    def __post_init__(self) -> None:
        for name, most in asdict(self).items():
            if most is not None and not most > 0:
                raise ValueError(f"a budget of {most:g} {name} is none at all; leave it out for no limit")

    def as_dict(self) -> dict[str, float]:
        """The limits that are set."""
        return {name: most for name, most in asdict(self).items() if most is not None}

    def problem(self, settings: EndpointSettings) -> str | None:
        """Why this budget cannot be kept with a judge, in a sentence; None if it can."""
        if self.money is not None and None in (settings.input_price, settings.output_price):
            return (
                "A budget in money needs the judge's prices; enter them on the Judges page, or limit calls or tokens."
            )
        return None


class Spending:
    """What a run has taken so far, against its budget. so_far: as `run_figures.spent` gives it.

    Calls in flight count with what a call took so far on average; so the first few of a run may pass a budget that is
    smaller than they are.
    """

    def __init__(self, budget: Budget, settings: EndpointSettings, so_far: Mapping):
        self._budget, self._settings = budget, settings
        self._calls, self._in_flight = so_far["calls"], 0
        self._tokens = (so_far["input_tokens"] or 0) + (so_far["output_tokens"] or 0)
        self._money = so_far["cost"] or 0.0
        self._silent = so_far["silent_calls"]

    def begin(self) -> str | None:
        """Count a call as begun; gives None, or why it may not begin."""
        refusal = self._refusal()
        if refusal is None:
            self._in_flight += 1
        return refusal

    def end(self, reply: Reply | None) -> None:
        """Count a call as over; reply: None if nothing came of it."""
        self._in_flight -= 1
        if reply is None:
            return
        self._calls += 1
        tokens = (reply.input_tokens, reply.output_tokens)
        if None in tokens:
            self._silent += reply.finish_reason != FILTERED
        else:
            self._tokens += sum(tokens)
            self._money += self._settings.cost(*tokens, reply.image_tokens) or 0.0

    def _refusal(self) -> str | None:
        most = self._budget
        if most.calls is not None and self._calls + self._in_flight >= most.calls:
            return f"The budget of {most.calls:,} calls is used up."
        if self._silent and (most.tokens is not None or most.money is not None):
            return "The endpoint does not report its tokens, so a budget of tokens or money cannot be kept; limit the calls."
        if most.tokens is not None and self._with_in_flight(self._tokens) >= most.tokens:
            return f"The budget of {most.tokens:,} tokens is used up."
        if most.money is not None and self._with_in_flight(self._money) >= most.money:
            return f"The budget of {most.money:g} {self._settings.currency} is used up."
        return None

    def _with_in_flight(self, taken: float) -> float:
        """What will have been taken when the calls in flight and one more are back, if they are like the others."""
        return taken + (taken / self._calls * (self._in_flight + 1) if self._calls else 0.0)
