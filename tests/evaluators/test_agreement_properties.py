"""What must hold of the statistics whatever the labels are."""

from __future__ import annotations

import json
import math
import random
import statistics
import subprocess
import sys
from dataclasses import asdict, is_dataclass

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evaluators import agreement
from evaluators.agreement import REASON_WORDS, WARNING_WORDS, Estimate

COUNT = st.integers(0, 30)
TABLE = st.tuples(COUNT, COUNT, COUNT, COUNT)
PROMPT = st.integers(0, 12)
BIT = st.integers(0, 1)
WEIGHT = st.sampled_from([1.0, 2.0, 1 / 3, 20.0])
ROWS = st.lists(st.tuples(PROMPT, BIT, BIT, WEIGHT), max_size=60)
GROUPS = st.dictionaries(PROMPT, st.tuples(*[st.integers(0, 4)] * 4), max_size=13)
LABELS = st.lists(st.none() | BIT, max_size=4)
CASES = st.lists(st.tuples(PROMPT, st.none() | BIT, LABELS), max_size=40)
SCORE = st.integers(0, 10)
PAIRS = st.lists(st.tuples(SCORE, SCORE), min_size=1, max_size=40)
ORDER = st.randoms(use_true_random=False)
METRICS = ("kappa", "mcc", "ac1", "f1_bad", "f1_usable", "balanced_accuracy")

quick = settings(max_examples=60, deadline=None)


def sound(found: Estimate, lowest: float = 0.0, highest: float = 1.0) -> bool:
    """Whether a figure lies in its range and in an interval with a width, or says why it does not exist."""
    if found.reason is not None:
        assert found.reason in REASON_WORDS
    if found.value is None:
        assert found.reason is not None
        return True
    assert math.isfinite(found.value) and lowest <= found.value <= highest
    if found.lo is None or found.hi is None:
        assert found.lo is found.hi is None and found.reason is not None
        return True
    assert lowest <= found.lo <= found.value <= found.hi <= highest
    assert found.lo < found.hi
    return True


def close(one, other, but: frozenset[str] = frozenset()) -> bool:
    """Whether two results are the same but for rounding."""
    one, other = (asdict(result) if is_dataclass(result) else result for result in (one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key], but) for key in one if key not in but)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(close(a, b, but) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-7)
    return one == other


# Values lie in their intervals.


@quick
@given(ROWS)
def test_a_clustered_share_lies_in_its_interval(rows):
    rows = [(prompt, y * x, x, w) for prompt, y, x, w in rows]
    found = agreement.cluster_ratio(rows)
    assert sound(found) and set(found.warnings) <= set(WARNING_WORDS)
    if found.n_eff is not None:
        assert 0 < found.n_eff <= found.n and found.deff >= 1 - 1e-12


@quick
@given(GROUPS)
def test_every_clustered_figure_lies_in_its_interval_and_is_that_of_the_summed_table(groups):
    found = agreement.cluster_metrics(groups)
    table = agreement.binary_metrics(*map(sum, zip(*groups.values(), strict=True))) if groups else None
    for name, figure in vars(found).items():
        assert sound(figure, -1.0 if name in ("kappa", "mcc", "ac1") else 0.0), name
        if table is None or not table.n:
            assert figure.reason == "no_data"
        else:
            assert close(figure.value, getattr(table, name).value), name
            assert figure.value is not None or figure.reason == getattr(table, name).reason
    json.dumps(found.as_dict(), allow_nan=False)


@quick
@given(bad=COUNT, usable=COUNT, shares=st.data())
def test_every_figure_of_a_queue_lies_in_its_interval_or_says_why_it_is_undefined(bad, usable, shares):
    n_bad, n_usable = shares.draw(st.integers(0, bad)), shares.draw(st.integers(0, usable))
    flagged = agreement.wilson(shares.draw(st.integers(0, n_bad)), n_bad)
    passed = agreement.wilson(shares.draw(st.integers(0, n_usable)), n_usable)
    found = agreement.two_phase(bad, usable, flagged, passed)
    for name in ("precision_bad", "npv", "accuracy", "usable_rate", "recall_bad", "specificity"):
        assert sound(getattr(found, name)), name
    if found.accuracy.value is None and bad + usable:
        assert 0 <= found.accuracy.lo <= found.accuracy.hi <= 1
    if found.cells is not None:
        assert sum(found.cells) == pytest.approx(bad + usable)
    assert set(found.warnings) <= set(WARNING_WORDS)
    json.dumps(found.as_dict(), allow_nan=False)


@quick
@given(st.lists(st.tuples(COUNT, COUNT, st.floats(0, 1)), max_size=5))
def test_a_share_from_bands_lies_in_its_interval(bands):
    found = agreement.stratified([(max(size, n), n, round(share * n)) for size, n, share in bands])
    assert sound(found)
    if found.reason == "unsampled_stratum":
        assert 0 <= found.lo <= found.hi <= 1


@quick
@given(CASES, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_lies_in_its_interval(cases, metric):
    found = agreement.alpha([labels for *_rest, labels in cases], metric, [prompt for prompt, *_rest in cases])
    assert sound(found, -1)


@quick
@given(CASES)
def test_the_ceiling_lies_in_its_interval(cases):
    found = agreement.ceiling(cases)
    assert sound(found.kappa_diff, -2, 2)
    for share in (found.hh_agreement, found.jh_agreement):
        assert (share is None) == (found.n == 0) and (share is None or -1e-9 <= share <= 1 + 1e-9)
    json.dumps(found.as_dict(), allow_nan=False)


@quick
@given(PAIRS, st.sampled_from(["pearson", "spearman", "kendall"]), st.booleans())
def test_a_correlation_lies_in_its_interval(pairs, kind, clustered):
    judge, human = zip(*pairs, strict=True)
    clusters = [i // 3 for i in range(len(pairs))] if clustered else None
    assert sound(agreement.correlation(judge, human, kind, clusters), -1)


@quick
@given(st.lists(SCORE, max_size=20), st.lists(SCORE, max_size=20))
def test_the_area_is_the_share_of_pairs_in_order(pos, neg):
    found = agreement.auc(pos, neg)
    assert sound(found)
    if pos and neg:
        pairs = [(p > n) + (p == n) / 2 for p in pos for n in neg]
        assert found.value == pytest.approx(statistics.fmean(pairs))


@quick
@given(st.data())
def test_a_corrected_rate_lies_in_its_interval(data):
    n, usable, bad = (data.draw(st.integers(0, 60)) for _ in range(3))
    k, right, flags = (data.draw(st.integers(0, most)) for most in (n, usable, bad))
    found = agreement.rogan_gladen(k, n, right, usable, flags, bad)
    assert sound(found) and set(found.warnings) <= set(WARNING_WORDS)


@quick
@given(COUNT, COUNT, st.data())
def test_a_difference_of_two_shares_lies_in_its_interval(n1, n2, data):
    k1, k2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    assert sound(agreement.two_prop_diff(k1, n1, k2, n2), -1)


# The order of rows does not matter.


@quick
@given(ROWS, ORDER)
def test_the_order_of_rows_does_not_matter_for_a_clustered_share(rows, order):
    shuffled = order.sample(rows, len(rows))
    assert close(agreement.cluster_ratio(rows), agreement.cluster_ratio(shuffled))
    differences = [(prompt, y - x, w) for prompt, y, x, w in rows]
    others = [(prompt, y - x, w) for prompt, y, x, w in shuffled]
    assert close(agreement.paired_cluster_diff(differences), agreement.paired_cluster_diff(others))


@quick
@given(CASES, ORDER)
def test_the_order_of_cases_and_of_reviewers_does_not_matter(cases, order):
    shuffled = [(prompt, judge, order.sample(labels, len(labels))) for prompt, judge, labels in cases]
    order.shuffle(shuffled)
    assert close(agreement.ceiling(cases), agreement.ceiling(shuffled))
    one, other = (
        agreement.alpha([labels for *_rest, labels in rows], "ordinal", [prompt for prompt, *_rest in rows])
        for rows in (cases, shuffled)
    )
    assert close(one, other)


@quick
@given(GROUPS, ORDER)
def test_the_order_of_clusters_does_not_matter(groups, order):
    shuffled = dict(order.sample(list(groups.items()), len(groups)))
    assert close(agreement.cluster_metrics(groups), agreement.cluster_metrics(shuffled))


@quick
@given(st.lists(st.tuples(SCORE, BIT, PROMPT), max_size=40), ORDER)
def test_the_order_of_cases_does_not_matter_for_a_threshold(cases, order):
    shuffled = order.sample(cases, len(cases))
    for metric in ("youden", "accuracy", "cost"):
        one, other = (
            agreement.threshold_sweep([case[0] for case in rows], [case[1] for case in rows], metric, 5)
            for rows in (cases, shuffled)
        )
        assert one == other
    one, other = (
        agreement.held_out(*zip(*rows, strict=True)) if rows else agreement.held_out([], [], [])
        for rows in (cases, shuffled)
    )
    assert close(one, other)


# Swapping the classes swaps the figures of the two sides.

SWAPPED = {"recall_bad": "specificity", "precision_bad": "npv", "f1_bad": "f1_usable"}
SAME = ("accuracy", "kappa", "mcc", "ac1", "balanced_accuracy")


@quick
@given(GROUPS)
def test_calling_usable_what_was_badcase_swaps_the_clustered_figures(groups):
    one = agreement.cluster_metrics(groups)
    other = agreement.cluster_metrics({prompt: (tn, fn, fp, tp) for prompt, (tp, fp, fn, tn) in groups.items()})
    pairs = [*SWAPPED.items(), *((name, name) for name in SAME)]
    for left, right in pairs:
        assert close(getattr(one, left), getattr(other, right), frozenset({"reason"})), left


@quick
@given(bad=COUNT, usable=COUNT, shares=st.data())
def test_calling_usable_what_was_badcase_swaps_the_figures_of_a_queue(bad, usable, shares):
    n_bad, n_usable = shares.draw(st.integers(0, bad)), shares.draw(st.integers(0, usable))
    flagged = agreement.wilson(shares.draw(st.integers(0, n_bad)), n_bad)
    passed = agreement.wilson(shares.draw(st.integers(0, n_usable)), n_usable)
    one, other = (
        agreement.two_phase(bad, usable, flagged, passed),
        agreement.two_phase(usable, bad, passed, flagged),
    )
    for left, right in (("recall_bad", "specificity"), ("precision_bad", "npv"), ("accuracy", "accuracy")):
        assert close(getattr(one, left), getattr(other, right), frozenset({"reason"})), left
    assert close(one.kappa, other.kappa) and close(one.mcc, other.mcc)


# What is known exactly.


@quick
@given(st.lists(BIT, min_size=2, max_size=60))
def test_clusters_of_one_case_are_worth_one_case_less(right):
    assume(0 < sum(right) < len(right))
    found = agreement.cluster_ratio((i, y, 1, 1.0) for i, y in enumerate(right))
    assert found.n_eff == pytest.approx(len(right) - 1)


@quick
@given(TABLE)
def test_a_queue_that_reviews_everything_gives_the_plain_figures(table):
    tp, fp, fn, tn = table
    found = agreement.two_phase(tp + fp, fn + tn, agreement.wilson(tp, tp + fp), agreement.wilson(tn, fn + tn))
    plain = agreement.binary_metrics(*table)
    for name in ("accuracy", "recall_bad", "specificity", "precision_bad", "npv"):
        assert close(getattr(found, name).value, getattr(plain, name).value), name
    if sum(table):
        assert close(found.usable_rate.value, 1 - plain.prevalence_bad.value)
        assert close(found.kappa, plain.kappa.value) and close(found.mcc, plain.mcc.value)


@quick
@given(ROWS)
def test_labelling_every_case_twice_adds_nothing(rows):
    rows = [(prompt, y * x, x, w) for prompt, y, x, w in rows]
    one, twice = agreement.cluster_ratio(rows), agreement.cluster_ratio(rows * 2)
    assert close((one.value, one.se, one.clusters), (twice.value, twice.se, twice.clusters))
    if one.n_eff is not None and one.deff > 1 + 1e-9:
        assert close((one.n_eff, one.lo, one.hi), (twice.n_eff, twice.lo, twice.hi))
    differences = [(prompt, y - x, w) for prompt, y, x, w in rows]
    one, twice = agreement.paired_cluster_diff(differences), agreement.paired_cluster_diff(differences * 2)
    assert close((one.value, one.se, one.p), (twice.value, twice.se, twice.p))


@quick
@given(PAIRS)
def test_pairs_are_counted_as_if_each_was_looked_at(pairs):
    judge, human = zip(*pairs, strict=True)
    both = [(pairs[i], pairs[j]) for i in range(len(pairs)) for j in range(i)]
    ranked = [(a[0] - b[0], a[1] - b[1]) for a, b in both if a[1] != b[1]]
    found = agreement.pairwise_accuracy(human, judge)
    assert found.pairs == len(ranked)
    assert found.judge_ties == sum(j == 0 for j, _h in ranked)
    assert found.concordant == sum(j * h > 0 for j, h in ranked)
    assert found.discordant == sum(j * h < 0 for j, h in ranked)
    prompts = [i % 3 for i in range(len(pairs))]
    within = agreement.pairwise_accuracy(human, judge, prompts)
    assert sound(within)
    assert within.pairs == sum(
        prompts[i] == prompts[j] and human[i] != human[j] for i in range(len(pairs)) for j in range(i)
    )


@quick
@given(st.lists(st.tuples(SCORE, BIT), min_size=1, max_size=30), st.sampled_from(["youden", "accuracy", "cost"]))
def test_no_threshold_does_better_than_the_one_chosen(cases, metric):
    scores, bad = zip(*cases, strict=True)
    found = agreement.threshold_sweep(scores, bad, metric, cost_fn=5.0)
    if found.best is None:
        assert found.reason == "one_human_class"
        return
    usable = len(bad) - sum(bad)

    def objective(t: float) -> float:
        tp = sum(label and score < t for score, label in cases)
        tn = sum(not label and score >= t for score, label in cases)
        if metric == "youden":
            return tp / sum(bad) + tn / usable - 1
        return (tp + tn) / len(bad) if metric == "accuracy" else -(5 * (sum(bad) - tp) + usable - tn) / len(bad)

    assert found.best.objective == pytest.approx(max(map(objective, [*range(12), -math.inf, math.inf])))
    assert objective(found.best.t) == pytest.approx(found.best.objective)


@quick
@given(st.lists(st.floats(0, 1), max_size=12))
def test_adjusted_p_values_keep_their_order_and_only_grow(ps):
    for adjust in (agreement.holm, agreement.bh, agreement.by):
        adjusted = adjust(ps)
        assert all(p <= q + 1e-12 and q <= 1 for p, q in zip(ps, adjusted, strict=True))
        assert all(adjusted[i] <= adjusted[j] + 1e-12 for i in range(len(ps)) for j in range(len(ps)) if ps[i] < ps[j])


@quick
@given(st.integers(1, 300), st.floats(0.3, 0.98))
def test_so_many_right_are_needed_as_the_exact_bound_says(n, p0):
    needed = agreement.min_successes(n, p0)
    if needed is None:
        assert agreement.cp_lower(n, n) < p0 + 1e-9
    else:
        assert agreement.cp_lower(needed, n) >= p0 - 1e-9
        assert agreement.cp_lower(needed - 1, n) < p0 + 1e-9


@quick
@given(st.floats(0.02, 0.98), st.floats(0.01, 0.3))
def test_with_one_label_fewer_the_interval_is_too_wide(p, half):
    n = agreement.n_for_halfwidth(p, half)
    found = [agreement.wilson(p * labels, labels) for labels in (n, n - 1) if labels]
    assert (found[0].hi - found[0].lo) / 2 <= half + 1e-12
    # Near an end the interval is cut at 0 or 1, which the plan does not count on.
    if n > 1 and found[1].lo > 0 and found[1].hi < 1:
        assert (found[1].hi - found[1].lo) / 2 > half


def test_many_prompts_are_dealt_into_groups_with_hardly_another_interval():
    dice = random.Random(3)
    groups = {
        f"p{i}": [int(dice.random() < 0.1), int(dice.random() < 0.1), 0, dice.randrange(1, 4)] for i in range(1000)
    }
    groups |= {f"q{i}": [0, 0, int(dice.random() < 0.2), 1] for i in range(200)}
    found = agreement.jackknife(groups, "kappa")
    assert found.clusters == 1200
    cells = [sum(table[i] for table in groups.values()) + 0.25 for i in range(4)]
    left = [
        agreement.binary_metrics(*(round((cell - 0.25) - table[i]) for i, cell in enumerate(cells))).kappa.value
        for table in groups.values()
    ]
    whole = math.sqrt(len(left) * statistics.pvariance(left) * (len(left) - 1) / len(left))
    assert found.se == pytest.approx(whole, rel=0.15)


def test_a_drop_is_noticed_and_a_steady_judge_is_left_alone():
    assert not any(window.signal for window in agreement.ewma([(44, 50)] * 30, 0.88))
    dropped = agreement.ewma([(44, 50)] * 5 + [(39, 50)] * 8, 0.88)
    assert any(window.signal for window in dropped[5:])
    assert agreement.ewma([], 0.88) == []


def test_the_statistics_need_neither_the_pages_nor_the_data():
    code = "import sys, evaluators.agreement; print({name.split('.')[0] for name in sys.modules} & {'streamlit', 'data', 'pages'})"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"
