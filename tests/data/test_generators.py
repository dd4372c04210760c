"""How many of a generator's cases are truly usable, in which order, and what labels elsewhere say of it."""

from __future__ import annotations

import json
import random

import pytest

from data.reports.all_judged import all_judged_report
from data.reports.charts.generators import rank_ranges, usable_rates
from data.reports.elsewhere import ASSUMPTION, usable_rate_from_elsewhere
from data.reports.generators import generators_report
from data.store import queues, reviews
from data.store.agreement import Basis
from data.store.connection import rows, writing
from data.store.elsewhere import runs_elsewhere
from data.store.queues import Queue
from evaluators.agreement import rogan_gladen
from tests.data.test_groups import filled, labelled
from tests.data.test_queues import judged


def by_name(report: dict) -> dict[str, dict]:
    return {row["name"]: row for row in report["generators"]}


def audited(dataset: int, run: int, truth: dict[int, str], **shares: float) -> set[int]:
    """Blind labels on the cases of an audit; gives their ids."""
    ada = reviews.reviewer_named("Ada")
    drawn = queues.next_cases(dataset, "overall", ada, 10_000, queue=Queue("audit", run, **shares))
    for one in drawn:
        reviews.save_review(reviews.Review(f"audit-{one['case_id']}", one["case_id"], 1, "overall", ada, truth[one["case_id"]],
                                           blind=True, draw_id=one["draw_id"]))  # fmt: skip
    return {one["case_id"] for one in drawn}


@pytest.fixture
def two() -> tuple[Basis, dict[int, str]]:
    """aster: cases 1-40, of which the judge passes 30; borage: 41-80, of which it passes 20. Of each generator's flagged
    every second case is truly a badcase, of those passed every tenth. Nobody has labelled yet."""
    dataset = filled("two", [{"generator": "aster" if i < 40 else "borage", "prompt": f"p{i % 40}"} for i in range(80)])
    flagged = {i for i in range(1, 81) if i <= 10 or 41 <= i <= 60}
    truth = {i: "badcase" if i % (2 if i in flagged else 10) == 0 else "usable" for i in range(1, 81)}
    return Basis(judged(dataset, {i: 0.1 if i in flagged else 0.9 for i in range(1, 81)}), 0.5), truth


def test_when_all_are_labelled_the_rates_are_the_truth(two):
    basis, truth = two
    labelled(1, truth)
    report = generators_report(basis)
    aster, borage = report["generators"]
    # 5 of 10 flagged and 27 of 30 passed; 10 of 20 flagged and 18 of 20 passed.
    assert (aster["name"], aster["usable_rate"]["value"]) == ("aster", pytest.approx(32 / 40))
    assert (borage["name"], borage["usable_rate"]["value"]) == ("borage", pytest.approx(28 / 40))
    for row, judge_rate in ((aster, 0.75), (borage, 0.5)):
        assert row["judge_rate"]["value"] == judge_rate
        assert row["labels_only"]["value"] == pytest.approx(row["usable_rate"]["value"])
        assert (row["cases"], row["prompts"], row["labelled"], row["labelled_at_random"]) == (40, 40, 40, 40)
        assert row["usable_rate"]["lo"] < row["usable_rate"]["value"] < row["usable_rate"]["hi"]
        assert (row["rank"]["best"], row["rank"]["worst"], row["small"]) == (1, 2, False)
    assert (report["pairs"], report["told_apart"], report["same_prompts"]) == (1, 0, True)
    said = " ".join(report["words"])
    assert "what people say of 80 of 80" in said and "No two of the 2 generators are told apart" in said
    json.dumps(report)


def test_the_judges_own_rate_can_be_far_off_and_audits_put_it_right():
    """Both generators make 80 % usable cases; the judge passes 80 % of the one and 50 % of the other."""
    dataset, chance = (
        filled("far", [{"generator": "aster" if i < 500 else "borage"} for i in range(1000)]),
        random.Random(2),
    )
    scores = {i: 0.1 if (i <= 100 or 501 <= i <= 750) else 0.9 for i in range(1, 1001)}
    usable = {True: {0.1: 0.4, 0.9: 0.9}, False: {0.1: 0.65, 0.9: 0.95}}
    truth = {i: "usable" if chance.random() < usable[i <= 500][score] else "badcase" for i, score in scores.items()}
    run = judged(dataset, scores)
    drawn = audited(dataset, run, truth, flagged_share=0.8, passed_share=0.3)
    report = generators_report(Basis(run, 0.5))
    assert report["with_audits"]
    for name, ids in (("aster", range(1, 501)), ("borage", range(501, 1001))):
        row, true = by_name(report)[name], sum(truth[i] == "usable" for i in ids) / 500
        assert row["usable_rate"]["lo"] <= true <= row["usable_rate"]["hi"]
        assert row["labelled"] == len(drawn & set(ids))
        assert (row["labelled_at_random"], row["labels_only"]["reason"]) == (0, "no_data")
    assert by_name(report)["borage"]["judge_rate"]["value"] == 0.5 < by_name(report)["borage"]["usable_rate"]["lo"]
    # At another threshold an audit by the run's labels is no random draw within them any more.
    tried = generators_report(Basis(run, 0.05))
    assert not tried["with_audits"] and all(row["labelled"] == 0 for row in tried["generators"])


def test_one_generator_has_the_figures_of_all_judged_cases(two):
    basis, truth = two
    with writing() as db:
        db.conn.execute("UPDATE cases SET generator = 'aster'")
    labelled(1, {i: truth[i] for i in (1, 2, 3, 11, 12, 20, 41, 42, 61, 70)})
    [row] = generators_report(basis)["generators"]
    assert row["usable_rate"] == all_judged_report(basis)["usable_rate"]
    assert row["small"] and (row["rank"]["best"], row["rank"]["worst"]) == (1, 1)


def test_a_verdict_that_nobody_labelled_leaves_the_worst_cases(two):
    basis, truth = two
    labelled(1, {i: truth[i] for i in range(11, 41)} | {i: truth[i] for i in range(41, 81)})
    report = generators_report(basis)
    aster = by_name(report)["aster"]["usable_rate"]
    assert (aster["value"], aster["reason"]) == (None, "unreviewed_verdict")
    assert (aster["lo"], aster["hi"]) == (
        pytest.approx(27 / 40),
        pytest.approx(37 / 40),
    )  # all flags right, or all wrong
    assert report["generators"][-1]["name"] == "aster"
    assert [row["rank"]["best"] for row in report["generators"]] == [1, 1]
    assert any(
        "1 generator has no rate (one of the judge's two verdicts was never reviewed)" in w for w in report["words"]
    )
    assert "worst cases: some labels are missing" in [trace.name for trace in usable_rates(report).data]


def test_generators_that_are_far_apart_are_told_apart():
    dataset = filled("apart", [{"generator": f"g{i % 3}", "prompt": f"p{i // 3}"} for i in range(180)])
    chance = random.Random(4)
    truth = {i: "usable" if chance.random() < (0.95, 0.6, 0.2)[(i - 1) % 3] else "badcase" for i in range(1, 181)}
    run = judged(dataset, {i: 0.9 if said == "usable" else 0.1 for i, said in truth.items()})
    labelled(dataset, truth)
    report = generators_report(Basis(run, 0.5))
    assert [(row["name"], row["rank"]["best"], row["rank"]["worst"]) for row in report["generators"]] == [
        ("g0", 1, 1), ("g1", 2, 2), ("g2", 3, 3)]  # fmt: skip
    assert report["told_apart"] == report["pairs"] == 3
    assert any("3 pairs of 3 are told apart" in words for words in report["words"])
    chart = rank_ranges(report)
    assert [tuple(trace.x) for trace in chart.data] == [(1, 1), (2, 2), (3, 3)]


def test_other_prompts_are_said(two):
    basis, truth = two
    labelled(1, truth)
    with writing() as db:
        db.conn.execute("UPDATE cases SET prompt = 'another' WHERE id = 80")
    report = generators_report(basis)
    assert not report["same_prompts"] and any("not judged on the same prompts" in words for words in report["words"])


def test_cases_without_a_verdicts_label_are_counted_apart():
    dataset = filled("silent", [{"generator": "aster"}] * 3 + [{"generator": "borage"}])
    run = judged(dataset, {1: 0.9, 2: 0.1, 3: None, 4: None})
    labelled(dataset, {1: "usable", 2: "usable", 3: "badcase", 4: "usable"})
    report = generators_report(Basis(run, 0.5))
    aster, borage = by_name(report)["aster"], by_name(report)["borage"]
    assert (aster["cases"], aster["unanswered"], aster["labelled"], aster["labelled_at_random"]) == (2, 1, 2, 3)
    assert (aster["usable_rate"]["value"], aster["labels_only"]["value"]) == (1.0, pytest.approx(2 / 3))
    assert (borage["usable_rate"]["reason"], borage["labels_only"]["value"]) == ("judge_answered_none", 1.0)
    assert any("2 cases without a label from the judge" in words for words in report["words"])


def test_cases_that_a_prompt_shows_as_examples_measure_nothing(two):
    basis, truth = two
    labelled(1, truth)
    with writing() as db:
        db.conn.execute("UPDATE cases SET split = 'prompt_examples' WHERE id IN (1, 2)")
    aster = by_name(generators_report(basis))["aster"]
    assert (aster["cases"], aster["flagged"], aster["prompts"], aster["labelled"]) == (38, 8, 38, 38)


def test_without_verdicts_labels_or_a_threshold_there_is_a_sentence(fill):
    dataset = fill(2)
    empty, run = judged(dataset, {}), judged(dataset, {1: 0.9, 2: 0.1})
    assert generators_report(Basis(empty, 0.5))["words"] == ["The judge has judged no case of this run yet."]
    unlabelled = generators_report(Basis(run, 0.5))
    assert unlabelled["generators"][0]["usable_rate"]["reason"] == "unreviewed_verdict"
    scores_only = generators_report(Basis(run, None))
    assert "threshold" in scores_only["words"][0]
    assert scores_only["generators"][0]["usable_rate"]["reason"] == "no_threshold"
    for report in (unlabelled, scores_only):
        json.dumps(report)
        usable_rates(report), rank_ranges(report)


# --- labels from another dataset ---------------------------------------------------------------------------------------


@pytest.fixture
def there_and_here() -> tuple[int, int]:
    """A run on 100 labelled cases (40 tp, 9 fp, 10 fn, 41 tn) and one of the same judge on 50 cases, 30 of them passed."""
    old, new = filled("old", [{}] * 100), filled("new", [{"prompt": f"new {i}"} for i in range(50)])
    kinds = [("badcase", 0.1)] * 40 + [("usable", 0.1)] * 9 + [("badcase", 0.9)] * 10 + [("usable", 0.9)] * 41
    there = judged(old, {i: score for i, (_said, score) in enumerate(kinds, 1)})
    here = judged(new, {100 + i: 0.9 if i <= 30 else 0.1 for i in range(1, 51)})
    labelled(old, {i: said for i, (said, _score) in enumerate(kinds, 1)})
    return here, there


def test_the_rate_here_from_labels_there(there_and_here):
    here, there = there_and_here
    report = usable_rate_from_elsewhere(here, there)
    assert report["calibration"] == {"tp": 40, "fp": 9, "fn": 10, "tn": 41, "n": 100, "prompts": 100}
    expected = rogan_gladen(30, 50, 41, 50, 40, 50)
    assert report["usable_rate"] == expected.as_dict()
    assert report["usable_rate"]["value"] == pytest.approx((0.6 + 0.8 - 1) / (0.82 + 0.8 - 1))
    assert (report["judge_rate"]["value"], report["cases"]) == (0.6, 50)
    assert report["own"]["value"] is report["labels_here"]["value"] is None
    assert "From 100 labels (100 prompts) on “old”, 64.5 %" in report["words"][0]
    assert report["words"][1] == ASSUMPTION
    json.dumps(report)


def test_labels_here_stand_beside_it(there_and_here):
    here, there = there_and_here
    labelled(2, {101: "usable", 102: "usable", 131: "badcase", 132: "usable"})
    report = usable_rate_from_elsewhere(here, there)
    assert report["own"]["value"] == pytest.approx(0.6 + 0.4 * 0.5)
    assert report["labels_here"]["value"] == 0.75
    assert "people's labels here, without that assumption: 80.0 %" in report["words"][-1]


def test_a_judge_at_chance_there_tells_nothing_in_words(there_and_here):
    here, there = there_and_here
    with writing() as db:
        db.conn.execute("UPDATE verdicts SET score = 0.9 WHERE run_id = ?", [there])
    report = usable_rate_from_elsewhere(here, there)
    assert report["usable_rate"]["reason"] == "judge_at_chance"
    assert "cannot be told: on the calibration labels the judge is no better than chance" in report["words"][0]


def test_labels_that_do_not_fit_are_said(there_and_here):
    here, there = there_and_here
    with writing() as db:
        db.conn.execute("UPDATE verdicts SET score = 0.1 WHERE run_id = ? AND case_id > 102", [here])
    report = usable_rate_from_elsewhere(here, there)
    assert report["warnings"] == ["calibration_misfit"]
    assert any("do not fit" in words for words in report["words"])


def test_only_the_same_judging_elsewhere_will_do(there_and_here):
    here, there = there_and_here
    assert [run["id"] for run in runs_elsewhere(here)] == [there]
    again = judged(2, {101: 0.9})
    stranger = judged(1, {1: 0.9}, name="another judge")
    for other in (again, stranger, here, 999):
        with pytest.raises(ValueError, match="not the same judge, metric"):
            usable_rate_from_elsewhere(here, other)
    [row] = rows("SELECT judge_json FROM runs WHERE id = ?", [there])
    changed = {**row["judge"], "settings": {"model": "newer"}}
    with writing() as db:
        db.conn.execute("UPDATE runs SET judge_json = ? WHERE id = ?", [json.dumps(changed), there])
    assert runs_elsewhere(here) == []  # the judge was given another model in between


def test_two_runs_without_a_threshold_tell_nothing(there_and_here):
    here, there = there_and_here
    with writing() as db:
        db.conn.execute("UPDATE runs SET threshold = NULL")
    report = usable_rate_from_elsewhere(here, there)
    assert "without labels" in report["words"][0]
    assert {report[name]["reason"] for name in ("usable_rate", "judge_rate", "own")} == {"no_threshold"}
    json.dumps(report)


def test_nothing_labelled_there(there_and_here):
    here, there = there_and_here
    report = usable_rate_from_elsewhere(there, here)
    assert report["usable_rate"]["reason"] == "no_data"
    assert "cannot be told: no labels yet" in report["words"][0]
