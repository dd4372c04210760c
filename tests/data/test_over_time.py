"""Windows of labels in the order in which gold was known."""

from __future__ import annotations

import json
import math

import pytest

from data.reports.charts.over_time import agreement_over_time, rates_over_time
from data.reports.over_time import over_time_report
from data.store import queues, reviews
from data.store.agreement import Basis
from data.store.connection import writing
from evaluators.agreement import cluster_ratio, wilson
from tests.data.test_queues import judged

MANY = 420


def say_in_order(dataset: int, case_ids: list[int], said: str = "usable") -> None:
    """Random labels on these cases, a minute after each other."""
    ada = reviews.reviewer_named("Ada")
    draws = {o["case_id"]: o["draw_id"] for o in queues.next_cases(dataset, "overall", ada, 1000)}
    for minute, case_id in enumerate(case_ids):
        at = f"2026-11-{1 + minute // 60:02}T10:{minute % 60:02}:00.000000Z"
        reviews.save_review(
            reviews.Review(
                f"r{case_id}", case_id, 1, "overall", ada, said, blind=True, draw_id=draws[case_id], created=at
            )
        )


def scores_in_order(case_ids: list[int], right: list[int]) -> dict[int, float]:
    """Scores that are right (usable) on so many of each 50 cases."""
    return {case_id: 0.9 if i % 50 < right[i // 50] else 0.1 for i, case_id in enumerate(case_ids)}


def test_windows_follow_the_labels_and_a_drop_asks_for_a_look(fill):
    dataset = fill(MANY)
    order = list(range(MANY, 0, -1))  # labelled from the last case to the first
    run = judged(dataset, scores_in_order(order, [44] * 6 + [30, 44, 3]))
    steady = judged(dataset, scores_in_order(order, [45] * 8 + [20]), "steady")
    say_in_order(dataset, order)
    report = over_time_report(Basis(run, 0.5))
    first, second = report["segments"]
    assert (first["run"], first["n"], first["size"], first["prompts"]) == (run, MANY, 50, MANY)
    assert (first["baseline"], first["baseline_labels"]) == (pytest.approx(0.88), 300)
    windows = first["windows"]
    assert [w["n"] for w in windows] == [50] * 8 + [20]
    assert [w["right"] for w in windows] == [44] * 6 + [30, 44, 3]
    assert [w["is_full"] for w in windows] == [True] * 8 + [False]
    assert [w["is_baseline"] for w in windows] == [True] * 6 + [False] * 3
    assert (windows[0]["began"][:16], windows[0]["ended"][:16]) == ("2026-11-01T10:00", "2026-11-01T10:49")
    assert windows[6]["accuracy"]["lo"] == wilson(30, 50).lo
    assert windows[6]["ewma"] == pytest.approx(0.2 * 0.6 + 0.8 * 0.88)
    assert windows[6]["ewma_lo"] == pytest.approx(0.88 - 2.7 * 0.2 * math.sqrt(0.88 * 0.12 / 50))
    assert [w["is_alarm"] for w in windows] == [None] * 6 + [True, True, None]
    assert windows[8]["small"] and windows[8]["ewma"] is None  # it is not full yet
    assert windows[0]["human_bad_rate"]["value"] == 0
    assert windows[0]["judge_bad_rate"]["value"] == pytest.approx(6 / 50)
    assert windows[0]["recall_bad"]["reason"] == "no_human_bad"
    assert first["alarms"] == [7, 8]
    assert any(
        words.startswith("Window 7 (labels 301–350, 2026-11-06 to 2026-11-06): the smoothed agreement of 82.4 % is below "
                         "the limits of 85.5–90.5 %; in the window itself it is 60.0 % [46.2–72.4].")
        for words in report["words"]
    )  # fmt: skip
    assert "The last window is not full yet: it has 20 of them." in report["words"][0]
    assert (second["run"], second["alarms"], second["baseline"]) == (steady, [], pytest.approx(0.9))
    assert over_time_report(Basis(run, 0.5), others=0)["left_out"] == 1
    traces = [trace for trace in agreement_over_time(report).data if (trace.name or "").startswith("run ")]
    assert [trace.name for trace in traces] == ["run 1 · judge", "run 1: look at these", "run 2 · steady"]
    assert all(list(traces[i].x) == [*range(50, 401, 50), 420] for i in (0, 2))  # each run a line of its own
    assert list(traces[0].marker.symbol) == ["circle"] * 8 + ["circle-open"]
    assert list(traces[1].x) == [350, 400]
    rates = rates_over_time(report).data
    assert [trace.y[6] for trace in rates] == [0, pytest.approx(20 / 50)]
    json.dumps(report, allow_nan=False)


def test_cases_of_one_prompt_are_known_in_every_window(fill):
    dataset = fill(60)
    with writing() as db:
        db.conn.execute("UPDATE cases SET prompt = 'prompt ' || (id % 10)")
    order = list(range(1, 61))
    right = {i: (i % 10) < 7 or i % 4 == 0 for i in order}
    run = judged(dataset, {i: 0.9 if right[i] else 0.1 for i in order})
    say_in_order(dataset, order)
    [segment] = over_time_report(Basis(run, 0.5))["segments"]
    by_hand = [
        cluster_ratio([(i % 10, right[i], 1, 1) for i in order[:50]]),
        wilson(7, 10),
    ]  # the last 10: one a prompt
    for window, expected in zip(segment["windows"], by_hand, strict=True):
        told = (window["accuracy"][name] for name in ("value", "lo", "hi"))
        assert tuple(told) == pytest.approx((expected.value, expected.lo, expected.hi))
        assert window["prompts"] == 10
    whole = cluster_ratio([(i % 10, right[i], 1, 1) for i in order])
    assert segment["deff"] == pytest.approx(whole.deff) and whole.deff > 1


def test_flags_and_badcases_are_told_apart(fill):
    dataset = fill(8)
    run = judged(dataset, {1: 0.1, 2: 0.9, 3: None, 4: 0.9, 5: 0.1, 6: 0.9, 7: 0.9, 8: None})
    say_in_order(dataset, [1, 2, 3], "badcase")
    say_in_order(dataset, [4, 5, 6, 7, 8], "usable")
    [[window]] = [segment["windows"] for segment in over_time_report(Basis(run, 0.5))["segments"]]
    shares = {name: (window[name]["value"], window[name]["n"]) for name in
              ("accuracy", "recall_bad", "specificity", "judge_bad_rate", "human_bad_rate")}  # fmt: skip
    assert shares == {
        "accuracy": (4 / 8, 8), "recall_bad": (1 / 3, 3), "specificity": (3 / 5, 5), "judge_bad_rate": (2 / 6, 6),
        "human_bad_rate": (3 / 8, 8),
    }  # fmt: skip


def test_without_labels_a_threshold_or_enough_of_them_it_says_so(fill):
    dataset = fill(3)
    run = judged(dataset, {1: 0.9, 2: 0.1, 3: 0.9})
    assert over_time_report(Basis(run, 0.5))["words"] == [
        "There are no labels on cases of this run yet: nothing to see over time."
    ]
    assert over_time_report(Basis(run, None))["segments"] == []
    assert "threshold" in over_time_report(Basis(run, None))["words"][0]
    say_in_order(dataset, [1, 2, 3])
    words = over_time_report(Basis(run, 0.5))["words"]
    assert (
        "With fewer than 300 labels there is no baseline yet (3 are there): no window can be called unusual." in words
    )
    with writing() as db:
        db.conn.execute("UPDATE cases SET prompt = 'the same'")
    assert (
        "All of them belong to one prompt: no window can be called unusual."
        in over_time_report(Basis(run, 0.5))["words"]
    )
