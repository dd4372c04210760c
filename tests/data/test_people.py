"""The reviewers of a run, counted by hand; the alternative annotator test with the constant judge beside it."""

from __future__ import annotations

import json
import os
from collections import Counter

import pytest

from data.reports.alternative import alt_report
from data.reports.charts.people import pairs_chart, reviewers_chart
from data.reports.people import people_report
from data.store import agreement, people, queues, reviews
from data.store import cases as case_store
from data.store.agreement import Basis
from data.store.connection import value, writing
from tests.conftest import kept_case, load_sample
from tests.data.test_queues import judged


def say(person: str, said: dict[int, str], dataset: int = 1, **review) -> None:
    """First labels of a person on randomly drawn cases, blind unless said otherwise."""
    reviewer = reviews.reviewer_named(person)
    queues.next_cases(dataset, "overall", reviewer, 1)
    for case_id, label in said.items():
        draw = queues.draw_of(case_id, "overall", reviewer)
        reviews.save_review(reviews.Review(
            os.urandom(8).hex(), case_id, 1, "overall", reviewer, label, draw_id=draw, **{"blind": True, **review}
        ))  # fmt: skip


BAD, OK = "badcase", "usable"


@pytest.fixture
def run(fill) -> int:
    """Eight cases; the judge flags 1 to 3 and has no label on 8."""
    dataset = fill(8)
    run_id = judged(dataset, {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.9, 5: 0.9, 6: 0.9, 7: 0.9, 8: None})
    say("Ada", {1: BAD, 2: BAD, 3: OK, 4: OK, 5: OK, 6: "unsure", 8: BAD}, dwell_ms=2000)
    say("Ben", {1: BAD, 2: OK, 3: OK, 4: OK, 6: "unsure", 8: BAD}, dwell_ms=5500)
    say("Cleo", {1: BAD, 2: BAD, 3: BAD})
    reviews.adjudicate("decided", 2, "overall", reviews.reviewer_named("Lee"), OK, "looked twice")
    return run_id


def test_the_panel_by_hand(run):
    report = people_report(Basis(run, 0.5))
    assert report["cases"] == 7
    assert {accord: share["n"] for accord, share in report["shares"].items()} == {
        "unanimous": 3, "split": 1, "adjudicated": 1, "unresolved": 1, "single": 1,
    }  # fmt: skip
    assert sum(share["share"] for share in report["shares"].values()) == pytest.approx(1)
    assert report["shared"] == report["alpha"]["n"] == 5  # 1, 2, 3, 4, 8
    # m_u / n_uv of the five: 3/3 bad, 3/2 bad, 3/1 bad, 2/0 bad, 2/2 bad: Do = 2 + 2 = 4, n = 13, bad 8, usable 5.
    assert report["alpha"]["value"] == pytest.approx(1 - (4 / 13) / (2 * 8 * 5 / (13 * 12)))
    pairs = {(p["one"], p["other"]): (p["n"], p["agreement"]["value"], p["small"]) for p in report["pairs"]}
    assert pairs == {
        ("Ada", "Ben"): (5, pytest.approx(4 / 5), True),
        ("Ada", "Cleo"): (3, pytest.approx(2 / 3), True),
        ("Ben", "Cleo"): (3, pytest.approx(1 / 3), True),
    }
    ceiling = report["ceiling"]
    assert ceiling["n"] == 4  # not 8: the judge has no label there
    assert ceiling["hh_agreement"] == pytest.approx((1 + 1 / 3 + 1 / 3 + 1) / 4)
    assert ceiling["jh_agreement"] == pytest.approx((1 + 2 / 3 + 1 / 3 + 1) / 4)
    assert "On the same 4 cases two people agree on 66.7 %" in ceiling["words"]
    json.dumps(report)


def test_each_person_by_hand(run):
    ada, ben, cleo = people_report(Basis(run, 0.5))["reviewers"]
    assert [(p["name"], p["labels"], p["votes"], p["small"]) for p in (ada, ben, cleo)] == [
        ("Ada", 7, 6, True), ("Ben", 6, 5, True), ("Cleo", 3, 3, True),
    ]  # fmt: skip
    # The judge with Ada: 1, 2, 4, 5 of 1, 2, 3, 4, 5, 8; it has no label on 8, which is no agreement.
    assert (ada["judge"]["value"], ada["judge"]["n"]) == (pytest.approx(4 / 6), 6)
    assert [p["judge"]["value"] for p in (ben, cleo)] == pytest.approx([2 / 5, 1])
    assert (ada["bad"]["value"], ada["unsure"]["value"]) == pytest.approx((3 / 6, 1 / 7))
    assert [(p["adjudicated"]["value"], p["adjudicated"]["n"]) for p in (ada, ben, cleo)] == [(0, 1), (1, 1), (0, 1)]
    # Ada and the others: tie on 2 and 3, the same on 1, 4 and 8. Cleo: with both on 1, against both on 3, a tie on 2.
    assert [(p["others"]["value"], p["others"]["n"]) for p in (ada, cleo)] == [(1, 3), (0.5, 2)]
    assert [p["seconds"] for p in (ada, ben, cleo)] == [2.0, 5.5, None]
    for person in (ada, ben, cleo):
        for figure in ("judge", "bad", "unsure", "adjudicated", "others"):
            assert person[figure]["lo"] <= person[figure]["value"] <= person[figure]["hi"]


def test_the_words_say_what_it_holds_for(run):
    words = "\n".join(people_report(Basis(run, 0.5))["words"])
    assert "3 people labelled 7 cases of this run; two or more said usable or badcase on 5 of them." in words
    assert "for this panel of 3 people" in words
    assert "3 pairs and 3 people looked at" in words
    assert "Marked small" in words


def test_labels_given_with_the_verdict_count_on_the_other_basis_only(run):
    say("Dora", {1: OK, 4: OK}, blind=False, shown=True, run_id=run)
    assert [p["name"] for p in people_report(Basis(run, 0.5))["reviewers"]] == ["Ada", "Ben", "Cleo"]
    everybody = people_report(Basis(run, 0.5, "all"))
    assert [p["name"] for p in everybody["reviewers"]] == ["Ada", "Ben", "Cleo", "Dora"]
    assert {(p["one"], p["other"]): p["n"] for p in everybody["pairs"]}["Cleo", "Dora"] == 1


def test_picked_cases_and_revised_labels(run):
    reviewer = reviews.reviewer_named("Cleo")
    reviews.save_review(reviews.Review("picked", 7, 1, "overall", reviewer, BAD, blind=True))
    reviews.save_review(reviews.Review("revised", 3, 1, "overall", reviewer, OK))
    for basis, judge in (("blind", 3 / 3), ("all", 2 / 3)):
        cleo = people_report(Basis(run, 0.5, basis))["reviewers"][2]
        assert (cleo["votes"], cleo["judge"]["value"]) == (3, pytest.approx(judge))


def test_votes_are_those_that_gold_is_made_of(run):
    for name in ("blind", "all"):
        basis = Basis(run, 0.5, name)
        by_counts = Counter()
        for _prompt, _judge, said, n in people.shared_votes(basis):
            by_counts[len(said), sum(label == BAD for label in said.values())] += n
        kept = Counter()
        for patterns in agreement.vote_patterns(basis).values():
            kept.update({(m, bad): n for m, bad, n in patterns})
        assert by_counts == kept


def test_cases_of_one_prompt_are_known_to_belong_together(home):
    made = [kept_case(f"c{i}", (i, 0, 0), f"prompt {i % 3}") for i in range(12)]
    case_store.save_cases("shoes", [case for case, _picture in made], [picture for _case, picture in made])
    run = judged(1, {i: 0.9 for i in range(1, 13)})
    for person in ("Ada", "Ben"):
        say(person, {i: BAD if i % 3 == 1 else OK for i in range(1, 13)})
    report = people_report(Basis(run, 0.5))
    (pair,) = report["pairs"]
    assert (pair["n"], pair["agreement"]["clusters"], report["alpha"]["clusters"]) == (12, 3, 3)
    ada = report["reviewers"][0]
    assert (ada["judge"]["value"], ada["judge"]["clusters"], ada["judge"]["n"]) == (pytest.approx(8 / 12), 3, 12)
    assert ada["judge"]["hi"] - ada["judge"]["lo"] > 0.6  # three prompts, whatever the number of cases


def test_nothing_to_tell_is_a_sentence(fill):
    dataset = fill(4)
    run = judged(dataset, {1: 0.9, 2: 0.1})
    empty = people_report(Basis(run, 0.5))
    assert (empty["cases"], empty["words"]) == (0, ["There are no labels of people on cases of this run yet."])
    assert empty["shares"]["split"] == {"n": 0, "share": None}
    assert alt_report(Basis(run, 0.5))["words"] == [
        "It cannot be told: nobody has 30 cases that the judge and another person labelled as well."
    ]
    say("Ada", {1: OK, 2: BAD}, dataset)
    alone = people_report(Basis(run, 0.5))
    assert alone["words"][1].startswith("So how far people agree with each other cannot be told.")
    assert (alone["alpha"]["reason"], alone["ceiling"]["reason"]) == ("too_few_units", "too_few_units")
    assert alone["reviewers"][0]["others"]["reason"] == "too_few_units"
    say("Ben", {1: OK}, dataset)
    uniform = people_report(Basis(run, 0.5))
    assert uniform["alpha"]["reason"] == "single_category"
    assert "alpha is undefined" in uniform["words"][1]
    assert "cannot be compared" in uniform["ceiling"]["words"]


def test_a_run_without_threshold_or_answers_tells_of_people_only(run):
    report = people_report(Basis(run, None))
    assert (report["alpha"]["n"], report["ceiling"]["reason"]) == (5, "no_threshold")
    assert {p["judge"]["reason"] for p in report["reviewers"]} == {"no_threshold"}
    assert "the run gives scores and no labels" in report["ceiling"]["words"]
    assert alt_report(Basis(run, None))["reason"] == "no_threshold"
    with writing() as db:
        db.conn.execute("UPDATE verdicts SET score = NULL, status = 'failed'")
    silent = people_report(Basis(run, 0.5))
    assert silent["ceiling"]["reason"] == "judge_answered_none"
    assert [p["judge"]["value"] for p in silent["reviewers"]] == [0, 0, 0]
    for found in (report, silent):
        reviewers_chart(found), pairs_chart(found, "black")


def test_times_are_those_of_the_latest_labels(run):
    assert people.looking_times(Basis(run, 0.5), latest=1) == {"Ada": [2.0], "Ben": [5.5]}
    say("Ada", {7: OK}, dwell_ms=9000)
    assert people.looking_times(Basis(run, 0.5), latest=1)["Ada"] == [9.0]


def test_the_matrix_of_reviewers_has_every_pair_twice(run):
    say("Eve", {7: OK})
    say("Dora", {5: OK, 7: OK})
    (heat,) = pairs_chart(people_report(Basis(run, 0.5)), "black").data
    assert list(heat.y) == ["Ada · n 6", "Ben · n 5", "Cleo · n 3", "Dora · n 2", "Eve · n 1"]
    assert [list(row) for row in heat.z][:2] == [
        [None, 0.8, pytest.approx(2 / 3), 1, None],
        [0.8, None, pytest.approx(1 / 3), None, None],
    ]
    assert list(heat.customdata[0][1]) == list(heat.customdata[1][0]) == ["80%", "κ 0.62", "n 5, small"]
    assert heat.customdata[1][4][0] == "no common case"


def test_names_are_no_markup_in_charts(run):
    say("<b>Eve</b>", {1: BAD, 2: OK})
    report = people_report(Basis(run, 0.5))
    charts = [pairs_chart(report, "black"), reviewers_chart(report)]
    for chart in charts:
        assert "&lt;b&gt;Eve" in json.dumps(chart.to_dict(), default=list) and "<b>Eve" not in chart.to_json()


# --- could the judge stand in for a person? ----------------------------------------------------------------------------


@pytest.fixture
def panel_of_three(fill) -> dict:
    """40 cases, half of them bad; three people, each wrong on four cases of their own."""
    dataset = fill(40)
    truth = {i: BAD if i <= 20 else OK for i in range(1, 41)}
    turned = {BAD: OK, OK: BAD}
    for number, person in enumerate(("Ada", "Ben", "Cleo")):
        say(person, {i: turned[said] if i % 10 == number else said for i, said in truth.items()}, dataset)
    return truth


def test_a_judge_that_is_right_passes_and_a_constant_one_does_not(panel_of_three):
    run = judged(1, {i: 0.1 if said == BAD else 0.9 for i, said in panel_of_three.items()})
    report = alt_report(Basis(run, 0.5), 0.1)
    assert (report["winning_rate"], report["passed"], report["informative"]) == (1.0, True, True)
    assert [one["n"] for one in report["reviewers"]] == [40, 40, 40]
    assert report["constant"]["passed"] is False and report["constant"]["winning_rate"] == 0.0
    assert "3 of 3 people" in report["words"][1] and "and passes." in report["words"][1]
    assert "A judge that always says usable: it does so well against 0 of 3 people" in report["words"][1]
    assert "(eps 0.1)" in report["words"][0]
    json.dumps(report)


def test_on_unequal_classes_it_is_not_informative_and_says_so(fill):
    dataset = fill(40)
    for number, person in enumerate(("Ada", "Ben", "Cleo")):
        say(person, {i: BAD if i in (1, 2 + number) else OK for i in range(1, 41)}, dataset)
    run = judged(dataset, {i: 0.9 for i in range(1, 41)})
    report = alt_report(Basis(run, 0.5), 0.2)
    assert (report["passed"], report["constant"]["passed"], report["informative"]) == (True, True, False)
    assert report["warnings"] == ["constant_passes"]
    assert any(
        words.startswith("Not informative here: always saying usable passes as well") for words in report["words"]
    )


def test_the_sample_has_a_panel():
    load_sample()
    report = people_report(Basis(value("SELECT min(id) FROM runs"), 0.5, "all"))
    assert report["shared"] and report["alpha"]["value"] is not None
    assert "this panel" in "\n".join(report["words"])
