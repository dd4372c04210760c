"""Runs that are killed, whose endpoint, disk or database is away for a while: every case has one verdict in the end, and
no reply that was paid for is asked for again.

The short ones are part of the suite; `make soak` runs the long ones (`-m soak`) as well.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from data import home as home_paths
from data.backup import check
from data.runs import judge_run
from data.store import connection, run_figures
from data.store import runs as run_store
from data.store.connection import rows, value
from evaluators import METRICS, Options
from tests.chat_server import Answer, ChatServer
from tests.conftest import REPOSITORY
from tests.data.test_runs import silence, wait_for


def worker(run_id: int, **settings) -> subprocess.Popen:
    """A worker in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "cli.py", "resume", str(run_id), "--json"],
        cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **settings,
    )  # fmt: skip


def slowly(seconds: float):
    """A script for the server: the drawn answer, after a while."""

    def script(request) -> None:
        time.sleep(seconds)

    return script


def assert_all_judged_once(run_id: int, cases: int, server: ChatServer, lost: int = 0) -> None:
    """Every case has one verdict, no reply was stored twice, and nothing was asked that was known; `lost`: requests
    that were on their way when somebody was killed."""
    found = run_figures.summary(run_id)
    assert (found["status"], found["cases"], found["done"], found["ok"]) == ("done", cases, cases, cases)
    counted = rows("SELECT case_id, count(*) AS n FROM verdicts WHERE run_id = ? GROUP BY case_id", [run_id])
    assert [r["n"] for r in counted] == [1] * cases
    assert found["calls"] == value("SELECT count(DISTINCT key) FROM replies WHERE run_id = ?", [run_id]) == 2 * cases
    assert found["cached_calls"] == 0
    assert len(server.requests) - found["calls"] <= lost
    assert check() == []


# --- killed ------------------------------------------------------------------------------------------------------------


@pytest.mark.timeout(180)
def test_a_run_killed_at_ten_random_moments_judges_every_case_once(fill, judge_at):
    chance, concurrency = random.Random(20261130), 4
    with ChatServer(slowly(0.05)) as server:
        run_id = run_store.create_run(
            fill(200), METRICS["text_to_image"], judge_at(server.url, mode="json_schema", concurrency=concurrency), Options()
        )  # fmt: skip
        for _ in range(10):
            before = len(server.requests)
            with worker(run_id) as process:
                wait_for(lambda before=before: len(server.requests) > before)
                time.sleep(chance.random() * 0.4)
                process.send_signal(signal.SIGKILL)
                process.wait()
            assert run_store.run_by_id(run_id)["status"] == "running", "it was over before it was killed"
            silence(run_id, run_store.HEARTBEAT_LIMIT + 1)
        judge_run(run_id)
    assert_all_judged_once(run_id, 200, server, lost=10 * (concurrency * 5 // 4 + 1))


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_soak_killed_again_and_again_with_errors_in_between(fill, judge_at):
    chance = random.Random(7)

    def moody(request) -> Answer | None:
        time.sleep(0.02)
        roll = chance.random()
        if roll < 0.05:
            return Answer(status=500)
        if roll < 0.08:
            return Answer(status=429, headers={"Retry-After": "1"})
        return Answer(drop=True) if roll < 0.1 else None

    with ChatServer(moody) as server:
        run_id = run_store.create_run(
            fill(2000), METRICS["text_to_image"], judge_at(server.url, mode="json_schema", concurrency=16), Options()
        )
        for _ in range(40):
            with worker(run_id) as process:
                time.sleep(2 + chance.random() * 3)
                process.send_signal(signal.SIGKILL)
                process.wait()
            silence(run_id, run_store.HEARTBEAT_LIMIT + 1)
            if run_store.run_by_id(run_id)["status"] == "done":
                break
        judge_run(run_id)
    found = run_figures.summary(run_id)
    assert (found["status"], found["done"], found["ok"]) == ("done", 2000, 2000)
    assert found["calls"] == value("SELECT count(DISTINCT key) FROM replies WHERE run_id = ?", [run_id]) == 4000


@pytest.mark.timeout(120)
def test_a_power_cut_in_the_middle_of_a_write_loses_nothing_that_was_committed(
    fill, judge_at, home, tmp_path, monkeypatch
):
    """The workspace as a power cut leaves it: the files of one moment, the last write torn off somewhere."""
    cuts: list[Path] = []
    server = ChatServer(slowly(0.03))
    with server:
        run_id = run_store.create_run(
            fill(40), METRICS["text_to_image"], judge_at(server.url, mode="json_schema", concurrency=4), Options()
        )
        connection.close()
        with worker(run_id) as process:
            for number in range(4):
                seen = len(server.requests)
                wait_for(lambda seen=seen: len(server.requests) >= seen + 10)
                process.send_signal(signal.SIGSTOP)  # the files do not change while they are copied
                cuts.append(shutil.copytree(home, tmp_path / f"cut {number}"))
                process.send_signal(signal.SIGCONT)
            process.wait(timeout=60)
    chance = random.Random(1)
    for cut in cuts:
        (cut / "second_look.db-shm").unlink(missing_ok=True)  # it is memory: a power cut takes it
        log = cut / "second_look.db-wal"
        content = log.read_bytes()
        torn = chance.randrange(max(1, len(content) - 4096), len(content))
        log.write_bytes(content[:torn] + bytes(chance.randrange(256) for _ in range(chance.randrange(64))))
        monkeypatch.setenv("SECOND_LOOK_HOME", str(cut))
        committed = value("SELECT count(*) FROM replies")
        assert committed >= 1
        silence(run_id, run_store.HEARTBEAT_LIMIT + 1)
        with ChatServer(port=server.port) as again:
            judge_run(run_id)
        found = run_figures.summary(run_id)
        assert (found["status"], found["done"], found["ok"]) == ("done", 40, 40)
        assert len(again.requests) == 80 - committed
        assert check() == []


# --- the endpoint is away ----------------------------------------------------------------------------------------------


def outage(fill, judge_at, seconds: float, cases: int) -> None:
    """A run whose endpoint goes away after a while and comes back."""
    server = ChatServer(slowly(0.02))
    port = server.port
    with server:
        run_id = run_store.create_run(
            fill(cases), METRICS["text_to_image"], judge_at(server.url, mode="json_schema", concurrency=8), Options()
        )
        with worker(run_id) as process:
            wait_for(lambda: run_store.run_by_id(run_id)["done"] >= 5)
            server.go_away()
            time.sleep(seconds)
            assert process.poll() is None, "it gave up"
            with ChatServer(slowly(0.02), port=port) as again:
                assert process.wait(timeout=120) == 0
    found = run_figures.summary(run_id)
    assert (found["status"], found["ok"], found["failed"]) == ("done", cases, 0)
    assert found["calls"] == 2 * cases
    assert found["trouble"]["unreachable"] >= 1
    assert len(server.requests) + len(again.requests) - found["calls"] <= 8  # those on their way when it went


@pytest.mark.timeout(90)
def test_an_endpoint_that_is_away_for_seconds_fails_no_case(fill, judge_at):
    outage(fill, judge_at, seconds=3, cases=60)


@pytest.mark.soak
@pytest.mark.timeout(400)
def test_soak_an_endpoint_that_is_away_for_a_minute_fails_no_case(fill, judge_at):
    outage(fill, judge_at, seconds=60, cases=200)


def test_an_endpoint_that_stays_away_stops_the_run_and_blames_no_case(fill, judge_at, monkeypatch):
    from evaluators.judges import endpoint, pacing

    monkeypatch.setattr(endpoint, "_SILENT", 0.2)
    monkeypatch.setattr(pacing, "LONGEST_BACK_OFF", 0.2)
    dead = ChatServer()
    run_id = run_store.create_run(
        fill(20), METRICS["text_to_image"], judge_at(dead.url, attempts=3, concurrency=2, mode="json_schema"), Options()
    )
    dead.go_away()
    judge_run(run_id)
    found = run_figures.summary(run_id)
    assert (found["status"], found["done"]) == ("stopped", 0)
    assert "cannot be reached" in found["problem"] and "Resume goes on with the rest." in found["problem"]


# --- the store is away -------------------------------------------------------------------------------------------------


@pytest.mark.timeout(120)
def test_a_full_disk_stops_nothing_for_good(fill, judge_at, home):
    """The worker may write files of a certain size only, as on a full disk; later there is room again."""
    with ChatServer(slowly(0.01)) as server:
        run_id = run_store.create_run(
            fill(60), METRICS["text_to_image"], judge_at(server.url, mode="json_schema", concurrency=4), Options()
        )
        connection.close()
        room = home_paths.database_path().stat().st_size + 60_000
        with worker(
            run_id, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        ) as w:
            wait_for(lambda: "wait for the store" in log_of(home, run_id))
            stuck = len(server.requests)
            time.sleep(1.5)
            assert len(server.requests) <= stuck + 4, "it asks on though nothing can be kept"
            resource.prlimit(w.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            assert w.wait(timeout=60) == 0
    assert_all_judged_once(run_id, 60, server)


def log_of(home: Path, run_id: int) -> str:
    path = home / "logs" / f"run-{run_id}.log"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def locked(fill, judge_at, seconds: float) -> None:
    """A run while another process holds the database for so long."""
    holder = (
        "import sqlite3, sys, time\n"
        "held = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)\n"
        "held.execute('BEGIN IMMEDIATE')\nprint('held', flush=True)\ntime.sleep(float(sys.argv[2]))\nheld.execute('COMMIT')"
    )
    with ChatServer(slowly(0.01)) as server:
        run_id = run_store.create_run(
            fill(60), METRICS["text_to_image"], judge_at(server.url, mode="json_schema", concurrency=4), Options()
        )
        with worker(run_id) as process:
            wait_for(lambda: run_store.run_by_id(run_id)["done"] >= 5)
            command = [sys.executable, "-c", holder, str(home_paths.database_path()), str(seconds)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
                assert other.stdout.readline() == "held\n"
                done = run_store.run_by_id(run_id)["done"]
                other.wait()
                assert done < 60
            assert process.wait(timeout=60) == 0, process.stderr.read()
    assert_all_judged_once(run_id, 60, server)


@pytest.mark.timeout(60)
def test_a_database_that_another_process_holds_is_waited_for(fill, judge_at):
    locked(fill, judge_at, seconds=3)


@pytest.mark.soak
@pytest.mark.timeout(200)
def test_soak_a_database_that_another_process_holds_for_longer_than_the_busy_timeout(fill, judge_at):
    locked(fill, judge_at, seconds=connection.BUSY_SECONDS + 10)


def test_a_store_that_cannot_be_written_for_long_stops_the_worker_with_a_sentence(fill, judge_at, monkeypatch):
    from data.store import batches

    monkeypatch.setattr(batches, "PATIENCE", 0.5)
    monkeypatch.setattr(batches, "_PAUSE", 0.05)
    with ChatServer() as server:
        run_id = run_store.create_run(fill(5), METRICS["text_to_image"], judge_at(server.url), Options())
        full = sqlite3.OperationalError("database or disk is full")
        full.sqlite_errorcode = sqlite3.SQLITE_FULL

        def fails(*_: object) -> None:
            raise full

        with monkeypatch.context() as broken:
            broken.setattr("data.store.replies.store_reply", fails)
            with pytest.raises(sqlite3.OperationalError, match="disk is full"):
                judge_run(run_id)
        run = run_store.run_by_id(run_id)
        assert (run["status"], run["done"], run["problem"]) == ("stopped", 0, "database or disk is full")
        judge_run(run_id)
    assert run_store.run_by_id(run_id)["done"] == 5


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs a POSIX system")
def test_the_app_and_its_worker_may_both_be_killed(fill, judge_at):
    """The app starts a worker in a session of its own; killing the app, then the worker, loses nothing."""
    starts = "import sys, time; from data.runs import start_worker; start_worker(int(sys.argv[1])); time.sleep(60)"
    with ChatServer(slowly(0.05)) as server:
        run_id = run_store.create_run(
            fill(30), METRICS["text_to_image"], judge_at(server.url, mode="json_schema", concurrency=2), Options()
        )
        with subprocess.Popen([sys.executable, "-c", starts, str(run_id)], cwd=REPOSITORY) as app:
            wait_for(lambda: run_store.run_by_id(run_id)["done"] >= 3)
            app.kill()
        alive = run_store.run_by_id(run_id)["done"]
        wait_for(lambda: run_store.run_by_id(run_id)["done"] > alive)  # the worker does not mind
        os.kill(int(run_store.run_by_id(run_id)["worker"].rpartition("/")[2]), signal.SIGKILL)
        silence(run_id, run_store.HEARTBEAT_LIMIT + 1)
        judge_run(run_id)
    assert_all_judged_once(run_id, 30, server, lost=2)
