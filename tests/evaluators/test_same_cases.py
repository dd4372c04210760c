"""Two judges on the same cases, and a judge watched along its labels: against values by hand, and what must always hold."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.agreement import Told, ewma, mcnemar, n_paired, paired_cluster_diff, same_cases, watch, window_size

told = st.builds(Told, *[st.integers(0, 4)] * 4)
prompts = st.lists(st.tuples(told, told), min_size=0, max_size=12).map(Counter)


def one_case_each(both: int, b: int, c: int, neither: int) -> dict:
    """A prompt a case; people call all of them usable."""
    cells = (Told(1), Told(0, 1), Told(0, 0, 1), Told(0, 0, 0, 1))
    return {(Told(), cell): count for cell, count in zip(cells, (both, b, c, neither), strict=True) if count}


def test_without_shared_prompts_it_is_mcnemars_test_with_bonett_and_prices_interval():
    found, plain = same_cases(one_case_each(260, 24, 11, 5)), mcnemar(24, 11, 300)
    assert (found.n, found.prompts, found.b, found.c) == (300, 300, 24, 11)
    assert found.difference.value == pytest.approx(13 / 300)
    assert (found.difference.lo, found.difference.hi, found.p) == (plain.lo, plain.hi, plain.p_midp)
    assert found.labels_for(0.05) == n_paired(0.05, 35 / 300)
    assert found.accuracy.value == pytest.approx(284 / 300)
    assert found.reference_accuracy.value == pytest.approx(271 / 300)
    assert (found.recall_bad.value, found.recall_bad.reason) == (None, "no_human_bad")


def test_with_shared_prompts_the_interval_is_that_of_the_single_cases_in_their_prompts():
    """Three prompts: 4 cases with two won; 3 cases with one lost; 2 cases with one won."""
    three = Counter([(Told(2, 1), Told(0, 1)), (Told(), Told(1, 0, 1, 1)), (Told(0, 1), Told(1))])
    cases = (
        [("a", d, 1.0) for d in (1, 1, 0, 0)] + [("b", d, 1.0) for d in (-1, 0, 0)] + [("c", d, 1.0) for d in (1, 0)]
    )
    found, by_hand = same_cases(three), paired_cluster_diff(cases)
    assert found.difference.value == pytest.approx(2 / 9)
    assert found.difference.se == pytest.approx(by_hand.se)
    assert found.p == pytest.approx(by_hand.p)
    assert (found.difference.lo, found.difference.hi) == pytest.approx((max(-1, by_hand.lo), min(1, by_hand.hi)))
    assert found.p_midp == mcnemar(3, 1, 9).p_midp  # kept, although it takes every case for itself
    assert found.recall_bad.value == pytest.approx(2 / 4)
    assert found.specificity.value == pytest.approx(0 / 5)
    assert set(found.warnings) == {"small_n", "few_human_bad", "few_human_usable", "few_clusters"}


def test_cases_that_repeat_each_other_are_worth_no_more():
    single = one_case_each(80, 12, 6, 2)
    double = {tuple(Told(*(2 * cell for cell in part)) for part in parts): count for parts, count in single.items()}
    assert same_cases(double).labels_for(0.05) == pytest.approx(2 * same_cases(single).labels_for(0.05), rel=0.02)


def test_from_one_prompt_nobody_knows_how_many_labels_it_takes():
    one = same_cases({(Told(2, 1, 1), Told(3, 1)): 1})
    assert (one.difference.reason, one.labels_for(0.05)) == ("few_clusters", None)
    assert same_cases(one_case_each(0, 1, 0, 0)).labels_for(0.5) is not None  # one case stands for itself


def test_no_case_in_common_and_no_case_told_apart():
    nothing = same_cases({})
    assert (nothing.n, nothing.p, nothing.difference.reason, nothing.apart) == (0, None, "no_data", None)
    assert nothing.warnings == ("no_data",) and nothing.labels_for(0.05) is None
    same = same_cases(one_case_each(40, 0, 0, 3))
    assert (same.difference.value, same.p) == (0.0, 1.0)
    assert same.difference.lo < 0 < same.difference.hi
    shared = same_cases({(Told(), Told(2, 0, 0, 1)): 12})
    assert (shared.difference.value, shared.difference.lo, shared.difference.reason, shared.p) == (
        0,
        None,
        "degenerate",
        1,
    )


@given(prompts)
def test_the_other_way_round_the_signs_turn_and_nothing_else(found):
    turned = {
        tuple(Told(p.both, p.only_reference, p.only_it, p.neither) for p in parts): count
        for parts, count in found.items()
    }
    one, other = same_cases(found), same_cases(turned)
    for name in ("difference", "recall_bad", "specificity"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a.n, a.reason) == (b.n, b.reason)
        for here, there in ((a.value, b.value), (a.lo, b.hi), (a.hi, b.lo)):
            assert here is there is None or here == pytest.approx(-there, abs=1e-12)
    assert (one.p is None) == (other.p is None)
    assert one.p is None or one.p == pytest.approx(other.p)
    assert one.accuracy == other.reference_accuracy


@given(prompts)
def test_what_adds_up(told_prompts):
    found = same_cases(told_prompts)
    assert found.both + found.b + found.c + found.neither == found.n == found.recall_bad.n + found.specificity.n
    if not found.n:
        return
    accuracies = found.accuracy.value - found.reference_accuracy.value
    assert found.difference.value == pytest.approx(accuracies, abs=1e-12)
    parts = [(e.value or 0) * e.n for e in (found.recall_bad, found.specificity)]
    assert found.difference.value * found.n == pytest.approx(sum(parts), abs=1e-9)
    if found.difference.lo is not None:
        assert -1 <= found.difference.lo <= found.difference.hi <= 1
    needed = found.labels_for(0.05)
    if needed is None:
        assert found.prompts == 1 < found.n
    else:
        assert needed >= n_paired(0.05, max(found.apart, 0.05))


# --- watching ----------------------------------------------------------------------------------------------------------


def test_a_drop_after_the_baseline_is_an_alarm_and_the_baseline_itself_never():
    series = [(44, 50)] * 5 + [(44, 50), (44, 50), (30, 50), (3, 20)]
    found = watch(series)
    assert (found.baseline, found.labels) == (pytest.approx(0.88), 300)
    assert [w is None for w in found.windows] == [True] * 6 + [False, False, True]
    seen = found.windows[7]
    assert seen.ewma == pytest.approx(0.2 * 0.6 + 0.8 * 0.88)
    variance = 0.04 * 0.88 * 0.12 / 50
    assert seen.hi - 0.88 == pytest.approx(2.7 * math.sqrt(variance + 0.64 * variance))
    assert found.alarms == (7,)


def test_labels_that_repeat_each_other_widen_the_limits():
    series = [(44, 50)] * 6 + [(36, 50)]
    assert watch(series).alarms == (6,)
    assert watch(series, deff=3.0).alarms == ()


def test_fewer_than_300_labels_are_no_baseline():
    found = watch([(50, 50)] * 5 + [(49, 49)])
    assert (found.baseline, found.labels, set(found.windows), found.alarms) == (None, 0, {None}, ())


@pytest.mark.parametrize("right", [0, 50])
def test_a_baseline_without_any_error_leaves_room_for_one(right):
    found = watch([(right, 50)] * 6 + [(abs(right - 1), 50)])
    assert 0 < found.baseline < 1
    assert found.alarms == ()


@given(st.lists(st.tuples(st.integers(0, 50), st.just(50)), min_size=0, max_size=14), st.integers(1, 49))
def test_every_full_window_after_the_baseline_is_watched(full, rest):
    series = [*full, (0, rest)]
    found = watch(series)
    assert len(found.windows) == len(series)
    if len(full) < 6:
        assert found.baseline is None or (len(full), rest) == (5, 50)
    else:
        assert found.windows[6:-1] == tuple(ewma(full[6:], found.baseline))
        assert found.windows[-1] is None


def test_larger_windows_have_a_baseline_in_proportion():
    assert watch([(90, 100)] * 5, size=100).baseline is None
    assert watch([(90, 100)] * 7, size=100).labels == 600


def test_a_steady_judge_is_outside_the_limits_in_one_of_three_stretches_of_20_windows():
    chance = np.random.default_rng(3)
    alarmed = [bool(watch([(int(k), 50) for k in chance.binomial(50, 0.88, 26)]).alarms) for _ in range(2000)]
    assert 0.28 < np.mean(alarmed) < 0.37


def test_windows_are_doubled_and_stay_readable():
    assert [window_size(n) for n in (0, 49, 4000, 4001, 8001, 100_000)] == [50, 50, 50, 100, 200, 1600]
