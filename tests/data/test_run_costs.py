"""What runs take and may take: tokens, money, budgets; asking anew, measuring again; the log."""

from __future__ import annotations

import json
import re
import time

import pytest

from data.reports.repeats import consistency_report
from data.run_words import cost_words, money, run_lines, tokens_words
from data.runs import Budget, judge_run, plan
from data.store import run_figures
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.connection import rows, value
from evaluators import METRICS, EndpointSettings, Options
from tests.chat_server import Answer, ChatServer, drawn_scores, scores

T2I = METRICS["text_to_image"]
PRICED = {"input_price": 2.0, "output_price": 10.0}  # a call of 100 + 20 tokens costs 0.0004


def new_run(dataset: int, judge: dict, **facts) -> int:
    return run_store.create_run(dataset, T2I, judge, Options(), **facts)


# --- cost --------------------------------------------------------------------------------------------------------------


def test_a_run_costs_what_its_tokens_cost_at_the_price_it_was_made_with(fill, server, judge_at):
    run_id = new_run(fill(5), judge_at(server.url, **PRICED))
    judge_run(run_id)
    judge_at(server.url, input_price=99.0, output_price=99.0)
    found = run_figures.summary(run_id)
    assert (found["calls"], found["cost"], found["currency"]) == (10, pytest.approx(0.004), "USD")
    assert cost_words(found) == "0.0040 USD"
    assert found["projected_cost"] == pytest.approx(0.004)


def test_unknown_free_and_a_lower_bound_look_different(fill, judge_at):
    silent = [Answer(scores(7).text, usage=None), Answer(scores(7, 8).text, usage=None)]

    def first_two_silent(request):
        return silent[0 if request.aspect == "SC" else 1] if "number 0" in str(request.texts) else None

    with ChatServer(first_two_silent) as server:
        runs = {
            name: new_run(fill(2), judge_at(server.url, name, **prices), fresh=True)
            for name, prices in {
                "unknown": {}, "half": {"input_price": 1.0}, "free": {"input_price": 0.0, "output_price": 0.0}, "priced": PRICED,
            }.items()
        }  # fmt: skip
        for run_id in runs.values():
            judge_run(run_id)
    told = {name: cost_words(run_figures.summary(run_id)) for name, run_id in runs.items()}
    assert told["unknown"] == told["half"] == "unknown"
    assert told["free"] == "at least 0.00 USD"
    assert told["priced"].startswith("at least 0.00")
    found = run_figures.summary(runs["priced"])
    assert 1 <= found["silent_calls"] <= 2
    assert "did not tell" in tokens_words(found)


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (None, "unknown"),
        (0.0, "0.00 USD"),
        (0.00004, "under 0.0001 USD"),
        (0.0123, "0.0123 USD"),
        (1234.5, "1,234.50 USD"),
    ],
)
def test_money_hides_no_fraction(amount, told):
    assert money(amount, "USD") == told


def test_a_run_that_only_reuses_replies_is_free(fill, server, judge_at):
    dataset, judge = fill(3), judge_at(server.url, **PRICED)
    judge_run(new_run(dataset, judge))
    again = new_run(dataset, judge)
    judge_run(again)
    assert run_figures.summary(again)["cost"] == 0


def test_a_plan_is_priced_by_what_such_calls_took(fill, server, judge_at):
    dataset, judge = fill(4), judge_at(server.url, **PRICED)
    before = plan(dataset, T2I, judge, Options())
    assert (before.new_calls, before.tokens, before.cost, before.history) == (8, None, None, 0)
    judge_run(new_run(dataset, judge, limit=1))
    after = plan(dataset, T2I, judge, Options())
    assert (after.new_calls, after.tokens, after.cost, after.history) == (6, 720, pytest.approx(0.0024), 2)
    anew = plan(dataset, T2I, judge, Options(), fresh=True, repeats=3)
    assert (anew.new_calls, anew.tokens, anew.cost) == (24, 2880, pytest.approx(0.0096))
    unpriced = judge_at(server.url, "other")
    assert (plan(dataset, T2I, unpriced, Options()).tokens, plan(dataset, T2I, unpriced, Options()).cost) == (720, None)


def test_bytes_sent_are_kept_by_case(fill, server, judge_at):
    run_id = new_run(fill(2), judge_at(server.url))
    judge_run(run_id)
    sent = sum(len(json.dumps(r.body, separators=(",", ":"), ensure_ascii=False).encode()) for r in server.requests)
    assert run_figures.summary(run_id)["sent_bytes"] == sent


# --- budgets -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "calls", "reason"),
    [
        (Budget(calls=11), 11, "The budget of 11 calls is used up."),
        (Budget(tokens=1000), 8, "The budget of 1,000 tokens is used up."),
        (Budget(money=0.0031), 7, "The budget of 0.0031 USD is used up."),
    ],
)
def test_a_budget_stops_the_run_before_it_is_passed_and_more_of_it_lets_it_go_on(budget, calls, reason, fill, judge_at):
    with ChatServer() as server:
        judge = judge_at(server.url, mode="json_schema", concurrency=1, **PRICED)
        run_id = new_run(fill(20), judge, budget=budget.as_dict())
        judge_run(run_id)
        found = run_figures.summary(run_id)
        assert (found["status"], found["problem"]) == ("stopped", f"{reason} Resume goes on with the rest.")
        assert found["calls"] == len(server.requests) == calls
        assert found["done"] == calls // 2
        judge_run(run_id)  # with the same budget there is nothing to be done
        assert len(server.requests) == calls
        run_store.requeue(run_id, Budget(calls=1000).as_dict())
        judge_run(run_id)
        assert len(server.requests) == 40
    found = run_figures.summary(run_id)
    assert (found["status"], found["ok"], found["calls"]) == ("done", 20, 40)


def test_many_calls_at_once_do_not_pass_a_budget_of_calls(fill, judge_at):
    def slowly(request):
        time.sleep(0.02)

    with ChatServer(slowly) as server:
        run_id = new_run(fill(40), judge_at(server.url, mode="json_schema", concurrency=16), budget={"calls": 21})
        judge_run(run_id)
    assert len(server.requests) == 21
    assert run_store.run_by_id(run_id)["status"] == "stopped"


def test_a_budget_in_tokens_needs_an_endpoint_that_tells_them(fill, judge_at):
    with ChatServer(lambda request: Answer(drawn_scores(request).text, usage=None)) as server:
        run_id = new_run(fill(9), judge_at(server.url, concurrency=1), budget={"tokens": 10_000})
        judge_run(run_id)
    assert "does not report its tokens" in run_store.run_by_id(run_id)["problem"]
    assert len(server.requests) <= 2  # the second was on its way before the first told nothing


def test_a_filtered_reply_without_tokens_does_not_end_a_budget(fill, judge_at):
    filtered = Answer(status=400, error={"message": "no", "code": "content_filter"})

    def answer(request) -> Answer | None:
        return filtered if "number 0" in str(request.texts) else None

    with ChatServer(answer) as server:
        judge = judge_at(server.url, concurrency=1, mode="json_schema")
        run_id = new_run(fill(4), judge, budget={"tokens": 100_000})
        judge_run(run_id)
    found = run_figures.summary(run_id)
    assert (found["status"], found["refused"], found["ok"], found["silent_calls"]) == ("done", 1, 3, 0)


def test_a_budget_in_money_needs_a_price():
    assert "needs the judge's prices" in Budget(money=1.0).problem(EndpointSettings("m"))
    assert Budget(money=1.0).problem(EndpointSettings("m", **PRICED)) is None
    with pytest.raises(ValueError, match="none at all"):
        Budget(calls=0)


# --- asked anew --------------------------------------------------------------------------------------------------------


def test_fresh_asks_anew_and_keeps_both(fill, server, judge_at):
    dataset, judge = fill(2), judge_at(server.url)
    judge_run(new_run(dataset, judge))
    fresh = new_run(dataset, judge, fresh=True)
    judge_run(fresh)
    assert (server.replies, run_figures.summary(fresh)["calls"], value("SELECT count(*) FROM replies")) == (8, 4, 8)
    assert [r["n"] for r in rows("SELECT count(*) AS n FROM replies GROUP BY key")] == [2] * 4


def test_a_fresh_run_that_is_resumed_does_not_ask_its_own_questions_again(fill, server, judge_at):
    dataset, judge = fill(4), judge_at(server.url, mode="json_schema", concurrency=1)
    judge_run(new_run(dataset, judge))
    fresh = new_run(dataset, judge, fresh=True, budget={"calls": 5})
    judge_run(fresh)
    run_store.requeue(fresh, {})
    judge_run(fresh)
    assert (server.replies, run_figures.summary(fresh)["calls"]) == (16, 8)


def test_repeats_are_measurements_of_their_own_and_tell_how_steady_the_judge_is(fill, judge_at):
    turns: dict[str, int] = {}

    def answer(request):
        if request.aspect == "PQ":
            return scores(10, 10)
        number = request.texts[2].rsplit(" ", 1)[1]
        turns[number] = turns.get(number, 0) + 1
        return scores({"0": [9, 9, 9], "1": [9, 9, 1], "2": [4, 4, 4]}[number][turns[number] - 1])

    with ChatServer(answer) as server:
        first = new_run(fill(3), judge_at(server.url), fresh=True)
        judge_run(first)
        for _ in range(2):
            judge_run(run_store.repeat(first, as_measurement=True))
    found = consistency_report(first)
    assert found["runs"] == run_store.repeats(first + 2) == [first, first + 1, first + 2]
    assert (found["measurements"], found["cases"], found["stable"]) == (3, 3, 2)
    assert found["agreement"] == pytest.approx((1 + 1 / 3 + 1) / 3)
    low, high = 0.1**0.5, 0.9**0.5  # scores are sqrt(SC * PQ) / 10 with PQ 10
    mean = (2 * high + low) / 3
    variance = (2 * (high - mean) ** 2 + (low - mean) ** 2) / 2
    assert found["score_sd"] == pytest.approx((variance / 3) ** 0.5)
    assert (found["same"]["value"], found["same"]["clusters"]) == (pytest.approx(found["agreement"]), 3)
    assert "2 of 3 cases got the same label every time; two measurements agree on 77.8 % [" in found["words"]


def test_an_ordinary_repeat_of_a_run_is_no_measurement(fill, server, judge_at):
    first = new_run(fill(1), judge_at(server.url))
    judge_run(first)
    run_store.repeat(first)
    assert run_store.repeats(first) == [first]
    assert "cannot be told" in consistency_report(first)["words"]


# --- limits ------------------------------------------------------------------------------------------------------------


def test_a_case_that_takes_too_long_fails_alone(fill, judge_at):
    def answer(request):
        return Answer(scores(7).text, delay=3) if "number 1" in str(request.texts) else None

    with ChatServer(answer) as server:
        run_id = new_run(fill(3), judge_at(server.url, case_timeout=0.8, mode="json_schema"))
        judge_run(run_id)
    told = [(r["status"], r["problem"]) for r in verdict_store.result_rows(run_id)]
    assert [status for status, _ in told] == ["ok", "failed", "ok"]
    assert told[1][1] == "the case took longer than 0.8 s"


def test_two_runs_with_the_same_judge_share_its_limit(fill, server, judge_at):
    judge = judge_at(server.url)
    one, two, other = new_run(fill(1), judge), new_run(fill(1), judge), new_run(fill(1), judge_at(server.url, "other"))
    for run_id in (one, two, other):
        run_store.claim(run_id, f"host/{run_id}")
    assert run_store.beat(one, f"host/{one}").workers == 2
    assert run_store.beat(other, f"host/{other}").workers == 1
    run_store.finish(two, f"host/{two}", "done")
    assert run_store.beat(one, f"host/{one}").workers == 1


# --- the log -----------------------------------------------------------------------------------------------------------

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (INFO|WARNING|ERROR) run=\d+ case=\S+ \S.*")


def test_the_log_has_one_line_an_event_with_run_and_case(fill, judge_at, home):
    with ChatServer([Answer(status=500, error={"message": "two\nlines"}), None, None, None, None]) as server:
        run_id = new_run(fill(2), judge_at(server.url, concurrency=1))
        judge_run(run_id)
    lines = (home / "logs" / f"run-{run_id}.log").read_text(encoding="utf-8").splitlines()
    assert all(LINE.fullmatch(line) for line in lines), lines
    told = "\n".join(lines)
    assert f"run={run_id} case=c0 SC answered in" in told
    assert re.search(rf"run={run_id} case=c1 ok 0\.\d+ in", told)
    assert "answered 500: two | lines; try 2 of 10 in" in told
    assert run_figures.summary(run_id)["trouble"] == {"500": 1}
    assert "tried again: 1 × status 500" in "\n".join(run_lines(run_figures.summary(run_id)))


def test_an_internal_error_is_one_line_as_well(fill, server, judge_at, home, monkeypatch):
    def breaks(*_: object) -> None:
        raise RuntimeError("a bug\nin two lines")

    monkeypatch.setattr(type(T2I), "ask", breaks)
    run_id = new_run(fill(1), judge_at(server.url))
    judge_run(run_id)
    lines = (home / "logs" / f"run-{run_id}.log").read_text(encoding="utf-8").splitlines()
    assert all(LINE.fullmatch(line) for line in lines), lines
    assert any("Traceback" in line and "a bug | in two lines" in line for line in lines)


def test_a_key_is_found_nowhere_in_the_workspace_even_if_the_endpoint_repeats_it(fill, judge_at, home, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "sk-very-secret-0123456789")

    def blabs(request):
        number = request.number % 4
        if number == 0:
            return Answer(status=500, error={"message": f"bad luck, {request.key}"})
        if number == 1:
            return Answer(status=403, error={"message": f"not with {request.key}"})
        text = json.dumps({"reasoning": f"key {request.key}", "score": [7] * request.wanted})
        return Answer(text, refusal=request.key if number == 2 else None)

    with ChatServer(blabs) as server:
        run_id = new_run(fill(12), judge_at(server.url, key_variable="JUDGE_KEY", concurrency=1))
        judge_run(run_id)
        assert {request.key for request in server.requests} == {"sk-very-secret-0123456789"}
    files = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.suffix == ".log" for path in files)
    assert [path for path in files if b"sk-very-secret" in path.read_bytes()] == []
    assert "sk-very-secret" not in json.dumps(run_figures.summary(run_id)) + "\n".join(
        f"{row['problem']} {row['reason']}" for row in verdict_store.result_rows(run_id)
    )


def test_the_slowest_calls_are_told_with_their_cases(fill, judge_at):
    def answer(request):
        return (
            Answer(scores(7).text, delay=0.3) if request.aspect == "SC" and "number 1" in str(request.texts) else None
        )

    with ChatServer(answer) as server:
        run_id = new_run(fill(3), judge_at(server.url, mode="json_schema"))
        judge_run(run_id)
    slowest = run_figures.slowest_calls(run_id)
    assert len(slowest) == 5
    assert (slowest[0]["case"], slowest[0]["aspect"]) == ("c1", "SC")
    assert slowest[0]["seconds"] >= 0.3
