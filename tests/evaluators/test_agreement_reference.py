"""The statistics against values computed with other libraries and by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from scipy.stats import t as student

from evaluators import agreement

CASES = json.loads((Path(__file__).parent / "agreement_reference.json").read_text(encoding="utf-8"))["cases"]


def differences(expected, got, path: str = "") -> list[str]:
    """Where `got` is not what was expected; fields that are not expected do not matter. Tolerance 1e-9."""
    if isinstance(expected, dict):
        fields = got if isinstance(got, dict) else {key: getattr(got, key) for key in expected}
        return [found for key, value in expected.items() for found in differences(value, fields[key], f"{path}.{key}")]
    if isinstance(expected, list):
        if got is None or len(got) != len(expected):
            return [f"{path}: {got} instead of {expected}"]
        pairs = enumerate(zip(expected, got, strict=True))
        return [found for i, (one, other) in pairs for found in differences(one, other, f"{path}[{i}]")]
    expected = float(expected) if expected in ("inf", "-inf") else expected
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        close = got is not None and math.isclose(got, expected, rel_tol=1e-9, abs_tol=1e-9)
        return [] if close else [f"{path}: {got} instead of {expected}"]
    return [] if got == expected else [f"{path}: {got!r} instead of {expected!r}"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_reference_values_hold(case):
    args = dict(case["args"])
    if case["fn"] == "two_phase":
        args |= {verdict: agreement.wilson(**args[verdict]) for verdict in ("flagged", "passed")}
    assert differences(case["expected"], getattr(agreement, case["fn"])(**args)) == []


# By hand.


def test_a_queue_that_looks_at_half_of_the_flags_and_at_few_others_is_put_right():
    # 10 of 20 flags reviewed, 6 right: 12 true flags. 10 of 80 passed reviewed, 9 fine: 8 misses, 72 rightly passed.
    found = agreement.two_phase(20, 80, agreement.wilson(6, 10), agreement.wilson(9, 10))
    assert found.cells == pytest.approx((12, 8, 8, 72))
    assert found.accuracy.value == pytest.approx(0.84)
    assert found.usable_rate.value == pytest.approx(0.80)
    assert found.recall_bad.value == pytest.approx(0.6)
    assert found.specificity.value == pytest.approx(0.9)
    assert found.kappa == pytest.approx((0.84 - 0.68) / 0.32)
    # MOVER: each part's distance to its limit, weighed by 0.2 and 0.8; the share flagged moves with 0.6 - 0.9.
    flags, passed, share = agreement.wilson(6, 10), agreement.wilson(9, 10), agreement.wilson(20, 100)
    below = math.hypot(0.2 * (0.6 - flags.lo), 0.8 * (0.9 - passed.lo), 0.3 * (share.hi - 0.2))
    assert found.accuracy.lo == pytest.approx(0.84 - below)
    # One miss was seen among the passed cases: how many there are is a guess.
    assert found.warnings == ("few_misses",)
    assert found.recall_bad.lo < 0.3 and found.recall_bad.hi > 0.85


def test_no_miss_seen_is_recall_1_with_a_bound_far_below():
    found = agreement.two_phase(300, 1700, agreement.wilson(84, 150), agreement.wilson(85, 85)).recall_bad
    # R = (1700 / 300) u / sqrt(l (2 F - l)), u the most that may be missed, l the least of F.
    missed, least = 1 - agreement.wilson(85, 85).lo, agreement.wilson(84, 150).lo
    assert (found.value, found.hi) == (1.0, 1.0)
    assert found.lo == pytest.approx(1 / (1 + 1700 / 300 * missed / math.sqrt(least * (1.12 - least))))


@pytest.mark.parametrize(
    ("N_bad", "N_usable", "flagged", "passed", "name", "value", "reason"),
    [
        (0, 0, (0, 0), (0, 0), "accuracy", None, "no_data"),
        (0, 50, (0, 0), (9, 10), "accuracy", 0.9, None),
        (0, 50, (0, 0), (9, 10), "precision_bad", None, "judge_flagged_none"),
        (0, 50, (0, 0), (9, 10), "recall_bad", 0.0, "judge_flagged_none"),
        (0, 50, (0, 0), (9, 10), "specificity", 1.0, "judge_flagged_none"),
        (0, 50, (0, 0), (10, 10), "recall_bad", None, "no_human_bad"),
        (50, 0, (9, 10), (0, 0), "recall_bad", 1.0, "judge_passed_none"),
        (50, 0, (9, 10), (0, 0), "specificity", 0.0, "judge_passed_none"),
        (50, 0, (10, 10), (0, 0), "specificity", None, "no_human_usable"),
        (20, 50, (0, 10), (10, 10), "recall_bad", None, "no_human_bad"),
        (20, 50, (10, 10), (0, 10), "specificity", None, "no_human_usable"),
        (20, 50, (0, 0), (9, 10), "precision_bad", None, "unreviewed_verdict"),
        (20, 50, (0, 0), (9, 10), "specificity", None, "unreviewed_verdict"),
    ],
)
def test_a_queue_says_what_it_cannot_know(N_bad, N_usable, flagged, passed, name, value, reason):  # noqa: N803
    shares = agreement.wilson(*flagged), agreement.wilson(*passed)
    found = getattr(agreement.two_phase(N_bad, N_usable, *shares), name)
    assert (found.value, found.reason) == (value, reason)


def test_a_band_never_reviewed_leaves_worst_cases():
    passed = agreement.stratified([(400, 40, 30), (100, 0, 0)])
    found = agreement.two_phase(500, 500, agreement.wilson(5, 10), passed)
    assert (found.accuracy.value, found.accuracy.reason) == (None, "unsampled_stratum")
    assert (found.accuracy.lo, found.accuracy.hi) == (pytest.approx(0.55), pytest.approx(0.65))


def test_alpha_on_four_cases_by_hand():
    # Pairs: 1 1, 0 0, 0 1, 0 0; a lone rating does not count. Observed: 2 of 8 ordered ratings differ.
    # Values: 0 five times, 1 three times: expected 2 * 5 * 3 / 7. alpha = 1 - 2 / (30 / 7).
    found = agreement.alpha([[1, None, 1], [0, 0, None], [0, 1, None], [0, 0, None], [1, None, None]])
    assert found.value == pytest.approx(1 - 2 / (30 / 7))
    assert (found.n, found.clusters) == (4, 4)


def test_alpha_of_levels_by_hand():
    # Levels 0 0 | 0 1 | 1 2: counts 3, 2, 1, mid-ranks 1.5, 4, 5.5. d(0,1) = 2.5², d(0,2) = 4², d(1,2) = 1.5².
    # Observed 2 (6.25 + 2.25) = 17; expected 2 (6 * 6.25 + 3 * 16 + 2 * 2.25) / 5 = 36.
    assert agreement.alpha([[0, 0], [0, 1], [1, 2]], "ordinal").value == pytest.approx(1 - 17 / 36)
    # As scores: observed 2 (1 + 1) = 4; expected 2 (6 + 3 * 4 + 2) / 5 = 8.
    assert agreement.alpha([[0, 0], [0, 1], [1, 2]], "interval").value == pytest.approx(0.5)


def test_alpha_says_when_its_interval_is_everything():
    one_prompt = agreement.alpha([[0, 1], [1, 1], [0, 0]], clusters=["p", "p", "p"])
    assert (one_prompt.lo, one_prompt.hi, one_prompt.reason) == (-1, 1, "few_clusters")
    one_varies = agreement.alpha([[0, 1], [0, 0], [0, 0]])
    assert (one_varies.lo, one_varies.hi, one_varies.reason) == (-1, 1, "interval_undefined")


def test_people_who_always_agree_have_no_certain_alpha():
    found = agreement.alpha([[1, 1]] * 10 + [[0, 0]] * 20)
    assert (found.value, found.lo, found.hi, found.reason) == (1.0, None, None, "degenerate")


@pytest.mark.parametrize("metric", ["kappa", "mcc", "ac1", "f1_bad", "f1_usable", "balanced_accuracy"])
def test_a_judge_without_an_error_on_40_prompts_is_no_more_certain_than_on_40_cases(metric):
    found = agreement.jackknife([(1, 0, 0, 0)] * 12 + [(0, 0, 0, 1)] * 28, metric)
    plain = getattr(agreement.binary_metrics(12, 0, 0, 28), metric)
    assert (found.value, found.hi) == (1.0, 1.0)
    assert found.lo == pytest.approx(plain.lo) and found.n_eff == pytest.approx(40)
    # The same cases as 10 prompts of 4 alike are worth 10 cases.
    assert agreement.jackknife([(4, 0, 0, 0)] * 3 + [(0, 0, 0, 4)] * 7, metric).lo < plain.lo


def test_the_alternative_annotator_test_by_hand():
    # Ann and Bea agree on 36 of 40 cases. The judge says what Ann says, so beside Bea it is right as often as Ann;
    # beside Ann it is right always and Bea in 36 of 40: she is never closer, and less close in 4.
    ann = {case: case % 2 for case in range(40)}
    bea = {case: label if case >= 4 else 1 - label for case, label in ann.items()}
    found = agreement.alt_test(ann, {"ann": ann, "bea": bea}, eps=0.1)
    of_ann, of_bea = found.reviewers
    assert (of_ann.difference, of_ann.judge_as_good, of_ann.p) == (0.0, 1.0, 0.0)
    # t = (-0.1 - 0.1) / (sd / sqrt(40)), sd² = 40 / 39 * 0.1 * 0.9.
    assert (of_bea.difference, of_bea.judge_as_good) == (-0.1, 1.0)
    assert of_bea.p == pytest.approx(student.cdf(-0.2 / math.sqrt(0.09 / 39), 39))
    assert (found.winning_rate, found.rho, found.passed, found.constant_passes) == (1.0, 1.0, True, False)


def test_where_almost_all_is_usable_a_constant_judge_passes_and_it_is_said():
    people = {name: {case: int(case % 25 == i) for case in range(100)} for i, name in enumerate("abc")}
    found = agreement.alt_test({case: 0 for case in range(100)}, people, eps=0.2)
    assert found.passed and found.constant_passes
    assert found.warnings == ("constant_passes",)


def test_reviewers_with_few_common_cases_are_not_compared():
    few = {case: 0 for case in range(29)}
    found = agreement.alt_test(few, {"a": few, "b": few}, eps=0.1)
    assert (found.winning_rate, found.passed, found.reason) == (None, None, "too_few_units")


def test_reviewers_two_by_two():
    labels = {"b": {1: 1, 2: 0, 3: 0}, "a": {1: 1, 2: 1, 3: 0, 4: 0}, "c": {9: 1}}
    found = agreement.reviewer_pairs(labels)
    assert [(pair.one, pair.other, pair.n) for pair in found] == [("a", "b", 3), ("a", "c", 0), ("b", "c", 0)]
    assert found[0].agreement.value == pytest.approx(2 / 3)
    assert found[0].kappa.value == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))
    assert found[1].kappa.reason == "no_data"


def test_two_judges_that_no_case_tells_apart():
    found = agreement.paired_cluster_diff([("p", 0, 1.0), ("q", 0, 1.0)])
    assert (found.value, found.lo, found.hi, found.p, found.reason) == (0.0, None, None, 1.0, "degenerate")
    assert agreement.paired_cluster_diff([("p", 1, 1.0)]).reason == "few_clusters"
    assert agreement.paired_cluster_diff([]).reason == "no_data"


def test_how_many_labels_a_claim_takes():
    assert [agreement.n_for_claim(0.85, truth) for truth in (0.95, 0.92, 0.90)] == [68, 150, 304]
    assert agreement.n_for_claim(0.85, 0.85) is None


def test_calibration_labels_that_say_too_little():
    assert agreement.rogan_gladen(5, 10, 0, 0, 3, 4).reason == "no_human_usable"
    assert agreement.rogan_gladen(5, 10, 3, 4, 0, 0).reason == "no_human_bad"
    assert agreement.rogan_gladen(0, 0, 3, 4, 3, 4).reason == "no_data"
    # 1 of 1 and 2 of 9, smoothed 2/3 and 3/11: no better than chance.
    tiny = agreement.rogan_gladen(5, 10, 1, 1, 2, 9)
    assert (tiny.lo, tiny.hi, tiny.reason) == (0.0, 1.0, "interval_undefined")
    assert agreement.rogan_gladen(990, 1000, 76, 80, 15, 20).warnings == ("calibration_misfit",)
    outside = agreement.rogan_gladen(0, 39, 27, 27, 10, 22)
    assert (outside.value, outside.lo, outside.hi, outside.reason) == (0.0, None, None, "calibration_misfit")


def test_a_threshold_is_chosen_again_for_each_part_that_it_is_scored_on():
    # Scores separate the labels, but the one badcase of prompt p4 scores high: no other prompt warns of it.
    cases = [(f"p{p}", score, int(score < 5)) for p in range(4) for score in (2, 4, 6, 8)] + [
        ("p4", 8, 1),
        ("p4", 2, 1),
    ]
    prompts, scores, bad = zip(*cases, strict=True)
    found = agreement.held_out(scores, bad, prompts)
    assert (found.metrics.tp, found.metrics.fp, found.metrics.fn, found.metrics.tn) == (9, 0, 1, 8)
    assert found.clustered.recall_bad.value == pytest.approx(0.9)
    assert agreement.held_out([1, 2], [0, 1], ["p", "p"]).reason == "few_clusters"
    assert agreement.held_out([1, 2], [0, 0], ["p", "q"]).reason == "one_human_class"


def test_a_pure_set_of_bands_keeps_a_width():
    found = agreement.stratified([(300, 10, 10), (100, 1, 1)])
    assert (found.value, found.hi) == (1.0, 1.0) and found.lo < 0.9
