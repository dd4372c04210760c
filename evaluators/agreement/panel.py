"""A panel of reviewers on the cases that two or more of them labelled: with each other, and the judge with them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evaluators.agreement.ceiling import Ceiling, ceiling
from evaluators.agreement.clusters import cells_ratio
from evaluators.agreement.estimate import ClusterEstimate
from evaluators.agreement.jackknife import jackknife
from evaluators.agreement.reviewers import ReviewerPair, alpha
from evaluators.agreement.table import binary_metrics


class Votes(NamedTuple):
    """What people said of n cases of one prompt, the same of each: labels by reviewer, 1 badcase and 0 usable, and the
    judge's label (None without one)."""

    cluster: Hashable
    judge: int | None
    labels: Mapping[str, int]
    n: int = 1


@dataclass(frozen=True)
class Panel:
    """alpha: Krippendorff's, nominal. ceiling: the judge with single people beside people with each other. pairs: every two
    reviewers, in the order of their names. others: each reviewer's agreement with the majority of the others, on the cases
    where they have one."""

    alpha: ClusterEstimate
    ceiling: Ceiling
    pairs: tuple[ReviewerPair, ...]
    others: Mapping[str, ClusterEstimate]


def panel(votes: Iterable[Votes]) -> Panel:
    """All figures from the cases with at least two labels; with others they do not count.

    Time grows with the number of different `votes` and prompts. Undefined figures have the reasons of `alpha`, `ceiling`,
    `binary_metrics`; two reviewers without a common case, and one whom nobody else can be compared with, `too_few_units`.
    """
    # Alike in prompt and labels, whoever gave them: all that alpha and the ceiling look at. By who said what: the pairs.
    alike: Counter = Counter()
    by_labels: dict[tuple, Counter] = {}
    known: dict[int, tuple] = {}  # the same labels come as the same object, many times
    votes = [vote for vote in votes if len(vote.labels) >= 2]
    for cluster, judge, labels, n in votes:
        said = known.get(id(labels)) or known.setdefault(id(labels), tuple(sorted(labels.items())))
        by_labels.setdefault(said, Counter())[cluster] += n
        alike[cluster, judge, len(said), sum(labels.values())] += n
    lists = {(m, bad): [1] * bad + [0] * (m - bad) for _cluster, _judge, m, bad in alike}
    each = [(cluster, judge, lists[m, bad]) for (cluster, judge, m, bad), n in alike.items() for _ in range(n)]
    return Panel(
        alpha=alpha([labels for _cluster, _judge, labels in each], clusters=[cluster for cluster, *_rest in each]),
        ceiling=ceiling(each),
        pairs=tuple(_pairs(by_labels)),
        others=_others(by_labels),
    )


#: Labels by reviewer, in the order of their names, and on how many cases of each prompt they were given.
_ByLabels = Mapping[tuple[tuple[str, int], ...], Mapping[Hashable, int]]


def _pairs(by_labels: _ByLabels) -> Iterable[ReviewerPair]:
    """Every two reviewers on their common cases."""
    tables: dict[tuple[str, str], dict[Hashable, list[int]]] = {}
    for said, cases in by_labels.items():
        for (one, first), (other, second) in itertools.combinations(said, 2):
            table, cell = tables.setdefault((one, other), {}), 2 * (1 - second) + 1 - first
            for cluster, n in cases.items():
                table.setdefault(cluster, [0, 0, 0, 0])[cell] += n
    names = sorted({name for said in by_labels for name, _label in said})
    for both in itertools.combinations(names, 2):
        yield _pair(*both, tables.get(both, {}))


def _pair(one: str, other: str, tables: Mapping[Hashable, list[int]]) -> ReviewerPair:
    """Two reviewers from their 2x2 tables by prompt (both bad, only the other, only the one, both usable).

    Where cases share prompts the intervals know it; else they are those of `reviewer_pairs`.
    """
    cells = np.array(list(tables.values())).reshape(-1, 4)
    n = int(cells.sum())
    if not n:
        nothing = ClusterEstimate.undefined("too_few_units")
        return ReviewerPair(one, other, 0, nothing, nothing)
    if len(tables) == n:
        found = binary_metrics(*cells.sum(axis=0).tolist())
        return ReviewerPair(one, other, n, found.accuracy, found.kappa)
    return ReviewerPair(one, other, n, cells_ratio(cells, (0, 3), range(4)), jackknife(tables, "kappa"))


def _others(by_labels: _ByLabels) -> dict[str, ClusterEstimate]:
    """Each reviewer against the strict majority of the others' labels; a tie among them says nothing."""
    sums: dict[str, dict[Hashable, list[int]]] = {}
    for said, cases in by_labels.items():
        bad, others = sum(label for _name, label in said), len(said) - 1
        for name, own in said:
            told, twice_bad = sums.setdefault(name, {}), 2 * (bad - own)
            if twice_bad == others:
                continue
            place = 0 if own == (twice_bad > others) else 1
            for cluster, n in cases.items():
                told.setdefault(cluster, [0, 0])[place] += n
    return {
        name: cells_ratio(np.array(list(told.values())).reshape(-1, 2), (0,), (0, 1))
        or ClusterEstimate.undefined("too_few_units")
        for name, told in sorted(sums.items())
    }
