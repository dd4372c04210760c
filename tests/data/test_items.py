"""Judge against people item by item: every pair counted by hand."""

from __future__ import annotations

import pytest

from data.reports.items import item_report
from data.store import agreement, queues, reviews
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.reviews import Review
from evaluators import METRICS, Item, Options, Verdict

T2I, GECKO = METRICS["text_to_image"], METRICS["gecko_image"]


def sub_scores(prompt: float, natural: float, clean: float) -> tuple[Item, ...]:
    return (
        Item("SC.prompt_following", "sub_score", "follows the prompt", "SC", prompt),
        Item("PQ.naturalness", "sub_score", "looks natural", "PQ", natural),
        Item("PQ.artifacts", "sub_score", "free of artefacts", "PQ", clean),
    )


def questions(*answers: str | None) -> tuple[Item, ...]:
    return tuple(
        Item(f"question:{i}", "question", f"q{i}?", kind, answer=answer, expected="yes", choices=("yes", "no"))
        for i, (answer, kind) in enumerate(zip(answers, ("color", "color", "counting"), strict=True))
    )


def run_of(dataset: int, judge: dict, metric, *items: tuple[Item, ...]) -> int:
    """A run with these items on the first cases."""
    run_id = run_store.create_run(dataset, metric, judge, Options())
    verdicts = [
        (i, 1, Verdict(f"c{i - 1}", metric.name, "ok", score=metric.score(its), items=its))
        for i, its in enumerate(items, 1)
    ]
    verdict_store.save_verdicts(run_id, verdicts)
    return run_id


def say(person: str, case_id: int, run_id: int | None, corrected: dict | None = None, *, blind=False, drawn=True,
        criterion: str = "overall", label: str = "usable") -> str:  # fmt: skip
    reviewer = reviews.reviewer_named(person)
    if drawn:
        queues.next_cases(1, criterion, reviewer, 1)
    token = f"{person}/{case_id}/{criterion}/{run_id}/{corrected}/{blind}"
    draw = queues.draw_of(case_id, criterion, reviewer)
    reviews.save_review(
        Review(
            token,
            case_id,
            1,
            criterion,
            reviewer,
            label,
            items=corrected or {},
            blind=blind,
            shown=not blind and run_id is not None,
            run_id=run_id,
            draw_id=draw,
        )
    )
    return token


@pytest.fixture
def judge(judge_at) -> dict:
    return judge_at("http://127.0.0.1:9/v1")


def pairs(run_id: int) -> list[tuple]:
    return sorted(
        (p["key"], p["judge_value"], p["human_value"], p["judge_answer"], p["human_answer"])
        for p in agreement.item_pairs(run_id)
    )


def test_a_corrected_item_differs_and_those_left_as_they_are_agree(fill, judge):
    run = run_of(fill(2), judge, T2I, sub_scores(7, 8, 9), sub_scores(5, 5, 5))
    say("Ada", 1, run, {"SC.prompt_following": 4})
    assert pairs(run) == [
        ("PQ.artifacts", 9, 9, None, None), ("PQ.naturalness", 8, 8, None, None), ("SC.prompt_following", 7, 4, None, None),
    ]  # fmt: skip


def test_bias_and_error_of_each_sub_score_are_those_computed_by_hand(fill, judge):
    run = run_of(fill(4), judge, T2I, *(sub_scores(v, 8, 9) for v in (7, 5, 9, 2)))
    for case_id, corrected in (
        (1, {"SC.prompt_following": 4}),
        (2, {"SC.prompt_following": 6}),
        (3, {}),
        (4, {"PQ.artifacts": 10}),
    ):
        say("Ada", case_id, run, corrected)
    found = {row["item"]: row for row in item_report(run)}
    # Judge minus Ada: 3, -1, 0, 0: bias 0.5, MAE 1.0; the standard deviation is sqrt(3), t(0.975, 3) is 3.182446.
    sc = found["SC.prompt_following"]
    assert (sc["n"], sc["bias"], sc["mae"], sc["agreement"]) == (4, 0.5, 1.0, 0.5)
    half = 3.182446305284263 * 3**0.5 / 2
    assert (sc["bias_lo"], sc["bias_hi"]) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-9)
    artifacts = found["PQ.artifacts"]
    assert (artifacts["bias"], artifacts["mae"], artifacts["agreement"]) == (-0.25, 0.25, 0.75)
    natural = found["PQ.naturalness"]
    assert (natural["n"], natural["bias"], natural["mae"], natural["agreement"]) == (4, 0.0, 0.0, 1.0)


def test_questions_are_reported_by_their_type(fill, judge):
    run = run_of(fill(2), judge, GECKO, questions("yes", "yes", "no"), questions("yes", "no", "no"))
    say("Ada", 1, run, {"question:0": "no"}, criterion="match")
    say("Ada", 2, run, {"question:2": "yes"}, criterion="match")
    say("Bo", 2, run, {}, criterion="match")
    found = {
        row["item"]: (row["kind"], row["n"], row["agreement"], row["bias"], row["mae"]) for row in item_report(run)
    }
    # color: Ada 3 of 4, Bo 2 of 2. counting: Ada 1 of 2, Bo 1 of 1.
    assert found == {"color": ("question", 6, 5 / 6, None, None), "counting": ("question", 3, 2 / 3, None, None)}


def test_whoever_labelled_blind_and_corrected_nothing_says_nothing_about_items(fill, judge):
    run = run_of(fill(2), judge, T2I, sub_scores(7, 8, 9))
    say("Ada", 1, run, blind=True)
    assert (pairs(run), item_report(run)) == ([], [])
    say("Bo", 1, run, blind=False)
    assert len(pairs(run)) == 3


def test_a_picked_case_another_criterion_and_an_undone_review_do_not_count(fill, judge):
    run = run_of(fill(3), judge, T2I, sub_scores(7, 8, 9), sub_scores(7, 8, 9), sub_scores(7, 8, 9))
    say("Ada", 1, run, {"SC.prompt_following": 4}, drawn=False)
    say("Ada", 2, run, {"SC.prompt_following": 4}, criterion="match")
    token = say("Bo", 3, run, {"SC.prompt_following": 4})
    assert len(pairs(run)) == 3
    reviews.undo_review("undo", token, reviews.reviewer_named("Bo"))
    assert pairs(run) == []


def test_the_current_review_counts_and_an_earlier_correction_does_not(fill, judge):
    run = run_of(fill(1), judge, T2I, sub_scores(7, 8, 9))
    say("Ada", 1, run, {"SC.prompt_following": 4})
    say("Ada", 1, run, {"SC.prompt_following": 6})
    assert ("SC.prompt_following", 7, 6, None, None) in pairs(run)
    assert len(pairs(run)) == 3


def test_whoever_corrected_one_verdict_has_not_agreed_with_another_one(fill, judge, judge_at):
    dataset = fill(1)
    seen = run_of(dataset, judge, T2I, sub_scores(7, 8, 9))
    other = run_of(dataset, judge_at("http://127.0.0.1:9/v1", "second"), T2I, sub_scores(1, 2, 3))
    say("Ada", 1, seen, {"SC.prompt_following": 4})
    # She never saw the second judge's PQ; her naturalness is 8, left as it was, or it is unknown: it is not 2.
    assert ("PQ.naturalness", 2, 2, None, None) not in pairs(other)
    assert ("PQ.artifacts", 3, 3, None, None) not in pairs(other)


def test_a_missing_answer_that_was_left_as_it_is_is_no_agreement(fill, judge):
    run = run_of(fill(1), judge, GECKO, questions("yes", None, "yes"))
    say("Ada", 1, run, criterion="match")
    found = {row["item"]: row["agreement"] for row in item_report(run)}
    assert found["color"] == 0.5


def test_a_missing_answer_that_was_given_by_a_person_disagrees(fill, judge):
    run = run_of(fill(1), judge, GECKO, questions("yes", None, "yes"))
    say("Ada", 1, run, {"question:1": "yes"}, criterion="match")
    assert {row["item"]: row["agreement"] for row in item_report(run)} == {"color": 0.5, "counting": 1.0}
