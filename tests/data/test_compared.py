"""Runs on the same labelled cases, every case counted by hand."""

from __future__ import annotations

import json

import pytest

from data.reports.charts.comparison import differences, versions
from data.reports.comparison import comparison_report, more_often
from data.reports.versions import versions_report
from data.store import queues, reviews
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.compared import telling_cases, told_by_run
from data.store.connection import writing
from evaluators import METRICS, Options, Verdict
from evaluators.agreement import ClusterDifference, Told, mcnemar
from tests.data.test_queues import judged, label

GOLD = {1: "badcase", 2: "badcase", 3: "badcase", 4: "usable", 5: "usable", 6: "usable", 7: "usable", 8: "usable"}
# Right on 1, 4, 6, 7, 8; wrong on 2 and 5; no answer on 3.
FIRST = {1: 0.1, 2: 0.9, 3: None, 4: 0.9, 5: 0.1, 6: 0.9, 7: 0.9, 8: 0.9}
# Right on 1, 2, 5, 6, 7; wrong on 3 and 4; 8 was not judged.
SECOND = {1: 0.1, 2: 0.2, 3: 0.9, 4: 0.1, 5: 0.9, 6: 0.9, 7: 0.9}


def say(dataset: int, gold: dict[int, str], person: str = "Ada") -> None:
    """Random labels of one person on these cases."""
    reviewer = reviews.reviewer_named(person)
    draws = {o["case_id"]: o["draw_id"] for o in queues.next_cases(dataset, "overall", reviewer, len(gold) + 100)}
    for case_id, said in gold.items():
        label(case_id, reviewer, said, draws[case_id])


def one_prompt(*case_ids: int) -> None:
    with writing() as db:
        db.conn.execute(
            f"UPDATE cases SET prompt = 'the same' WHERE id IN ({', '.join('?' * len(case_ids))})", case_ids
        )


@pytest.fixture
def two_runs(fill) -> tuple[int, int]:
    dataset = fill(8)
    runs = judged(dataset, FIRST, "first"), judged(dataset, SECOND, "second")
    say(dataset, GOLD)
    return runs


def test_only_common_cases_count_and_no_answer_is_wrong(two_runs):
    first, second = two_runs
    [row] = comparison_report([first, second], "all")["comparisons"]
    assert (row["n"], row["both"], row["b"], row["c"], row["neither"]) == (7, 3, 2, 1, 1)
    assert row["difference"]["value"] == pytest.approx(1 / 7)
    assert row["difference"]["lo"] == mcnemar(2, 1, 7).lo
    assert row["p"] == row["p_midp"] == mcnemar(2, 1, 7).p_midp
    assert row["recall_bad"]["value"] == pytest.approx(1 / 3) and row["recall_bad"]["n"] == 3
    assert row["specificity"]["value"] == 0 and row["specificity"]["n"] == 4
    assert (row["accuracy"]["value"], row["reference_accuracy"]["value"]) == pytest.approx((5 / 7, 4 / 7))
    assert row["words"][0].startswith("Run 2 agrees with people 14.3 points more often than run 1 [")
    assert "3 cases told them apart: run 2 was right on 2 of them, run 1 on 1." in row["words"][1]
    assert not row["is_shown"] and row["small"]


def test_the_prompts_are_known(two_runs):
    first, second = two_runs
    one_prompt(1, 2, 4)
    told = told_by_run(first, [second], "all")[second]
    assert told == {
        (Told(1, 1), Told(0, 0, 1)): 1,  # the prompt of cases 1, 2 and 4
        (Told(0, 0, 0, 1), Told()): 1, (Told(), Told(0, 1)): 1, (Told(), Told(1)): 2,
    }  # fmt: skip
    [row] = comparison_report([first, second], "all")["comparisons"]
    assert (row["n"], row["prompts"]) == (7, 5)
    assert row["difference"]["method"] == "Student's t over clusters"
    assert row["p"] != row["p_midp"]


def test_the_first_run_is_the_reference(two_runs):
    first, second = two_runs
    [row] = comparison_report([second, first, second], "all")["comparisons"]
    assert (row["run"], row["reference"], row["b"], row["c"]) == (first, second, 1, 2)
    assert row["words"][0].startswith("Run 1 agrees with people 14.3 points less often than run 2 [")


def test_picked_labels_skipped_and_outdated_verdicts_do_not_count(fill):
    dataset = fill(4)
    first = judged(dataset, {1: 0.9, 2: 0.9, 3: 0.9})
    second = judged(dataset, {1: 0.1, 4: 0.1}, "second")
    verdict_store.save_verdicts(second, [(2, 1, Verdict("c1", "text_to_image", "skipped"))])
    say(dataset, {1: "usable", 2: "usable"})
    label(4, reviews.reviewer_named("Ben"), "usable")  # picked
    [row] = comparison_report([first, second], "all")["comparisons"]
    assert (row["n"], row["c"]) == (1, 1)
    with writing() as db:
        db.conn.execute("UPDATE cases SET revision = 2 WHERE id = 3")
    third = judged(dataset, {})
    verdict_store.save_verdicts(third, [(3, 2, Verdict("c2", "text_to_image", "ok", score=0.9, threshold=0.5))])
    ada = reviews.reviewer_named("Ada")
    drawn = queues.draw_of(3, "overall", ada)
    reviews.save_review(reviews.Review("again", 3, 2, "overall", ada, "usable", draw_id=drawn))
    [row] = comparison_report([third, first], "all")["comparisons"]
    assert row["n"] == 0  # the first run judged what case 3 was before
    assert row["words"] == ["Run 1 and run 3 have no labelled case in common: nothing can be compared."]


def test_many_comparisons_are_adjusted_as_they_were_meant(two_runs, fill):
    first, second = two_runs
    third = judged(1, {i: 0.1 if said == "badcase" else 0.9 for i, said in GOLD.items()}, "third")
    planned = comparison_report([first, second, third], "all")
    p = [row["p"] for row in planned["comparisons"]]
    assert p[1] < p[0]
    assert [row["p_adjusted"] for row in planned["comparisons"]] == pytest.approx([max(p[0], 2 * p[1]), 2 * p[1]])
    assert planned["adjustment"] == "Holm" and not planned["exploratory"]
    assert any(words.startswith("The best of 3 runs looks better than it is") for words in planned["words"])
    exploring = comparison_report([first, second, third], "all", planned=False)
    assert [row["p_adjusted"] for row in exploring["comparisons"]] == pytest.approx([p[0], min(p[0], 2 * p[1])])
    assert exploring["exploratory"] and any(words.startswith("Exploratory:") for words in exploring["words"])
    assert not any("The best of" in words for words in comparison_report([first, second], "all")["words"])
    json.dumps(planned, allow_nan=False)


def test_no_case_told_them_apart(fill):
    dataset = fill(3)
    runs = [judged(dataset, {1: 0.9, 2: 0.1, 3: 0.9}, name) for name in ("first", "second")]
    say(dataset, {1: "usable", 2: "badcase", 3: "badcase"})
    [row] = comparison_report(runs, "all")["comparisons"]
    assert row["words"][0].endswith("on 3 common cases (3 prompts): no case told them apart.")
    assert telling_cases(*runs, "all") == []


def test_runs_that_cannot_be_compared(two_runs, fill):
    first, second = two_runs
    with writing() as db:
        db.conn.execute("UPDATE runs SET threshold = NULL WHERE id = ?", [second])
    report = comparison_report([first, second], "all")
    assert report["comparisons"] == [] and report["without_threshold"] == [second]
    assert report["words"][0] == "Run 2 gives scores without labels and cannot be compared: it needs a threshold."
    assert comparison_report([second, first], "all")["comparisons"] == []
    assert comparison_report([first], "all")["words"] == comparison_report([], "all")["words"]
    with pytest.raises(ValueError, match="no run 99"):
        comparison_report([first, 99])
    elsewhere = judged(fill(2, "boots"), {9: 0.1}, "first")
    with pytest.raises(ValueError, match="nothing to compare"):
        comparison_report([first, elsewhere])
    match = run_store.create_run(
        1, METRICS["image_text_match"], {"id": 1, "name": "x", "kind": "recorded", "settings": {}, "mode": ""},
        Options(),
    )  # fmt: skip
    with pytest.raises(ValueError, match="another criterion"):
        comparison_report([first, match])


def test_the_cases_that_tell_two_runs_apart_by_turns(two_runs):
    first, second = two_runs
    found = telling_cases(first, second, "all")
    assert [(c["case_id"], c["sides_with"]) for c in found] == [(4, first), (2, second), (5, second)]
    told = found[1]
    assert (told["gold"], told["label_a"], told["score_a"], told["label_b"], told["score_b"]) == (
        "badcase", "usable", 0.9, "badcase", 0.2,
    )  # fmt: skip
    assert [c["case_id"] for c in telling_cases(first, second, "all", limit=2)] == [4, 2]
    assert {(c["case_id"], c["sides_with"]) for c in telling_cases(second, first, "all")} == {
        (4, first), (2, second), (5, second)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "lo", "hi", "said"),
    [
        (0.042, 0.011, 0.073, "4.2 points more often than run 1 [1.1–7.3]"),
        (-0.042, -0.073, -0.011, "4.2 points less often than run 1 [1.1–7.3]"),
        (0.02, -0.01, 0.05, "2.0 points more often than run 1 [−1.0 to 5.0]"),
        (0.0, -0.03, 0.03, "as often as run 1 [−3.0 to 3.0]"),
        (0.5, None, None, "50.0 points more often than run 1 (no interval: all of these cases belong to one prompt)"),
    ],
)
def test_differences_in_words(value, lo, hi, said):
    reason = "few_clusters" if lo is None else None
    assert more_often(ClusterDifference(value, lo, hi, reason), "run 1") == said


def test_versions_are_told_oldest_first_with_their_intervals(two_runs):
    first, second = two_runs
    report = versions_report(1, "overall", "all")
    assert [(v["run"], v["judge"], v["n"]) for v in report["versions"]] == [(first, "first", 8), (second, "second", 7)]
    assert [v["accuracy"]["value"] for v in report["versions"]] == pytest.approx([5 / 8, 5 / 7])
    assert [v["recall_bad"]["value"] for v in report["versions"]] == pytest.approx([1 / 3, 2 / 3])
    assert all(v["accuracy"]["lo"] < v["accuracy"]["value"] < v["accuracy"]["hi"] for v in report["versions"])
    assert report["words"][0].startswith("2 runs measured. The newest, run 2 (second), agrees with people on 71.4 % [")
    assert versions_report(1, "match")["words"] == ["No run of this dataset has both a threshold and labels yet."]
    json.dumps(report, allow_nan=False)


def test_charts_join_no_runs_and_take_names_as_text(two_runs):
    first, second = two_runs
    report = versions_report(1, "overall", "all")
    report["versions"][0]["judge"] = "<b>bold</b>"
    [trace] = versions(report).data
    assert trace.mode == "markers"
    assert "<b>" not in trace.y[0] and "&lt;b&gt;bold" in trace.y[0]
    chart = differences(comparison_report([first, second], "all"))
    assert list(chart.data[0].y) == ["run 2: agreement", "run 2: badcases found", "run 2: usable cases passed"]
    assert list(chart.data[0].x) == pytest.approx([1 / 7, 1 / 3, 0])
    lowest, highest = chart.layout.xaxis.range
    assert lowest == -highest and highest > max(
        x + e for x, e in zip(chart.data[0].x, chart.data[0].error_x.array, strict=True)
    )
    assert len(differences(comparison_report([first], "all")).data[0].x) == 0
