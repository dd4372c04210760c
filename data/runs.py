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
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from data.home import PROJECT, logs_folder
from data.store import cases as case_store
from data.store import judges as judge_store
from data.store import replies as reply_store
from data.store import rubrics as rubric_store
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from evaluators.errors import EvaluationError, JudgeFailed
from evaluators.judges.endpoint import EndpointJudge, EndpointSettings
from evaluators.judges.question import Judge, Question, Reply, question_key
from evaluators.judges.recorded import RecordedJudge
from evaluators.metrics.base import Metric
from evaluators.rubric import Rubric
from evaluators.verdict import Options, Verdict
from evaluators.waiting import run_alone

HEARTBEAT_SECONDS = 2.0
#: Seconds that questions in flight get to come back after a cancel; they are paid for.
GRACE_SECONDS = 10.0
#: How often a paid reply waits for a locked database, each time as long as the store's busy timeout.
STORE_ATTEMPTS = 10

log = logging.getLogger(__name__)
_started: list[subprocess.Popen] = []


class RunRefused(EvaluationError):  # noqa: N818 - it names what happened to the run
    """The run cannot be judged now; the text says why."""


@dataclass(frozen=True)
class Plan:
    """What a run would do: cases in the dataset, why some will be skipped, calls to make, and calls known already."""

    cases: int
    unfit: Mapping[str, int]
    calls: int
    known: int


class RememberingJudge:
    """A judge that asks only what was never asked before, and keeps every reply as soon as it is there.

    find: key -> stored reply or None. keep: key, question, reply -> the reply as stored.
    """

    def __init__(self, judge: Judge, find: Callable, keep: Callable):
        self.identity = judge.identity
        self._judge, self._find, self._keep = judge, find, keep
        self._in_flight: dict[str, asyncio.Task[Reply]] = {}

    async def ask(self, question: Question) -> Reply:
        """The stored reply, else the judge's. Two cases that ask the same at once share one call."""
        key = question_key(question, self.identity)
        if key in self._in_flight:
            return replace(await asyncio.shield(self._in_flight[key]), cached=True)
        known = self._find(key)
        if known is not None:
            return known
        asking = asyncio.ensure_future(self._ask_and_keep(key, question))
        self._in_flight[key] = asking
        try:
            return await asking
        finally:
            del self._in_flight[key]

    async def _ask_and_keep(self, key: str, question: Question) -> Reply:
        return await self._keep(key, question, await self._judge.ask(question))


def plan(dataset_id: int, metric: Metric, judge: Mapping, options: Options, limit: int | None = None) -> Plan:
    """What a run would do, without asking anything."""
    identity = _identity(judge)
    unfit: dict[str, int] = {}
    asked: set[str] = set()
    total = calls = known = 0
    for case in _all_cases(dataset_id, limit):
        total += 1
        lacking = metric.lacks(case)
        if lacking:
            unfit[lacking] = unfit.get(lacking, 0) + 1
            continue
        rubric = rubric_store.latest(case.prompt, metric.rubric_medium) if metric.rubric_medium else None
        calls += metric.later_calls(case, options, rubric)
        for question in metric.opening_questions(case, options, rubric):
            key = question_key(question, identity)
            if key not in asked:  # the same question is asked once, however many cases ask it
                asked.add(key)
                calls += 1
                known += reply_store.stored_reply(key) is not None
    return Plan(total, unfit, calls, known)


def start_worker(run_id: int) -> None:
    """Start `cli.py resume RUN` as a process of its own that outlives the app; its output goes into the logs folder."""
    _started[:] = [process for process in _started if process.poll() is None]
    logs_folder().mkdir(parents=True, exist_ok=True)
    with (logs_folder() / f"run-{run_id}.log").open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, str(PROJECT / "cli.py"), "resume", str(run_id), "--unless-cancelled"],
            cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    _started.append(process)


def judge_run(run_id: int, on_verdict: Callable[[Verdict], None] = lambda verdict: None) -> None:
    """Judge the cases of a run that have no verdict yet.

    :raises RunRefused: if there is no such run, another worker has it, or its judge cannot be asked.
    """
    worker = f"{socket.gethostname()}/{os.getpid()}"
    refused = run_store.claim(run_id, worker)
    if refused:
        raise RunRefused(refused)
    try:
        run_alone(_Worker(run_id, worker, on_verdict).work())
    except Exception as error:
        run_store.finish(run_id, worker, "stopped", f"{error}" or type(error).__name__)
        if isinstance(error, JudgeFailed):
            raise RunRefused(str(error)) from error
        raise


class _Worker:
    """One worker's life: as many cases at once as the judge takes calls, one thread that writes, a heartbeat.

    It is also where the metrics find and keep their rubrics (see evaluators.rubric.Rubrics).
    """

    def __init__(self, run_id: int, name: str, on_verdict: Callable[[Verdict], None]):
        self.run = run_store.run_by_id(run_id)
        self.name = name
        self.metric = run_store.metric_of(self.run)
        self.options = Options(**self.run["options"])
        self.on_verdict = on_verdict
        self.open = deque(run_store.open_cases(run_id))
        self.writer = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self.ending = "done"
        self.stopping = asyncio.Event()

    async def work(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            try:
                asyncio.get_running_loop().add_signal_handler(number, self._stop, "stopped")
            except (RuntimeError, ValueError):  # not in the main thread: whoever runs us there stops us otherwise
                break
        judge = _judge(self.run["judge"])
        beating = asyncio.create_task(self._beat())
        try:
            await self._judge_all(RememberingJudge(judge, self._find, self._keep))
        finally:
            beating.cancel()
            if isinstance(judge, EndpointJudge):
                await judge.close()
                if judge.mode and judge.mode != self.run["judge"]["mode"]:
                    await self._write(
                        judge_store.remember_mode, self.run["judge_id"], judge.mode, self.run["judge"]["settings"]
                    )
            self.writer.shutdown()
        if self.ending != "lost":
            problem = "" if self.ending != "stopped" else "The worker was told to stop; resume goes on with the rest."
            run_store.finish(self.run["id"], self.name, self.ending, problem)

    async def _judge_all(self, judge: Judge) -> None:
        at_once = self.run["judge"]["concurrency"]
        tasks = [asyncio.create_task(self._judge_cases(judge)) for _ in range(min(at_once, len(self.open)))]
        stop = asyncio.create_task(self.stopping.wait())
        pending = {stop, *tasks}
        while pending - {stop}:
            finished, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            if stop in finished:
                await asyncio.wait(pending, timeout=GRACE_SECONDS) if pending else None
                break
            for task in finished:
                task.result()
        for task in (stop, *tasks):
            task.cancel()
        await asyncio.gather(stop, *tasks, return_exceptions=True)

    async def _judge_cases(self, judge: Judge) -> None:
        while self.open and not self.stopping.is_set():
            chosen = self.open.popleft()
            case_id, revision = chosen["case_id"], chosen["revision"]
            case = (await self._write(case_store.load_cases, [case_id], {case_id: revision}))[case_id]
            try:
                verdict = await self.metric.evaluate(case, judge, self.options, self)
            except sqlite3.Error:
                raise  # the store cannot be used: no verdict on the case; the run stops and is resumed later
            except Exception as error:
                # One case, one verdict, whatever happens to it; the traceback is for whoever mends the bug.
                log.exception("case %s of run %s", case.id, self.run["id"])
                problem = f"internal error: {type(error).__name__}: {error}"
                verdict = Verdict(case.id, self.metric.name, "failed", problem=problem)
            try:
                await self._write(verdict_store.save_verdicts, self.run["id"], [(case_id, revision, verdict)])
            except (ValueError, TypeError, OverflowError) as error:  # a value that the store does not take
                log.exception("verdict on case %s of run %s", case.id, self.run["id"])
                problem = f"the verdict cannot be stored: {type(error).__name__}: {error}"
                verdict = Verdict(case.id, self.metric.name, "failed", problem=problem)
                await self._write(verdict_store.save_verdicts, self.run["id"], [(case_id, revision, verdict)])
            self.on_verdict(verdict)

    async def _beat(self) -> None:
        while True:
            word = await self._write(run_store.beat, self.run["id"], self.name)
            if word != "go":
                self._stop("cancelled" if word == "cancel" else "lost")
                return
            await asyncio.sleep(HEARTBEAT_SECONDS)

    def _stop(self, ending: str) -> None:
        self.ending = ending
        self.stopping.set()

    def _find(self, key: str) -> Reply | None:
        return reply_store.stored_reply(key, self.run["id"])

    async def _keep(self, key: str, question: Question, reply: Reply) -> Reply:
        """The reply as stored. It is paid for: while another process holds the database, wait for it once more."""
        attempt = 1
        while True:
            try:
                reply_id = await self._write(reply_store.store_reply, key, question, reply, self.run["id"])
                return replace(reply, reply_id=reply_id)
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or attempt == STORE_ATTEMPTS:
                    raise
                log.warning("run %s waits for the database: %s", self.run["id"], error)
                attempt += 1

    async def latest(self, prompt: str, medium: str) -> Rubric | None:
        return await self._write(rubric_store.latest, prompt, medium)

    async def keep(self, rubric: Rubric) -> Rubric:
        return await self._write(rubric_store.keep_first, rubric)

    async def _write(self, function: Callable, *arguments):
        """Everything that may wait for the database's lock waits in the writer's thread, never in the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self.writer, function, *arguments)


def _judge(judge: Mapping) -> Judge:
    """The judge that a run's snapshot describes.

    :raises JudgeFailed: if it cannot be asked, with what to do.
    """
    if judge["kind"] == "recorded":
        return RecordedJudge(judge["settings"], reply_store.stored_reply)
    if judge["kind"] == "imported":
        raise JudgeFailed("An imported judge's verdicts came from a file; it cannot be asked.")
    settings = EndpointSettings(**judge["settings"], mode=judge["mode"])
    return EndpointJudge(replace(settings, concurrency=judge["concurrency"]))


def _identity(judge: Mapping) -> Mapping:
    if judge["kind"] == "recorded":
        return judge["settings"]
    return EndpointSettings(**judge["settings"]).identity


def _all_cases(dataset_id: int, limit: int | None, step: int = 200):
    wanted, offset = case_store.CaseFilter(dataset_id=dataset_id), 0
    while found := case_store.list_cases(wanted, step if limit is None else min(step, limit - offset), offset):
        yield from case_store.load_cases([row["id"] for row in found]).values()
        offset += len(found)
