"""A judge against itself: the same cases measured several times."""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from evaluators.agreement.clusters import cluster_ratio
from evaluators.agreement.estimate import Estimate
from evaluators.verdict import label_of

Measurement = tuple[float | None, float | None]


@dataclass(frozen=True)
class SelfConsistency:
    """How far a judge agrees with itself. Figures are None when nothing can be compared.

    measurements: how often each case was measured. cases: those with a label in every measurement; stable: those of
    them whose labels are all the same. agreement: the mean over cases of the share of pairs of measurements with the
    same label, 0-1 (Fleiss' observed agreement); same: this with its interval, which knows prompts. score_sd: the
    root mean square over the cases scored every time of the scores' standard deviation (n - 1), in score units.
    """

    measurements: int
    cases: int
    stable: int
    agreement: float | None
    score_sd: float | None
    same: Estimate


def self_consistency(
    measured: Sequence[Sequence[Measurement]], prompts: Sequence[Hashable] | None = None
) -> SelfConsistency:
    """One sequence a case, of (score, threshold) per measurement, all of the same length; no score: no verdict.

    prompts: of each case; one each if not told.

    >>> self_consistency([[(0.7, 0.5), (0.6, 0.5), (0.4, 0.5)], [(0.9, 0.5)] * 3]).agreement
    0.6666666666666666
    """
    times = len(measured[0]) if measured else 0
    labels = {i: [label_of(score, threshold) for score, threshold in case] for i, case in enumerate(measured)}
    labels = {i: case for i, case in labels.items() if None not in case}
    pairs = {i: _same_pairs(case) for i, case in labels.items()} if times > 1 else {}
    scored = [[score for score, _threshold in case] for case in measured]
    variances = [statistics.variance(case) for case in scored if times > 1 and None not in case]
    return SelfConsistency(
        measurements=times,
        cases=len(labels),
        stable=sum(len(set(case)) == 1 for case in labels.values()),
        agreement=statistics.fmean(pairs.values()) if pairs else None,
        score_sd=statistics.fmean(variances) ** 0.5 if variances else None,
        same=cluster_ratio((prompts[i] if prompts else i, share, 1, 1.0) for i, share in pairs.items()),
    )


def _same_pairs(labels: Sequence[str]) -> float:
    """The share of pairs of labels that are the same."""
    pairs = len(labels) * (len(labels) - 1)
    return sum(labels.count(label) * (labels.count(label) - 1) for label in set(labels)) / pairs
