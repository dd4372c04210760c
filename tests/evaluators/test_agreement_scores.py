"""Scores: what the counts of equal pairs tell is what the cases tell one by one."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators import agreement
from tests.evaluators.test_agreement_properties import close, sound

quick = settings(max_examples=60, deadline=None)
BIT = st.integers(0, 1)
SCORE = st.integers(0, 6)
LABELLED = st.lists(st.tuples(SCORE, BIT, st.integers(0, 8), st.integers(1, 3)), max_size=25)
PAIRED = st.lists(st.tuples(st.integers(0, 8), SCORE, SCORE, st.integers(1, 3)), max_size=25)


def case_by_case(rows: list[tuple]) -> list[tuple]:
    """Every row as often as its last entry says."""
    return [row[:-1] for row in rows for _ in range(row[-1])]


@quick
@given(LABELLED)
def test_a_threshold_chosen_from_counts_is_the_one_chosen_from_cases(rows):
    cases = case_by_case(rows)
    scores, bad, prompts, counts = zip(*rows, strict=True) if rows else ((), (), (), ())
    each = list(zip(*cases, strict=True)) if rows else [(), (), ()]
    for metric in ("youden", "accuracy", "cost"):
        counted = agreement.threshold_sweep(scores, bad, metric, 3, counts=counts)
        assert counted == agreement.threshold_sweep(each[0], each[1], metric, 3)
    counted, plain = agreement.held_out(scores, bad, prompts, counts=counts), agreement.held_out(*each)
    assert counted == plain
    assert (counted.clustered is None) == (counted.reason is not None)


@quick
@given(LABELLED)
def test_the_whole_sweep_holds_every_table_and_the_areas_are_those_of_the_cases(rows):
    cases = case_by_case(rows)
    scores, bad, prompts, counts = zip(*rows, strict=True) if rows else ((), (), (), ())
    points = agreement.sweep_points(scores, bad, counts)
    for point in points:
        assert point.tp == sum(label and score < point.t for score, label, _ in cases)
        assert point.tn == sum(not label and score >= point.t for score, label, _ in cases)
        assert point.tp + point.fp + point.fn + point.tn == len(cases)
    area = agreement.clustered_auc(scores, bad, prompts, counts)
    plain = agreement.auc([s for s, b, _ in cases if not b], [s for s, b, _ in cases if b])
    assert sound(area) and close(area.value, plain.value)
    mean = agreement.clustered_average_precision(scores, bad, prompts, counts)
    assert sound(mean)
    assert close(mean.value, agreement.average_precision([c[0] for c in cases], [c[1] for c in cases]))
    if area.value is not None:  # the curve through the points encloses the same area
        corners = [(1 - p.specificity, p.recall_bad) for p in points]
        under = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in itertools.pairwise(corners))
        assert under == pytest.approx(area.value)


@quick
@given(PAIRED)
def test_scores_in_counts_tell_what_they_tell_case_by_case(rows):
    found = agreement.score_agreement(rows)
    cases = case_by_case(rows)
    prompts, judge, human = zip(*cases, strict=True) if cases else ((), (), ())
    for kind in ("pearson", "spearman", "kendall"):
        counted, plain = getattr(found, kind), agreement.correlation(judge, human, kind, prompts)
        # A part of the cases that goes along perfectly but for rounding has no interval in one and a useless one in the other.
        if counted.reason == "degenerate" and plain.lo is not None:
            assert counted.value == pytest.approx(plain.value) and plain.hi - plain.lo > 1
        else:
            assert close(counted, plain)
    assert close(found.ranking, agreement.pairwise_accuracy(human, judge, prompts))
    assert close(found.bias, agreement.paired_cluster_diff((p, j - h, 1.0) for p, j, h in cases))
    error = agreement.bias_mae(judge, human)
    assert close([found.bias.value, found.mae.value, found.rmse.value], [error.bias, error.mae, error.rmse])
    assert close(found.quadratic_kappa.value, agreement.quadratic_kappa(judge, human, range(7)))
    for figure in (found.quadratic_kappa, found.pearson):
        assert sound(figure, -1.0)
    for figure in (found.mae, found.rmse):
        assert figure.value is None or figure.lo is None or 0 <= figure.lo <= figure.value <= figure.hi


@quick
@given(st.lists(st.tuples(SCORE, BIT, st.integers(0, 8)), min_size=1, max_size=25))
def test_the_same_cases_twice_tell_no_more(cases):
    scores, bad, prompts = zip(*cases, strict=True)
    for figure in (agreement.clustered_auc, agreement.clustered_average_precision):
        once, twice = figure(scores, bad, prompts), figure(scores, bad, prompts, [2] * len(cases))
        assert close((once.value, once.lo, once.hi, once.se), (twice.value, twice.lo, twice.hi, twice.se))
        assert twice.n == 2 * once.n


def test_the_area_of_independent_cases_has_about_the_interval_of_delong():
    scores = [(7 * i) % 23 for i in range(120)]
    bad = [int(score + (5 * i) % 11 < 12) for i, score in enumerate(scores)]
    clustered = agreement.clustered_auc(scores, bad, list(range(120)))
    plain = agreement.auc(*([s for s, b in zip(scores, bad, strict=True) if b == label] for label in (0, 1)))
    assert clustered.value == pytest.approx(plain.value)
    assert clustered.se == pytest.approx(plain.se, rel=0.05)


def test_areas_without_an_interval_say_why():
    assert agreement.clustered_auc([], [], []).reason == "no_data"
    assert agreement.clustered_auc([1, 2], [0, 0], ["p", "q"]).reason == "one_human_class"
    assert agreement.clustered_average_precision([1, 2], [0, 0], ["p", "q"]).reason == "no_human_bad"
    one_prompt = agreement.clustered_auc([1, 2, 3], [1, 0, 1], ["p", "p", "p"])
    assert (one_prompt.value, one_prompt.lo, one_prompt.reason) == (0.5, None, "few_clusters")
    assert agreement.clustered_auc([1, 2, 3], [1, 0, 0], ["p", "q", "r"]).reason == "degenerate"


def test_a_gain_is_that_of_the_two_tables_on_the_same_cases():
    # Four prompts of five cases; the new way finds one badcase more in two of them and flags a usable case in another.
    old = {p: (1, 0, 1, 3) for p in range(4)}
    new = {0: (2, 0, 0, 3), 1: (2, 0, 0, 3), 2: (1, 1, 1, 2), 3: (1, 0, 1, 3)}
    youden = agreement.gain(new, old)
    assert youden.value == pytest.approx((6 / 8 + 11 / 12) / 2 - (4 / 8 + 1) / 2)
    assert agreement.gain(new, old, "accuracy").value == pytest.approx(1 / 20)
    # Cost saved per case: two misses fewer at 5 each, one false flag more at 1.
    saved = agreement.gain(new, old, "cost", 5.0, 1.0)
    assert saved.value == pytest.approx(9 / 20)
    # Per prompt 5, 5, -1, 0 of five cases: the mean 9 / 20 has the standard error of four clusters of equal size.
    spread = math.sqrt(sum((d / 5 - 9 / 20) ** 2 for d in (5, 5, -1, 0)) / 3 / 4)
    assert saved.se == pytest.approx(spread)
    assert saved.hi - saved.value == pytest.approx(3.182446305284263 * spread)
    assert agreement.gain(old, old).reason == "degenerate"
    assert agreement.gain({0: (0, 0, 0, 4)}, {0: (0, 1, 0, 3)}).reason == "one_human_class"
    assert agreement.gain({}, {}).reason == "no_data"
