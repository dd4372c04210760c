"""Shares of cases that belong together: images of one prompt, questions of one image, labels of one case."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from evaluators.agreement.estimate import ClusterEstimate
from evaluators.agreement.jackknife import jackknife
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
    sums, counted = cluster_sums(rows)
    n = counted if n is None else n
    if not sums:
        return ClusterEstimate.undefined("no_data")
    share, clusters = _ratio(sums), len(sums)
    if clusters < 2:
        return ClusterEstimate(share, 0.0, 1.0, "few_clusters", n, clusters=clusters)
    variance = ratio_variance(sums, share)
    if variance > 0 and 0 < share < 1:
        n_eff = min(float(n), share * (1 - share) / variance)
    else:
        size = math.fsum(x for _y, x in sums.values())
        n_eff = min(float(n), size**2 / math.fsum(x * x for _y, x in sums.values()))
    limits = wilson(share * n_eff, n_eff, crit=student_quantile(clusters - 1))
    return ClusterEstimate(
        share, min(limits.lo, share), max(limits.hi, share), n=n, se=math.sqrt(variance),
        method="Wilson on the effective n", n_eff=n_eff, deff=n / n_eff, clusters=clusters,
    )  # fmt: skip


def cluster_sums(rows: Iterable[Row]) -> tuple[dict[Hashable, tuple[float, float]], int]:
    """The weighted sums (Y, X) of each cluster with any x, and how many rows count."""
    sums: dict[Hashable, tuple[float, float]] = {}
    counted = 0
    for cluster, y, x, w in rows:
        before = sums.get(cluster, (0.0, 0.0))
        sums[cluster] = (before[0] + w * y, before[1] + w * x)
        counted += x > 0
    return {cluster: both for cluster, both in sums.items() if both[1] > 0}, counted


def ratio_variance(sums: Mapping[Hashable, tuple[float, float]], ratio: float) -> float:
    """K/(K-1) sum (Y - R X)^2 / (sum X)^2 over the K clusters, at least two."""
    clusters, size = len(sums), math.fsum(x for _y, x in sums.values())
    residuals = math.fsum((y - ratio * x) ** 2 for y, x in sums.values())
    # What is left by rounding is no spread.
    residuals = 0.0 if residuals <= 1e-24 * size**2 else residuals
    return clusters / (clusters - 1) * residuals / size**2


def _ratio(sums: Mapping[Hashable, tuple[float, float]]) -> float:
    """sum Y / sum X, exactly 0 or 1 where it is so but for rounding."""
    ratio = math.fsum(y for y, _x in sums.values()) / math.fsum(x for _y, x in sums.values())
    nearest = min(1.0, max(0.0, round(ratio)))
    return nearest if abs(ratio - nearest) < 1e-12 else ratio


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
    n = sum(map(sum, groups.values()))

    def share(hits: Sequence[int], of: Sequence[int], reason: str) -> ClusterEstimate:
        rows = [(c, sum(table[i] for i in hits), sum(table[i] for i in of), 1.0) for c, table in groups.items()]
        counted = sum(x for _c, _y, x, _w in rows)
        return cluster_ratio(rows, counted) if counted else ClusterEstimate.undefined(reason if n else "no_data")

    tp, fp, fn, tn = every = range(4)
    return ClusterMetrics(
        accuracy=share((tp, tn), every, "no_data"),
        recall_bad=share((tp,), (tp, fn), "no_human_bad"),
        specificity=share((tn,), (tn, fp), "no_human_usable"),
        precision_bad=share((tp,), (tp, fp), "judge_flagged_none"),
        npv=share((tn,), (tn, fn), "judge_passed_none"),
        f1_bad=jackknife(groups, "f1_bad"),
        f1_usable=jackknife(groups, "f1_usable"),
        balanced_accuracy=jackknife(groups, "balanced_accuracy"),
        kappa=jackknife(groups, "kappa"),
        mcc=jackknife(groups, "mcc"),
        ac1=jackknife(groups, "ac1"),
        prevalence_bad=share((tp, fn), every, "no_data"),
        judge_bad_rate=share((tp, fp), every, "no_data"),
    )
