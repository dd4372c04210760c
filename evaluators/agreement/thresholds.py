"""Choosing the threshold of a score, and what it is worth on cases that it was not chosen on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.agreement.clusters import ClusterMetrics, cluster_metrics
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
) -> Sweep:
    """The threshold that serves best, among -inf, the middles between neighbouring scores, and inf.

    bad: 1 where people say badcase. metric: youden (recall + specificity - 1; Youden 1950), accuracy (which on unequal
    classes likes to pass everything), or cost, -(cost_fn fn + cost_fp fp) / n. Equally good ones: the nearest to the
    current threshold, then the smallest. Undefined without cases (`no_data`) or with one class (`one_human_class`).

    :raises ValueError: for another metric, or if scores and bad differ in length.
    """
    if metric not in METRICS:
        raise ValueError(f"{metric} is not one of {', '.join(METRICS)}")
    if len(scores) != len(bad):
        raise ValueError(f"{len(scores)} scores and {len(bad)} labels")
    n, all_bad = len(bad), sum(bad)
    if not n or all_bad in (0, n):
        return Sweep(None, "one_human_class" if n else "no_data")
    values, index = np.unique(np.asarray(scores, float), return_inverse=True)
    t = _candidates(values)
    # Below each candidate: how many badcases, and how many usable cases.
    tp = np.concatenate(([0], np.bincount(index, weights=np.asarray(bad)).cumsum())).astype(int)
    fp = np.concatenate(([0], np.bincount(index).cumsum())) - tp
    fn, tn = all_bad - tp, n - all_bad - fp
    if metric == "youden":
        objective = tp / all_bad + tn / (n - all_bad) - 1
    else:
        objective = (tp + tn) / n if metric == "accuracy" else -(cost_fn * fn + cost_fp * fp) / n
    best = np.flatnonzero(objective.max() - objective < 1e-12)
    near = min(best, key=lambda i: (0.0 if current is None else abs(t[i] - current), t[i]))
    return Sweep(Threshold(float(t[near]), *(int(cell[near]) for cell in (tp, fp, fn, tn)), float(objective[near])))


def _candidates(values: np.ndarray) -> np.ndarray:
    """-inf, the middle between each two neighbouring values (strictly above the lower one), inf; values ascending."""
    low, high = values[:-1], values[1:]
    middle = low / 2 + high / 2
    return np.concatenate(([-math.inf], np.where(middle > low, middle, high), [math.inf]))


@dataclass(frozen=True)
class HeldOut:
    """What choosing a threshold this way is worth: every case judged by one chosen without its prompt.

    metrics: with intervals for independent cases; clustered: for prompts. Both None, with a reason, when undefined.
    """

    metrics: BinaryMetrics | None
    clustered: ClusterMetrics | None
    reason: str | None = None


def held_out(
    scores: Sequence[float],
    bad: Sequence[int],
    clusters: Sequence[Hashable],
    metric: str = "youden",
    current: float | None = None,
    folds: int = 10,
    cost_fn: float = 1.0,
    cost_fp: float = 1.0,
) -> HeldOut:
    """Cross-validation of threshold_sweep by prompt: tuned again without each fold, the verdicts pooled into one table.

    clusters: each case's prompt; as many folds as prompts if there are fewer. Undefined without cases (`no_data`), with one
    prompt (`few_clusters`), or when the cases outside a fold have one class (`one_human_class`).
    """
    if not len(scores):
        return HeldOut(None, None, "no_data")
    fold_of = _folds(clusters, folds)
    number = max(fold_of.values()) + 1
    if number < 2:
        return HeldOut(None, None, "few_clusters")
    groups: dict[Hashable, list[int]] = {cluster: [0, 0, 0, 0] for cluster in fold_of}
    cases = list(zip(scores, bad, clusters, strict=True))
    for fold in range(number):
        others = [(score, label) for score, label, cluster in cases if fold_of[cluster] != fold]
        chosen = threshold_sweep(*zip(*others, strict=True), metric, current, cost_fn, cost_fp)
        if chosen.best is None:
            return HeldOut(None, None, chosen.reason)
        for score, label, cluster in cases:
            if fold_of[cluster] == fold:
                flagged = score < chosen.best.t
                groups[cluster][(0 if label else 1) if flagged else (2 if label else 3)] += 1
    return HeldOut(binary_metrics(*map(sum, zip(*groups.values(), strict=True))), cluster_metrics(groups))


def _folds(clusters: Sequence[Hashable], folds: int) -> dict[Hashable, int]:
    """Each prompt's fold: the largest prompts first, each to the fold with the fewest cases."""
    sizes = Counter(clusters)
    filled = [0] * min(folds, len(sizes))
    fold_of = {}
    for cluster in sorted(sizes, key=lambda cluster: (-sizes[cluster], str(cluster))):
        fold = filled.index(min(filled))
        fold_of[cluster] = fold
        filled[fold] += sizes[cluster]
    return fold_of
