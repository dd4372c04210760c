"""How fast an endpoint may be asked: so many requests in flight, so many requests and tokens a minute, and slower when
the endpoint says that it is too much.

What may be in flight is halved when the endpoint turns requests away or fails, and grows again by one with each answer
(as TCP does it; Chiu and Jain 1989), so that it soon finds what the endpoint takes.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from email.utils import mktime_tz, parsedate_tz

#: The longest that is waited between two tries without being told how long, in seconds.
LONGEST_BACK_OFF = 30.0
#: An endpoint that asks for more patience than this, in seconds, is taken to be down.
LONGEST_RETRY_AFTER = 300.0


class Pace:
    """Turns for requests to one endpoint. All of it happens in one event loop.

    trouble: how often what went wrong, by kind (`429`, `timeout`, …); for the run's page.
    """

    def __init__(
        self, concurrency: int, requests_per_minute: int | None = None, tokens_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):  # fmt: skip
        self.trouble: Counter[str] = Counter()
        self._most, self._sharers = concurrency, 1
        self._limit = float(concurrency)
        self._requests, self._tokens = _Spacing(requests_per_minute), _Spacing(tokens_per_minute)
        self._mean_tokens = 0.0
        self._clock = clock
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._opens = self._slowed = clock()
        self._silent_since: float | None = None
        self._waves = 0

    @property
    def silent_seconds(self) -> float:
        """Seconds since when the endpoint has answered nothing but passing errors; 0 while it answers."""
        return 0.0 if self._silent_since is None else self._clock() - self._silent_since

    def share(self, workers: int) -> None:
        """Take one part of so many: other workers ask the same endpoint at the same time."""
        self._sharers = max(1, workers)
        self._let_go()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[float]:
        """Wait for a turn and hold it; gives the time at which it began, for `failed`."""
        if self._waiting or not self._is_free() or self._delay() > 0:
            await self._wait()
        else:
            self._take()
        try:
            yield self._clock()
        finally:
            self._in_flight -= 1
            self._let_go()

    def answered(self, tokens: int | None) -> None:
        """The endpoint answered a request; tokens: in and out together, None if it did not say."""
        self._silent_since, self._waves = None, 0
        self._limit = min(self._most, self._limit + 1)
        if tokens is not None:
            self._tokens.take(self._clock(), (tokens - self._mean_tokens) * self._sharers)
            self._mean_tokens += (tokens - self._mean_tokens) / (10 if self._mean_tokens else 1)

    def failed(self, kind: str, began: float, attempt: int, retry_after: float | None = None) -> float:
        """A request that began at `began` met a passing error; gives the seconds until it should be tried again.

        One wave of failures slows down once. From the second wave on without an answer in between, or when the
        endpoint says how long to wait, everybody waits.
        """
        now = self._clock()
        self.trouble[kind] += 1
        self._silent_since = began if self._silent_since is None else self._silent_since
        if began >= self._slowed:
            self._slowed, self._waves = now, self._waves + 1
            self._limit = max(1.0, self._limit / 2)
            if self._waves > 1 and retry_after is None:
                self._opens = max(self._opens, now + back_off(self._waves))
        if retry_after is None:
            return back_off(attempt)
        self._opens = max(self._opens, now + retry_after)
        return retry_after

    def _is_free(self) -> bool:
        return self._in_flight < max(1, int(min(self._limit, self._most / self._sharers)))

    def _delay(self) -> float:
        """Seconds until the next request may begin, apart from those in flight."""
        now = self._clock()
        return max(0.0, self._opens - now, self._requests.delay(now), self._tokens.delay(now))

    def _take(self) -> None:
        now = self._clock()
        self._in_flight += 1
        self._requests.take(now, self._sharers)  # the others take theirs meanwhile
        self._tokens.take(now, self._mean_tokens * self._sharers)

    async def _wait(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._let_go()
        try:
            with standing_still():
                await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it had just been given its turn
                self._in_flight -= 1
                self._let_go()
            raise

    def _let_go(self) -> None:
        """Give turns to those that wait, as many as may go now; come back when the next one may."""
        while self._waiting and self._is_free():
            if self._waiting[0].done():  # given up meanwhile
                self._waiting.popleft()
                continue
            delay = self._delay()
            if delay > 0:
                if self._timer is None:
                    self._timer = asyncio.get_running_loop().call_later(delay, self._on_timer)
                return
            self._take()
            self._waiting.popleft().set_result(None)

    def _on_timer(self) -> None:
        self._timer = None
        self._let_go()


class _Spacing:
    """At most so many a minute, evenly: in no minute more than that."""

    def __init__(self, per_minute: int | None):
        self._seconds_each = 60 / per_minute if per_minute else 0.0
        self._next = 0.0

    def delay(self, now: float) -> float:
        return max(0.0, self._next - now) if self._seconds_each else 0.0

    def take(self, now: float, amount: float) -> None:
        """Use up an amount; a negative one gives back what was reserved too much."""
        self._next = max(now, self._next) + amount * self._seconds_each if amount > 0 else (
            self._next + amount * self._seconds_each
        )  # fmt: skip


def back_off(attempt: int) -> float:
    """Seconds before the next try after `attempt` (from 1) of them failed: 1, 2, 4, … at most LONGEST_BACK_OFF, of which
    the second half is left to chance, so that those that failed together do not come back together."""
    return min(LONGEST_BACK_OFF, 2.0 ** (min(attempt, 10) - 1)) * random.uniform(0.5, 1.0)


def retry_after(headers: object) -> float | None:
    """Seconds that a response asks to wait (`Retry-After` in seconds or as a date, or `retry-after-ms`), or None."""
    for name, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) / per_second
        except ValueError:
            date = parsedate_tz(text)
            if date is None:
                continue
            seconds = mktime_tz(date) - time.time()
        if seconds == seconds:  # not NaN
            return max(0.0, seconds)
    return None


# --- a case's time, which stands still while it waits for its turn ----------------------------------------------------------

_limit: ContextVar[_TimeLimit | None] = ContextVar("limit", default=None)


class _TimeLimit:
    """`over`: nothing is limited any more; a question may outlive its case, because its reply is paid for."""

    def __init__(self, seconds: float, deadline: asyncio.Timeout):
        self._left, self._deadline, self._still = seconds, deadline, 0
        self.over = False

    def stop(self) -> None:
        if self._still == 0 and self._is_running():
            self._left = self._deadline.when() - asyncio.get_running_loop().time()
            self._deadline.reschedule(None)
        self._still += 1

    def go_on(self) -> None:
        self._still -= 1
        if self._still == 0 and self._is_running():
            self._deadline.reschedule(asyncio.get_running_loop().time() + self._left)

    def _is_running(self) -> bool:
        return not self.over and not self._deadline.expired()


@asynccontextmanager
async def time_limit(seconds: float | None) -> AsyncIterator[None]:
    """A limit on all that is done within, not counting time spent waiting for a turn; None for no limit.

    :raises TimeoutError: when it is used up.
    """
    if seconds is None:
        yield
        return
    async with asyncio.timeout(seconds) as deadline:
        limit = _TimeLimit(seconds, deadline)
        token = _limit.set(limit)
        try:
            yield
        finally:
            limit.over = True
            _limit.reset(token)


class standing_still:  # noqa: N801 - it reads as what it does
    """A block during which the time limit around it, if there is one, stands still."""

    def __enter__(self) -> None:
        self._limit = _limit.get()
        if self._limit:
            self._limit.stop()

    def __exit__(self, *_: object) -> None:
        if self._limit:
            self._limit.go_on()
