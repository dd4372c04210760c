"""How far people agree with each other: any number of them, labels missing."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.agreement.estimate import ClusterEstimate, Estimate
from evaluators.agreement.jackknife import NO_SPREAD, deal, jackknife_se
from evaluators.agreement.proportions import student_quantile
from evaluators.agreement.table import binary_metrics


def alpha(
    units: Sequence[Sequence[float | None]], metric: str = "nominal", clusters: Sequence[Hashable] | None = None
) -> ClusterEstimate:
    """Krippendorff's alpha (Krippendorff 2011): 1 - observed / expected disagreement, at most 1; 0 is what chance gives.

    units: for each case the reviewers' ratings, in any order, None where one is missing; cases with fewer than two do
    not count. metric: nominal (labels), ordinal (levels) or interval (scores on a scale with steps). clusters: each
    case's prompt; every case is its own otherwise. Interval: delete-one-cluster jackknife with Student's t, cut at -1..1.

    Undefined: no case with two ratings (`too_few_units`), one value only (`single_category`: they agree on all). With one
    cluster (`few_clusters`), or where a single cluster holds all variety (`interval_undefined`), the interval is -1..1. An
    alpha that is the same without any cluster, 1 above all, has no interval (`degenerate`). n: the cases that count.

    :raises ValueError: for another metric, or if clusters and units differ in length.
    """
    if metric not in ("nominal", "ordinal", "interval"):
        raise ValueError(f"{metric} is not nominal, ordinal or interval")
    of = range(len(units)) if clusters is None else clusters
    rated = [
        (cluster, ratings)
        for cluster, unit in zip(of, units, strict=True)
        if len(ratings := [rating for rating in unit if rating is not None]) >= 2
    ]
    if not rated:
        return ClusterEstimate.undefined("too_few_units")
    values = sorted({rating for _cluster, ratings in rated for rating in ratings})
    number = len({cluster for cluster, _ratings in rated})
    parts = _coincidences(rated, values)

    def figure(coincidence: np.ndarray) -> float | None:
        return _alpha(coincidence, values, metric)

    value = figure(parts.sum(axis=0))
    if value is None:
        return ClusterEstimate(None, reason="single_category", n=len(rated), clusters=number)
    se = jackknife_se(figure, parts)
    if se is None:
        reason = "few_clusters" if number < 2 else "interval_undefined"
        return ClusterEstimate(value, -1.0, 1.0, reason, len(rated), clusters=number)
    if se < NO_SPREAD:
        return ClusterEstimate(value, reason="degenerate", n=len(rated), clusters=number)
    half = student_quantile(len(parts) - 1) * se
    return ClusterEstimate(
        value, max(-1.0, value - half), min(1.0, value + half), n=len(rated), se=se,
        method="jackknife over clusters", clusters=number,
    )  # fmt: skip


def _coincidences(rated: Sequence[tuple[Hashable, list[float]]], values: Sequence[float]) -> np.ndarray:
    """Ordered pairs of ratings of one case, each case weighing m; shape (groups of clusters, values, values)."""
    group, index = deal(cluster for cluster, _ratings in rated), {value: i for i, value in enumerate(values)}
    # Few patterns of ratings occur, however many cases there are.
    patterns = Counter((group[cluster], tuple(sorted(ratings))) for cluster, ratings in rated)
    parts = np.zeros((max(group.values()) + 1, len(values), len(values)))
    for (part, ratings), times in patterns.items():
        counts = Counter(ratings)
        for v, w in itertools.product(counts, counts):
            pairs = counts[v] * (counts[w] - (v == w))
            parts[part, index[v], index[w]] += times * pairs / (len(ratings) - 1)
    return parts


def _alpha(coincidence: np.ndarray, values: Sequence[float], metric: str) -> float | None:
    """Alpha of a coincidence matrix; None when only one value is left."""
    counts = coincidence.sum(axis=1)
    if (counts > 0).sum() < 2:
        return None
    if metric == "nominal":
        distance = 1 - np.eye(len(values))
    else:
        # Krippendorff's ordinal difference, the sum of n_g from v to w less half of both ends, is one of mid-ranks.
        at = np.asarray(values, float) if metric == "interval" else counts.cumsum() - counts / 2
        distance = (at[:, None] - at[None, :]) ** 2
    observed = (coincidence * distance).sum()
    expected = (np.outer(counts, counts) * distance).sum() / (counts.sum() - 1)
    return float(1 - observed / expected)


@dataclass(frozen=True)
class ReviewerPair:
    """Two reviewers on the n cases that both labelled: the share of equal labels, and Cohen's kappa."""

    one: str
    other: str
    n: int
    agreement: Estimate
    kappa: Estimate


def reviewer_pairs(labels: Mapping[str, Mapping[Hashable, int]]) -> list[ReviewerPair]:
    """Every two reviewers against each other, in the order of their names.

    labels: of each reviewer, by case, 1 badcase and 0 usable. Undefined figures have the reasons of binary_metrics.
    """
    found = []
    for one, other in itertools.combinations(sorted(labels), 2):
        both = Counter((labels[one][case], labels[other][case]) for case in labels[one].keys() & labels[other].keys())
        table = binary_metrics(both[1, 1], both[0, 1], both[1, 0], both[0, 0])
        found.append(ReviewerPair(one, other, table.n, table.accuracy, table.kappa))
    return found
