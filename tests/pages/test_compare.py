"""The comparison of runs and the labels over time, as the Agreement page shows them."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from data.store import reviews
from tests.data.test_compared import FIRST, GOLD, SECOND, say
from tests.data.test_queues import judged
from tests.pages.test_pages import opened, told


@pytest.fixture
def two_runs(fill) -> tuple[int, int]:
    dataset = fill(8)
    runs = judged(dataset, FIRST, "first"), judged(dataset, SECOND, "second")
    say(dataset, GOLD)
    return runs


def at_compare(**params: str) -> AppTest:
    return opened("pages/agreement.py", dataset="1", view="compare", basis="all", **params)


def test_the_chosen_run_is_compared_with_the_newest_other_one(two_runs):
    app = at_compare(run="1")
    assert not app.exception
    assert "Run 2 agrees with people 14.3 points more often than run 1 [" in told(app)
    assert "2 runs measured" in told(app)
    app = at_compare(run="2")
    assert "Run 1 agrees with people 14.3 points less often than run 2 [" in told(app)


def test_exploring_is_said(two_runs):
    app = at_compare(run="1", compared="exploring")
    assert "Exploratory: these comparisons were not planned." in told(app)


def test_which_runs_are_compared_stands_in_the_address(two_runs):
    third = judged(1, dict.fromkeys(GOLD, 0.9), "third")
    app = at_compare(run="1")
    assert f"Run {third} agrees" in told(app) and "Run 2 agrees" not in told(app)
    app = at_compare(run="1", **{"with": "2"})
    assert not app.exception
    assert "Run 2 agrees" in told(app) and f"Run {third} agrees" not in told(app)
    app.multiselect(key="with").set_value(["2", str(third)]).run()
    assert app.query_params["with"] == f"2,{third}"
    assert "The best of 3 runs looks better than it is" in told(app)
    app.multiselect(key="with").set_value([]).run()
    assert "Choose a run to compare with." in told(app)


def test_nobody_is_shown_verdicts_unasked(two_runs):
    app = at_compare(run="1")
    cleo = reviews.reviewer_named("Cleo")
    assert not any(reviews.has_seen(cleo, case_id) for case_id in GOLD)
    app.toggle(key="compare-telling").set_value(True).run()
    assert not app.exception
    assert [case_id for case_id in GOLD if reviews.has_seen(cleo, case_id)] == [2, 4, 5]
    desks = [link.proto for link in app.get("page_link") if link.proto.label == "To the desk"]
    assert ["case=4" in link.query_string for link in desks] == [True, False, False]
    assert all("run=" in link.query_string and "dataset=1" in link.query_string for link in desks)


def test_a_lone_run_has_nothing_to_be_compared_with(fill):
    say(fill(3), {1: "usable"})
    judged(1, {1: 0.9, 2: 0.9, 3: 0.1})
    app = at_compare(run="1")
    assert not app.exception
    assert "There is no other run of this dataset and criterion with a threshold" in told(app)


def test_over_time_says_what_is_there(two_runs):
    app = opened("pages/agreement.py", dataset="1", run="1", view="time", basis="all")
    assert not app.exception
    assert "8 labelled cases in the order in which people's label was settled" in told(app)
    app.toggle(key="over-time-others").set_value(True).run()
    assert not app.exception
    app = opened("pages/agreement.py", dataset="1", run="1", view="time", basis="blind")
    assert "There are no labels on cases of this run yet" in told(app)
