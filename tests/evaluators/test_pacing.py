"""How fast an endpoint is asked: turns, limits, back-off, and a case's time that stands still while it waits."""

from __future__ import annotations

import asyncio
import itertools
import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.judges import pacing
from evaluators.judges.pacing import Pace, back_off, retry_after, time_limit


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def fill_up(pace: Pace) -> int:
    """How many requests may be in flight at once now."""

    async def most() -> int:
        entered, stay, running = 0, asyncio.Event(), []

        async def one() -> None:
            nonlocal entered
            async with pace.turn():
                entered += 1
                await stay.wait()

        running = [asyncio.create_task(one()) for _ in range(50)]
        await asyncio.sleep(0.01)
        stay_at = entered
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        return stay_at

    return asyncio.run(most())


def test_a_wave_of_failures_halves_what_may_be_in_flight_once_and_answers_bring_it_back():
    clock = Clock()
    pace = Pace(16, clock=clock)
    began = clock.now
    clock.now += 1
    for _ in range(10):  # all of them were sent before anybody knew
        pace.failed("503", began, 1)
    assert fill_up(pace) == 8
    for answers, expected in ((1, 9), (3, 12), (9, 16)):
        for _ in range(answers):
            pace.answered(None)
        assert fill_up(pace) == expected


def test_failures_without_an_answer_in_between_make_everybody_wait_longer_and_longer():
    clock = Clock()
    pace, waits = Pace(4, clock=clock), []
    for _ in range(8):
        pace.failed("unreachable", clock.now, 1)
        waits.append(pace._delay())
        clock.now += waits[-1] + 0.01
    assert waits[0] == 0  # one failure may be bad luck
    assert all(0.5 * 2**n <= wait <= 2**n for n, wait in enumerate(waits[1:5], 1))
    assert all(15 <= wait <= 30 for wait in waits[5:])
    assert pace.trouble == {"unreachable": 8}


def test_what_an_endpoint_asks_for_holds_for_everybody_to_the_second():
    clock = Clock()
    pace = Pace(4, clock=clock)
    assert pace.failed("429", clock.now, 1, retry_after=7.0) == 7.0
    assert pace._delay() == 7.0
    clock.now += 6.9
    assert pace._delay() == pytest.approx(0.1)


def test_silence_is_counted_from_the_first_failure_and_an_answer_ends_it():
    clock = Clock()
    pace = Pace(4, clock=clock)
    clock.now += 3600  # nobody asked anything for an hour: that is no silence
    pace.failed("timeout", clock.now, 1)
    assert pace.silent_seconds == 0
    clock.now += 20
    pace.failed("timeout", clock.now, 2)
    assert pace.silent_seconds == 20
    pace.answered(None)
    assert pace.silent_seconds == 0


@pytest.mark.parametrize(("per_minute", "turns"), [(600, 5), (1200, 9)])
def test_no_more_requests_a_minute_than_agreed(per_minute, turns):
    async def take() -> list[float]:
        pace, times = Pace(50, requests_per_minute=per_minute), []

        async def one() -> None:
            async with pace.turn():
                times.append(time.monotonic())

        await asyncio.gather(*(one() for _ in range(turns)))
        return times

    times = asyncio.run(take())
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert all(gap >= 60 / per_minute * 0.9 for gap in gaps), gaps


def test_tokens_are_spread_by_what_calls_really_took():
    clock = Clock()
    pace = Pace(50, tokens_per_minute=6000, clock=clock)  # 100 a second
    pace._take()  # the first call's size is not known
    pace.answered(500)
    assert pace._delay() == pytest.approx(5)
    clock.now += 5
    pace._take()  # reserved as large as the first
    assert pace._delay() == pytest.approx(5)
    pace.answered(100)  # and it was smaller
    assert pace._delay() == pytest.approx(1)


def test_workers_that_share_an_endpoint_share_its_limits():
    pace = Pace(12)
    assert fill_up(pace) == 12
    pace.share(3)
    assert fill_up(pace) == 4
    pace.share(40)
    assert fill_up(pace) == 1


def test_workers_that_share_an_endpoint_share_its_minute():
    clock = Clock()
    pace = Pace(50, requests_per_minute=60, clock=clock)
    pace.share(2)
    taken = 0
    for _ in range(20):  # somebody who would ask every second
        if pace._delay() == 0:
            pace._take()
            taken += 1
        clock.now += 1
    assert taken == 10


def test_who_gives_up_waiting_takes_no_turn_with_him():
    async def main() -> None:
        pace = Pace(1)
        async with pace.turn():
            waiting = [asyncio.create_task(_hold(pace)) for _ in range(5)]
            await asyncio.sleep(0)
            waiting[0].cancel()
            waiting[3].cancel()
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting[1].cancel()  # just as it got its turn
        await asyncio.gather(*waiting, return_exceptions=True)
        assert pace._in_flight == 0
        await asyncio.wait_for(_hold(pace), 1)

    asyncio.run(main())


async def _hold(pace: Pace) -> None:
    async with pace.turn():
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0),
    ],
)
def test_retry_after_is_read_in_each_of_its_forms(headers, seconds):
    assert retry_after(headers) == seconds


def test_retry_after_as_a_date():
    assert retry_after({"retry-after": formatdate(time.time() + 90, usegmt=True)}) == pytest.approx(90, abs=2)


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms"]), st.text(max_size=30)))
def test_no_header_breaks_it(headers):
    found = retry_after(headers)
    assert found is None or found >= 0


@given(st.integers(1, 10_000))
def test_back_off_grows_to_a_bound(attempt):
    highest = min(pacing.LONGEST_BACK_OFF, 2.0 ** (attempt - 1) if attempt < 60 else 1e9)
    assert highest / 2 <= back_off(attempt) <= highest


def test_a_cases_time_stands_still_while_it_waits_for_its_turn():
    async def main() -> float:
        pace = Pace(1)
        started = time.monotonic()

        async def block() -> None:
            async with pace.turn():
                await asyncio.sleep(0.4)

        blocking = asyncio.create_task(block())
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            async with time_limit(0.2), pace.turn():
                waited = time.monotonic() - started
                await asyncio.sleep(5)
        await blocking
        assert waited >= 0.39
        return time.monotonic() - started

    assert 0.55 < asyncio.run(main()) < 2


def test_a_question_that_outlives_its_case_waits_without_a_limit():
    async def main() -> str:
        pace = Pace(1)

        async def question() -> str:
            await asyncio.sleep(0.1)
            async with pace.turn():
                pass
            return "kept"

        async with pace.turn():
            with pytest.raises(TimeoutError):
                async with time_limit(0.05):
                    asked = asyncio.create_task(question())
                    await asyncio.shield(asked)
            await asyncio.sleep(0.1)
        return await asked

    assert asyncio.run(main()) == "kept"
