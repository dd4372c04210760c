"""Places in a ranking, and rates corrected by labels from elsewhere."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.agreement import (
    Estimate,
    cluster_ratio,
    clustered_headline,
    clustered_two_phase,
    corrected_elsewhere,
    each_prompt,
    group_figures,
    mover_difference,
    rank_intervals,
    rogan_gladen,
    two_prop_diff,
    wilson,
)

quick = settings(max_examples=100, deadline=None)
COUNT = st.integers(0, 4)
SHARE = st.integers(1, 60).flatmap(lambda n: st.integers(0, n).map(lambda k: wilson(k, n)))
SHARES = st.lists(SHARE | st.just(Estimate.undefined("no_data")), max_size=8)
GROUP = st.dictionaries(st.integers(0, 12), st.tuples(*[st.integers(0, 4)] * 6), max_size=13)


def places(estimates: list[Estimate]) -> list[tuple[int, int]]:
    return [(rank.best, rank.worst) for rank in rank_intervals(estimates)]


def mirrored(share: Estimate) -> Estimate:
    """1 - share."""
    if share.value is None:
        return share
    return replace(share, value=1 - share.value, lo=1 - share.hi, hi=1 - share.lo)


def wider(share: Estimate, factor: float) -> Estimate:
    if share.value is None:
        return share
    lo, hi = (share.value + factor * (end - share.value) for end in (share.lo, share.hi))
    return replace(share, lo=lo, hi=hi)


def test_the_difference_is_newcombes():
    one, other = mover_difference(wilson(78, 100), wilson(91, 100)), two_prop_diff(78, 100, 91, 100)
    assert (one.value, one.lo, one.hi) == pytest.approx((other.value, other.lo, other.hi))


def test_two_are_told_apart_exactly_when_their_difference_excludes_0():
    assert places([wilson(78, 100), wilson(91, 100)]) == [(2, 2), (1, 1)]  # [-23, -3]
    assert places([wilson(80, 100), wilson(88, 100)]) == [(1, 2), (1, 2)]  # [-18, 2]


def test_more_generators_ask_for_more_before_two_are_told_apart():
    """p of 78 against 91 of 100 is 0.012: enough among 1 pair or 3, not among 10."""
    alike = [wilson(85, 100)] * 3
    assert places([wilson(78, 100), wilson(91, 100), alike[0]]) == [(2, 3), (1, 2), (1, 3)]
    assert places([wilson(78, 100), wilson(91, 100), *alike]) == [(1, 5)] * 5


def test_three_steps_that_are_far_apart_have_a_place_each():
    assert places([wilson(50, 500), wilson(450, 500), wilson(250, 500)]) == [(3, 3), (1, 1), (2, 2)]


def test_what_has_no_interval_may_have_any_place():
    unknown, bare = Estimate.undefined("unreviewed_verdict"), Estimate(0.99, reason="degenerate", n=5)
    assert places([wilson(50, 500), unknown, wilson(450, 500), bare]) == [(2, 4), (1, 4), (1, 3), (1, 4)]
    assert places([]) == []
    assert places([unknown]) == [(1, 1)]


@quick
@given(SHARES)
def test_the_observed_place_is_among_the_possible_ones(shares):
    for share, rank in zip(shares, rank_intervals(shares), strict=True):
        assert 1 <= rank.best <= rank.worst <= len(shares)
        if share.value is not None:
            known = [other.value for other in shares if other.value is not None]
            assert rank.best <= 1 + sum(value > share.value for value in known)
            assert rank.worst >= len(shares) - sum(value < share.value for value in known)


@quick
@given(SHARES)
def test_equal_ones_are_never_told_apart(shares):
    assert places(shares[:1] * 5) == [(1, 5)] * len(shares[:1] * 5)


@quick
@given(SHARES)
def test_the_ranking_of_what_is_missing_is_the_reverse(shares):
    k = len(shares)
    assert places([mirrored(share) for share in shares]) == [
        (k + 1 - worst, k + 1 - best) for best, worst in places(shares)
    ]


@quick
@given(SHARES, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_is_irrelevant(shares, order):
    mixed = list(range(len(shares)))
    order.shuffle(mixed)
    found = places(shares)
    assert places([shares[i] for i in mixed]) == [found[i] for i in mixed]


@quick
@given(SHARES, st.floats(1, 5))
def test_less_certainty_never_narrows_a_place(shares, factor):
    for (best, worst), (first, last) in zip(
        places(shares), places([wider(share, factor) for share in shares]), strict=True
    ):
        assert first <= best <= worst <= last


@pytest.mark.parametrize(("generators", "labels", "rate"), [(2, 50, 0.85), (6, 100, 0.8)])
def test_equal_generators_are_rarely_put_in_an_order(generators, labels, rate):
    chance = random.Random(11)
    rankings = 300
    wrong = sum(
        any(rank.better for rank in rank_intervals(
            [wilson(sum(chance.random() < rate for _ in range(labels)), labels) for _ in range(generators)]))
        for _ in range(rankings)
    )  # fmt: skip
    assert wrong / rankings < 0.05 + 2 * math.sqrt(0.05 * 0.95 / rankings)


# --- one group, all judged cases, labels from elsewhere ----------------------------------------------------------------


@quick
@given(GROUP)
def test_a_group_has_the_figures_of_the_headline(cells):
    found, full = group_figures(cells), clustered_headline(cells)
    assert (found.n, found.prompts, found.baseline, found.small) == (full.n, full.prompts, full.baseline, full.n < 30)
    assert (found.accuracy, found.recall_bad, found.specificity) == (full.accuracy, full.recall_bad, full.specificity)
    if found.kappa.reason == "judge_answered_none":
        assert found.n and not full.answered.n
    else:
        assert found.kappa == full.answered.kappa


def test_a_census_of_independent_cases_is_the_share_of_usable_ones():
    labelled = {i: [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)][i % 4] for i in range(40)}
    judged = {i: (1, 0) if i % 4 < 2 else (0, 1) for i in range(40)}
    found = clustered_two_phase(judged, labelled)
    assert found.usable_rate.value == pytest.approx(0.5)
    assert found.cells == (10, 10, 10, 10)


def spread(tp: int, fp: int, fn: int, tn: int) -> dict[int, tuple[int, int, int, int]]:
    """A prompt of its own for each case."""
    kinds = [(1, 0, 0, 0)] * tp + [(0, 1, 0, 0)] * fp + [(0, 0, 1, 0)] * fn + [(0, 0, 0, 1)] * tn
    return dict(enumerate(kinds))


def test_labels_from_elsewhere_on_independent_cases_are_rogan_and_gladens():
    judged = {i: (0, 1) if i < 820 else (1, 0) for i in range(1000)}
    found = corrected_elsewhere(judged, spread(40, 9, 10, 81))
    assert found == rogan_gladen(820, 1000, 81, 90, 40, 50)
    assert found.value == pytest.approx((0.82 + 0.8 - 1) / (0.9 + 0.8 - 1))


def test_cases_that_share_prompts_tell_less_about_the_judge():
    judged = {i: (0, 1) if i < 820 else (1, 0) for i in range(1000)}
    alone = corrected_elsewhere(judged, spread(40, 9, 10, 81))
    alike = corrected_elsewhere(judged, {i: (4, 0, 1, 9) if i % 10 else (4, 9, 1, 0) for i in range(10)})
    assert alike.value == pytest.approx(alone.value)
    assert alike.lo < alone.lo and alike.hi >= alone.hi
    assert "effective" in alike.method


def test_few_prompts_are_worth_less_than_a_normal_interval_says():
    """Each share is shrunk to n_eff (1.96 / t)^2 cases: with 5 prompts t is 2.78, and half of them are left."""
    judged = {i: (i, 9 - i) for i in range(1, 6)}
    labels = {i: (4 + i % 3, 1 + i % 2, 2 - i % 2, 9 - i) for i in range(1, 6)}
    shares = [
        cluster_ratio([(p, cells[hit], cells[hit] + cells[miss], 1) for p, cells in counts.items()],
                      sum(cells[hit] + cells[miss] for cells in counts.values()))
        for counts, hit, miss in ((judged, 1, 0), (labels, 3, 1), (labels, 0, 2))
    ]  # fmt: skip
    sizes = [share.n_eff * (1.959963984540054 / 2.7764451051977987) ** 2 for share in shares]
    expected = rogan_gladen(*(x for share, n in zip(shares, sizes, strict=True) for x in (share.value * n, n)))
    found = corrected_elsewhere(judged, labels)
    assert (found.value, found.lo, found.hi) == pytest.approx((expected.value, expected.lo, expected.hi))


@quick
@given(st.dictionaries(st.tuples(COUNT, COUNT), st.integers(0, 5), max_size=6))
def test_prompts_that_are_alike_are_each_there(alike):
    found = each_prompt(alike)
    assert Counter(found.values()) == Counter(alike)
    assert list(found) == list(range(sum(alike.values())))
    assert found == each_prompt(dict(reversed(alike.items())))


def test_one_prompt_elsewhere_leaves_everything_possible():
    judged = {i: (1, 4) for i in range(20)}
    found = corrected_elsewhere(judged, {"a cat": (4, 1, 1, 9)})
    assert (found.lo, found.hi, found.reason) == (0.0, 1.0, "few_clusters")


@pytest.mark.parametrize(
    ("judged", "labelled", "reason"),
    [
        ({}, {1: (1, 0, 0, 1)}, "no_data"),
        ({1: (1, 1)}, {}, "no_data"),
        ({1: (1, 1)}, {1: (3, 0, 1, 0)}, "no_human_usable"),
        ({1: (1, 1)}, {1: (0, 1, 0, 3)}, "no_human_bad"),
        ({1: (1, 1)}, {1: (1, 2, 1, 2)}, "judge_at_chance"),
    ],
)
def test_what_labels_from_elsewhere_cannot_tell(judged, labelled, reason):
    found = corrected_elsewhere(judged, labelled)
    assert (found.value, found.reason) == (None, reason)


@quick
@given(st.dictionaries(st.integers(0, 9), st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=10), GROUP)
def test_a_corrected_rate_lies_in_its_interval_or_says_why_there_is_none(judged, labelled):
    found = corrected_elsewhere(judged, labelled)
    if found.value is None or found.lo is None:
        assert found.reason
    else:
        assert 0 <= found.lo <= found.value <= found.hi <= 1
