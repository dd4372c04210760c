"""A panel of reviewers: the same figures as the functions for single questions give, from votes that are put together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.agreement import Votes, alpha, ceiling, cluster_ratio, majority, panel, reviewer_pairs

NAMES = ("Ada", "Ben", "Cleo")
labels = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 1))
votes = st.lists(
    st.builds(Votes, st.integers(0, 4), st.sampled_from([0, 1, None]), labels, st.integers(1, 3)), max_size=12
)


def one_by_one(told: list[Votes]) -> list[Votes]:
    return [vote._replace(n=1) for vote in told for _ in range(vote.n)]


def test_by_hand():
    """Ada and Ben on four cases: alike on three. With Cleo on the first case, who is outvoted there."""
    found = panel([
        Votes("a", 1, {"Ada": 1, "Ben": 1, "Cleo": 0}), Votes("b", 0, {"Ada": 0, "Ben": 0}, 2), Votes("c", 1, {"Ada": 1, "Ben": 0}),
        Votes("d", 1, {"Ada": 1}),
    ])  # fmt: skip
    pairs = {(p.one, p.other): p for p in found.pairs}
    assert list(pairs) == [("Ada", "Ben"), ("Ada", "Cleo"), ("Ben", "Cleo")]
    assert (pairs["Ada", "Ben"].n, pairs["Ada", "Ben"].agreement.value) == (4, 0.75)
    assert pairs["Ada", "Ben"].kappa.value == pytest.approx(0.5)  # po 0.75, pe 0.5
    assert pairs["Ada", "Cleo"].agreement.value == 0.0
    assert (found.others["Cleo"].value, found.others["Cleo"].n) == (0.0, 1)
    # Of case a Ada sees Ben and Cleo tie; she agrees on both of b and not on c.
    assert (found.others["Ada"].value, found.others["Ada"].n) == (pytest.approx(2 / 3), 3)
    assert (found.alpha.n, found.ceiling.n) == (4, 4)
    assert found.ceiling.hh_agreement == pytest.approx((1 / 3 + 2 + 0) / 4)
    assert found.ceiling.jh_agreement == pytest.approx((2 / 3 + 2 + 1 / 2) / 4)


def test_nobody_and_one_person_are_no_panel():
    for told in ([], [Votes("a", 1, {"Ada": 1}), Votes("b", 1, {})]):
        found = panel(told)
        assert (found.alpha.reason, found.ceiling.reason, found.pairs, found.others) == ("too_few_units",) * 2 + (
            (),
            {},
        )


def test_two_who_share_no_case_are_undefined():
    found = panel([Votes("a", 1, {"Ada": 1, "Cleo": 1}), Votes("b", 0, {"Ben": 0, "Cleo": 0})])
    (pair,) = [p for p in found.pairs if (p.one, p.other) == ("Ada", "Ben")]
    assert (pair.n, pair.agreement.value, pair.agreement.reason, pair.kappa.reason) == (
        0,
        None,
        "too_few_units",
        "too_few_units",
    )


@given(votes)
def test_where_every_case_has_a_prompt_of_its_own_pairs_are_those_of_independent_cases(told):
    each = [vote._replace(cluster=i) for i, vote in enumerate(one_by_one(told)) if len(vote.labels) >= 2]
    by_name = {name: {i: v.labels[name] for i, v in enumerate(each) if name in v.labels} for name in NAMES}
    expected = {(p.one, p.other): p for p in reviewer_pairs(by_name)}
    for pair in panel(each).pairs:
        assert pair.n == 0 or pair == expected[pair.one, pair.other]


@given(votes)
def test_it_is_what_the_single_functions_say(told):
    found, each = panel(told), one_by_one(told)
    shared = [vote for vote in each if len(vote.labels) >= 2]
    assert found == panel(each)
    expected = alpha([list(vote.labels.values()) for vote in shared], clusters=[vote.cluster for vote in shared])
    assert (found.alpha.n, found.alpha.reason) == (expected.n, expected.reason)
    assert found.alpha.value == pytest.approx(expected.value) and found.alpha.lo == pytest.approx(expected.lo)
    expected = ceiling([(vote.cluster, vote.judge, list(vote.labels.values())) for vote in shared])
    assert (found.ceiling.n, found.ceiling.reason) == (expected.n, expected.reason)
    assert found.ceiling.kappa_diff.value == pytest.approx(expected.kappa_diff.value)
    by_name = {name: {i: v.labels[name] for i, v in enumerate(shared) if name in v.labels} for name in NAMES}
    expected = {(p.one, p.other): p for p in reviewer_pairs(by_name)}
    for pair in found.pairs:
        same = expected[pair.one, pair.other]
        assert pair.n == same.n
        if pair.n:
            assert pair.agreement.value == pytest.approx(same.agreement.value)
            assert pair.kappa.value == pytest.approx(same.kappa.value)
            if pair.kappa.value is None:
                assert pair.kappa.reason == same.kappa.reason
    for name, others in found.others.items():
        rows = [
            (v.cluster, v.labels[name] == rest, 1, 1.0)
            for v in shared if name in v.labels
            and (rest := majority(label for other, label in v.labels.items() if other != name)) is not None
        ]  # fmt: skip
        expected = cluster_ratio(rows)
        assert (others.value, others.n) == (expected.value, len(rows))
        assert others.lo == pytest.approx(expected.lo)
