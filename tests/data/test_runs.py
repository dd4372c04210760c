"""The worker: every case gets exactly one verdict, whatever happens to the worker, the judge or the case."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from data.runs import RunRefused, judge_run, plan, start_worker
from data.runs import worker as workers
from data.store import cases as case_store
from data.store import judges as judge_store
from data.store import run_figures
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.connection import rows, update, value, writing
from evaluators import METRICS, Case, Options, Part, Verdict
from evaluators.judges import pacing
from tests.chat_server import Answer, ChatServer, drawn_scores, scores
from tests.conftest import REPOSITORY, kept_case, shade

T2I = METRICS["text_to_image"]


def new_run(dataset: int, judge: dict, options: Options | None = None, **facts) -> int:
    return run_store.create_run(dataset, T2I, judge, options or Options(), **facts)


def resume(run_id: int) -> subprocess.Popen:
    """A worker in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "cli.py", "resume", str(run_id), "--json"],
        cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for(fact, seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


def silence(run_id: int, seconds: float) -> None:
    """Let the worker's last sign of life be this old."""
    with writing() as db:
        update(db, "runs", run_id, heartbeat=time.time() - seconds)


# --- a whole run -------------------------------------------------------------------------------------------------------


def test_a_run_judges_every_case_once_and_adds_up(fill, server, judge_at):
    run_id = new_run(fill(6), judge_at(server.url))
    seen = []
    judge_run(run_id, seen.append)
    found = run_figures.summary(run_id)
    assert {name: found[name] for name in ("status", "cases", "done", "ok", "failed", "calls", "cached_calls")} == {
        "status": "done", "cases": 6, "done": 6, "ok": 6, "failed": 0, "calls": 12, "cached_calls": 0,
    }  # fmt: skip
    assert (found["input_tokens"], found["output_tokens"], server.replies) == (1200, 240, 12)
    results = verdict_store.result_rows(run_id)
    assert [r["external_id"] for r in results] == [f"c{i}" for i in range(6)]
    assert found["mean_score"] == pytest.approx(sum(r["score"] for r in results) / 6)
    assert sorted(verdict.case_id for verdict in seen) == [f"c{i}" for i in range(6)]


def test_every_status_in_one_run_and_the_others_go_on(judge_at, fill, home):
    fill(5)
    broken = Case("gone", (Part.of_text("square number 9"),), (Part("image", source="gone.png", problem="not there"),))
    case_store.save_cases("shoes", [broken])

    def by_prompt(request):
        if request.aspect == "PQ":
            return scores(8, 9)
        number = request.texts[2][-1]
        return {
            "0": scores(7), "1": Answer("hm"), "2": Answer("", finish_reason="content_filter"),
            "3": Answer(status=403, error={"message": "not for you"}), "4": Answer('{"score": [7', finish_reason="length"),
        }[number]  # fmt: skip

    with ChatServer(by_prompt) as server:
        run_id = new_run(case_store.dataset_id("shoes"), judge_at(server.url, attempts=1))
        judge_run(run_id)
    told = [(r["external_id"], r["status"], r["label"]) for r in verdict_store.result_rows(run_id)]
    assert told == [
        ("c0", "ok", "usable"), ("c1", "unreadable", None), ("c2", "refused", None), ("c3", "failed", None),
        ("c4", "unreadable", None), ("gone", "skipped", None),
    ]  # fmt: skip
    assert all(r["problem"] for r in verdict_store.result_rows(run_id)[1:])
    whole = verdict_store.verdicts_of_case(2)[0]
    assert [reply["text"] for reply in whole["replies"] if reply["aspect"] == "SC"] == ["hm", "hm"]


def test_a_reply_with_half_an_emoji_does_not_stop_the_run(fill, judge_at):
    half = '{"reasoning": "lovely \\ud83d", "score": [7%s]}'
    with ChatServer(lambda r: Answer(half % ("" if r.wanted == 1 else ", 8"))) as server:
        run_id = new_run(fill(2), judge_at(server.url))
        judge_run(run_id)
    assert run_figures.summary(run_id)["ok"] == 2


def test_a_raw_half_emoji_from_the_endpoint_does_not_fail_a_case(fill, judge_at):
    body = b'{"choices": [{"message": {"content": "{\\"reasoning\\": \\"\\ud83d\\", \\"score\\": [7%s]}"}}]}'
    with ChatServer(lambda r: Answer(body=body % (b"" if r.wanted == 1 else b", 8"))) as server:
        run_id = new_run(fill(1), judge_at(server.url))
        judge_run(run_id)
    assert run_figures.summary(run_id)["ok"] == 1


@pytest.mark.parametrize("tokens", ["many", 12.5, [3], {"n": 3}])
def test_token_counts_of_another_shape_are_unknown_and_the_reply_counts(tokens, fill, judge_at):
    def answer(request):
        return Answer(drawn_scores(request).text, usage={"prompt_tokens": tokens, "completion_tokens": 7})

    with ChatServer(answer) as server:
        run_id = new_run(fill(1), judge_at(server.url))
        judge_run(run_id)
    found = run_figures.summary(run_id)
    assert (found["ok"], found["input_tokens"], found["output_tokens"]) == (1, None, 14)


def test_unknown_tokens_are_not_0(fill, judge_at):
    with ChatServer(lambda r: Answer(drawn_scores(r).text, usage=None)) as server:
        run_id = new_run(fill(1), judge_at(server.url))
        judge_run(run_id)
    assert run_figures.summary(run_id)["input_tokens"] is None


def test_a_limit_judges_the_first_cases_only(fill, server, judge_at):
    run_id = new_run(fill(5), judge_at(server.url), limit=2)
    judge_run(run_id)
    assert [r["external_id"] for r in verdict_store.result_rows(run_id)] == ["c0", "c1"]


def test_no_more_requests_than_agreed_are_in_flight(fill, judge_at):
    def slowly(request):
        time.sleep(0.03)

    with ChatServer(slowly) as server:
        run_id = new_run(fill(8), judge_at(server.url), concurrency=3)
        judge_run(run_id)
    assert server.most_in_flight == 3


def test_a_run_keeps_what_it_rests_on_even_when_the_judge_changes_later(fill, server, judge_at):
    run_id = new_run(fill(1), judge_at(server.url), Options(threshold=0.25))
    judge_at(server.url, timeout=5.0, image_side=64)
    run = run_store.run_by_id(run_id)
    assert run["judge"]["settings"]["image_side"] == 1024
    assert (run["threshold"], run["metric_version"], run["prompts"]) == (0.25, T2I.version, T2I.prompts)


def test_the_reply_form_is_remembered_for_the_next_run(fill, judge_at):
    with ChatServer(supports=["text"]) as server:
        dataset, judge = fill(1), judge_at(server.url)
        judge_run(new_run(dataset, judge))
        fill(2)
        judge_run(new_run(dataset, judge_store.judge_named("tester")))
    assert [request.mode for request in server.requests] == ["json_schema", "json_object", *["text"] * 4]


# --- never paid twice --------------------------------------------------------------------------------------------------


def test_a_second_run_asks_nothing_that_was_asked_before(fill, server, judge_at):
    dataset, judge = fill(4), judge_at(server.url)
    judge_run(new_run(dataset, judge))
    assert plan(dataset, T2I, judge, Options()).known == 8
    second = new_run(dataset, judge, Options(threshold=0.9))
    judge_run(second)
    found = run_figures.summary(second)
    assert (server.replies, found["calls"], found["cached_calls"], found["input_tokens"]) == (8, 0, 8, None)
    assert found["ok"] == 4


def test_another_judge_or_form_of_question_is_asked_anew(fill, server, judge_at):
    dataset = fill(1)
    judge_run(new_run(dataset, judge_at(server.url)))
    judge_run(new_run(dataset, judge_at(server.url, image_side=64)))
    judge_run(new_run(dataset, judge_at(server.url), Options(include_reason=False)))
    assert server.replies == 6


def test_the_same_question_in_two_cases_is_paid_for_once(judge_at):
    made = [kept_case(name) for name in ("one", "two")]
    case_store.save_cases("twins", [case for case, _ in made], [made[0][1]])

    def slowly(request):
        time.sleep(0.05)

    with ChatServer(slowly) as server:
        run_id = new_run(case_store.dataset_id("twins"), judge_at(server.url, mode="json_schema"))
        judge_run(run_id)
    assert run_figures.summary(run_id)["ok"] == 2
    assert server.replies == 2


def test_a_plan_tells_cases_calls_and_what_will_be_skipped_without_asking(fill, server, judge_at):
    fill(3)
    case_store.save_cases("shoes", [Case("text only", (Part.of_text("no picture"),))])
    found = plan(case_store.dataset_id("shoes"), T2I, judge_at(server.url), Options())
    assert (found.cases, found.calls, found.known) == (4, 6, 0)
    assert found.unfit == {"needs exactly 1 result image, found 0": 1}
    assert plan(case_store.dataset_id("shoes"), T2I, judge_at(server.url), Options(), limit=2).calls == 4
    assert server.replies == 0


# --- killed, cancelled, refused ----------------------------------------------------------------------------------------


@pytest.mark.timeout(60)
def test_a_killed_worker_is_resumed_and_every_case_has_one_verdict_and_nothing_is_paid_twice(fill, judge_at):
    def slowly(request):
        time.sleep(0.04)

    with ChatServer(slowly) as server:
        run_id = new_run(fill(24), judge_at(server.url, mode="json_schema"), concurrency=2)
        with resume(run_id) as worker:
            wait_for(lambda: run_store.run_by_id(run_id)["done"] >= 5)
            worker.send_signal(signal.SIGKILL)
            worker.wait()
        time.sleep(0.2)  # what was under way when it died has reached the server
        stored = value("SELECT count(*) FROM replies")
        asked = len(server.requests)
        assert run_store.run_by_id(run_id)["status"] == "running"
        with pytest.raises(RunRefused, match="is being judged by another worker"):
            judge_run(run_id)

        silence(run_id, run_store.HEARTBEAT_LIMIT + 1)
        assert run_store.run_by_id(run_id)["status"] == "interrupted"
        judge_run(run_id)
    assert run_figures.summary(run_id)["status"] == "done"
    counted = rows("SELECT case_id, count(*) AS n FROM verdicts WHERE run_id = ? GROUP BY case_id", [run_id])
    assert [r["n"] for r in counted] == [1] * 24
    assert len(server.requests) - asked == 48 - stored
    assert asked - stored <= 2  # only what was in flight when it was killed


def test_a_worker_that_is_told_to_stop_keeps_what_it_has_and_says_so(fill, judge_at):
    def slowly(request):
        time.sleep(0.1)

    with ChatServer(slowly) as server:
        run_id = new_run(fill(30), judge_at(server.url, mode="json_schema"), concurrency=1)
        worker = resume(run_id)
        wait_for(lambda: run_store.run_by_id(run_id)["done"] >= 1)
        worker.send_signal(signal.SIGTERM)
        _out, error = worker.communicate(timeout=20)
    run = run_store.run_by_id(run_id)
    assert (worker.returncode, run["status"]) == (1, "stopped"), error
    assert "resume goes on with the rest" in run["problem"]
    assert 1 <= run["done"] < 30


@pytest.mark.timeout(60)
def test_a_cancelled_run_stops_soon_and_keeps_what_was_judged(fill, judge_at):
    def slowly(request):
        time.sleep(0.1)

    with ChatServer(slowly) as server:
        run_id = new_run(fill(60), judge_at(server.url, mode="json_schema"), concurrency=1)
        worker = resume(run_id)
        wait_for(lambda: run_store.run_by_id(run_id)["done"] >= 1)
        assert run_store.request_cancel(run_id)
        worker.communicate(timeout=20)
    run = run_store.run_by_id(run_id)
    assert (run["status"], worker.returncode) == ("cancelled", 1)
    assert 1 <= run["done"] < 60
    assert not run_store.request_cancel(run_id)


def test_a_run_without_a_living_worker_is_cancelled_at_once(fill, judge_at):
    run_id = new_run(fill(1), judge_at("http://localhost:1/v1"))
    run_store.claim(run_id, "dead/1")
    silence(run_id, 100)
    assert run_store.request_cancel(run_id)
    assert run_store.run_by_id(run_id)["status"] == "cancelled"
    assert not run_store.request_cancel(99)


def test_a_run_that_is_cancelled_while_its_worker_starts_stays_cancelled(fill, server, judge_at, monkeypatch):
    run_id = new_run(fill(3), judge_at(server.url))
    start_worker(run_id)
    assert run_store.request_cancel(run_id)
    [worker] = workers._started
    worker.wait(timeout=30)
    assert run_store.run_by_id(run_id)["status"] == "cancelled"
    assert server.replies == 0


def test_a_cancelled_run_can_be_resumed(fill, server, judge_at):
    run_id = new_run(fill(2), judge_at(server.url))
    run_store.claim(run_id, "one/1")
    run_store.finish(run_id, "one/1", "cancelled")
    with pytest.raises(RunRefused, match=f"Run {run_id} was cancelled"):
        judge_run(run_id)
    run_store.requeue(run_id)
    judge_run(run_id)
    assert run_figures.summary(run_id)["ok"] == 2


def test_a_second_worker_is_refused_while_the_first_one_lives(fill, judge_at):
    run_id = new_run(fill(1), judge_at("http://localhost:1/v1"))
    assert run_store.claim(run_id, "one/1") is None
    with pytest.raises(RunRefused, match="by another worker"):
        judge_run(run_id)
    silence(run_id, 5)
    assert "5 s ago" in run_store.claim(run_id, "two/2")
    silence(run_id, 16)
    assert run_store.claim(run_id, "two/2") is None
    assert (run_store.beat(run_id, "one/1").word, run_store.beat(run_id, "two/2")) == ("lost", ("go", 1))


def test_a_worker_that_lost_its_run_changes_nothing_any_more(fill, judge_at):
    run_id = new_run(fill(1), judge_at("http://localhost:1/v1"))
    run_store.claim(run_id, "one/1")
    silence(run_id, 16)
    run_store.claim(run_id, "two/2")
    run_store.finish(run_id, "one/1", "done")
    assert run_store.run_by_id(run_id)["status"] == "running"


def test_a_case_that_has_its_verdict_keeps_it(fill, judge_at):
    run_id = new_run(fill(1), judge_at("http://localhost:1/v1"))
    for score in (0.8, 0.1):
        verdict_store.save_verdicts(run_id, [(1, 1, Verdict("c0", "text_to_image", "ok", score=score))])
    assert [r["score"] for r in verdict_store.result_rows(run_id)] == [0.8]


def test_a_finished_run_that_is_resumed_stays_as_it_was(fill, server, judge_at):
    run_id = new_run(fill(1), judge_at(server.url))
    judge_run(run_id)
    before = run_store.run_by_id(run_id)
    judge_run(run_id)
    assert run_store.run_by_id(run_id) == before


def test_a_judge_that_cannot_be_asked_stops_the_run_with_a_sentence(fill, judge_at):
    run_id = new_run(fill(1), judge_at("https://judge.example/v1", key_variable="NO_SUCH_KEY"))
    with pytest.raises(RunRefused, match="NO_SUCH_KEY is not set"):
        judge_run(run_id)
    run = run_store.run_by_id(run_id)
    assert (run["status"], run["done"]) == ("stopped", 0)
    assert "NO_SUCH_KEY" in run["problem"]


def test_a_dead_endpoint_fails_every_case_and_ends_the_run(fill, judge_at, monkeypatch):
    monkeypatch.setattr(pacing, "LONGEST_BACK_OFF", 0.1)
    run_id = new_run(fill(3), judge_at("http://127.0.0.1:9/v1", attempts=1))
    judge_run(run_id)
    found = run_figures.summary(run_id)
    assert (found["status"], found["failed"], found["mean_score"]) == ("done", 3, None)


def test_progress_tells_how_far_how_fast_and_how_long(fill, judge_at):
    run_id = new_run(fill(4), judge_at("http://localhost:1/v1"))
    assert run_figures.progress(run_id)["rate"] is None
    verdict_store.save_verdicts(run_id, [(1, 1, Verdict("c0", "text_to_image", "ok", score=0.8))])
    found = run_figures.progress(run_id)
    assert (found["done"], found["cases"]) == (1, 4)
    assert found["seconds_left"] == pytest.approx(3 / found["rate"])


def test_a_worker_that_the_app_starts_outlives_it_and_writes_its_log(fill, server, judge_at, home):
    run_id = new_run(fill(2), judge_at(server.url))
    start_worker(run_id)
    [worker] = workers._started
    assert os.getsid(worker.pid) == worker.pid != os.getsid(0)
    worker.wait(timeout=30)
    assert run_figures.summary(run_id)["ok"] == 2
    assert (home / "logs" / f"run-{run_id}.log").exists()


def test_the_same_picture_in_many_cases_is_one_file(home):
    made = [kept_case(f"c{i}", shade(1), f"prompt {i}") for i in range(3)]
    case_store.save_cases("shared", [case for case, _ in made], [kept for _, kept in made])
    assert len(list((home / "images").rglob("*.png"))) == 1
    assert threading.active_count() < 20
