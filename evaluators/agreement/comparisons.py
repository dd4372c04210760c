"""Two judges on the same clustered cases, and many comparisons at once."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from evaluators.agreement.clusters import cluster_sums, ratio_variance
from evaluators.agreement.estimate import ClusterEstimate
from evaluators.agreement.proportions import student_quantile


@dataclass(frozen=True)
class ClusterDifference(ClusterEstimate):
    """A mean paired difference with its interval; p: two-sided, of no difference, None where there is no test."""

    p: float | None = None


def paired_cluster_diff(rows: Iterable[tuple[Hashable, float, float]]) -> ClusterDifference:
    """The weighted mean of paired differences of clustered cases (linearised, Student's t; Miller 2024).

    rows: (prompt, d, w): d = 1 where only A is right, -1 where only B is, else 0; or the difference of two scores, in
    their unit. w is 1 or 1 / pi. For recall pass only the cases that people call badcase.

    Undefined without rows (`no_data`). Without an interval: one prompt (`few_clusters`), or every prompt with the same
    mean (`degenerate`; p is 1 if that is 0, else None).
    """
    return paired_sums_diff(*cluster_sums((cluster, d, 1.0, w) for cluster, d, w in rows))


def paired_sums_diff(y: np.ndarray, x: np.ndarray, n: int) -> ClusterDifference:
    """paired_cluster_diff from the sums of w d and w of each cluster, shape (clusters,), over n cases."""
    if not len(x):
        return ClusterDifference.undefined("no_data")
    clusters = len(x)
    value = math.fsum(y) / math.fsum(x)
    if clusters < 2:
        return ClusterDifference(value, reason="few_clusters", n=n, clusters=clusters)
    se = math.sqrt(ratio_variance(y, x, value))
    if se == 0:
        return ClusterDifference(
            value, reason="degenerate", n=n, se=se, clusters=clusters, p=1.0 if value == 0 else None
        )
    half = student_quantile(clusters - 1) * se
    p = 2 * float(student.sf(abs(value) / se, clusters - 1))
    return ClusterDifference(
        value, value - half, value + half, n=n, se=se, method="Student's t over clusters", clusters=clusters, p=p
    )


def holm(ps: Sequence[float]) -> list[float]:
    """p values adjusted for comparisons planned beforehand (Holm 1979): the chance of any false finding is kept."""
    ordered, adjusted, worst = _ascending(ps), [0.0] * len(ps), 0.0
    for rank, i in enumerate(ordered):
        worst = max(worst, (len(ps) - rank) * ps[i])
        adjusted[i] = min(1.0, worst)
    return adjusted


def bh(ps: Sequence[float]) -> list[float]:
    """p values adjusted for exploring many (Benjamini & Hochberg 1995): the share of false findings is kept."""
    return _step_up(ps, 1.0)


def by(ps: Sequence[float]) -> list[float]:
    """As bh, for comparisons that depend on each other in any way (Benjamini & Yekutieli 2001)."""
    return _step_up(ps, math.fsum(1 / rank for rank in range(1, len(ps) + 1)))


def _step_up(ps: Sequence[float], factor: float) -> list[float]:
    """From the largest p down: the least of factor m p / rank so far, at most 1."""
    ordered, adjusted, least = _ascending(ps), [0.0] * len(ps), 1.0
    for rank in range(len(ps), 0, -1):
        i = ordered[rank - 1]
        least = min(least, factor * len(ps) * ps[i] / rank)
        adjusted[i] = least
    return adjusted


def _ascending(ps: Sequence[float]) -> list[int]:
    """The positions of the p values, smallest first."""
    return sorted(range(len(ps)), key=lambda i: ps[i])
