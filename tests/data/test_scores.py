"""Scores against people's labels and scores: every figure counted by hand on small workspaces."""

from __future__ import annotations

import json

import pytest

from data.reports.charts.scores import distribution, judge_and_people, precision_recall, roc, sweep
from data.reports.human_scores import human_scores_report
from data.reports.scores import scores_report
from data.store import queues, reviews
from data.store.agreement import Basis
from data.store.connection import writing
from data.store.score_counts import score_histogram
from tests.data.test_items import T2I, run_of, say, sub_scores
from tests.data.test_queues import judged


def labelled(dataset: int, said: dict[int, str], person: str = "Ada") -> None:
    """This person's blind labels on randomly drawn cases."""
    reviewer = reviews.reviewer_named(person)
    queues.next_cases(dataset, "overall", reviewer, len(said))
    for case_id, label in said.items():
        draw = queues.draw_of(case_id, "overall", reviewer)
        reviews.save_review(
            reviews.Review(f"{person}/{case_id}", case_id, 1, "overall", reviewer, label, blind=True, draw_id=draw)
        )


def share_prompts(pairs: dict[int, str]) -> None:
    with writing() as db:
        db.conn.executemany("UPDATE cases SET prompt = ? WHERE id = ?", [(text, i) for i, text in pairs.items()])


BAD, USABLE = "badcase", "usable"
SCORES = {1: 0.1, 2: 0.3, 3: 0.3, 4: 0.6, 5: 0.8, 6: 0.8, 7: None}
SAID = {1: BAD, 2: BAD, 3: USABLE, 4: BAD, 5: USABLE, 6: USABLE, 7: BAD}


@pytest.fixture
def run(fill) -> int:
    dataset = fill(9)
    run = judged(dataset, {**SCORES, 8: 0.5})
    share_prompts({i: f"prompt {i % 3}" for i in range(1, 8)})
    labelled(dataset, SAID)
    return run


def test_scored_cases_are_counted_by_prompt_score_and_label(run):
    assert score_histogram(Basis(run, 0.5)) == [
        ("prompt 1", 0.1, 0, 1), ("prompt 0", 0.3, 1, 0), ("prompt 2", 0.3, 0, 1), ("prompt 1", 0.6, 0, 1),
        ("prompt 0", 0.8, 1, 0), ("prompt 2", 0.8, 1, 0),
    ]  # fmt: skip
    found = scores_report(Basis(run, 0.5))
    assert (found["n"], found["prompts"], found["badcases"], found["unscored"]) == (6, 3, 3, 1)
    assert score_histogram(Basis(run, None)) == score_histogram(Basis(run, 0.5))


def test_scores_are_cut_to_a_thousandth_on_their_own_side_of_the_threshold(fill):
    dataset = fill(6)
    run = judged(dataset, {1: 0.12341, 2: 0.12339, 3: 0.50049, 4: 0.50051, 5: 0.5004, 6: 0.99999})
    share_prompts(dict.fromkeys(range(1, 7), "one"))
    labelled(dataset, dict.fromkeys(range(1, 7), BAD))
    assert [row[1:] for row in score_histogram(Basis(run, None))] == [
        (0.123, 0, 2), (0.5, 0, 2), (0.501, 0, 1), (1.0, 0, 1),
    ]  # fmt: skip
    assert [row[1:] for row in score_histogram(Basis(run, 0.50045))] == [
        (0.123, 0, 2), (0.5, 0, 1), (0.50045, 0, 1), (0.501, 0, 1), (1.0, 0, 1),
    ]  # fmt: skip
    # 0.50051 rounds to 0.501, where it would be passed.
    assert [row[1:] for row in score_histogram(Basis(run, 0.5008))] == [(0.123, 0, 2), (0.5, 0, 3), (1.0, 0, 1)]
    for threshold in (0.50045, 0.5008):
        now = scores_report(Basis(run, threshold))["current"]
        assert now["tp"] == sum(score < threshold for score in (0.12341, 0.12339, 0.50049, 0.50051, 0.5004, 0.99999))


def test_the_areas_are_those_counted_by_hand(run):
    found = scores_report(Basis(run, 0.5))
    # Usable 0.3, 0.8, 0.8 above badcases 0.1, 0.3, 0.6: 1 + 0.5 + 0, and twice 3, of nine pairs.
    assert found["auc"]["value"] == pytest.approx(7.5 / 9)
    # Flagged in steps: 1 of 1, then 2 of 3, then 3 of 4, each a third of the badcases.
    assert found["average_precision"]["value"] == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)
    assert found["bad_rate"]["value"] == 0.5


def test_the_sweep_has_every_threshold_and_marks_the_present_one(run):
    found = scores_report(Basis(run, 0.5))
    assert [(p["threshold"], p["does"]) for p in found["points"]] == [
        (None, "passes every case"), (pytest.approx(0.2), ""), (pytest.approx(0.45), ""), (pytest.approx(0.7), ""),
        (None, "flags every case"),
    ]  # fmt: skip
    assert [(p["tp"], p["fp"], p["fn"], p["tn"]) for p in found["points"]] == [
        (0, 0, 3, 3), (1, 0, 2, 3), (2, 1, 1, 2), (3, 1, 0, 2), (3, 3, 0, 0),
    ]  # fmt: skip
    assert found["points"][0]["precision_bad"] is None
    now = found["current"]
    assert (now["threshold"], now["tp"], now["fp"], now["fn"], now["tn"]) == (0.5, 2, 1, 1, 2)


def test_scores_lie_in_bands_by_label(run):
    bands = scores_report(Basis(run, 0.5))["distribution"]
    assert {band["lo"]: (band["usable"], band["badcase"]) for band in bands if band["usable"] + band["badcase"]} == {
        0.1: (0, 1), 0.3: (1, 1), 0.6: (0, 1), 0.8: (2, 0),
    }  # fmt: skip
    assert len(bands) == 20 and bands[-1]["hi"] == 1


def test_a_tuned_threshold_is_shown_by_what_it_does_on_prompts_that_it_has_not_seen(fill):
    # All six cases favour 0.5, where it is right on five. Without prompt a or b, 0.3 is as good and nearer to the present one,
    # so their badcases are missed; without c it is 0.5, which flags both of c.
    dataset = fill(6)
    run = judged(dataset, {1: 0.4, 2: 0.6, 3: 0.4, 4: 0.6, 5: 0.2, 6: 0.4})
    share_prompts({1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 6: "c"})
    labelled(dataset, {1: BAD, 2: USABLE, 3: BAD, 4: USABLE, 5: BAD, 6: USABLE})
    found = scores_report(Basis(run, 0.3))
    assert found["favoured"]["threshold"] == pytest.approx(0.5)
    tuned = found["held_out"]
    assert (tuned["recall_bad"]["value"], tuned["specificity"]["value"]) == pytest.approx((1 / 3, 2 / 3))
    now = found["now"]
    assert (now["recall_bad"]["value"], now["specificity"]["value"]) == pytest.approx((1 / 3, 1))
    assert found["gain"]["value"] == pytest.approx(1 / 2 - 2 / 3)
    told = "\n".join(found["words"])
    assert "favour the threshold 0.5" in told and "On new cases" in told and "At the present threshold 0.3" in told


def test_costs_decide_which_errors_a_threshold_avoids(run):
    dear = scores_report(Basis(run, 0.5), "cost", 100.0, 1.0)
    cheap = scores_report(Basis(run, 0.5), "cost", 1.0, 100.0)
    assert dear["favoured"]["threshold"] == pytest.approx(0.7)  # no badcase is missed
    assert cheap["favoured"]["threshold"] == pytest.approx(0.2)  # nothing usable is flagged
    # At 0.5 one badcase is missed and one usable case flagged.
    assert dear["now"]["cost"]["value"] == pytest.approx(101 / 6)
    assert "cost per case" in "\n".join(dear["words"])
    assert "cost" not in scores_report(Basis(run, 0.5))["now"]


def test_a_run_without_a_threshold_still_tells_what_one_could_do(run):
    found = scores_report(Basis(run, None))
    assert found["auc"]["value"] == pytest.approx(7.5 / 9)
    assert (found["current"], found["now"], found["gain"]) == (None, None, None)
    assert any("no threshold to compare with" in words for words in found["words"])
    for chart in (roc, precision_recall, sweep, distribution):
        assert chart(found).to_plotly_json()["data"]


@pytest.mark.parametrize(
    ("said", "words"),
    [({}, "There are no blind labels"), (dict.fromkeys(range(1, 4), USABLE), "people used only one of the two labels"),
     ({1: BAD}, "all of these cases belong to one prompt")],
)  # fmt: skip
def test_what_cannot_be_told_is_said(fill, said, words):
    dataset = fill(3)
    run = judged(dataset, {1: 0.1, 2: 0.3, 3: 0.8})
    labelled(dataset, said)
    found = scores_report(Basis(run, 0.5))
    assert words in "\n".join(found["words"])
    json.dumps(found, allow_nan=False)
    for chart in (roc, precision_recall, sweep, distribution):
        chart(found)


def test_picked_and_shown_labels_do_not_count(run):
    ben = reviews.reviewer_named("Ben")
    reviews.save_review(reviews.Review("picked", 8, 1, "overall", ben, BAD, blind=True))
    assert scores_report(Basis(run, 0.5))["n"] == 6


# --- people's scores ---------------------------------------------------------------------------------------------------


@pytest.fixture
def judge(judge_at) -> dict:
    return judge_at("http://127.0.0.1:9/v1")


def test_each_score_is_compared_with_people_s_on_its_own_scale(fill, judge):
    given = {1: (2, 4), 2: (6, 5), 3: (9, None), 4: (5, 9)}
    run = run_of(fill(4), judge, T2I, *(sub_scores(value, 8, 9) for value, _ in given.values()))
    share_prompts({1: "a", 2: "a", 3: "b", 4: "b"})
    for case_id, (_, human) in given.items():
        say("Ada", case_id, run, {} if human is None else {"SC.prompt_following": human})
    found = {score["key"]: score for score in human_scores_report(run)["scores"]}
    assert set(found) == {"score", "SC.prompt_following", "PQ.naturalness", "PQ.artifacts"}
    sc = found["SC.prompt_following"]
    assert (sc["n"], sc["prompts"], sc["corrected"], sc["largest"]) == (4, 2, 3, 10)
    # Judge 2, 6, 9, 5 beside people's 4, 5, 9, 9: differences -2, 1, 0, -4.
    assert sc["bias"]["value"] == pytest.approx(-5 / 4)
    assert sc["mae"]["value"] == pytest.approx(7 / 4)
    assert sc["rmse"]["value"] == pytest.approx((21 / 4) ** 0.5)
    # Of six pairs one is a tie of people; four of the other five go alike.
    assert sc["kendall"]["value"] == pytest.approx(3 / (5 * 6) ** 0.5)
    # Ranks 1, 3, 4, 2 beside 1, 2, 3.5, 3.5.
    assert sc["spearman"]["value"] == pytest.approx(3 / (5 * 4.5) ** 0.5)
    # Within a prompt people rank only cases 1 and 2, and the judge does so too.
    assert (sc["ranking"]["pairs"], sc["ranking"]["value"]) == (1, 1.0)
    # Mean square 21/4; were both independent: 36.5 + 50.75 - 2 * 5.5 * 6.75.
    assert sc["quadratic_kappa"]["value"] == pytest.approx(1 - (21 / 4) / (36.5 + 50.75 - 2 * 5.5 * 6.75))
    assert sc["small"] and {(c["judge"], c["human"]): c["n"] for c in sc["cells"]}[(9, 9)] == 1
    natural = found["PQ.naturalness"]
    assert (natural["spearman"]["reason"], natural["bias"]["value"]) == ("constant_input", 0)
    json.dumps(list(found.values()), allow_nan=False)
    for score in found.values():
        judge_and_people(score)


def test_nobody_s_score_is_a_sentence(fill, judge):
    run = run_of(fill(1), judge, T2I, sub_scores(7, 8, 9))
    assert human_scores_report(run) == {
        "run": run, "scores": [], "words": ["Nobody has scored a drawn case of this run yet."],
    }  # fmt: skip
