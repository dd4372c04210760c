"""A judge behind an endpoint, against a real server."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import threading
import time

import pytest
from PIL import Image

from evaluators import Case, EndpointJudge, EndpointSettings
from evaluators.errors import CaseUnfit, JudgeDown, JudgeFailed
from evaluators.judges import endpoint, pacing
from evaluators.judges.question import Question, Reply, question_key
from tests.chat_server import Answer, ChatServer, scores

SCHEMA = {
    "type": "object", "properties": {"score": {"type": "array"}}, "required": ["score"], "additionalProperties": False,
}  # fmt: skip


@pytest.fixture
def question(picture) -> Question:
    case = Case.build("a red square", picture("red"))
    return Question("text_to_image", "SC", "v1", "You judge.", (*case.input, *case.output), SCHEMA)


def asked(question: Question, url: str, times: int = 1, at_once: bool = False, **settings) -> list[Reply]:
    """The replies of a new judge at a URL."""

    async def ask() -> list[Reply]:
        judge = EndpointJudge(EndpointSettings(**{"model": "tester", "base_url": url, "attempts": 3, **settings}))
        try:
            if at_once:
                return await asyncio.gather(*(judge.ask(question) for _ in range(times)))
            return [await judge.ask(question) for _ in range(times)]
        finally:
            await judge.close()

    return asyncio.run(ask())


def failure(question: Question, url: str, **settings) -> JudgeFailed:
    with pytest.raises(JudgeFailed) as caught:
        asked(question, url, **settings)
    return caught.value


# --- the request -------------------------------------------------------------------------------------------------------


def test_parameters_go_along_as_they_are_and_the_reply_comes_back_with_its_tokens(question, server):
    parameters = {"temperature": 0.2, "seed": 5, "max_tokens": 77, "extra_body": {"top_k": 3}}
    [reply] = asked(question, server.url, parameters=parameters)
    body = server.requests[0].body
    assert {name: body[name] for name in ("model", "temperature", "seed", "max_tokens", "top_k")} == {
        "model": "tester", "temperature": 0.2, "seed": 5, "max_tokens": 77, "top_k": 3,
    }  # fmt: skip
    assert (reply.input_tokens, reply.output_tokens, reply.model, reply.mode) == (100, 20, "tester", "json_schema")
    assert json.loads(reply.text)["score"]


def test_a_picture_is_sent_no_larger_than_the_judge_wants(picture, server):
    case = Case.build("wide", picture("red", size=(300, 100)))
    asked(Question("m", "SC", "v", "s", (*case.input, *case.output), SCHEMA), server.url, image_side=150)
    assert Image.open(io.BytesIO(server.requests[0].images[0])).size == (150, 50)


def test_a_picture_that_is_gone_makes_the_case_unfit(tmp_path, server):
    case = Case.build("x", tmp_path / "gone.png")
    question = Question("m", "SC", "v", "s", (*case.input, *case.output), SCHEMA)
    with pytest.raises(CaseUnfit, match=r"gone\.png"):
        asked(question, server.url)
    assert server.replies == 0


# --- reply forms -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("supports", "tried"),
    [
        (["json_schema", "json_object", "text"], ["json_schema"]),
        (["json_object", "text"], ["json_schema", "json_object"]),
        (["text"], ["json_schema", "json_object", "text"]),
    ],
)
def test_the_strongest_reply_form_is_found_once_and_remembered(supports, tried, question):
    with ChatServer(supports=supports) as server:
        replies = asked(question, server.url, times=4, at_once=True)
    assert [reply.mode for reply in replies] == [supports[0]] * 4
    assert [request.mode for request in server.requests] == [*tried, *[supports[0]] * 3]


def test_a_known_reply_form_is_not_looked_for_again(question):
    with ChatServer(supports=["text"]) as server:
        asked(question, server.url, mode="text")
    assert [request.mode for request in server.requests] == ["text"]


def test_an_error_that_has_nothing_to_do_with_the_reply_form_is_not_taken_for_one(question):
    with ChatServer([Answer(status=403)]) as server:
        assert failure(question, server.url).status == 403
    assert server.replies == 1


# --- trouble -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_a_passing_error_is_tried_again(status, question):
    with ChatServer([Answer(status=status, headers={"Retry-After": "0.01"}), scores(7)]) as server:
        [reply] = asked(question, server.url)
    assert json.loads(reply.text)["score"] == [7]


def test_retry_after_is_honoured(question):
    with ChatServer([Answer(status=429, headers={"Retry-After": "1"}), scores(7)]) as server:
        asked(question, server.url)
    first, second = server.requests
    assert 0.95 <= second.at - first.at < 3


def test_a_dropped_connection_is_tried_again(question):
    with ChatServer([Answer(drop=True), scores(7)]) as server:
        assert len(asked(question, server.url)) == 1


def test_attempts_are_bounded(question):
    with ChatServer(lambda request: Answer(status=503, headers={"Retry-After": "0.01"})) as server:
        error = failure(question, server.url, attempts=3)
    assert (error.status, server.replies) == (503, 3)
    assert str(error) == f"{server.url} answered 503: scripted error"


def test_a_wrong_key_is_reported_without_the_key(question, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    refusal = Answer(status=401, error={"message": "Incorrect API key provided: sk-very-secret."})
    with ChatServer([refusal]) as server:
        error = failure(question, server.url, key_variable="MY_KEY")
        assert server.requests[0].key == "sk-very-secret"
    assert (error.status, server.replies) == (401, 1)
    assert "Incorrect API key provided: [key]" in str(error)
    assert "sk-very-secret" not in str(error)


def test_a_key_with_a_line_end_is_never_shown(question, server, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-very-secret\n")
    try:
        asked(question, server.url, key_variable="MY_KEY")
    except JudgeFailed as error:
        assert "sk-very-secret" not in str(error)


def test_an_endpoint_where_nobody_listens_is_a_sentence(question):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    error = failure(question, url, attempts=1)
    assert str(error).startswith(f"{url} cannot be reached: ")
    assert error.status is None


def test_a_slow_endpoint_is_given_up_after_its_timeout(question):
    with ChatServer(lambda request: Answer(delay=1)) as server:
        assert "did not answer within 0.2 s" in str(failure(question, server.url, timeout=0.2, attempts=1))


def test_a_parameter_that_the_client_does_not_take_is_a_sentence(question, server):
    assert "frobnicate" in str(failure(question, server.url, parameters={"frobnicate": 1}))


@pytest.mark.parametrize("usage", [None, {}, "n/a", {"prompt_tokens": None}])
def test_tokens_that_were_not_reported_are_unknown_and_not_0(usage, question):
    body = {"choices": [{"message": {"role": "assistant", "content": "7"}, "finish_reason": "stop"}], "usage": usage}
    with ChatServer([Answer(body=json.dumps(body).encode())]) as server:
        [reply] = asked(question, server.url)
    assert (reply.text, reply.input_tokens, reply.output_tokens) == ("7", None, None)


def test_a_refusal_is_kept_in_its_own_field(question):
    with ChatServer([Answer(None, refusal="No people, please.")]) as server:
        [reply] = asked(question, server.url)
    assert (reply.text, reply.refusal) == ("", "No people, please.")


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_requests_are_in_flight_than_the_judge_may_have(limit, question):
    def slowly(request):
        time.sleep(0.05)

    with ChatServer(slowly) as server:
        asked(question, server.url, times=8, at_once=True, concurrency=limit, mode="json_schema")
    assert server.most_in_flight == limit


# --- settings ----------------------------------------------------------------------------------------------------------


def test_the_usual_variables_are_honoured(question, server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-usual")
    asked(question, "")
    assert server.requests[0].key == "sk-usual"


def test_without_any_setting_it_is_openai_and_a_key_is_needed():
    settings = EndpointSettings(model="gpt-4o")
    assert settings.url == "https://api.openai.com/v1"
    assert settings.problem() == (
        "The environment variable OPENAI_API_KEY is not set, so there is no key for api.openai.com."
    )
    with pytest.raises(JudgeFailed, match="OPENAI_API_KEY is not set"):
        EndpointJudge(settings)


def test_a_named_key_variable_that_is_not_set_is_said_by_its_name():
    settings = EndpointSettings(model="m", base_url="https://judge.example/v1", key_variable="JUDGE_KEY")
    assert settings.problem() == "The environment variable JUDGE_KEY is not set, so there is no key for judge.example."


def test_a_server_on_this_machine_needs_no_key(question, server):
    assert len(asked(question, server.url)) == 1


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"base_url": "ftp://x/v1"}, "is not an http or https address"),
        ({"base_url": "localhost:8000"}, "is not an http or https address"),
        ({"base_url": "http://"}, "is not an http or https address"),
        ({"base_url": "http://localhost", "model": ""}, "No model is named."),
        ({"base_url": "http://[::1"}, "is not an http or https address"),
        ({"base_url": "http://localhost:abc/v1"}, "is not an http or https address"),
    ],
)
def test_settings_that_cannot_work_are_known_before_anything_is_asked(settings, problem):
    assert problem in EndpointSettings(**{"model": "m", **settings}).problem()


def test_a_stored_reply_is_only_reused_for_the_very_same_question(question, picture):
    identity = EndpointSettings(model="m", base_url="http://localhost/v1").identity
    key = question_key(question, identity)
    blue = Case.build("a red square", picture("blue"))
    others = [
        question_key(question, EndpointSettings(model="other", base_url="http://localhost/v1").identity),
        question_key(question, EndpointSettings(model="m", base_url="http://else/v1").identity),
        question_key(question, EndpointSettings(model="m", base_url="http://localhost/v1", image_side=512).identity),
        question_key(question, EndpointSettings(model="m", base_url="http://localhost/v1", parameters={}).identity),
        question_key(Question("text_to_image", "SC", "v2", "You judge.", question.content, SCHEMA), identity),
        question_key(Question("text_to_image", "PQ", "v1", "You judge.", question.content, SCHEMA), identity),
        question_key(
            Question("text_to_image", "SC", "v1", "You judge.", (*blue.input, *blue.output), SCHEMA), identity
        ),
        question_key(
            Question("text_to_image", "SC", "v1", "You judge.", question.content, SCHEMA, ("7?", "bad")), identity
        ),
    ]
    assert len({key, *others}) == 9
    assert key == question_key(question, EndpointSettings(model="m", base_url="http://localhost/v1/").identity)
    assert key == question_key(
        question, EndpointSettings(model="m", base_url="http://localhost/v1", concurrency=1).identity
    )


# --- pace --------------------------------------------------------------------------------------------------------------


def test_everybody_waits_as_long_as_the_endpoint_asks(question):
    """One request is turned down with Retry-After; no other one goes out before that."""
    with ChatServer([Answer(status=429, headers={"Retry-After": "1"})]) as server:
        asked(question, server.url, times=6, at_once=True, concurrency=1, mode="json_schema")
    first, *others = server.requests
    assert len(others) == 6
    assert all(other.at - first.at >= 0.98 for other in others)


def test_an_endpoint_that_is_down_for_a_while_fails_nobody(question, monkeypatch):
    """Nobody listens for two seconds; every question has its few tries, and all are answered."""
    monkeypatch.setattr(pacing, "LONGEST_BACK_OFF", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = ChatServer(port=port, bind_now=False)

    def start() -> None:
        time.sleep(2)
        server.__enter__()

    starting = threading.Thread(target=start)
    starting.start()
    replies = asked(question, server.url, times=12, at_once=True, concurrency=4, attempts=10, mode="json_schema")
    starting.join()
    server.__exit__(None)
    assert len(replies) == 12
    assert server.replies == 12


def test_an_endpoint_without_money_is_down_at_once(question):
    broke = Answer(status=429, error={"message": "You exceeded your current quota", "code": "insufficient_quota"})
    with ChatServer([broke]) as server:
        error = failure(question, server.url)
    assert isinstance(error, JudgeDown)
    assert server.replies == 1


def test_an_endpoint_that_asks_to_come_back_tomorrow_is_down(question):
    with ChatServer([Answer(status=429, headers={"Retry-After": "3600"})]) as server:
        error = failure(question, server.url)
    assert isinstance(error, JudgeDown)
    assert "asks to come back in 3,600 s" in str(error)
    assert server.replies == 1


def test_one_question_without_an_answer_fails_alone_and_the_third_is_the_endpoints_fault(question, monkeypatch):
    """A picture that the endpoint chokes on must not stop a run for good; an endpoint that answers nobody must."""
    monkeypatch.setattr(endpoint, "_SILENT", 0.1)
    monkeypatch.setattr(pacing, "LONGEST_BACK_OFF", 0.2)

    async def ask(url: str) -> list[Exception]:
        judge, errors = EndpointJudge(EndpointSettings(model="tester", base_url=url, attempts=2, mode="text")), []
        for _ in range(3):
            try:
                await judge.ask(question)
            except JudgeFailed as error:
                errors.append(error)
        await judge.close()
        return errors

    with ChatServer(lambda request: Answer(status=503)) as server:
        one, two, three = asyncio.run(ask(server.url))
    assert [isinstance(error, JudgeDown) for error in (one, two, three)] == [False, False, True]
    assert "it has not answered for" in str(three)


def test_nobody_there_is_nobodys_fault(question, monkeypatch):
    monkeypatch.setattr(endpoint, "_SILENT", 0.1)
    monkeypatch.setattr(pacing, "LONGEST_BACK_OFF", 0.2)
    assert isinstance(failure(question, "http://127.0.0.1:9/v1", attempts=3), JudgeDown)


def test_an_error_that_says_it_will_not_pass_is_not_tried_again(question):
    with ChatServer([Answer(status=503, headers={"x-should-retry": "false"})]) as server:
        assert failure(question, server.url).status == 503
    assert server.replies == 1


# --- what it weighs and costs ------------------------------------------------------------------------------------------


def test_a_reply_tells_how_much_was_sent_and_what_the_pictures_took(question):
    usage = {"prompt_tokens": 900, "completion_tokens": 30, "prompt_tokens_details": {"image_tokens": 850}}
    with ChatServer([Answer(scores(7).text, usage=usage)]) as server:
        [reply] = asked(question, server.url)
    assert (reply.input_tokens, reply.image_tokens) == (900, 850)
    body = json.dumps(server.requests[0].body, separators=(",", ":"), ensure_ascii=False)
    assert reply.sent_bytes == len(body.encode())


@pytest.mark.parametrize(
    ("prices", "tokens", "cost"),
    [
        ({}, (100, 20, None), None),
        ({"input_price": 2.0}, (100, 20, None), None),
        ({"input_price": 2.0, "output_price": 8.0}, (1_000_000, 500_000, None), 6.0),
        ({"input_price": 2.0, "output_price": 8.0}, (None, 500_000, None), None),
        ({"input_price": 0.0, "output_price": 0.0}, (1000, 1000, None), 0.0),
        ({"input_price": 2.0, "output_price": 8.0, "image_price": 1.0}, (1_000_000, 0, 600_000), 0.8 + 0.6),
        ({"input_price": 2.0, "output_price": 8.0, "image_price": 1.0}, (1_000_000, 0, None), 2.0),
        ({"input_price": 2.0, "output_price": 8.0}, (1_000_000, 0, 600_000), 2.0),
    ],
)
def test_cost_is_by_the_million_and_unknown_is_not_0(prices, tokens, cost):
    assert EndpointSettings("m", **prices).cost(*tokens) == (cost if cost is None else pytest.approx(cost))


# --- secrets -----------------------------------------------------------------------------------------------------------


def test_a_key_that_the_endpoint_repeats_is_taken_out_of_the_reply(question, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    with ChatServer([Answer("Your key is sk-very-secret", refusal="not with sk-very-secret")]) as server:
        [reply] = asked(question, server.url, key_variable="MY_KEY")
    assert (reply.text, reply.refusal) == ("Your key is [key]", "not with [key]")


@pytest.mark.parametrize(
    "parameters",
    [
        {"stop_token_ids": [1, 2]}, {"max_completion_tokens": 100}, {"extra_body": {"top_k": 3, "min_tokens": 4}},
        {"extra_body": {"use_key_cache": True}}, {"logit_bias": {"50256": -100}}, {"response_prefix": "monkey"},
        {"extra_body": {"tokenizer": "auto", "author": "me"}},
    ],
)  # fmt: skip
def test_harmless_parameters_may_be_kept(parameters):
    assert EndpointSettings("m", parameters=parameters).unfit_to_save() is None


@pytest.mark.parametrize(
    "parameters",
    [
        {"api_key": "sk-1"}, {"apiKey": "sk-1"}, {"extra_headers": {"Authorization": "Bearer x"}},
        {"extra_query": {"code": "x"}}, {"extra_body": {"auth": {"value": "x"}}}, {"access_token": "x"},
        {"extra_body": {"list": [{"X-API-Key": "x"}]}}, {"password": "x"}, {"clientSecret": "x"}, {"OPENAI_API_KEY": "x"},
    ],
)  # fmt: skip
def test_parameters_that_may_be_secret_are_not_kept(parameters):
    assert "may hold a key" in EndpointSettings("m", parameters=parameters).unfit_to_save()


@pytest.mark.parametrize(
    "settings",
    [{"concurrency": 0}, {"requests_per_minute": 0}, {"tokens_per_minute": -1}, {"input_price": -1.0},
     {"output_price": float("nan")}, {"timeout": 0.0}, {"attempts": 0}],
)  # fmt: skip
def test_numbers_that_make_no_sense_are_refused(settings):
    assert next(iter(settings)) in EndpointSettings("m", **settings).unfit_to_save()


@pytest.mark.parametrize("key", ["d3adbeefd3adbeefd3adbeefd3adbeef", "sk_live_0123", "AbC123xyz", "A" * 65])
def test_a_key_in_the_place_of_its_variables_name_is_not_kept(key):
    assert "put the key itself into the environment" in EndpointSettings("m", key_variable=key).unfit_to_save()
