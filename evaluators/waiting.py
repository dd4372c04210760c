"""Waiting for async work from code that is not async, also where an event loop runs already (a notebook, a server)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def wait_for(work: Coroutine[object, object, Result]) -> Result:
    """The result of `work`, run to its end; beside a running event loop it gets a thread and a loop of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
