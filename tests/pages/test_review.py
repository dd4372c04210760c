"""What stands above the desk: queues, settings of a dataset, progress; and what a colleague said before one has spoken."""

from __future__ import annotations

import pytest

from data.store import agreement, badcase_tags, queues, reviews
from data.store.connection import rows, value
from data.store.review_settings import review_settings
from tests.conftest import load_sample
from tests.pages.test_pages import opened, told


@pytest.fixture(autouse=True)
def sample():
    load_sample()


def open_popover(app, name: str):
    app.session_state[f"{name}-popover"] = True
    return app.run()


def field(app, label: str):
    kinds = ("selectbox", "number_input", "radio", "text_area", "toggle")
    [found] = [f for kind in kinds for f in app.get(kind) if f.label == label]
    return found


def drawn() -> set[tuple[str, str]]:
    """(queue, basis) of Cleo's draws."""
    return {
        (r["queue"], r["basis"])
        for r in rows("SELECT DISTINCT queue, basis FROM queue_draws JOIN reviewers p ON p.id = reviewer_id WHERE p.name = 'Cleo'")
    }  # fmt: skip


def test_a_queue_is_chosen_and_says_what_its_labels_are_worth():
    app = open_popover(opened("pages/review.py", dataset="1", run="1"), "queue")
    assert "they enter every figure" in told(app)
    field(app, "Order").set_value("audit").run()
    assert "known chance" in told(app)
    field(app, "Share of the passed").set_value(0.25).run()
    assert not app.exception
    assert ("audit/run 1/0.5 of flagged, 0.25 of passed", "designed") in drawn()
    field(app, "Order").set_value("random").run()
    field(app, "The judge says").set_value("badcase").run()
    assert "never enter a figure" in told(app)
    assert ("random/run 1/label=badcase", "opportunistic") in drawn()


@pytest.mark.parametrize("kind", queues.KINDS)
def test_every_queue_opens_with_a_run_and_without_one(kind):
    assert not opened("pages/review.py", dataset="1", run="1", queue=kind).exception
    assert not opened("pages/review.py", dataset="1", run="none", queue=kind).exception


@pytest.mark.parametrize(
    "address", [{"seed": "x"}, {"passed": "7"}, {"flagged": "nan"}, {"only_reviewer": "me"}, {"queue": "best"}]
)
def test_an_address_that_makes_no_sense_is_the_random_queue(address):
    app = opened("pages/review.py", dataset="1", run="1", **address)
    assert not app.exception
    assert drawn() == {("random", "random")}


def test_settings_hold_for_the_dataset_and_decide_how_the_verdict_is_shown():
    app = open_popover(opened("pages/review.py", dataset="1", run="1"), "settings")
    app.radio[0].set_value("a random share blind")
    field(app, "Share blind, when random").set_value(0.3)
    field(app, "People who label each case").set_value(2)
    app.text_area[0].set_value("hands\ntext wrong")
    [button] = [b for b in app.button if b.label == "Save settings"]
    button.click().run()
    assert not app.exception
    assert review_settings(1) == {"blind_share": 0.3, "overlap": 2}
    assert list(badcase_tags.offered_tags()) == ["hands", "text_wrong"]
    again = opened("pages/review.py", dataset="1", run="1")
    [mode] = [s for s in again.selectbox if s.label == "The verdict is"]
    assert mode.options == ["30% of cases blind", "Adjudicate conflicts"]
    assert value("SELECT count(*) FROM blind_draws") == 8
    assert value("SELECT count(*) FROM leases") == 8


def test_settings_that_cannot_be_are_said_and_nothing_is_changed():
    app = open_popover(opened("pages/review.py", dataset="1", run="1"), "settings")
    app.text_area[0].set_value("hands\nHands")
    [button] = [b for b in app.button if b.label == "Save settings"]
    button.click().run()
    assert "is in the list twice" in told(app).replace("\\", "")
    assert review_settings(1) == {"blind_share": None, "overlap": None}


def test_progress_tells_who_got_how_far():
    app = open_popover(opened("pages/review.py", dataset="1", run="1"), "progress")
    table = app.dataframe[0].value
    assert set(table["Reviewer"]) >= {"Cleo", "Ada Beispiel"} or len(table) >= 3
    assert table[table["Reviewer"] == "Cleo"]["Labelled"].tolist() == [0]


def test_what_colleagues_said_is_hidden_until_one_has_spoken_or_wants_to_know():
    case = rows("SELECT case_id FROM current_reviews LIMIT 1")[0]["case_id"]
    app = opened("pages/case.py", case=str(case))
    assert "of your colleagues have reviewed it; you have not" in told(app)
    cleo = reviews.reviewer_named("Cleo")
    labels = [frame.value for frame in app.dataframe if "Who" in frame.value]
    assert labels == []
    field(app, "Show what they said").set_value(True).run()
    assert [frame for frame in app.dataframe if "Who" in frame.value]
    assert reviews.has_seen(cleo, case)


def test_conflicts_are_offered_to_the_lead_ties_first():
    from data.store.conflicts import conflicts, count_conflicts, labels_on

    found = conflicts(1, "overall", 50)
    assert len(found) == count_conflicts(1, "overall") >= 3
    for said in labels_on(found, "overall").values():
        assert len(said) >= 2
        assert len({one["label"] for one in said}) > 1 or {one["label"] for one in said} == {"unsure"}
    lead = reviews.reviewer_named("Lee")
    reviews.adjudicate("t", found[0], "overall", lead, "badcase", "cut off")
    assert found[0] not in conflicts(1, "overall", 50)
    assert not opened("pages/review.py", dataset="1", run="1", mode="adjudicate").exception


def test_the_results_of_a_run_keep_its_verdicts_to_themselves_until_asked():
    cleo = reviews.reviewer_named("Cleo")
    app = opened("pages/runs.py", dataset="1", run="1")
    [table] = [frame.value for frame in app.dataframe if "Status" in frame.value]
    assert not {"Score", "Label", "Why"} & set(table.columns)
    assert value("SELECT count(*) FROM seen_verdicts WHERE reviewer_id = ?", [cleo]) == 0
    field(app, "Show scores, labels and reasons").set_value(True).run()
    [table] = [frame.value for frame in app.dataframe if "Status" in frame.value]
    assert {"Score", "Label", "Why"} <= set(table.columns)
    assert value("SELECT count(*) FROM seen_verdicts WHERE reviewer_id = ?", [cleo]) == 36


def test_whoever_adjudicates_without_a_run_has_seen_what_others_said():
    from data.store.conflicts import conflicts

    cleo = reviews.reviewer_named("Cleo")
    opened("pages/review.py", dataset="1", run="none", mode="adjudicate")
    assert all(reviews.has_seen(cleo, case_id) for case_id in conflicts(1, "overall", 8))


def test_whoever_reads_where_judge_and_people_part_labels_those_cases_with_open_eyes():
    cleo = reviews.reviewer_named("Cleo")
    opened("pages/agreement.py", dataset="1", run="1", view="apart")
    seen = {r["case_id"] for r in rows("SELECT case_id FROM seen_verdicts WHERE reviewer_id = ?", [cleo])}
    assert seen == {pair["case_id"] for pair in agreement.disagreements(agreement.Basis(1, 0.5))}
