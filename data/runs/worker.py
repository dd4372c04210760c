"""The worker: cases in, verdicts out. It can be killed at any moment and resumed; what was judged is kept.

`cli.py resume RUN` is the whole worker. The app starts that very command and follows it through the store.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial

from data.home import PROJECT, logs_folder
from data.runs.budget import Budget, Spending
from data.runs.log import current_case, run_log
from data.runs.remembering import RememberingJudge, RunHalted
from data.store import cases as case_store
from data.store import connection, run_figures
from data.store import judges as judge_store
from data.store import replies as reply_store
from data.store import rubrics as rubric_store
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.batches import Batches
from evaluators.case import Case
from evaluators.errors import EvaluationError, JudgeFailed
from evaluators.judges.endpoint import EndpointJudge
from evaluators.judges.pacing import time_limit
from evaluators.judges.question import Question, Reply
from evaluators.judges.recorded import RecordedJudge
from evaluators.rubric import Rubric
from evaluators.verdict import Options, Verdict
from evaluators.waiting import run_alone

HEARTBEAT_SECONDS = 2.0
#: Seconds that questions in flight get to come back after a cancel; they are paid for.
GRACE_SECONDS = 10.0
#: Cases that are read at once.
_READ_AHEAD = 32

log = logging.getLogger(__name__)
_started: list[subprocess.Popen] = []


class RunRefused(EvaluationError):  # noqa: N818 - it names what happened to the run
    """The run cannot be judged now; the text says why."""


def start_worker(*run_ids: int) -> None:
    """Start `cli.py resume RUN…` as a process of its own that outlives the app. What it prints when even its log
    cannot be written goes into `logs/workers.err`."""
    _started[:] = [process for process in _started if process.poll() is None]
    logs_folder().mkdir(parents=True, exist_ok=True)
    with (logs_folder() / "workers.err").open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, str(PROJECT / "cli.py"), "resume", *map(str, run_ids), "--unless-cancelled"],
            cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
        )  # fmt: skip
    _started.append(process)


def judge_run(run_id: int, on_verdict: Callable[[Verdict], None] = lambda verdict: None) -> None:
    """Judge the cases of a run that have no verdict yet.

    :raises RunRefused: if there is no such run, another worker has it, or its judge cannot be asked.
    """
    name = f"{socket.gethostname()}/{os.getpid()}"
    refused = run_store.claim(run_id, name)
    if refused:
        raise RunRefused(refused)
    run = run_store.run_by_id(run_id)
    with run_log(run_id, _redacted(run["judge"])):
        try:
            run_alone(_Worker(run, name, on_verdict).work())
        except Exception as error:
            cause = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
            log.exception("stopped by an error")
            run_store.finish(run_id, name, "stopped", f"{cause}" or type(cause).__name__)
            if isinstance(cause, JudgeFailed):
                raise RunRefused(str(cause)) from cause
            raise cause from None


class _Worker:
    """One worker's life: as many cases at once as the judge takes calls, one thread that writes, one that reads, a
    heartbeat.

    It is also where the metrics find and keep their rubrics (see evaluators.rubric.Rubrics).
    """

    def __init__(self, run: Mapping, name: str, on_verdict: Callable[[Verdict], None]):
        self.run, self.name, self.on_verdict = run, name, on_verdict
        self.judge = _judge(run["judge"])
        self.endpoint = self.judge if isinstance(self.judge, EndpointJudge) else None
        self.at_once: int = run["judge"]["concurrency"]
        self.metric = run_store.metric_of(run)
        self.options = Options(**run["options"])
        self.open = deque(run_store.open_cases(run["id"]))
        self.loaded: deque[tuple[int, int, Case]] = deque()
        self.loading = asyncio.Lock()
        self.reader = ThreadPoolExecutor(1, thread_name_prefix="reader")
        self.store = Batches()
        self.trouble = Counter(run["trouble"])
        self.ending, self.problem, self.grace = "done", "", GRACE_SECONDS
        self.stopping = asyncio.Event()

    async def work(self) -> None:
        """Judge until all is judged or something ends it; then say how it ended."""
        for number in (signal.SIGTERM, signal.SIGINT):
            try:
                asyncio.get_running_loop().add_signal_handler(
                    number, self._stop, "stopped", "The worker was told to stop; resume goes on with the rest."
                )
            except (RuntimeError, ValueError):  # not in the main thread: whoever runs us there stops us otherwise
                break
        spending = None
        if self.endpoint:
            spending = Spending(Budget(**self.run["budget"]), self.endpoint.settings, run_figures.spent(self.run))
        # A few more than are in flight, so that the next call need not wait for a commit.
        unkept = self.at_once * 5 // 4 + 1
        remembering = RememberingJudge(self.judge, self._find, self._keep, unkept, spending)
        log.info("%s starts: %d cases to judge", self.name, len(self.open))
        beating = asyncio.create_task(self._beat())
        try:
            await self._judge_all(remembering)
        finally:
            beating.cancel()
            await remembering.close()
            if self.endpoint:
                await self._part_from(self.endpoint)
            await self.store.close()
            await self._read(connection.close)
            self.reader.shutdown()
        log.info("%s ends: %s %s", self.name, self.ending, self.problem)
        if self.ending != "lost":
            run_store.finish(self.run["id"], self.name, self.ending, self.problem)

    async def _part_from(self, endpoint: EndpointJudge) -> None:
        """Close the connections; remember what was learnt of the endpoint."""
        await endpoint.close()
        await self.store.write(run_store.beat, self.run["id"], self.name, self._all_trouble())
        judge = self.run["judge"]
        if endpoint.mode and endpoint.mode != judge["mode"]:
            await self.store.write(
                judge_store.remember_mode, self.run["judge_id"], endpoint.mode, judge["settings"]
            )  # fmt: skip

    async def _judge_all(self, judge: RememberingJudge) -> None:
        working = asyncio.create_task(self._judge_at_once(judge))
        stopping = asyncio.create_task(self.stopping.wait())
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({working}, timeout=self.grace)
        stopping.cancel()
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working

    async def _judge_at_once(self, judge: RememberingJudge) -> None:
        # A few more cases than calls, so that one is always prepared when a call comes back.
        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.at_once + min(self.at_once, 8), len(self.open))):
                group.create_task(self._judge_cases(judge))

    async def _judge_cases(self, judge: RememberingJudge) -> None:
        while not self.stopping.is_set():
            chosen = await self._next_case()
            if chosen is None:
                return
            case_id, revision, case = chosen
            current_case.set(case.id)
            try:
                verdict = await self._verdict_on(case, judge)
            except RunHalted as halted:
                # The case stays open; what is in flight is paid for, so it gets the time that a call may take.
                self._stop("stopped", f"{halted} Resume goes on with the rest.", self.endpoint.settings.timeout)
                return
            await self._save(case_id, revision, verdict)
            log.info("%s %s in %.2f s", verdict.status, "" if verdict.score is None else verdict.score, verdict.seconds)
            self.on_verdict(verdict)

    async def _next_case(self) -> tuple[int, int, Case] | None:
        async with self.loading:
            if not self.loaded and self.open:
                chosen = [self.open.popleft() for _ in range(min(_READ_AHEAD, len(self.open)))]
                found = await self._read(case_store.load_cases, [case_id for case_id, _ in chosen], dict(chosen))
                self.loaded.extend((case_id, revision, found[case_id]) for case_id, revision in chosen)
            return self.loaded.popleft() if self.loaded else None

    async def _verdict_on(self, case: Case, judge: RememberingJudge) -> Verdict:
        """One verdict, whatever happens to the case.

        :raises RunHalted: if the run is to stop.
        :raises sqlite3.Error: if the store cannot be used: no verdict on the case; the run is resumed later.
        """
        limit = self.endpoint.settings.case_timeout if self.endpoint else None
        try:
            async with time_limit(limit):
                return await self.metric.evaluate(case, judge, self.options, self)
        except (sqlite3.Error, RunHalted):
            raise
        except TimeoutError:
            problem = f"the case took longer than {limit:g} s"
        except Exception as error:
            log.exception("internal error")  # the traceback is for whoever mends the bug
            problem = f"internal error: {type(error).__name__}: {error}"
        return Verdict(case.id, self.metric.name, "failed", problem=problem)

    async def _save(self, case_id: int, revision: int, verdict: Verdict) -> None:
        try:
            await self.store.write(verdict_store.save_verdicts, self.run["id"], [(case_id, revision, verdict)])
        except (ValueError, TypeError, OverflowError) as error:  # a value that the store does not take
            log.exception("the verdict cannot be stored")
            problem = f"the verdict cannot be stored: {type(error).__name__}: {error}"
            failed = Verdict(verdict.case_id, self.metric.name, "failed", problem=problem)
            await self.store.write(verdict_store.save_verdicts, self.run["id"], [(case_id, revision, failed)])

    async def _beat(self) -> None:
        while True:
            heard = await self.store.write(run_store.beat, self.run["id"], self.name, self._all_trouble())
            if heard.word != "go":
                self._stop("cancelled" if heard.word == "cancel" else "lost")
                return
            if self.endpoint:
                self.endpoint.pace.share(heard.workers)
            await asyncio.sleep(HEARTBEAT_SECONDS)

    def _all_trouble(self) -> dict[str, int]:
        """What went wrong in this run, earlier workers' trouble included."""
        return dict(self.trouble + self.endpoint.pace.trouble) if self.endpoint else {}

    def _stop(self, ending: str, problem: str = "", grace: float = GRACE_SECONDS) -> None:
        if not self.stopping.is_set():
            self.ending, self.problem, self.grace = ending, problem, grace
            self.stopping.set()

    async def _find(self, key: str) -> Reply | None:
        return await self._read(partial(reply_store.stored_reply, key, self.run["id"], fresh=bool(self.run["fresh"])))

    async def _keep(self, key: str, question: Question, reply: Reply) -> Reply:
        reply_id = await self.store.write(reply_store.store_reply, key, question, reply, self.run["id"])
        tokens = "? tokens" if reply.input_tokens is None else f"{reply.input_tokens} + {reply.output_tokens} tokens"
        log.info("%s answered in %.2f s, %s, %s", question.aspect, reply.seconds, tokens, reply.mode)
        return replace(reply, reply_id=reply_id)

    async def latest(self, prompt: str, medium: str) -> Rubric | None:
        return await self._read(rubric_store.latest, prompt, medium)

    async def keep(self, rubric: Rubric) -> Rubric:
        return await self.store.write(rubric_store.keep_first, rubric)

    async def _read(self, function: Callable, *arguments):
        """Reads happen in a thread of their own: never in the event loop, and not behind a writer that waits."""
        return await asyncio.get_running_loop().run_in_executor(self.reader, function, *arguments)


def _redacted(judge: Mapping) -> Callable[[str], str]:
    return judge_store.endpoint_settings(judge).redacted if judge["kind"] == "endpoint" else str


def _judge(judge: Mapping) -> EndpointJudge | RecordedJudge:
    """The judge that a run's snapshot describes.

    :raises JudgeFailed: if it cannot be asked, with what to do.
    """
    if judge["kind"] == "recorded":
        return RecordedJudge(judge["settings"], reply_store.stored_reply)
    if judge["kind"] == "imported":
        raise JudgeFailed("An imported judge's verdicts came from a file; it cannot be asked.")
    return EndpointJudge(replace(judge_store.endpoint_settings(judge), concurrency=judge["concurrency"]))
