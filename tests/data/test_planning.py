"""How many labels it takes: numbers by hand (agreement.md 1.3), the queue, the days, and what to say without any."""

from __future__ import annotations

import json

import pytest

from data.reports.planning import planning_report
from data.store import queues, reviews
from data.store.agreement import Basis
from data.store.cases import dataset_id, save_cases
from data.store.connection import writing
from data.store.pace_of_labels import pace_of_labels
from evaluators.agreement import two_phase, wilson
from tests.conftest import kept_case, shade
from tests.data.test_queues import judged, label


def said_at_random(dataset: int, said: dict[int, str], who: str = "Ada", day: str = "2026-11-02") -> None:
    """Blind labels on cases of the random queue, by case id."""
    reviewer = reviewers_id(who)
    drawn = {o["case_id"]: o["draw_id"] for o in queues.next_cases(dataset, "overall", reviewer, 10_000)}
    for case_id, word in said.items():
        reviews.save_review(reviews.Review(f"{who}/{case_id}", case_id, 1, "overall", reviewer, word, blind=True,
                                           draw_id=drawn[case_id], created=f"{day}T09:00:00.000000Z"))  # fmt: skip


def reviewers_id(who: str) -> int:
    return reviews.reviewer_named(who)


def of(report: dict, goal: str) -> dict:
    return next(found for found in report["goals"] if found["goal"] == goal)


@pytest.fixture
def hundred(fill) -> int:
    """100 cases, each of a prompt of its own: 10 badcases of which 8 are flagged, 90 usable of which 13 are."""
    dataset = fill(100)
    bad = set(range(1, 11))
    flagged = set(range(1, 9)) | set(range(11, 24))
    run = judged(dataset, {i: 0.1 if i in flagged else 0.9 for i in range(1, 101)})
    said_at_random(dataset, {i: "badcase" if i in bad else "usable" for i in range(1, 101)})
    return run


def test_the_numbers_of_the_specification(hundred):
    report = planning_report(Basis(hundred, 0.5), truth=0.9)
    assert (report["n"], report["bad"], report["accuracy"]["value"], report["deff"]) == (100, 10, 0.85, 1.0)
    around = of(report, "agreement")
    assert (around["needed"], around["worst"], around["more"]) == (196, 381, 96)
    shown = of(report, "claim")
    assert (shown["needed"], shown["more"], shown["truth"]) == (304, 204, 0.9)
    found = of(report, "recall")
    assert (found["badcases"], found["needed"], found["more"], found["queue"]) == (60, 600, 500, "random")
    apart = of(report, "difference")
    assert (apart["needed"], apart["alike"], apart["more"]) == (626, 312, 526)
    assert [goal["days"] for goal in report["goals"]] == [1, 3, 5, 6]  # at 100 cases a day
    json.dumps(report, allow_nan=False)


def test_the_words_give_number_queue_and_days(hundred):
    report = planning_report(Basis(hundred, 0.5), truth=0.9)
    assert of(report, "agreement")["words"] == (
        "Agreement to within ±5 points: 196 labelled cases in random order (at the present agreement of 85.0 %; 381 in the "
        "worst case, 50 %). 100 are there, so 96 more, from the random queue. No case of the run is left: add cases and "
        "judge them. That is about 1 working day."
    )
    assert "60 badcases, and 10.0 % of labelled cases are such; 10 are there" in of(report, "recall")["words"]
    assert report["words"][0] == (
        "On the last day with labels (2026-11-02 to 2026-11-02) all reviewers together gave 100 labels on 100 cases: "
        "100 cases a working day."
    )


def test_a_claim_that_the_judge_does_not_reach_has_no_number(hundred):
    report = planning_report(Basis(hundred, 0.5), claim=0.85)
    assert (of(report, "claim")["needed"], of(report, "claim")["reason"]) == (None, "not_better_than_claim")
    assert "no number can be named" in of(report, "claim")["words"]
    assert of(planning_report(Basis(hundred, 0.5), claim=0.8499), "claim")["reason"] == "too_close_to_claim"


def test_what_is_reached_is_said_to_be_there(hundred):
    found = of(planning_report(Basis(hundred, 0.5), half_width=0.1), "agreement")
    assert (found["needed"], found["more"], found["days"]) == (49, 0, 0)
    assert found["words"].endswith("They are there.")


def test_pictures_of_one_prompt_are_worth_less(fill):
    """20 prompts with 4 pictures each, all four right or all four wrong: 4 cases are worth hardly more than one."""
    made = [kept_case(f"c{i}", shade(i), f"prompt {i // 4}") for i in range(80)]
    save_cases("shoes", [case for case, _ in made], [kept for _, kept in made])
    dataset = dataset_id("shoes")
    run = judged(dataset, {i: 0.9 for i in range(1, 81)})
    said_at_random(dataset, {i: "badcase" if i <= 12 else "usable" for i in range(1, 81)})
    report = planning_report(Basis(run, 0.5))
    # Three prompts of 20 are wrong: R = .85, V = 20/19 * (3 * 3.4^2 + 17 * .6^2) / 80^2, n_eff = R (1 - R) / V = 19.
    assert report["deff"] == pytest.approx(80 / 19)
    assert of(report, "agreement")["needed"] == 826  # 196 * 80 / 19 = 825.3
    assert "times 4.2 as pictures of one prompt are alike" in of(report, "agreement")["words"]


def test_from_one_prompt_no_number_is_named(fill):
    dataset = fill(40)
    run = judged(dataset, {i: 0.9 if i <= 30 else 0.1 for i in range(1, 41)})
    with writing() as db:
        db.conn.execute("UPDATE cases SET prompt = 'a cat'")
    said_at_random(dataset, {i: "badcase" if i > 29 else "usable" for i in range(1, 41)})
    report = planning_report(Basis(run, 0.5))
    assert report["deff"] is None
    assert {goal["goal"]: (goal["needed"], goal["reason"]) for goal in report["goals"]} == dict.fromkeys(
        ("agreement", "claim", "recall", "difference"), (None, "few_clusters")
    )
    assert all("label cases of other prompts" in goal["words"] for goal in report["goals"])
    assert {(audit["half_width"], audit["reason"]) for audit in report["audits"]} == {(None, "few_clusters")}
    json.dumps(report, allow_nan=False)


def test_what_is_left_is_judged_and_unlabelled(fill):
    dataset = fill(10)
    run = judged(dataset, {i: 0.9 for i in range(1, 9)})  # 9 and 10 were not judged
    said_at_random(dataset, {1: "usable", 2: "unsure", 9: "usable"})
    with writing() as db:
        db.conn.execute("UPDATE cases SET split = 'prompt_examples' WHERE id = 3")
    assert planning_report(Basis(run, 0.5))["cases_left"] == 5  # 4 to 8
    assert planning_report(Basis(run, None))["cases_left"] == 5


def test_an_audit_is_named_where_it_needs_fewer_labels(fill):
    """1,000 cases, 60 flagged. Labelled are 100: 6 flagged (5 right) and 94 passed (a badcase among them), so 6 % are bad."""
    dataset = fill(1000)
    run = judged(dataset, {i: 0.1 if i <= 60 else 0.9 for i in range(1, 1001)})
    said_at_random(dataset, {i: "badcase" if i <= 5 or i == 61 else "usable" for i in (*range(1, 7), *range(61, 155))})
    report = planning_report(Basis(run, 0.5), recall_half_width=0.127)
    audit = next(a for a in report["audits"] if (a["flagged"], a["passed"]) == (1.0, 0.5))
    assert (audit["labels"], audit["more"]) == (530, 430)  # 60 + 470, of which 6 and 94 are there
    expected = two_phase(60, 940, wilson(50, 60), wilson(465, 470)).recall_bad
    assert audit["half_width"] == pytest.approx((expected.hi - expected.lo) / 2)
    assert audit["misses"] == pytest.approx(5)
    found = of(report, "recall")
    assert (found["queue"], found["more"], found["badcases"]) == ("audit", 430, 33)
    assert found["random_more"] == 450  # 27 more badcases at 6 %
    assert "an audit of all of the flagged and 50 % of the passed cases takes about 430 more" in found["words"]
    assert of(planning_report(Basis(run, 0.5)), "recall")["queue"] == "random"  # no audit tells so much


def test_without_labels_it_plans_for_the_worst_case(fill):
    dataset = fill(3)
    run = judged(dataset, {1: 0.9, 2: 0.1, 3: None})
    report = planning_report(Basis(run, 0.5))
    assert (of(report, "agreement")["needed"], of(report, "agreement")["more"]) == (381, 381)
    assert of(report, "claim")["reason"] == "no_data" and of(report, "recall")["reason"] == "no_data"
    assert {goal["days"] for goal in report["goals"]} == {None}
    assert report["words"][0].startswith("Nobody has labelled here yet")
    assert of(planning_report(Basis(run, 0.5), truth=0.9), "claim")["needed"] == 304


def test_a_run_without_threshold_and_labels_without_badcases(fill):
    dataset = fill(4)
    run = judged(dataset, {i: 0.9 for i in range(1, 5)})
    said_at_random(dataset, {1: "usable", 2: "usable"})
    bare = planning_report(Basis(run, None))
    assert (bare["n"], bare["audits"], of(bare, "agreement")["needed"]) == (2, [], 381)
    assert bare["accuracy"]["reason"] == of(bare, "claim")["reason"] == "no_threshold"
    assert bare["words"][0].startswith("This run gives scores without labels")
    assert "no labels yet" not in " ".join(bare["words"])
    assert of(planning_report(Basis(run, 0.5)), "recall")["reason"] == "no_human_bad"
    json.dumps(planning_report(Basis(run, 0.5)), allow_nan=False)


def test_the_pace_counts_a_persons_first_labels_on_the_last_days_that_have_any(fill):
    dataset = fill(20)
    assert set(pace_of_labels(dataset, "overall").values()) == {0, None}
    for i in range(1, 17):  # a case a day, and weekends without
        said_at_random(dataset, {i: "usable"}, day=f"2026-10-{i + (i > 8):02}")
    said_at_random(dataset, {16: "badcase", 17: "usable"}, who="Ben", day="2026-10-17")
    label(1, reviewers_id("Ada"), "badcase", token="again")  # a revision, however late, is no further label
    label(18, reviewers_id("Ben"), token="slip")
    reviews.undo_review("undo", "slip", reviewers_id("Ben"))
    assert pace_of_labels(dataset, "overall") == {"days": 14, "first_day": "2026-10-03", "last_day": "2026-10-17",
                                                  "labels": 16, "cases": 15}  # fmt: skip
    assert pace_of_labels(dataset, "match")["labels"] == 0
