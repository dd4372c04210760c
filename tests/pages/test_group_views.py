"""The views of groups and of generators: what is chosen, what is said, and that nothing breaks on empty sets."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from data.reports.groups import GROUPINGS
from data.store import reviews
from data.store import runs as run_store
from data.store.connection import writing
from tests.conftest import load_sample
from tests.data.test_generators import labelled
from tests.data.test_groups import filled
from tests.data.test_queues import judged
from tests.pages.test_pages import told


def shown(view: str, run_id: int, **address: str) -> AppTest:
    """A view of a run at its own threshold."""

    def script(view: str, run_id: int) -> None:
        import importlib

        from data.store import runs
        from data.store.agreement import Basis
        from pages.parts.agreement.view import Chosen

        run = runs.run_by_id(run_id)
        chosen = Chosen({"id": run["dataset_id"]}, run, Basis(run_id, run["threshold"], "blind"), {"id": 1})
        importlib.import_module(f"pages.parts.agreement.{view}").draw(chosen)

    app = AppTest.from_function(script, kwargs={"view": view, "run_id": run_id}, default_timeout=20)
    app.query_params.update(address)
    return app.run()


@pytest.fixture
def run() -> int:
    dataset = filled(
        "shoes", [{"generator": "aster" if i % 2 else "**borage**", "tags": ("hands",)} for i in range(12)]
    )
    run_id = judged(dataset, {i: 0.1 if i <= 4 else 0.9 for i in range(1, 13)})
    labelled(dataset, {i: "badcase" if i <= 5 else "usable" for i in range(1, 13)})
    return run_id


def test_groups_are_by_generator_unless_the_address_says_otherwise(run):
    app = shown("groups", run)
    assert not app.exception
    assert app.selectbox(key="choice-by").value == "generator"
    assert "2 groups looked at" in told(app)
    assert list(app.dataframe[0].value["Group"]) == ["**borage**", "aster", "all cases"]
    assert list(app.dataframe[0].value["Agreement with people"]) == pytest.approx([5 / 6, 1, 11 / 12])
    tags = shown("groups", run, by="tag", figure="recall_bad")
    assert tags.selectbox(key="choice-by").value == "tag"
    assert "All 12 labelled cases are in one group (hands)" in told(tags)


def test_another_grouping_is_kept_in_the_address(run):
    app = shown("groups", run)
    app.selectbox(key="choice-by").set_value("images").run()
    assert app.query_params["by"] == "images"
    assert "no input image" in list(app.dataframe[0].value["Group"])


@pytest.mark.parametrize("by", GROUPINGS)
def test_every_grouping_opens_on_the_sample_and_without_labels(by, fill):
    load_sample()
    assert not shown("groups", 1, by=by).exception
    empty = judged(fill(2, "empty"), {})
    app = shown("groups", empty, by=by)
    assert not app.exception and "no labels" in told(app)


def test_generators_with_their_rates_and_places(run):
    app = shown("generators", run)
    assert not app.exception
    assert "No two of the 2 generators are told apart" in told(app)
    rates, places = app.dataframe[0].value, app.dataframe[1].value
    assert list(rates["Judge's own rate"]) == pytest.approx([2 / 3, 2 / 3])
    assert dict(zip(rates["Generator"], rates["True usable rate"], strict=True)) == pytest.approx(
        {"aster": 4 / 6, "**borage**": 3 / 6}
    )
    assert list(places["Best place"]) == [1, 1] and list(places["Worst place"]) == [2, 2]
    assert "No run judges in the same way" in told(app)


def test_labels_on_another_dataset_are_offered_with_what_they_assume(run):
    other = filled("boots", [{}] * 4)
    judged(other, {13: 0.9, 14: 0.9, 15: 0.1, 16: 0.1})
    app = shown("generators", run_store.runs(other)[0]["id"])
    assert not app.exception
    assert "on “shoes”" in told(app) and "cannot be tested" in told(app)


def test_labels_elsewhere_tell_nothing_without_a_threshold(run):
    other = filled("boots", [{}] * 2)
    here = judged(other, {13: 0.9, 14: 0.1})
    with writing() as db:
        db.conn.execute("UPDATE runs SET threshold = NULL")
    app = shown("generators", here)
    assert not app.exception and "So nothing can be told from labels elsewhere" in told(app)


def test_generators_without_verdicts_labels_or_threshold(fill):
    dataset = fill(2)
    empty, unlabelled = judged(dataset, {}), judged(dataset, {1: 0.9, 2: 0.1})
    scores_only = judged(dataset, {1: 0.9})
    with writing() as db:
        db.conn.execute("UPDATE runs SET threshold = NULL WHERE id = ?", [scores_only])
    for run_id, words in ((empty, "judged no case"), (unlabelled, "never reviewed"), (scores_only, "threshold")):
        app = shown("generators", run_id)
        assert not app.exception and words in told(app)
        assert not shown("groups", run_id).exception
    assert reviews.reviewers() == []
