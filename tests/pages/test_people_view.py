"""The view of people: what is said, and that the optional test is computed only when somebody asks."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from data.reports import alternative
from data.store.connection import writing
from tests.conftest import load_sample
from tests.data.test_people import BAD, OK, say
from tests.data.test_queues import judged


def shown(run_id: int, basis: str = "blind") -> AppTest:
    """The view alone, for a run at its own threshold."""

    def page(run_id: int, basis: str) -> None:
        from data.store import runs
        from data.store.agreement import Basis
        from pages.parts.agreement import people
        from pages.parts.agreement.view import Chosen

        run = runs.run_by_id(run_id)
        people.draw(Chosen({"id": run["dataset_id"]}, run, Basis(run_id, run["threshold"], basis), {"id": 1}))

    return AppTest.from_function(page, args=(run_id, basis), default_timeout=20).run()


def told(app: AppTest) -> str:
    return "\n".join(e.value for kind in ("subheader", "text") for e in app.get(kind))


@pytest.mark.parametrize("basis", ["blind", "all"])
def test_the_sample_has_people_to_show(basis):
    load_sample()
    app = shown(1, basis)
    assert not app.exception
    assert "Krippendorff's alpha" in told(app) and "this panel of" in told(app)
    assert "Not comparable: who saw the verdict was not drawn at random." in told(app)


def test_the_optional_test_waits_until_it_is_asked_for(fill, monkeypatch):
    dataset = fill(35)
    for person in ("Ada", "**Ben**"):
        say(person, {i: BAD if i % 2 else OK for i in range(1, 36)}, dataset)
    run = judged(dataset, {i: 0.1 if i % 2 else 0.9 for i in range(1, 36)})
    asked, compute = [], alternative.alt_test
    monkeypatch.setattr(alternative, "alt_test", lambda *args: asked.append(args[-1]) or compute(*args))
    app = shown(run)
    assert not asked and "It is no gate" in told(app)
    app.toggle(key="alt-test").set_value(True).run()
    assert not app.exception
    assert set(asked) == {0.15} and "(eps 0.15)" in told(app)
    judges = next(t.value for t in app.dataframe if "Who" in t.value)
    assert list(judges["Who"]) == ["The judge", "Always badcase"]
    app.selectbox(key="alt-eps").set_value(0.1).run()
    assert "(eps 0.1)" in told(app)
    names = next(t.value for t in app.dataframe if "One" in t.value)
    assert list(names["One"]) == ["**Ben**"]


def test_empty_and_unanswered_runs_are_sentences(fill):
    dataset = fill(3)
    run = judged(dataset, {1: 0.9, 2: None, 3: None})
    assert "There are no labels of people" in told(shown(run))
    say("Ada", {1: OK, 2: OK}, dataset)
    app = shown(run)
    assert not app.exception and "Let a second person label" in told(app)
    with writing() as db:
        db.conn.execute("UPDATE runs SET threshold = NULL")
    app = shown(run)
    assert not app.exception and "name a threshold" in told(app)
