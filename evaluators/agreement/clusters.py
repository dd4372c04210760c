"""Shares of cases that belong together: images of one prompt, questions of one image, labels of one case."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from evaluators.agreement.estimate import ClusterEstimate
from evaluators.agreement.jackknife import jackknife_all
from evaluators.agreement.proportions import student_quantile, wilson

#: cluster, y, x, weight
Row = tuple[Hashable, float, float, float]


def cluster_ratio(rows: Iterable[Row], n: int | None = None) -> ClusterEstimate:
    """The share sum(w y) / sum(w x) of 0-1, with the interval for clustered cases: Wilson's, on the effective n.

    rows: (cluster, y, x, w). x = 1 marks what is counted (all cases for accuracy, those that people call badcase for
    recall) and y = 1 those of them that are right; w is 1, 1 / pi under a queue that draws with probability pi, or 1 / m
    for each of the m labels of a case. Rows may also be sums by cluster; pass n, the number of cases, then.

    The variance is linearised over the K clusters with any x (Franco et al. 2019; Miller 2024): with their sums Y, X,
    V = K/(K-1) sum (Y - R X)^2 / (sum X)^2. n_eff = min(n, R(1-R)/V); where V is 0 or R is 0 or 1, Kish's
    (sum X)^2 / sum X^2. Undefined without any x (`no_data`); with one cluster the interval is 0-1 (`few_clusters`).
    """
    y, x, counted = cluster_sums(rows)
    return sums_ratio(y, x, counted if n is None else n)


def sums_ratio(y: np.ndarray, x: np.ndarray, n: float) -> ClusterEstimate:
    """cluster_ratio from the sums Y and X of each cluster, shape (clusters,); n: how many cases they are of."""
    y, x = y[x > 0], x[x > 0]
    if not len(x):
        return ClusterEstimate.undefined("no_data")
    share, clusters = _ratio(y, x), len(x)
    if clusters < 2:
        return ClusterEstimate(share, 0.0, 1.0, "few_clusters", n, clusters=clusters)
    variance = ratio_variance(y, x, share)
    if variance > 0 and 0 < share < 1:
        n_eff = min(float(n), share * (1 - share) / variance)
    else:
        n_eff = min(float(n), float(x.sum() ** 2 / (x * x).sum()))
    limits = wilson(share * n_eff, n_eff, crit=student_quantile(clusters - 1))
    return ClusterEstimate(
        share, min(limits.lo, share), max(limits.hi, share), n=n, se=math.sqrt(variance),
        method="Wilson on the effective n", n_eff=n_eff, deff=n / n_eff, clusters=clusters,
    )  # fmt: skip


def cluster_sums(rows: Iterable[Row]) -> tuple[np.ndarray, np.ndarray, int]:
    """The weighted sums Y and X of each cluster with any x, and how many rows count."""
    sums: dict[Hashable, tuple[float, float]] = {}
    counted = 0
    for cluster, y, x, w in rows:
        before = sums.get(cluster, (0.0, 0.0))
        sums[cluster] = (before[0] + w * y, before[1] + w * x)
        counted += x > 0
    both = np.array([pair for pair in sums.values() if pair[1] > 0], float).reshape(-1, 2)
    return both[:, 0], both[:, 1], counted


def ratio_variance(y: np.ndarray, x: np.ndarray, ratio: float) -> float:
    """K/(K-1) sum (Y - R X)^2 / (sum X)^2 over the K clusters, at least two."""
    clusters, size = len(x), math.fsum(x)
    residuals = math.fsum((y - ratio * x) ** 2)
    # What is left by rounding is no spread.
    residuals = 0.0 if residuals <= 1e-24 * size**2 else residuals
    return clusters / (clusters - 1) * residuals / size**2


def _ratio(y: np.ndarray, x: np.ndarray) -> float:
    """sum Y / sum X, exactly 0 or 1 where it is so but for rounding."""
    ratio = math.fsum(y) / math.fsum(x)
    nearest = min(1.0, max(0.0, round(ratio)))
    return nearest if abs(ratio - nearest) < 1e-12 else ratio


def cells_ratio(cells: np.ndarray, hits: Sequence[int], of: Sequence[int]) -> ClusterEstimate | None:
    """The share of some columns of counts among others; None where those have none. cells: shape (clusters, columns)."""
    y, x = cells[:, list(hits)].sum(axis=1), cells[:, list(of)].sum(axis=1)
    return sums_ratio(y, x, int(x.sum())) if x.any() else None


@dataclass(frozen=True)
class ClusterMetrics:
    """The figures of BinaryMetrics with intervals for clustered cases."""

    accuracy: ClusterEstimate
    recall_bad: ClusterEstimate
    specificity: ClusterEstimate
    precision_bad: ClusterEstimate
    npv: ClusterEstimate
    f1_bad: ClusterEstimate
    f1_usable: ClusterEstimate
    balanced_accuracy: ClusterEstimate
    kappa: ClusterEstimate
    mcc: ClusterEstimate
    ac1: ClusterEstimate
    prevalence_bad: ClusterEstimate
    judge_bad_rate: ClusterEstimate

    def as_dict(self) -> dict:
        """All fields, for JSON."""
        return asdict(self)


def cluster_metrics(groups: Mapping[Hashable, Sequence[int]]) -> ClusterMetrics:
    """All figures of a 2x2 table from its (tp, fp, fn, tn) by cluster; undefined cases as in binary_metrics."""
    cells = np.array(list(groups.values()), float).reshape(-1, 4)
    n = cells.sum()

    def share(hits: Sequence[int], of: Sequence[int], reason: str) -> ClusterEstimate:
        return cells_ratio(cells, hits, of) or ClusterEstimate.undefined(reason if n else "no_data")

    tp, fp, fn, tn = every = range(4)
    return ClusterMetrics(
        **jackknife_all(groups, ("f1_bad", "f1_usable", "balanced_accuracy", "kappa", "mcc", "ac1")),
        accuracy=share((tp, tn), every, "no_data"),
        recall_bad=share((tp,), (tp, fn), "no_human_bad"),
        specificity=share((tn,), (tn, fp), "no_human_usable"),
        precision_bad=share((tp,), (tp, fp), "judge_flagged_none"),
        npv=share((tn,), (tn, fn), "judge_passed_none"),
        prevalence_bad=share((tp, fn), every, "no_data"),
        judge_bad_rate=share((tp, fp), every, "no_data"),
    )
