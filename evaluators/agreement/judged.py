"""From counts by prompt to all cases that a judge labelled: with labels of these cases, or with labels from elsewhere."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from evaluators.agreement.clusters import cells_ratio
from evaluators.agreement.correction import Corrected, rogan_gladen
from evaluators.agreement.estimate import ClusterEstimate
from evaluators.agreement.proportions import normal_quantile, student_quantile
from evaluators.agreement.two_phase import TwoPhase, two_phase

#: (flagged, passed) of each prompt: all judged cases, labelled by people or not.
Judged = Mapping[Hashable, Sequence[int]]
#: (tp, fp, fn, tn, …) of each prompt: judged cases with a gold label; what follows is not looked at.
Labelled = Mapping[Hashable, Sequence[int]]


def clustered_two_phase(judged: Judged, labelled: Labelled) -> TwoPhase:
    """`two_phase` from counts by prompt, its shares with intervals that know which cases share a prompt.

    Within each of the judge's labels the labelled cases must be a random draw.
    """
    everything, cells = _array(judged), _array(labelled)
    flagged, passed = (int(count) for count in everything[:, :2].sum(axis=0))
    right, fine = (_share(cells, hit, miss) for hit, miss in ((0, 1), (3, 2)))
    return two_phase(flagged, passed, right, fine, _share(everything, 0, 1), misses=int(cells[:, 2].sum()))


def corrected_elsewhere(judged: Judged, labelled: Labelled) -> Corrected:
    """`rogan_gladen` from counts by prompt: the true share of usable cases here, from labels of cases elsewhere.

    labelled: randomly drawn cases of another dataset; what is told by them is how often the judge passes usable cases and
    flags badcases. It is assumed to err here as there, which no label here tests.

    Where cases share a prompt the interval is Lang & Reiczigel's on the effective numbers n_eff (z / t(K-1))^2, as
    Korn & Graubard (1998) shrink theirs, around the same value. When one of the three shares comes from one prompt
    everything is possible (`few_clusters`). Undefined as rogan_gladen, and for `no_data` without any label.
    """
    if any(map(any, judged.values())) and not any(any(cells[:4]) for cells in labelled.values()):
        return Corrected.undefined("no_data", sum(map(sum, judged.values())))
    everything, cells = _array(judged), _array(labelled)
    shares = [_share(everything, 1, 0), _share(cells, 3, 1), _share(cells, 0, 2)]
    plain = rogan_gladen(*(whole for share in shares for whole in (round((share.value or 0) * share.n), share.n)))
    if plain.lo is None or all(sum(cells[:4]) <= 1 for cells in (*judged.values(), *labelled.values())):
        return plain
    if any(share.n_eff is None for share in shares):
        return replace(plain, lo=0.0, hi=1.0, reason="few_clusters", method="")
    sizes = [_effective(share) for share in shares]
    limits = rogan_gladen(*(part for share, n in zip(shares, sizes, strict=True) for part in (share.value * n, n)))
    if limits.lo is None:
        return replace(plain, lo=None, hi=None, reason=limits.reason, method="")
    return replace(
        plain, lo=min(limits.lo, plain.value), hi=max(limits.hi, plain.value), reason=limits.reason,
        method="Lang-Reiczigel on the effective n",
    )  # fmt: skip


def _array(counts: Mapping[Hashable, Sequence[int]]) -> np.ndarray:
    """The counts of all prompts, shape (prompts, counts); four columns of nothing without any prompt."""
    return np.array(list(counts.values()), float) if counts else np.zeros((0, 4))


def _share(cells: np.ndarray, hit: int, miss: int) -> ClusterEstimate:
    """The share of hits among hits and misses, columns of the counts."""
    return cells_ratio(cells, (hit,), (hit, miss)) or ClusterEstimate.undefined("no_data")


def _effective(share: ClusterEstimate) -> float:
    """The independent cases whose normal interval is as wide as the clustered one."""
    return share.n_eff * (normal_quantile() / student_quantile(share.clusters - 1)) ** 2
