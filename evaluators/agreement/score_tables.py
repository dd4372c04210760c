"""A judge's scores against people's, from counts of equal pairs: the cost grows with distinct scores and prompts."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from evaluators.agreement.clusters import cluster_ratio
from evaluators.agreement.comparisons import ClusterDifference, paired_cluster_diff
from evaluators.agreement.estimate import ClusterEstimate
from evaluators.agreement.jackknife import MOST_GROUPS, NO_SPREAD, deal, jackknife_se
from evaluators.agreement.proportions import student_quantile
from evaluators.agreement.ranks import PairwiseAccuracy

_PERFECT = 1 - 1e-12  # what is nearer to 1 is 1 but for rounding, and Fisher's z has no place for it

#: prompt, the judge's score, people's score, how many cases have both
ScoreCount = tuple[Hashable, float, float, int]


@dataclass(frozen=True)
class ScoreAgreement:
    """How a judge's scores go along with people's, over n cases of some prompts; all with intervals for clustered cases.

    pearson, spearman, kendall (tau-b), quadratic_kappa: -1..1, over all cases. bias (judge minus people), mae, rmse: in
    the unit of the scores. ranking: pairs within a prompt.
    """

    n: int
    prompts: int
    pearson: ClusterEstimate
    spearman: ClusterEstimate
    kendall: ClusterEstimate
    quadratic_kappa: ClusterEstimate
    bias: ClusterDifference
    mae: ClusterEstimate
    rmse: ClusterEstimate
    ranking: PairwiseAccuracy

    def as_dict(self) -> dict:
        """All fields, for JSON."""
        return asdict(self)


def score_agreement(counted: Sequence[ScoreCount]) -> ScoreAgreement:
    """All figures of paired scores; each equals that of `correlation`, `pairwise_accuracy` and so on, case by case.

    The scores are of one scale, rounded so that equal ones are equal. Undefined: `no_data`; correlations and kappa also
    `constant_input`.
    """
    n, prompts = sum(row[3] for row in counted), len({row[0] for row in counted})
    judge, human, parts = _tables(counted)
    figures = {
        "pearson": lambda table: _pearson(table, judge, human),
        "spearman": lambda table: _pearson(table, _ranks(table.sum(axis=1)), _ranks(table.sum(axis=0))),
        "kendall": _kendall,
        "quadratic_kappa": lambda table: _quadratic(table, judge, human),
    }
    bias, mae, square = (
        replace(paired_cluster_diff((c, how(j - h), k) for c, j, h, k in counted), n=n)
        for how in (lambda d: d, abs, lambda d: d * d)
    )
    plain = [_without_p(found) for found in (mae, square)]
    return ScoreAgreement(
        n, prompts, **{name: _on_fisher(figure, parts, n, prompts) for name, figure in figures.items()},
        bias=bias, mae=plain[0], rmse=_root(plain[1]), ranking=ranking(counted),
    )  # fmt: skip


def _tables(counted: Sequence[ScoreCount]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct scores of both sides, ascending, and the cases by group of prompts and score: (groups, judge, human)."""
    judge, j = np.unique([row[1] for row in counted], return_inverse=True)
    human, h = np.unique([row[2] for row in counted], return_inverse=True)
    group = deal(row[0] for row in counted)
    parts = np.zeros((min(len(group), MOST_GROUPS), len(judge), len(human)))
    if counted:
        np.add.at(parts, ([group[row[0]] for row in counted], j, h), [row[3] for row in counted])
    return judge, human, parts


def _on_fisher(
    figure: Callable[[np.ndarray], float | None], parts: np.ndarray, n: int, prompts: int
) -> ClusterEstimate:
    """A coefficient in -1..1 with the delete-a-group jackknife on Fisher's z scale, as `correlation` has it."""
    if not n:
        return ClusterEstimate.undefined("no_data")
    value = figure(parts.sum(axis=0))
    if value is None:
        return ClusterEstimate(None, reason="constant_input", n=n, clusters=prompts)
    if prompts < 2:
        return ClusterEstimate(value, reason="few_clusters", n=n, clusters=prompts)

    def on_scale(table: np.ndarray) -> float | None:
        left = figure(table)
        return None if left is None or abs(left) > _PERFECT else math.atanh(left)

    se = jackknife_se(on_scale, parts)
    if se is None or se < NO_SPREAD or abs(value) > _PERFECT:
        return ClusterEstimate(value, reason="degenerate", n=n, clusters=prompts)
    z, half = math.atanh(value), student_quantile(len(parts) - 1) * se
    return ClusterEstimate(
        value, math.tanh(z - half), math.tanh(z + half), n=n, method="jackknife over clusters", clusters=prompts
    )


def _pearson(table: np.ndarray, x: np.ndarray, y: np.ndarray) -> float | None:
    """The correlation of the values x of the rows and y of the columns; None when one side is constant."""
    rows, columns, n = table.sum(axis=1), table.sum(axis=0), table.sum()
    if (rows > 0).sum() < 2 or (columns > 0).sum() < 2:
        return None
    x, y = x - rows @ x / n, y - columns @ y / n
    return float(np.clip(x @ table @ y / math.sqrt((rows @ x**2) * (columns @ y**2)), -1, 1))


def _ranks(margin: np.ndarray) -> np.ndarray:
    """The mean rank that the cases of each value share."""
    return margin.cumsum() - (margin - 1) / 2


def _kendall(table: np.ndarray) -> float | None:
    """tau-b: (C - D) / sqrt(pairs that differ in x times pairs that differ in y); None when one side is constant."""
    n, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    under = (n * n - rows @ rows) * (n * n - columns @ columns)  # four times the product
    # Cells below in both, and those below in x and above in y.
    below = np.zeros_like(table)
    below[1:] = table.cumsum(axis=0)[:-1]
    to_left = below.cumsum(axis=1) - below
    to_right = below.sum(axis=1, keepdims=True) - below.cumsum(axis=1)
    return float(2 * (table * (to_left - to_right)).sum() / math.sqrt(under)) if under else None


def _quadratic(table: np.ndarray, x: np.ndarray, y: np.ndarray) -> float | None:
    """Quadratically weighted kappa (Cohen 1968): 1 - mean (x - y)^2 over what it would be were both sides independent.

    On evenly spaced levels the size of a step cancels, so it needs no list of levels. None when both sides gave one and
    the same score.
    """
    rows, columns, n = table.sum(axis=1), table.sum(axis=0), table.sum()
    squares = (x[:, None] - y) ** 2
    expected = rows @ squares @ columns
    return float(1 - (table * squares).sum() * n / expected) if expected else None


def _without_p(found: ClusterDifference) -> ClusterEstimate:
    """A mean that is no difference, so it cannot be below 0 and is not tested."""
    fields = {name: value for name, value in asdict(found).items() if name != "p"}
    return ClusterEstimate(**{**fields, "lo": None if found.lo is None else max(0.0, found.lo)})


def _root(square: ClusterEstimate) -> ClusterEstimate:
    """The square root of a mean square, limits and all."""
    roots = {name: None if limit is None else math.sqrt(limit)
             for name, limit in (("value", square.value), ("lo", square.lo), ("hi", square.hi))}  # fmt: skip
    return replace(square, **roots, se=None)


def ranking(counted: Sequence[ScoreCount]) -> PairwiseAccuracy:
    """pairwise_accuracy within prompts, from counts."""
    n = sum(row[3] for row in counted)
    place = {cluster: i for i, cluster in enumerate(dict.fromkeys(row[0] for row in counted))}
    ordered = sorted(counted, key=lambda row: place[row[0]])
    of = np.array([place[row[0]] for row in ordered], int)
    judge, human, count = (np.array([row[i] for row in ordered], float) for i in (1, 2, 3))
    pairs = np.zeros((3, len(place)))  # in the same order, in opposite order, equal for the judge
    one = np.arange(len(ordered))
    for step in range(1, len(ordered)):  # each entry with the one that stands so many further on, in its prompt
        one = one[one + step < len(ordered)]
        one = one[of[one] == of[one + step]]
        if not len(one):
            break
        other = one + step
        weight, people = count[one] * count[other], human[other] - human[one]
        alike = np.sign(people) * np.sign(judge[other] - judge[one])
        for kind, found in enumerate((alike > 0, alike < 0, (alike == 0) & (people != 0))):
            pairs[kind] += np.bincount(of[one], weights=weight * found, minlength=len(place))
    alike, unlike, ties = (int(total) for total in pairs.sum(axis=1))
    sums = {"pairs": alike + unlike + ties, "judge_ties": ties, "concordant": alike, "discordant": unlike}
    if not sums["pairs"]:
        return PairwiseAccuracy(None, reason="no_pairs", n=n, **sums)
    rows = zip(range(len(place)), (pairs[0] + pairs[2] / 2).tolist(), pairs.sum(axis=0).tolist(), strict=True)
    found = cluster_ratio(((c, y, x, 1.0) for c, y, x in rows), sums["pairs"])
    return PairwiseAccuracy(
        found.value, found.lo, found.hi, found.reason, n, found.se, found.method, clusters=found.clusters, **sums
    )
