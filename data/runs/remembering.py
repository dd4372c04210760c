"""A judge that asks only what was never asked before, and keeps every reply as soon as it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from data.runs.budget import Spending
from evaluators.errors import JudgeDown
from evaluators.judges.pacing import standing_still
from evaluators.judges.question import Judge, Question, Reply, question_key

Find = Callable[[str], Awaitable[Reply | None]]
Keep = Callable[[str, Question, Reply], Awaitable[Reply]]


class RunHalted(Exception):  # noqa: N818 - it names what happens to the run
    """Nothing more is to be asked in this run now; the text says why. No fault of any case."""


class RememberingJudge:
    """Wraps a judge. find: key -> stored reply or None. keep: key, question, reply -> the reply as stored.

    at_once: questions that may be asked and not kept yet; more could be lost when the worker is killed, or when nothing
    can be stored. A question outlives whoever asked it, up to `close`: its reply is paid for.
    """

    def __init__(self, judge: Judge, find: Find, keep: Keep, at_once: int, spending: Spending | None = None):
        self.identity = judge.identity
        self._unkept = asyncio.Semaphore(at_once)
        self._judge, self._find, self._keep, self._spending = judge, find, keep, spending
        self._in_flight: dict[str, asyncio.Task[Reply]] = {}

    async def ask(self, question: Question) -> Reply:
        """The stored reply, else the judge's. Two cases that ask the same at once share one call.

        :raises RunHalted: if the budget is used up or the endpoint is down.
        """
        key = question_key(question, self.identity)
        asking = self._in_flight.get(key)
        if asking is not None:
            return replace(await asyncio.shield(asking), cached=True)
        asking = asyncio.create_task(self._answer(key, question))
        self._in_flight[key] = asking
        asking.add_done_callback(lambda done: self._forget(key, done))
        return await asyncio.shield(asking)

    async def close(self) -> None:
        """Give up the questions that are still open."""
        for asking in list(self._in_flight.values()):
            asking.cancel()
        await asyncio.gather(*self._in_flight.values(), return_exceptions=True)

    def _forget(self, key: str, done: asyncio.Task[Reply]) -> None:
        del self._in_flight[key]
        if not done.cancelled():
            done.exception()  # looked at: whoever asked may be gone

    async def _answer(self, key: str, question: Question) -> Reply:
        known = await self._find(key)
        if known:
            return known
        with standing_still():
            await self._unkept.acquire()
        try:
            return await self._keep(key, question, await self._asked(question))
        finally:
            self._unkept.release()

    async def _asked(self, question: Question) -> Reply:
        refusal = self._spending.begin() if self._spending else None
        if refusal:
            raise RunHalted(refusal)
        reply = None
        try:
            reply = await self._judge.ask(question)
            return reply
        except JudgeDown as error:
            raise RunHalted(f"{error}.") from error
        finally:
            if self._spending:
                self._spending.end(reply)
