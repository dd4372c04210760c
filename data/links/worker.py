"""The worker that fetches links. `cli.py fetch` is the whole of it; it can be killed at any moment and started again.

There is one at a time in a workspace. The app starts that very command and follows it through the store.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import BinaryIO

import httpcore2

from data.home import PROJECT, logs_folder
from data.images import NotAPicture, Picture, keep, original_path, shown_name
from data.links.fetching import NotFetched, fetch
from data.links.network import PublicOnly
from data.store import connection
from data.store import links as store
from data.store.batches import Batches
from evaluators.waiting import run_alone

#: Links fetched at once, in all and from one host.
AT_ONCE, AT_ONCE_A_HOST = 16, 4
HEARTBEAT_SECONDS = 2.0
#: Links in a row that a host did not answer at all; the rest of its links are not asked then.
GIVE_UP_AFTER = 5

log = logging.getLogger(__name__)
_started: list[subprocess.Popen] = []


class FetchRefused(Exception):  # noqa: N818 - it names what happened
    """Links cannot be fetched now; the text says why."""


def start_fetching(dataset: str | None = None) -> None:
    """Start `cli.py fetch` as a process of its own that outlives the app; for one dataset or for all."""
    _started[:] = [process for process in _started if process.poll() is None]
    logs_folder().mkdir(parents=True, exist_ok=True)
    which = [] if dataset is None else [f"--dataset={dataset}"]
    with (logs_folder() / "fetch.err").open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, str(PROJECT / "cli.py"), "fetch", *which],
            cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
        )  # fmt: skip
    _started.append(process)


def fetch_links(
    dataset_id: int | None = None, on_link: Callable[[str, str], None] = lambda link, problem: None
) -> dict[str, int]:
    """Fetch the links that nobody has tried yet, of a dataset or of all; gives how many were fetched and how many failed.

    on_link is told every link when it is done, with what is wrong (nothing: it is here).

    :raises FetchRefused: if somebody else fetches.
    """
    name = f"{socket.gethostname()}/{os.getpid()}"
    if not store.claim(name):
        raise FetchRefused("Links are being fetched already, by another process.")
    try:
        return run_alone(_Fetcher(name, dataset_id, on_link).work())
    except ExceptionGroup as error:
        raise FetchRefused(f"Fetching stopped: {error.exceptions[0]}. What was fetched is kept.") from error
    finally:
        store.release(name)


class _Fetcher:
    """One worker's life: some links at once, one thread that decodes pictures, one that writes, a heartbeat."""

    def __init__(self, name: str, dataset_id: int | None, on_link: Callable[[str, str], None]):
        self.name, self.dataset_id, self.on_link = name, dataset_id, on_link
        self.hosts: dict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(AT_ONCE_A_HOST))
        self.silent: Counter[str] = Counter()  # links in a row that a host did not answer
        self.room = asyncio.Semaphore(AT_ONCE)
        self.decoder = ThreadPoolExecutor(1, thread_name_prefix="decoder")
        self.store = Batches()
        self.counts = {"fetched": 0, "failed": 0}
        self.working: asyncio.Task | None = None

    async def work(self) -> dict[str, int]:
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(RuntimeError, ValueError):  # not in the main thread: whoever runs us there stops us otherwise
                asyncio.get_running_loop().add_signal_handler(number, self._stop)
        beating = asyncio.create_task(self._beat())
        self.working = asyncio.create_task(self._all())
        try:
            with suppress(asyncio.CancelledError):
                await self.working
        finally:
            beating.cancel()
            await self.store.close()
            await asyncio.get_running_loop().run_in_executor(self.decoder, connection.close)
            self.decoder.shutdown()
        return self.counts

    async def _all(self) -> None:
        """Fetch until nothing waits; links that came in meanwhile are fetched as well."""
        done: set[str] = set()
        async with httpcore2.AsyncConnectionPool(max_connections=AT_ONCE, network_backend=PublicOnly()) as pool:
            while found := [link for link in await self._read(store.waiting, self.dataset_id) if link not in done]:
                done.update(found)
                async with asyncio.TaskGroup() as group:
                    for link in found:
                        group.create_task(self._one(link, pool))

    async def _one(self, link: str, pool: httpcore2.AsyncConnectionPool) -> None:
        problem, host = "", link.partition("://")[2].partition("/")[0].lower()
        async with self.hosts[host], self.room:
            try:
                if self.silent[host] >= GIVE_UP_AFTER:
                    told = f"{shown_name(link)} was not asked: its host did not answer {GIVE_UP_AFTER} other links; try again later"
                    raise NotFetched(told, unreachable=True)
                picture = await self._picture(link, pool)
                self.silent[host] = 0
                await self.store.write(store.keep_fetched, link, picture)
            except (NotFetched, NotAPicture) as error:
                problem = str(error)
                self.silent[host] = self.silent[host] + 1 if getattr(error, "unreachable", False) else 0
                await self.store.write(store.keep_failed, link, problem)
        self.counts["failed" if problem else "fetched"] += 1
        self.on_link(link, problem)

    async def _picture(self, link: str, pool: httpcore2.AsyncConnectionPool) -> Picture:
        known = await self._read(store.fetched_before, link)
        if known is not None and original_path(known.sha256, known.extension).exists():
            return known
        with tempfile.TemporaryFile() as file:  # some at once, but only one in memory
            await fetch(link, pool, file)
            return await self._read(_kept, file, link)

    async def _beat(self) -> None:
        while True:
            if not await self.store.write(store.beat, self.name):
                self._stop()  # another one took over
                return
            await asyncio.sleep(HEARTBEAT_SECONDS)

    def _stop(self) -> None:
        if self.working is not None:
            self.working.cancel()

    async def _read(self, function: Callable, *arguments):
        return await asyncio.get_running_loop().run_in_executor(self.decoder, function, *arguments)


def _kept(file: BinaryIO, link: str) -> Picture:
    file.seek(0)
    return keep(file.read(), link)
