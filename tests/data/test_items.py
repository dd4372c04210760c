"""Judge against people item by item: every pair counted by hand."""

from __future__ import annotations

import pytest

from data.reports.items import item_report
from data.store import queues, reviews
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.reviews import Review
from data.store.score_counts import overall_score_counts, sub_score_counts
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
    """key, the judge's sub-score, people's."""
    return [(p.key, p.judge, p.human) for p in sub_score_counts(run_id) for _ in range(p.n)]


def lines(run_id: int) -> dict[str, dict]:
    """The lines of question types and sub-scores by name, estimates as their values."""
    return {
        row["item"]: {name: v["value"] if isinstance(v, dict) else v for name, v in row.items()}
        for row in item_report(run_id)["groups"]
    }


def test_a_corrected_item_differs_and_those_left_as_they_are_agree(fill, judge):
    run = run_of(fill(2), judge, T2I, sub_scores(7, 8, 9), sub_scores(5, 5, 5))
    say("Ada", 1, run, {"SC.prompt_following": 4})
    assert pairs(run) == [
        ("PQ.artifacts", 9, 9),
        ("PQ.naturalness", 8, 8),
        ("SC.prompt_following", 7, 4),
    ]


def test_bias_and_error_of_each_sub_score_are_those_computed_by_hand(fill, judge):
    run = run_of(fill(4), judge, T2I, *(sub_scores(v, 8, 9) for v in (7, 5, 9, 2)))
    for case_id, corrected in (
        (1, {"SC.prompt_following": 4}),
        (2, {"SC.prompt_following": 6}),
        (3, {}),
        (4, {"PQ.artifacts": 10}),
    ):
        say("Ada", case_id, run, corrected)
    found = lines(run)
    # Judge minus Ada: 3, -1, 0, 0: bias 0.5, MAE 1.0; the standard deviation is sqrt(3), t(0.975, 3) is 3.182446.
    sc = found["SC.prompt_following"]
    assert (sc["n"], sc["bias"], sc["mae"], sc["agreement"]) == (4, 0.5, 1.0, 0.5)
    # Each case has a prompt of its own, so the interval is that of four independent cases.
    half = 3.182446305284263 * 3**0.5 / 2
    bias = next(row["bias"] for row in item_report(run)["groups"] if row["item"] == "SC.prompt_following")
    assert (bias["lo"], bias["hi"]) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-9)
    artifacts = found["PQ.artifacts"]
    assert (artifacts["bias"], artifacts["mae"], artifacts["agreement"]) == (-0.25, 0.25, 0.75)
    natural = found["PQ.naturalness"]
    assert (natural["n"], natural["bias"], natural["mae"], natural["agreement"]) == (4, 0.0, 0.0, 1.0)


def test_questions_are_reported_by_their_type(fill, judge):
    run = run_of(fill(2), judge, GECKO, questions("yes", "yes", "no"), questions("yes", "no", "no"))
    say("Ada", 1, run, {"question:0": "no"}, criterion="match")
    say("Ada", 2, run, {"question:2": "yes"}, criterion="match")
    say("Bo", 2, run, {}, criterion="match")
    # color: Ada 3 of 4, Bo 2 of 2. counting: Ada 1 of 2, Bo 1 of 1. Expected is always "yes".
    found = {name: (row["kind"], row["n"], row["agreement"]) for name, row in lines(run).items()}
    assert found == {"color": ("question", 6, 5 / 6), "counting": ("question", 3, 2 / 3)}
    cells = {name: tuple(row[cell] for cell in ("tp", "fp", "fn", "tn")) for name, row in lines(run).items()}
    # color: q1 of case 2 is wrong to the judge, Ada and Bo; q0 of case 1 only to Ada. counting: only Ada finds q2 right.
    assert cells == {"color": (2, 0, 1, 3), "counting": (2, 1, 0, 0)}
    pooled = item_report(run)["pooled"]
    assert (pooled["n"], pooled["tp"], pooled["fp"], pooled["fn"], pooled["tn"]) == (9, 4, 1, 1, 3)
    assert pooled["agreement"]["value"] == pytest.approx(7 / 9) and pooled["agreement"]["clusters"] == 2
    assert pooled["recall_bad"]["value"] == pytest.approx(4 / 5) and pooled["baseline"] == pytest.approx(5 / 9)


def test_single_questions_stand_with_their_words_the_most_answered_first(fill, judge):
    run = run_of(fill(2), judge, GECKO, questions("yes", "yes", "no"), questions("yes", "no", "no")[:2])
    say("Ada", 1, run, criterion="match")
    say("Ada", 2, run, {"question:0": "no"}, criterion="match")
    report = item_report(run)
    told = [(q["item"], q["group"], q["n"], q["prompts"], q["agreement"]["value"]) for q in report["questions"]]
    assert told == [("q0?", "color", 2, 2, 0.5), ("q1?", "color", 2, 2, 1.0), ("q2?", "counting", 1, 1, 1.0)]
    assert report["questions_seen"] == 3
    assert any(words.startswith("Exploratory: 5 lines") for words in report["words"])
    # One case of one prompt is worth one case, whoever looked at it: Wilson for 1 of 1.
    single = report["questions"][2]["agreement"]
    say("Bo", 1, run, criterion="match")
    both = next(q for q in item_report(run)["questions"] if q["item"] == "q2?")
    assert both["n"] == 2 and both["agreement"]["lo"] == single["lo"] == pytest.approx(0.2065493, abs=1e-6)


def test_whoever_labelled_blind_and_corrected_nothing_says_nothing_about_items(fill, judge):
    run = run_of(fill(2), judge, T2I, sub_scores(7, 8, 9))
    say("Ada", 1, run, blind=True)
    assert (pairs(run), lines(run)) == ([], {})
    assert item_report(run)["words"][0].startswith("Nobody has corrected an item")
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
    assert ("SC.prompt_following", 7, 6) in pairs(run)
    assert len(pairs(run)) == 3


def test_whoever_corrected_one_verdict_has_not_agreed_with_another_one(fill, judge, judge_at):
    dataset = fill(1)
    seen = run_of(dataset, judge, T2I, sub_scores(7, 8, 9))
    other = run_of(dataset, judge_at("http://127.0.0.1:9/v1", "second"), T2I, sub_scores(1, 2, 3))
    say("Ada", 1, seen, {"SC.prompt_following": 4})
    # She never saw the second judge's scores; what she left as it was beside the first one's is hers all the same.
    assert pairs(other) == [("PQ.artifacts", 3, 9), ("PQ.naturalness", 2, 8), ("SC.prompt_following", 1, 4)]


def test_a_run_that_nobody_saw_is_measured_on_right_answers_of_the_seen_one_as_well(fill, judge, judge_at):
    """Measured on corrected items only, where the seen judge was wrong, a judge that is right everywhere else looks bad."""
    dataset = fill(3)
    seen = run_of(dataset, judge, GECKO, *[questions("yes", "yes", "no")] * 3)
    second = judge_at("http://127.0.0.1:9/v1", "second")
    same = run_of(dataset, second, GECKO, *[questions("yes", "yes", "no")] * 3)
    silent = run_of(dataset, second, GECKO, *[questions(None, "yes", "no")] * 3)
    say("Ada", 1, seen, {"question:0": "no"}, criterion="match")
    say("Ada", 2, seen, criterion="match")
    say("Ada", 3, seen, blind=True, criterion="match")  # says nothing of items
    expected = {"color": (4, 3 / 4), "counting": (2, 1.0)}
    assert {name: (row["n"], row["agreement"]) for name, row in lines(same).items()} == expected
    assert lines(same) == lines(seen)
    assert (lines(silent)["color"]["n"], lines(silent)["color"]["agreement"]) == (4, 2 / 4)
    # Whoever looked at an answer that is missing and left it so said nothing of it to another judge.
    say("Bo", 1, silent, criterion="match")
    assert (lines(same)["color"]["n"], lines(silent)["color"]["n"]) == (5, 6)


def test_items_that_the_seen_verdict_does_not_have_are_not_spoken_of(fill, judge):
    dataset = fill(1)
    seen = run_of(dataset, judge, GECKO, questions("yes", "yes", "no")[:1])
    other = run_of(dataset, judge, GECKO, questions("no", "yes", "no"))
    say("Ada", 1, seen, criterion="match")
    assert {name: (row["n"], row["agreement"]) for name, row in lines(other).items()} == {"color": (1, 0.0)}


def test_a_label_given_blind_and_revised_beside_the_verdict_speaks_of_its_items(fill, judge):
    run = run_of(fill(1), judge, T2I, sub_scores(7, 8, 9))
    say("Ada", 1, run, blind=True)
    assert pairs(run) == []
    say("Ada", 1, run, {"PQ.artifacts": 2})
    assert pairs(run) == [("PQ.artifacts", 9, 2), ("PQ.naturalness", 8, 8), ("SC.prompt_following", 7, 7)]


def test_a_missing_answer_that_was_left_as_it_is_is_no_agreement(fill, judge):
    run = run_of(fill(1), judge, GECKO, questions("yes", None, "yes"))
    say("Ada", 1, run, criterion="match")
    color = lines(run)["color"]
    assert (color["agreement"], color["n"], color["tn"]) == (0.5, 2, 1)


def test_a_missing_answer_that_was_given_by_a_person_disagrees(fill, judge):
    run = run_of(fill(1), judge, GECKO, questions("yes", None, "yes"))
    say("Ada", 1, run, {"question:1": "yes"}, criterion="match")
    assert {name: row["agreement"] for name, row in lines(run).items()} == {"color": 0.5, "counting": 1.0}


def test_two_people_on_a_case_are_one_case_with_the_mean_of_what_they_say(fill, judge):
    run = run_of(fill(2), judge, T2I, sub_scores(7, 8, 9), sub_scores(5, 5, 5))
    say("Ada", 1, run, {"SC.prompt_following": 4})
    say("Bo", 1, run, {"SC.prompt_following": 5})
    say("Bo", 2, run)
    assert [pair for pair in pairs(run) if pair[0].startswith("SC")] == [
        ("SC.prompt_following", 7, 4.5), ("SC.prompt_following", 5, 5),
    ]  # fmt: skip
    assert sum(row.corrected for row in sub_score_counts(run)) == 1


def test_people_give_the_verdict_s_score_by_its_items_or_by_leaving_it(fill, judge):
    run = run_of(fill(3), judge, T2I, sub_scores(9, 4, 4), sub_scores(9, 4, 4), sub_scores(9, 4, 4))
    say("Ada", 1, run)  # left as it was: sqrt(9 * 4) / 10
    say("Ada", 2, run, {"PQ.naturalness": 9})  # without the score that it comes to
    say("Ada", 3, run, blind=True)  # has not seen it
    assert [(r.judge, r.human, r.n, r.corrected) for r in overall_score_counts(run)] == [(0.6, 0.6, 1, 0)]
