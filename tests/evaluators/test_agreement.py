"""Judge against people: what must hold for every table, and the headline; reference values are in the next file."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators import agreement
from evaluators.agreement import (
    REASON_WORDS,
    WARNING_WORDS,
    binary_metrics,
    clustered_headline,
    headline,
    human_agreement,
    majority,
    wilson,
)

COUNT = st.integers(0, 400)
TABLE = st.tuples(COUNT, COUNT, COUNT, COUNT)


def test_the_worked_example_85_of_100():
    found = agreement.wilson(85, 100)
    assert [round(value, 3) for value in (found.value, found.lo, found.hi)] == [0.85, 0.767, 0.907]


@given(TABLE)
def test_every_figure_lies_in_its_interval_or_says_why_it_is_undefined(table):
    for name, figure in vars(binary_metrics(*table)).items():
        if not isinstance(figure, agreement.Estimate):
            continue
        if figure.value is None:
            assert figure.lo is figure.hi is None and figure.reason in REASON_WORDS, name
        else:
            assert figure.lo <= figure.value <= figure.hi and figure.reason is None, name
            assert figure.lo >= -1 and figure.hi <= 1, name


@given(TABLE)
def test_calling_usable_what_was_badcase_swaps_the_figures_and_leaves_those_that_know_no_side(table):
    tp, fp, fn, tn = table
    one, other = binary_metrics(tp, fp, fn, tn), binary_metrics(tn, fn, fp, tp)

    def value(figure):
        return None if figure.value is None else pytest.approx(figure.value, abs=1e-12)

    assert value(one.recall_bad) == other.specificity.value
    assert value(one.precision_bad) == other.npv.value
    assert value(one.f1_bad) == other.f1_usable.value
    for name in ("accuracy", "kappa", "mcc", "balanced_accuracy", "ac1"):
        assert value(getattr(one, name)) == getattr(other, name).value, name


@given(TABLE)
def test_the_figures_follow_from_the_counts(table):
    tp, fp, fn, tn = table
    found = binary_metrics(*table)
    assert found.n == sum(table)
    if found.n:
        assert found.accuracy.value == (tp + tn) / found.n
        assert found.baseline == max(tp + fn, fp + tn) / found.n
        assert found.baseline_diff.diff == pytest.approx(found.accuracy.value - found.baseline, abs=1e-12)
        assert set(found.warnings) <= set(WARNING_WORDS)
    if tp + fn:
        assert found.recall_bad.value == tp / (tp + fn)
    if tp + fp:
        assert found.precision_bad.value == tp / (tp + fp)


def test_with_no_labels_everything_is_undefined_and_nothing_is_0():
    found = binary_metrics(0, 0, 0, 0)
    assert {figure.reason for figure in vars(found).values() if isinstance(figure, agreement.Estimate)} == {"no_data"}
    assert (found.baseline, found.warnings) == (None, ("no_data",))


def test_when_only_one_class_was_seen_kappa_is_undefined_and_not_1():
    assert (binary_metrics(0, 0, 0, 50).kappa.value, binary_metrics(0, 0, 0, 50).kappa.reason) == (
        None,
        "single_category",
    )


@given(table=TABLE, bad=COUNT, usable=COUNT)
def test_a_case_that_the_judge_left_without_a_label_is_a_disagreement(table, bad, usable):
    tp, fp, fn, tn = table
    found, n = headline(*table, bad, usable), sum(table) + bad + usable
    assert found.n == n
    if not n:
        assert found.accuracy.value is found.baseline is found.coverage.value is None
        return
    assert found.accuracy.value == (tp + tn) / n
    assert found.coverage.value == sum(table) / n
    assert found.answered == binary_metrics(*table)
    assert ("small_n" in found.warnings) == (n < 30)
    assert found.baseline == max(tp + fn + bad, fp + tn + usable) / n
    assert found.baseline_diff.diff == pytest.approx(found.accuracy.value - found.baseline, abs=1e-12)


def test_the_headline_on_ten_cases_by_hand():
    found = headline(tp=2, fp=1, fn=1, tn=4, unanswered_bad=1, unanswered_usable=1)
    assert (found.n, found.accuracy.value, found.coverage.value) == (10, 0.6, 0.8)
    assert (found.baseline, found.baseline_label) == (0.6, "usable")
    # Right where always saying usable is wrong: 2 badcases; the reverse: 1 flagged and 1 unanswered usable case.
    assert (found.baseline_diff.diff, found.baseline_diff.discordant) == (0.0, 4)
    json.dumps(found.as_dict(), allow_nan=False)


def test_two_people_on_ten_cases_by_hand():
    # Both badcase 3 times, both usable 5 times, different twice: they agree on 8 of 10; chance 0.4² + 0.6² = 0.52.
    found = human_agreement({"a": [(2, 2, 3), (2, 0, 2)], "b": [(2, 0, 3)], "c": [(2, 1, 2)]})
    assert (found.cases, found.agreement.value) == (10, pytest.approx(0.8))
    assert found.kappa.value == pytest.approx((0.8 - 0.52) / 0.48)
    assert found.agreement.lo < 0.8 < found.agreement.hi and found.agreement.clusters == 3
    alone = human_agreement({i: [(2, b, 1)] for i, b in enumerate([2] * 3 + [0] * 5 + [1] * 2)})
    assert (alone.agreement.lo, alone.agreement.hi) == pytest.approx((wilson(8, 10).lo, wilson(8, 10).hi))
    assert alone.kappa == binary_metrics(3, 1, 1, 5).kappa


def test_three_people_on_one_case_are_three_pairs():
    # Two say badcase, one usable: of the three pairs one agrees.
    assert human_agreement({"a": [(3, 2, 1)]}).agreement.value == pytest.approx(1 / 3)


def test_one_label_a_case_says_nothing_about_people():
    found = human_agreement({"a": [(1, 1, 20), (0, 0, 5)]})
    assert (found.cases, found.agreement.value, found.kappa.reason) == (0, None, "too_few_units")


def test_people_who_only_ever_say_usable_agree_without_a_kappa():
    found = human_agreement({"a": [(2, 0, 3)], "b": [(2, 0, 3)]})
    assert (found.agreement.value, found.kappa.value, found.kappa.reason) == (1.0, None, "single_category")


@pytest.mark.parametrize(
    ("labels", "gold"),
    [
        ([1], 1),
        ([0, 0, 1], 0),
        ([0, 1], None),
        ([], None),
        ([None, 1], 1),
        ([None, None], None),
        ([1, 1, 0, 0, None], None),
    ],
)
def test_the_majority_counts_and_a_tie_does_not(labels, gold):
    assert majority(labels) == gold


# --- cases that share a prompt -----------------------------------------------------------------------------------------


def test_where_every_case_has_its_own_prompt_nothing_changes():
    groups = {i: tuple(int(i % 5 == cell) for cell in range(6)) for i in range(40) if i % 5 < 4}
    found = clustered_headline(groups)
    counts = [sum(cells[i] for cells in groups.values()) for i in range(6)]
    assert found == headline(*counts)


def test_pictures_of_one_prompt_are_worth_less():
    """20 prompts of 5 pictures each, right all together or wrong all together: 20 cases, not 100."""
    groups = {p: (0, 0, 0, 5, 0, 0) if p < 17 else (0, 5, 0, 0, 0, 0) for p in range(20)}
    found = clustered_headline(groups)
    assert (found.n, found.prompts, found.accuracy.value) == (100, 20, 0.85)
    assert found.accuracy.n_eff == pytest.approx(19, rel=0.01)  # 20 * 19/20 by K/(K-1)
    plain = headline(fp=15, tn=85).accuracy
    assert found.accuracy.lo < plain.lo - 0.05
    assert found.accuracy.hi > plain.hi


def test_unanswered_cases_count_in_their_prompt():
    groups = {"a": (1, 0, 0, 3, 1, 0), "b": (2, 0, 0, 1, 0, 1), "c": (0, 1, 1, 2, 0, 0)}
    found = clustered_headline(groups)
    assert (found.n, found.prompts, found.unanswered_bad, found.unanswered_usable) == (13, 3, 1, 1)
    assert found.accuracy.value == pytest.approx(9 / 13)
    assert found.recall_bad.value == pytest.approx(3 / 5)
    assert found.coverage.value == pytest.approx(11 / 13)
    assert found.answered.precision_bad.value == pytest.approx(3 / 4)
    assert "few_clusters" in found.warnings


def test_one_prompt_says_nothing_beyond_itself():
    found = clustered_headline({"a": (3, 1, 1, 5, 0, 0)})
    assert (found.accuracy.value, found.accuracy.lo, found.accuracy.hi) == (0.8, 0.0, 1.0)
    assert found.accuracy.reason == "few_clusters"


def test_without_labels_there_is_no_headline():
    assert clustered_headline({}) == headline()


# --- claims ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "n", "target", "answer"),
    [(92, 100, 0.85, "pass"), (91, 100, 0.85, "undecided"), (179, 200, 0.85, "pass"), (178, 200, 0.85, "undecided"),
     (85, 100, 0.85, "undecided"), (70, 100, 0.85, "fail"), (19, 19, 0.85, "pass"), (18, 18, 0.85, "undecided")],
)  # fmt: skip
def test_a_claim_needs_as_many_right_as_the_exact_bound_says(right, n, target, answer):
    """92 of 100, 179 of 200, 19 of 19: the table of agreement.md 1.3."""
    assert agreement.claim(agreement.wilson(right, n), target).answer == answer


def test_an_undecided_claim_tells_how_many_more_labels_would_decide_it():
    found = agreement.claim(agreement.wilson(90, 100), 0.85)
    assert found.more == 304 - 100  # 304 labels show 85 % with 80 % power when the truth is 90 %
    assert agreement.claim(agreement.wilson(84, 100), 0.85).more is None


def test_clustered_cases_claim_less():
    groups = {p: (0, 0, 0, 5, 0, 0) if p < 19 else (0, 5, 0, 0, 0, 0) for p in range(20)}
    clustered = agreement.claim(clustered_headline(groups).accuracy, 0.85)
    assert agreement.claim(headline(fp=5, tn=95).accuracy, 0.85).answer == "pass"
    assert clustered.answer == "undecided"
    assert clustered.more > 100


def test_of_one_prompt_it_is_unknown_how_many_more_labels_would_decide_a_claim():
    found = agreement.claim(clustered_headline({"p": (0, 1, 0, 19, 0, 0)}).accuracy, 0.85)
    assert (found.answer, found.more, found.reason) == ("undecided", None, "few_clusters")
    assert agreement.claim(agreement.wilson(90, 100), 0.85).reason is None


def test_repeats_of_one_prompt_s_cases_make_no_narrower_interval():
    same, differ = [(0.9, 0.5)] * 2, [(0.9, 0.5), (0.1, 0.5)]
    cases = [same] * 12 + [differ] * 4
    alone = agreement.self_consistency(cases)
    shared = agreement.self_consistency(cases, [i // 4 for i in range(16)])
    assert alone.agreement == alone.same.value == shared.same.value == 0.75
    assert (alone.same.clusters, shared.same.clusters) == (16, 4)
    # Three prompts of 4 are steady, one is not: V = 4/3 * (3 * 1^2 + 3^2) / 16^2 = 1/16, n_eff = .1875 * 16 = 3.
    assert shared.same.n_eff == pytest.approx(3) and alone.same.n_eff == pytest.approx(15)
    assert shared.same.lo < alone.same.lo
    assert agreement.self_consistency([[(0.9, 0.5)]]).same.reason == "no_data"


def test_without_labels_nothing_is_claimed():
    assert agreement.claim(headline().accuracy, 0.85) == agreement.Claim(0.85, "undecided", None, None)
