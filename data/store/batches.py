"""Writes of an event loop, committed together in a thread of their own: as many as came while the last commit ran."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from data.store import connection
from data.store.connection import writing

#: Seconds for which writes wait for a store that is locked or full, beyond the busy timeout; they may be paid for.
PATIENCE = 300.0
_PAUSE = 1.0
#: Writes in one transaction, so that others get their turn.
_MOST = 200
_PASSING = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
)

log = logging.getLogger(__name__)
Write = tuple[Callable, tuple, asyncio.Future]


class Batches:
    """Takes functions that write (each with its own `writing()`) and gives what they return, once it is committed.

    One that fails alone (a value that the store does not take) raises for whoever asked; the others are kept. While
    the store itself cannot be written, all wait; after PATIENCE all raise. To be used in one event loop.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._waiting: list[Write] = []
        self._committing: asyncio.Task | None = None

    async def write(self, function: Callable, *arguments: object):
        """What `function(*arguments)` returns, committed.

        :raises sqlite3.OperationalError: if the store cannot be written for PATIENCE seconds.
        """
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((function, arguments, done))
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit_all())
        return await asyncio.shield(done)

    async def close(self) -> None:
        """Commit what waits and let the thread go."""
        if self._committing:
            await self._committing
        await asyncio.get_running_loop().run_in_executor(self._thread, connection.close)
        self._thread.shutdown()

    async def _commit_all(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            outcomes = await asyncio.get_running_loop().run_in_executor(self._thread, self._commit, batch)
            for (_function, _arguments, done), (value, error) in zip(batch, outcomes, strict=True):
                if done.cancelled():
                    continue
                if error is None:
                    done.set_result(value)
                else:
                    done.set_exception(error)
                    done.exception()  # looked at: whoever asked may be gone
        self._committing = None

    def _commit(self, batch: list[Write]) -> list[tuple[object, Exception | None]]:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with writing():
                    return [_outcome(function, arguments) for function, arguments, _done in batch]
            except Exception as error:
                if not may_pass(error) or time.monotonic() > until:
                    return [(None, error)] * len(batch)
                log.warning("%d writes wait for the store: %s", len(batch), error)
                time.sleep(_PAUSE)


def may_pass(error: Exception) -> bool:
    """Whether an error says that the store cannot be written now: locked, full, or a disk that fails."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _PASSING


def _outcome(function: Callable, arguments: tuple) -> tuple[object, Exception | None]:
    try:
        return function(*arguments), None
    except Exception as error:
        if may_pass(error):
            raise  # the store, not the value: nothing of this batch is kept, all of it is tried again
        return None, error
