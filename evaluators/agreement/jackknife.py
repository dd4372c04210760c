"""Intervals for figures of clustered cases that are no plain shares: leave out one cluster at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

import numpy as np

from evaluators.agreement.estimate import ClusterEstimate
from evaluators.agreement.proportions import student_quantile
from evaluators.agreement.scales import on_fisher, on_logit
from evaluators.agreement.table import binary_metrics, cohen_kappa, gwet_ac1, matthews

MOST_GROUPS = 200  # more clusters are dealt into so many groups: hardly another interval, at a fixed price

NO_SPREAD = 1e-9  # a standard error below it is rounding: an interval from it would claim certainty

_ADDED = 0.25  # to each cell, as in the unclustered intervals of table.py


def deal(ids: Iterable[Hashable]) -> dict[Hashable, int]:
    """Each cluster's group, 0-199: its own as long as there are at most 200 clusters, else dealt round robin in id order."""
    return {cluster: i % MOST_GROUPS for i, cluster in enumerate(sorted(set(ids), key=str))}


def jackknife_se(figure: Callable[[np.ndarray], float | None], parts: np.ndarray) -> float | None:
    """The delete-a-group standard error of a figure of sums (Miller 1974): sqrt((G-1)/G sum (J_g - mean J)^2).

    parts: shape (groups, ...), the sums of each group. figure: from an array of sums, of the shape of one part.
    None with fewer than two groups, and when the figure is undefined without one of them.
    """
    if len(parts) < 2:
        return None
    total = parts.sum(axis=0)
    # Rounded, so that what cancels is 0 and a figure that is undefined there says so.
    left = [figure(np.round(total - part, 12)) for part in parts]
    return None if None in left else spread(left)


def spread(left: Sequence[float]) -> float:
    """The jackknife standard error from the figures without each group, at least two."""
    groups, mean = len(left), math.fsum(left) / len(left)
    return math.sqrt((groups - 1) / groups * math.fsum((value - mean) ** 2 for value in left))


def jackknife(groups: Mapping[Hashable, Sequence[int]] | Sequence[Sequence[int]], metric: str) -> ClusterEstimate:
    """A figure of the summed 2x2 table, with an interval that knows which cases belong together.

    groups: (tp, fp, fn, tn) of each cluster, by its id or in the order of the ids. metric: kappa, mcc, ac1 (in -1..1, on
    Fisher's scale), f1_bad, f1_usable or balanced_accuracy (in 0..1, on the logit scale). The standard error is that of the
    table + 0.25, Student's t with groups - 1 degrees of freedom, the interval widened to hold the point. A figure at an end
    of its range, or the same without any group, has nothing to vary: its interval is that of binary_metrics, on Kish's
    effective number of cases. With one cluster the interval is everything possible, for `few_clusters`.

    :raises KeyError: for another metric.
    """
    return jackknife_all(groups, (metric,))[metric]


def jackknife_all(
    groups: Mapping[Hashable, Sequence[int]] | Sequence[Sequence[int]], metrics: Sequence[str]
) -> dict[str, ClusterEstimate]:
    """Several figures of one table, by name; the clusters are dealt once."""
    tables = groups if isinstance(groups, Mapping) else dict(enumerate(groups))
    tables = {cluster: table for cluster, table in tables.items() if any(table)}
    if not tables:
        return dict.fromkeys(metrics, ClusterEstimate.undefined("no_data"))
    sizes = [sum(table) for table in tables.values()]
    parts = _grouped(tables, isinstance(groups, Mapping))
    return {metric: _jackknife(parts, sizes, metric) for metric in metrics}


def _jackknife(parts: np.ndarray, sizes: Sequence[int], metric: str) -> ClusterEstimate:
    """parts: (groups of clusters, cells); sizes: the cases of each cluster."""
    figure, on_scale, lowest, reason = _METRICS[metric]
    n, clusters = sum(sizes), len(sizes)
    total = [float(cell) for cell in parts.sum(axis=0)]
    value = figure(*total)
    if value is None:
        return ClusterEstimate(None, reason=reason, n=n, clusters=clusters)
    se = jackknife_se(lambda cells: figure(*(float(cell) + _ADDED for cell in cells)), parts)
    if se is None:
        return ClusterEstimate(value, lowest, 1.0, "few_clusters", n, clusters=clusters)
    if value in (lowest, 1.0) or se < NO_SPREAD:
        return _uniform(value, metric, total, sizes)
    centre = figure(*(cell + _ADDED for cell in total))
    lo, hi = on_scale(centre, student_quantile(len(parts) - 1) * se)
    return ClusterEstimate(
        value, min(lo, value), max(hi, value), n=n, se=se, method="jackknife over clusters", clusters=clusters
    )


def _uniform(value: float, metric: str, total: Sequence[float], sizes: Sequence[int]) -> ClusterEstimate:
    """The unclustered interval on the table shrunk to (sum n)^2 / sum n^2 cases, as cluster_ratio does without variance."""
    n, n_eff = sum(sizes), sum(sizes) ** 2 / sum(size * size for size in sizes)
    limits = getattr(binary_metrics(*(cell * n_eff / n for cell in total)), metric)
    return ClusterEstimate(
        value, min(limits.lo, value), max(limits.hi, value), n=n, method=f"{limits.method}, on the effective n",
        n_eff=n_eff, deff=n / n_eff, clusters=len(sizes),
    )  # fmt: skip


def f1(tp: float, fp: float, fn: float, tn: float) -> float | None:
    """2tp / (2tp + fp + fn); None when the class occurs on neither side."""
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None


def mean_recall(tp: float, fp: float, fn: float, tn: float) -> float | None:
    """Balanced accuracy, the mean of recall and specificity; None when people used one label."""
    return (tp / (tp + fn) + tn / (tn + fp)) / 2 if tp + fn and tn + fp else None


#: By name: the figure, the scale of its interval, the lowest value possible, why it is undefined.
_METRICS = {
    "kappa": (cohen_kappa, on_fisher, -1.0, "single_category"),
    "mcc": (matthews, on_fisher, -1.0, "zero_margin"),
    "ac1": (gwet_ac1, on_fisher, -1.0, "no_data"),
    "f1_bad": (f1, on_logit, 0.0, "class_absent"),
    "f1_usable": (lambda tp, fp, fn, tn: f1(tn, fn, fp, tp), on_logit, 0.0, "class_absent"),
    "balanced_accuracy": (mean_recall, on_logit, 0.0, "one_human_class"),
}


def _grouped(tables: Mapping[Hashable, Sequence[int]], by_id: bool) -> np.ndarray:
    """The tables summed by group, shape (groups, 4)."""
    group = deal(tables) if by_id else {cluster: i % MOST_GROUPS for i, cluster in enumerate(tables)}
    parts = np.zeros((min(len(tables), MOST_GROUPS), 4))
    np.add.at(parts, [group[cluster] for cluster in tables], np.array(list(tables.values()), float))
    return parts
