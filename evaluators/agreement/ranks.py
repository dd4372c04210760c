"""Do a judge's scores go along with people's? Correlations, and pairs put in the right order."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from evaluators.agreement.clusters import cluster_ratio
from evaluators.agreement.estimate import ClusterEstimate
from evaluators.agreement.jackknife import NO_SPREAD, deal, spread
from evaluators.agreement.proportions import normal_quantile, student_quantile

Numbers = Sequence[float]


def pearson(x: Numbers, y: Numbers) -> float | None:
    """The correlation of two series of the same length; None for fewer than two values or when one is constant."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    if len(x) < 2 or (x == x[0]).all() or (y == y[0]).all():
        return None
    x, y = x - x.mean(), y - y.mean()
    x, y = x / np.abs(x).max(), y / np.abs(y).max()  # so that no square over- or underflows
    return float(np.clip((x * y).sum() / math.sqrt((x * x).sum() * (y * y).sum()), -1, 1))


def spearman(x: Numbers, y: Numbers) -> float | None:
    """The correlation of the ranks, equal values sharing their mean rank (Spearman 1904); None as pearson."""
    return pearson(rankdata(x), rankdata(y))


def kendall_tau_b(x: Numbers, y: Numbers) -> float | None:
    """(C - D) / sqrt((C + D + Tx)(C + D + Ty)), T the pairs equal in one only (Kendall 1945); None as pearson."""
    pairs = pair_counts(x, y)
    strict = pairs.concordant + pairs.discordant
    under = (strict + pairs.x_ties) * (strict + pairs.y_ties)
    return (pairs.concordant - pairs.discordant) / math.sqrt(under) if under else None


_KINDS: dict[str, tuple[Callable, Callable]] = {
    "pearson": (pearson, lambda r, n: 1 / (n - 3) if n > 3 else None),
    "spearman": (spearman, lambda r, n: (1 + r * r / 2) / (n - 3) if n > 3 else None),
    "kendall": (kendall_tau_b, lambda r, n: 0.437 / (n - 4) if n > 4 else None),
}


def corr_ci(r: float, n: int, kind: str = "pearson") -> tuple[float, float] | None:
    """The interval of a correlation of n independent cases, on Fisher's z scale.

    kind: pearson, spearman (Bonett & Wright 2000) or kendall (Fieller et al. 1957). None for r = -1 or 1 and for n
    of at most 3 (kendall: 4).
    """
    variance = _KINDS[kind][1](r, n)
    if variance is None or abs(r) >= 1:
        return None
    z, half = math.atanh(r), normal_quantile() * math.sqrt(variance)
    return math.tanh(z - half), math.tanh(z + half)


def correlation(
    judge: Numbers, human: Numbers, kind: str = "spearman", clusters: Sequence[Hashable] | None = None
) -> ClusterEstimate:
    """A correlation over all cases with its interval, for independent cases or, with each case's prompt, for clusters.

    kind: pearson, spearman or kendall. Clustered: delete-a-group jackknife on Fisher's z scale, Student's t. Undefined for
    `no_data` or `constant_input` (which one case is, too). No interval: `degenerate`, or `few_clusters` with one prompt.
    """
    n = len(judge)
    if n == 0:
        return ClusterEstimate.undefined("no_data")
    number = n if clusters is None else len(set(clusters))
    value = _KINDS[kind][0](judge, human)
    if value is None:
        return ClusterEstimate(None, reason="constant_input", n=n, clusters=number)
    if clusters is None:
        limits = corr_ci(value, n, kind)
        lo, hi = limits or (None, None)
        return ClusterEstimate(value, lo, hi, None if limits else "degenerate", n, method="Fisher z", clusters=number)
    if number < 2:
        return ClusterEstimate(value, reason="few_clusters", n=n, clusters=number)
    se, groups = _left_out_se(judge, human, _KINDS[kind][0], clusters)
    if se is None or se < NO_SPREAD or abs(value) >= 1:
        return ClusterEstimate(value, reason="degenerate", n=n, clusters=number)
    z, half = math.atanh(value), student_quantile(groups - 1) * se
    return ClusterEstimate(
        value, math.tanh(z - half), math.tanh(z + half), n=n, method="jackknife over clusters", clusters=number
    )


def _left_out_se(
    judge: Numbers, human: Numbers, coefficient: Callable, clusters: Sequence[Hashable]
) -> tuple[float | None, int]:
    """The jackknife standard error of atanh(r), None where it has none, and the number of groups."""
    group = deal(clusters)
    judge, human, of = np.asarray(judge, float), np.asarray(human, float), np.array([group[c] for c in clusters])
    groups = int(of.max()) + 1
    left = [coefficient(judge[of != g], human[of != g]) for g in range(groups)]
    if any(r is None or abs(r) >= 1 for r in left):
        return None, groups
    return spread([math.atanh(r) for r in left]), groups


@dataclass(frozen=True)
class PairCounts:
    """Pairs of cases: in the same order in x and y, in opposite order, equal in x only, in y only, in both."""

    concordant: int
    discordant: int
    x_ties: int
    y_ties: int
    both_ties: int


def pair_counts(x: Numbers, y: Numbers) -> PairCounts:
    """Counted in O(n log n) without looking at each pair (Knight 1966)."""
    x, y = np.unique(x, return_inverse=True)[1], np.unique(y, return_inverse=True)[1]
    ties_x, ties_y = _pairs(np.bincount(x)), _pairs(np.bincount(y))
    both = _pairs(np.unique(x * (y.max(initial=0) + 1) + y, return_counts=True)[1])
    discordant = _inversions(y[np.lexsort((y, x))])[0]
    every = len(x) * (len(x) - 1) // 2
    concordant = every - ties_x - ties_y + both - discordant
    return PairCounts(concordant, discordant, ties_x - both, ties_y - both, both)


def _pairs(counts: np.ndarray) -> int:
    """The pairs within groups of these sizes."""
    return int((counts * (counts - 1) // 2).sum())


def _inversions(values: np.ndarray) -> tuple[int, np.ndarray]:
    """How many pairs stand in falling order, and the values sorted; by halves."""
    if len(values) <= 32:
        return int(np.triu(values[:, None] > values[None, :]).sum()), np.sort(values)
    (left, low), (right, high) = (_inversions(half) for half in np.array_split(values, 2))
    across = int((len(low) - np.searchsorted(low, high, side="right")).sum())
    return left + right + across, np.sort(np.concatenate((low, high)))


@dataclass(frozen=True)
class PairwiseAccuracy(ClusterEstimate):
    """Of the pairs that people rank, the share that the judge ranks alike, a tie of the judge counting half."""

    pairs: int = 0
    judge_ties: int = 0
    concordant: int = 0
    discordant: int = 0


def pairwise_accuracy(human: Numbers, judge: Numbers, clusters: Sequence[Hashable] | None = None) -> PairwiseAccuracy:
    """(C + T/2) / (C + D + T) over the pairs that people order strictly: (1 + Somers' D) / 2 (cf. Deutsch et al. 2023).

    clusters: each case's prompt; then only pairs within a prompt count, with cluster_ratio's interval. Without, all pairs
    and no interval. Round scores before: equal ones may differ in the last bit. Undefined when there is no such pair
    (`no_pairs`).
    """
    of = [0] * len(human) if clusters is None else clusters
    cases: dict[Hashable, list[int]] = {}
    for i, cluster in enumerate(of):
        cases.setdefault(cluster, []).append(i)
    counted = {c: pair_counts([human[i] for i in where], [judge[i] for i in where]) for c, where in cases.items()}
    alike, unlike = sum(p.concordant for p in counted.values()), sum(p.discordant for p in counted.values())
    ties = sum(p.y_ties for p in counted.values())
    pairs = alike + unlike + ties
    counts = {"pairs": pairs, "judge_ties": ties, "concordant": alike, "discordant": unlike}
    if not pairs:
        return PairwiseAccuracy(None, reason="no_pairs", n=len(human), **counts)
    if clusters is None:
        return PairwiseAccuracy((alike + ties / 2) / pairs, n=len(human), **counts)
    rows = [(c, p.concordant + p.y_ties / 2, p.concordant + p.discordant + p.y_ties, 1.0) for c, p in counted.items()]
    found = cluster_ratio(rows, pairs)
    return PairwiseAccuracy(
        found.value,
        found.lo,
        found.hi,
        found.reason,
        len(human),
        found.se,
        found.method,
        clusters=found.clusters,
        **counts,
    )
