"""The plan: how many more labels it takes, on the page."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.conftest import load_sample
from tests.data.test_queues import judged


def planned(run: int, **numbers: float) -> AppTest:
    """The view alone, for a run at its own threshold, with these numbers put in."""

    def page(run_id: int) -> None:
        from data.store import reviews, runs
        from data.store.agreement import Basis
        from pages.parts.agreement import plan
        from pages.parts.agreement.view import Chosen

        found = runs.run_by_id(run_id)
        reviewer = {"id": reviews.reviewer_named("Cleo"), "name": "Cleo"}
        chosen = Basis(run_id, found["threshold"], "blind")
        plan.draw(Chosen({"id": found["dataset_id"], "name": found["dataset"]}, found, chosen, reviewer))

    app = AppTest.from_function(page, args=(run,), default_timeout=20).run()
    for key, number in numbers.items():
        app.number_input(key=f"plan-{key}").set_value(number)
    return app.run()


def told(app: AppTest) -> str:
    return "\n".join(text.value for text in app.text)


def test_the_plan_follows_the_numbers_put_in():
    load_sample()
    app = planned(1)
    assert not app.exception
    assert "Agreement to within ±5 points:" in told(app)
    assert "cases a working day" in told(app)
    table = app.dataframe[0].value
    assert table["What for"][0] == "Agreement to within ±5 points"
    wider = planned(1, **{"half-width": 10.0, "claim": 60.0})
    assert "To show “at least 60 %”" in told(wider)
    assert wider.dataframe[0].value["Labelled cases needed"][0] < table["Labelled cases needed"][0]


def test_without_any_label_it_is_the_worst_case(fill):
    run = judged(fill(2), {1: 0.9, 2: 0.1})
    app = planned(run)
    assert not app.exception
    assert "381 labelled cases in random order (no agreement is known yet, so for the worst case, 50 %" in told(app)
    assert "as if no two cases shared a prompt" in told(app)
    assert "To show “at least 85 %”: no number can be named, since no labels yet." in told(app)
