"""The Judges page: presets, what answers on this machine, limits and prices; and their way to the Runs page."""

from __future__ import annotations

import json

import pytest
import streamlit as st

from data.store import judges as judge_store
from data.store import runs as run_store
from evaluators.judges import local
from evaluators.judges.local import local_servers
from pages.parts.judge_form import PRESETS
from tests.chat_server import ChatServer
from tests.pages.test_pages import opened, told


@pytest.fixture(autouse=True)
def nobody_here(monkeypatch):
    """Whatever runs on this machine is none of the tests' business."""
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    monkeypatch.setattr(local, "_PATIENCE_SECONDS", 2.0)
    st.cache_data.clear()  # what answered in another test does not in this one


def field(app, label: str):
    [found] = [f for kind in ("text_input", "number_input", "selectbox") for f in app.get(kind) if f.label == label]
    return found


def save(app):
    [button] = [b for b in app.button if b.label == "Save judge"]
    return button.click().run()


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_can_be_saved_once_it_has_a_name_and_an_address(preset):
    app = opened("pages/judges.py")
    field(app, "Start from").set_value(preset).run()
    field(app, "Name").set_value("mine")
    if not field(app, "Model").value:
        field(app, "Model").set_value("some-model")
    save(app)
    assert not app.exception and not app.error
    saved = judge_store.judge_named("mine")
    assert saved["settings"]["base_url"] == PRESETS[preset].settings.base_url


def test_limits_prices_and_extra_body_are_kept_and_shown():
    app = opened("pages/judges.py")
    for label, value in {
        "Name": "priced", "Requests a minute": 60, "Tokens a minute": 90_000, "Input": 2.5, "Output": 0.0,
        "Extra body (JSON)": '{"enable_thinking": false}', "Seconds a call": 30.0,
    }.items():  # fmt: skip
        field(app, label).set_value(value)
    save(app)
    settings = judge_store.endpoint_settings(judge_store.judge_named("priced"))
    assert (settings.requests_per_minute, settings.tokens_per_minute, settings.timeout) == (60, 90_000, 30.0)
    assert (settings.input_price, settings.output_price, settings.image_price) == (2.5, 0.0, None)
    assert settings.parameters["extra_body"] == {"enable_thinking": False}
    table = app.dataframe[0].value
    assert table["Price in / out, per million tokens"][0] == "2.50 USD / 0.00 USD"
    assert table["Limits"][0] == "8 in flight, 60 requests/min, 90000 tokens/min"


def test_a_judge_can_be_changed_and_keeps_what_was_not_touched(judge_at):
    judge_at("http://127.0.0.1:9/v1", "house", requests_per_minute=7, input_price=1.0)
    app = opened("pages/judges.py")
    field(app, "Start from").set_value("change house").run()
    assert field(app, "Name").value == "house"
    field(app, "Output").set_value(3.0)
    save(app)
    settings = judge_store.endpoint_settings(judge_store.judge_named("house"))
    assert (settings.requests_per_minute, settings.input_price, settings.output_price) == (7, 1.0, 3.0)


@pytest.mark.parametrize(
    ("label", "value", "said"),
    [
        ("Parameters of the call (JSON)", "{", "The parameters are not JSON"),
        ("Extra body (JSON)", "[1]", "The extra body are not a JSON object"),
        ("Extra body (JSON)", '{"api_key": "sk-1"}', "may hold a key"),
        ("Base URL", "https://me:secret@example.com/v1", "holds a name, a password or a query"),
        ("Name", " ", "A judge needs a name."),
    ],
)
def test_what_cannot_be_kept_is_said_and_nothing_is_saved(label, value, said):
    app = opened("pages/judges.py")
    field(app, "Name").set_value("mine")
    field(app, label).set_value(value)
    save(app)
    assert said in told(app).replace("\\", "")
    assert judge_store.judges() == []


def test_a_server_on_this_machine_is_offered_by_itself(monkeypatch):
    with ChatServer() as server:
        monkeypatch.setenv("OLLAMA_HOST", f"http://localhost:{server.port}")
        assert local_servers()[0].models == ("tester",)
        app = opened("pages/judges.py")
        assert "Ollama answers on this machine" in told(app).replace("\\", "")
        assert field(app, "Start from").value == "Ollama: tester"
        assert field(app, "Base URL").value == f"http://localhost:{server.port}/v1"
        field(app, "Name").set_value("ollama")
        save(app)
        [button] = [b for b in app.button if b.label == "Send it one small picture"]
        button.click().run()
    assert "structured output works (json_schema)" in told(app)
    assert "cost unknown" in told(app)
    assert judge_store.judge_named("ollama")["mode"] == "json_schema"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434/v1"), ("0.0.0.0", "http://127.0.0.1:11434/v1"), ("box:99", "http://box:99/v1"),
        ("http://box", "http://box:11434/v1"), ("box:port", "http://127.0.0.1:11434/v1"),
    ],
)  # fmt: skip
def test_ollamas_own_variable_is_honoured(host, url, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert local._ollama_url() == url


def test_somebody_else_on_the_port_is_nobody(monkeypatch):
    with ChatServer() as server:
        server.models = lambda: {"something": "else"}
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{server.port}")
        assert [found.name for found in local_servers() if found.name == "Ollama" and found.models] == []


def test_a_run_starts_with_a_budget_and_repeats(fill, judge_at, monkeypatch):
    started = []
    monkeypatch.setattr("pages.parts.run_start.start_worker", lambda *runs: started.append(runs))
    dataset = fill(2)
    judge_at("http://127.0.0.1:9/v1", "house", input_price=1.0, output_price=1.0)
    app = opened("pages/runs.py", dataset=str(dataset))
    app.number_input(key="start-max-cost").set_value(0.5)
    app.number_input(key="start-repeats").set_value(3).run()
    assert "It will make 12 calls." in told(app)
    assert "Tokens and cost are unknown until the first cases are judged." in told(app)
    app.button(key="start-run").click().run()
    assert started == [(1, 2, 3)]
    runs = run_store.runs()
    assert [run["budget"] for run in runs] == [{"money": 0.5}] * 3
    assert [(run["fresh"], run["repeat_of"]) for run in runs] == [(0, None), (1, 1), (1, 1)]
    assert json.dumps(runs)


def test_a_budget_that_cannot_be_kept_is_said_before_the_start(fill, judge_at):
    dataset = fill(1)
    judge_at("http://127.0.0.1:9/v1", "house")
    app = opened("pages/runs.py", dataset=str(dataset))
    app.number_input(key="start-max-cost").set_value(0.5).run()
    assert "needs the judge's prices" in told(app).replace("\\", "")
    assert app.button(key="start-run").disabled
