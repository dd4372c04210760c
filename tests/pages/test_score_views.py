"""The views of scores and of items: they open, say what they rest on, and show no markup of anybody's."""

from __future__ import annotations

from dataclasses import replace

from streamlit.testing.v1 import AppTest

from data.store import runs
from tests.conftest import load_sample
from tests.data.test_items import GECKO, questions, run_of, say
from tests.pages.test_pages import told

SCRIPT = """
import streamlit as st
from data.store import runs
from data.store.agreement import Basis
from pages.parts.agreement import {view}
from pages.parts.agreement.view import Chosen
run = runs.run_by_id(int(st.query_params["run"]))
{view}.draw(Chosen({{"id": run["dataset_id"]}}, run, Basis(run["id"], {threshold}, "all"), {{"id": 1, "name": "Cleo"}}))
"""


def opened(view: str, run: int, threshold: float | None = 0.5, **params: str) -> AppTest:
    app = AppTest.from_string(SCRIPT.format(view=view, threshold=threshold), default_timeout=30)
    app.query_params.update({"run": str(run), **params})
    app.run()
    assert not app.exception
    return app


def test_every_run_of_the_sample_has_its_scores_and_items():
    load_sample()
    for run in runs.runs():
        assert "a usable case gets the higher score" in told(opened("scores", run["id"]))
        opened("items", run["id"])


def test_the_threshold_for_a_cost_asks_for_both_costs():
    load_sample()
    run = next(r["id"] for r in runs.runs() if r["metric"] == "text_to_image")
    app = opened("scores", run)
    assert not app.number_input
    app.selectbox(key="choice-objective").set_value("cost").run()
    assert not app.exception
    assert [n.label for n in app.number_input] == ["A missed badcase costs", "A wrong flag costs"]
    assert "a cost per case of" in told(app)


def test_a_run_without_labels_or_threshold_says_so(fill, judge_at):
    run = run_of(fill(1), judge_at("http://127.0.0.1:9/v1"), GECKO)
    assert "There are no blind or shown labels" in told(opened("scores", run, None))
    assert "Nobody has corrected an item" in told(opened("items", run))


def test_a_question_s_words_are_never_markup(fill, judge_at):

    hostile = "![x](http://127.0.0.1:1/a.png) <b>is it?</b>"
    items = [replace(item, text=hostile, group=hostile) for item in questions("yes", "no", "yes")]
    run = run_of(fill(1), judge_at("http://127.0.0.1:9/v1"), GECKO, tuple(items))
    say("Ada", 1, run, criterion="match")
    app = opened("items", run)
    shown = [e.value for kind in ("markdown", "caption", "warning", "error", "info") for e in app.get(kind)]
    assert not any("127.0.0.1:1" in str(text) for text in shown)
    assert any((frame.value == hostile).any().any() for frame in app.dataframe)


def test_the_judge_s_scores_stand_beside_those_of_people():
    load_sample()
    run = next(r["id"] for r in runs.runs() if r["metric"] == "text_to_image")
    app = opened("scores", run, side="scores")
    assert "these figures flatter the run whose verdict was seen" in told(app)
    assert not any("AUC" in str(e.value) or "balanced accuracy" in str(e.value) for e in app.text)
    app.selectbox(key="choice-score").set_value("PQ.artifacts").run()
    assert not app.exception
    assert "PQ.artifacts: 8 cases (7 prompts)" in told(app)
