"""Choosing the threshold of a score, and what it is worth on cases that it was not chosen on."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluators.agreement.clusters import ClusterMetrics, cluster_metrics
from evaluators.agreement.estimate import ClusterEstimate
from evaluators.agreement.jackknife import MOST_GROUPS, NO_SPREAD, deal, jackknife_se, mean_recall
from evaluators.agreement.proportions import student_quantile
from evaluators.agreement.table import BinaryMetrics, binary_metrics

METRICS = ("youden", "accuracy", "cost")


@dataclass(frozen=True)
class Threshold:
    """A threshold with its table on the cases that it was chosen on; usable iff score >= t.

    t: -inf passes all, inf flags all. objective: what was made as large as possible. It flatters: never show it as the
    judge's quality, use held_out.
    """

    t: float
    tp: int
    fp: int
    fn: int
    tn: int
    objective: float


@dataclass(frozen=True)
class Sweep:
    """The best threshold, or why there is none."""

    best: Threshold | None
    reason: str | None = None


def threshold_sweep(
    scores: Sequence[float],
    bad: Sequence[int],
    metric: str = "youden",
    current: float | None = None,
    cost_fn: float = 1.0,
    cost_fp: float = 1.0,
    counts: Sequence[int] | None = None,
) -> Sweep:
    """The threshold that serves best, among -inf, the middles between neighbouring scores, and inf.

    bad: 1 where people say badcase. counts: how many cases each entry stands for, 1 if not given. metric: youden (recall +
    specificity - 1; Youden 1950), accuracy (which on unequal classes likes to pass everything), or cost,
    -(cost_fn fn + cost_fp fp) / n. Equally good ones: the nearest to the current threshold, then the smallest. Undefined
    without cases (`no_data`) or with one class (`one_human_class`).

    :raises ValueError: for another metric, or if scores and bad differ in length.
    """
    if metric not in METRICS:
        raise ValueError(f"{metric} is not one of {', '.join(METRICS)}")
    if len(scores) != len(bad):
        raise ValueError(f"{len(scores)} scores and {len(bad)} labels")
    values, index = np.unique(np.asarray(scores, float), return_inverse=True)
    return _best(values, histogram(index, bad, counts, len(values)), metric, current, cost_fn, cost_fp)


def histogram(index: np.ndarray, bad: Sequence[int], counts: Sequence[int] | None, size: int) -> np.ndarray:
    """Cases by label (0 usable, 1 badcase) and place of their score among `size` values; shape (2, size)."""
    bad = np.asarray(bad, int)
    return np.bincount(bad * size + index, weights=counts, minlength=2 * size).astype(int).reshape(2, size)


def _best(
    values: np.ndarray, cases: np.ndarray, metric: str, current: float | None, cost_fn: float, cost_fp: float
) -> Sweep:
    """threshold_sweep over the cases at each of the ascending values."""
    usable, all_bad = (int(number) for number in cases.sum(axis=1))
    n = usable + all_bad
    if not usable or not all_bad:
        return Sweep(None, "one_human_class" if n else "no_data")
    t, fp, tp = candidates(values), *np.concatenate((np.zeros((2, 1), int), cases.cumsum(axis=1)), axis=1)
    fn, tn = all_bad - tp, usable - fp
    if metric == "youden":
        objective = tp / all_bad + tn / usable - 1
    else:
        objective = (tp + tn) / n if metric == "accuracy" else -(cost_fn * fn + cost_fp * fp) / n
    best = np.flatnonzero(objective.max() - objective < 1e-12)
    near = min(best, key=lambda i: (0.0 if current is None else abs(t[i] - current), t[i]))
    return Sweep(Threshold(float(t[near]), *(int(cell[near]) for cell in (tp, fp, fn, tn)), float(objective[near])))


def candidates(values: np.ndarray) -> np.ndarray:
    """-inf, the middle between each two neighbouring values (strictly above the lower one), inf; values ascending."""
    low, high = values[:-1], values[1:]
    middle = low / 2 + high / 2
    return np.concatenate(([-math.inf], np.where(middle > low, middle, high), [math.inf]))


@dataclass(frozen=True)
class HeldOut:
    """What choosing a threshold this way is worth: every case judged by one chosen without its prompt.

    metrics: with intervals for independent cases; tables: (tp, fp, fn, tn) of each prompt. Both None, with a reason, when
    undefined.
    """

    metrics: BinaryMetrics | None
    tables: Mapping[Hashable, tuple[int, ...]] | None
    reason: str | None = None

    @cached_property
    def clustered(self) -> ClusterMetrics | None:
        """The figures with intervals for prompts."""
        return None if self.tables is None else cluster_metrics(self.tables)


def held_out(
    scores: Sequence[float],
    bad: Sequence[int],
    clusters: Sequence[Hashable],
    metric: str = "youden",
    current: float | None = None,
    folds: int = 10,
    cost_fn: float = 1.0,
    cost_fp: float = 1.0,
    counts: Sequence[int] | None = None,
) -> HeldOut:
    """Cross-validation of threshold_sweep by prompt: tuned again without each fold, the verdicts pooled into one table.

    clusters: each case's prompt; as many folds as prompts if there are fewer. counts: as in threshold_sweep. Undefined
    without cases (`no_data`), with one prompt (`few_clusters`), or when the cases outside a fold have one class
    (`one_human_class`).
    """
    if not len(scores):
        return HeldOut(None, None, "no_data")
    scores, bad = np.asarray(scores, float), np.asarray(bad, int)
    counts = np.ones(len(scores), int) if counts is None else np.asarray(counts, int)
    place = {cluster: i for i, cluster in enumerate(dict.fromkeys(clusters))}
    of = np.array([place[cluster] for cluster in clusters])
    fold_of = _folds(dict(zip(place, np.bincount(of, weights=counts).tolist(), strict=True)), folds)
    number = max(fold_of.values()) + 1
    if number < 2:
        return HeldOut(None, None, "few_clusters")
    fold = np.array([fold_of[cluster] for cluster in place])[of]
    values, index = np.unique(scores, return_inverse=True)
    parts = [histogram(index[fold == f], bad[fold == f], counts[fold == f], len(values)) for f in range(number)]
    flagged = np.zeros(len(scores), bool)
    for f, part in enumerate(parts):
        others = sum(parts) - part
        seen = others.any(axis=0)
        chosen = _best(values[seen], others[:, seen], metric, current, cost_fn, cost_fp)
        if chosen.best is None:
            return HeldOut(None, None, chosen.reason)
        flagged[fold == f] = scores[fold == f] < chosen.best.t
    tables = dict(zip(place, _tables(flagged, bad, of, counts, len(place)), strict=True))
    return HeldOut(binary_metrics(*map(sum, zip(*tables.values(), strict=True))), tables)


def tables_at(
    t: float,
    scores: Sequence[float],
    bad: Sequence[int],
    clusters: Sequence[Hashable],
    counts: Sequence[int] | None = None,
) -> dict[Hashable, tuple[int, ...]]:
    """(tp, fp, fn, tn) of each prompt at the threshold t; the rest as in held_out."""
    place = {cluster: i for i, cluster in enumerate(dict.fromkeys(clusters))}
    of = np.array([place[cluster] for cluster in clusters], int)
    counts = np.ones(len(of), int) if counts is None else np.asarray(counts, int)
    found = _tables(np.asarray(scores, float) < t, np.asarray(bad, int), of, counts, len(place))
    return dict(zip(place, found, strict=True))


def _tables(
    flagged: np.ndarray, bad: np.ndarray, of: np.ndarray, counts: np.ndarray, clusters: int
) -> list[tuple[int, ...]]:
    """(tp, fp, fn, tn) of each cluster. of: each entry's cluster, below `clusters`."""
    cell = np.where(flagged, 0, 2) + np.where(bad, 0, 1)
    found = np.bincount(4 * of + cell, weights=counts, minlength=4 * clusters).astype(int)
    return [tuple(table) for table in found.reshape(-1, 4).tolist()]


def _folds(sizes: Mapping[Hashable, int], folds: int) -> dict[Hashable, int]:
    """Each prompt's fold: the largest prompts first, each to the fold with the fewest cases."""
    filled = [0] * min(folds, len(sizes))
    fold_of = {}
    for cluster in sorted(sizes, key=lambda cluster: (-sizes[cluster], str(cluster))):
        fold = filled.index(min(filled))
        fold_of[cluster] = fold
        filled[fold] += sizes[cluster]
    return fold_of


def gain(
    new: Mapping[Hashable, Sequence[int]], old: Mapping[Hashable, Sequence[int]], metric: str = "youden",
    cost_fn: float = 1.0, cost_fp: float = 1.0,
) -> ClusterEstimate:  # fmt: skip
    """How much better one way to set labels is than another on the same clustered cases; above 0 where `new` is better.

    new, old: (tp, fp, fn, tn) of each prompt. The unit follows the metric: balanced accuracy (youden) or accuracy, both
    -1..1, or cost saved per case. Interval: delete-a-group jackknife, Student's t. Undefined without cases (`no_data`) or
    with one class (`one_human_class`). No interval: one prompt (`few_clusters`), nothing that varies (`degenerate`).
    """
    n = sum(map(sum, new.values()))
    if not n:
        return ClusterEstimate.undefined("no_data")
    figure = {
        "youden": mean_recall,
        "accuracy": lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn),
        "cost": lambda tp, fp, fn, tn: -(cost_fn * fn + cost_fp * fp) / (tp + fp + fn + tn),
    }[metric]

    def better(cells: np.ndarray) -> float | None:
        values = [figure(*map(float, half)) for half in (cells[:4], cells[4:])] if cells.any() else [None]
        return None if None in values else values[0] - values[1]

    group, clusters = deal(new), len(new)
    parts = np.zeros((min(clusters, MOST_GROUPS), 8))
    np.add.at(parts, [group[c] for c in new], np.array([(*new[c], *old[c]) for c in new], float))
    value = better(parts.sum(axis=0))
    if value is None:
        return ClusterEstimate(None, reason="one_human_class", n=n, clusters=clusters)
    se = jackknife_se(better, parts)
    if se is None or se < NO_SPREAD:
        reason = "few_clusters" if clusters < 2 else "degenerate"
        return ClusterEstimate(value, reason=reason, n=n, se=se, clusters=clusters)
    half = student_quantile(len(parts) - 1) * se
    return ClusterEstimate(
        value, value - half, value + half, n=n, se=se, method="jackknife over clusters", clusters=clusters
    )
