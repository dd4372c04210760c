"""Waiting for async work from code that is not async, also where an event loop runs already (a notebook, a server)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")

_starting = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def wait_for(work: Coroutine[object, object, Result]) -> Result:
    """The result of `work`. All such work shares one loop in a thread of its own, since a judge's open connections
    belong to the loop that opened them: one judge can measure case after case."""
    return asyncio.run_coroutine_threadsafe(work, _shared_loop()).result()


def run_alone(work: Coroutine[object, object, Result]) -> Result:
    """The result of `work` in a loop that is its own and ends with it: in this thread, where signals can be handled, or
    in another one if a loop runs here already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def _shared_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _starting:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="waiting", daemon=True).start()
        return _loop
