"""What every threshold of a score would find, and how well the score orders the cases of clustered data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.agreement.estimate import ClusterEstimate
from evaluators.agreement.jackknife import NO_SPREAD, deal, spread
from evaluators.agreement.proportions import student_quantile
from evaluators.agreement.scales import on_logit
from evaluators.agreement.thresholds import candidates, histogram


@dataclass(frozen=True)
class SweepPoint:
    """The table at a threshold t: usable iff score >= t; -inf passes all, inf flags all. Shares are None when undefined."""

    t: float
    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def recall_bad(self) -> float | None:
        return _share(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> float | None:
        return _share(self.tn, self.tn + self.fp)

    @property
    def precision_bad(self) -> float | None:
        return _share(self.tp, self.tp + self.fp)

    @property
    def accuracy(self) -> float | None:
        return _share(self.tp + self.tn, self.tp + self.fp + self.fn + self.tn)


def sweep_points(scores: Sequence[float], bad: Sequence[int], counts: Sequence[int] | None = None) -> list[SweepPoint]:
    """The table at each candidate of threshold_sweep, from the one that passes all to the one that flags all.

    bad: 1 where people say badcase. counts: how many cases each entry stands for. Without cases there is no point.
    """
    if not len(scores):
        return []
    values, index = np.unique(np.asarray(scores, float), return_inverse=True)
    cases = histogram(index, bad, counts, len(values))
    usable, all_bad = cases.sum(axis=1)
    fp, tp = np.concatenate((np.zeros((2, 1), int), cases.cumsum(axis=1)), axis=1)
    columns = (candidates(values), tp, fp, all_bad - tp, usable - fp)
    return [SweepPoint(*found) for found in zip(*(column.tolist() for column in columns), strict=True)]


def clustered_auc(
    scores: Sequence[float], bad: Sequence[int], clusters: Sequence[Hashable], counts: Sequence[int] | None = None
) -> ClusterEstimate:
    """P(a usable case scores above a badcase) plus half of the ties, as auc, with an interval for clustered cases.

    The interval leaves out a group of prompts at a time, on the logit scale, Student's t. Undefined without cases
    (`no_data`) or with one class (`one_human_class`). No interval: 0 or 1, or a class that one group holds alone
    (`degenerate`); one prompt (`few_clusters`).
    """
    return _left_out(_area, scores, bad, clusters, counts, "one_human_class")


def clustered_average_precision(
    scores: Sequence[float], bad: Sequence[int], clusters: Sequence[Hashable], counts: Sequence[int] | None = None
) -> ClusterEstimate:
    """average_precision with an interval for clustered cases, made and undefined as that of clustered_auc; without a
    badcase for `no_human_bad`."""
    return _left_out(_precision, scores, bad, clusters, counts, "no_human_bad")


def _area(cases: np.ndarray) -> float | None:
    """The AUC of usable and bad cases at ascending scores, shape (2, scores)."""
    usable, bad = cases
    pairs = float(usable.sum()) * float(bad.sum())
    return float(usable @ (bad.cumsum() - bad / 2)) / pairs if pairs else None


def _precision(cases: np.ndarray) -> float | None:
    """The average precision for badcases of the same; no share is taken where nothing is flagged."""
    bad = cases[1]
    if not bad.any():
        return None
    flagged = cases.sum(axis=0).cumsum()
    return float((bad / bad.sum() * bad.cumsum() / np.maximum(flagged, 1)).sum())


def _left_out(
    figure: Callable[[np.ndarray], float | None], scores: Sequence[float], bad: Sequence[int],
    clusters: Sequence[Hashable], counts: Sequence[int] | None, undefined: str,
) -> ClusterEstimate:  # fmt: skip
    if not len(scores):
        return ClusterEstimate.undefined("no_data")
    bad = np.asarray(bad, int)
    counts = np.ones(len(bad), int) if counts is None else np.asarray(counts, int)
    values, index = np.unique(np.asarray(scores, float), return_inverse=True)
    group, number, n = deal(clusters), len(set(clusters)), int(counts.sum())
    of = np.array([group[cluster] for cluster in clusters])
    cases = histogram(index, bad, counts, len(values))
    value = figure(cases)
    if value is None:
        return ClusterEstimate(None, reason=undefined, n=n, clusters=number)
    if number < 2:
        return ClusterEstimate(value, reason="few_clusters", n=n, clusters=number)
    groups = int(of.max()) + 1
    mine = (of == g for g in range(groups))
    left = [figure(cases - histogram(index[m], bad[m], counts[m], len(values))) for m in mine]
    se = None if None in left else spread(left)
    if se is None or se < NO_SPREAD or not 0 < value < 1:
        return ClusterEstimate(value, reason="degenerate", n=n, clusters=number)
    lo, hi = on_logit(value, student_quantile(groups - 1) * se)
    return ClusterEstimate(
        value, min(lo, value), max(hi, value), n=n, se=se, method="jackknife over clusters, logit", clusters=number
    )


def _share(k: int, n: int) -> float | None:
    return k / n if n else None
