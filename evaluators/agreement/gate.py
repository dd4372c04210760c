"""May one claim that a judge agrees with people on at least so many cases?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from evaluators.agreement.estimate import ClusterEstimate, Estimate
from evaluators.agreement.planning import n_for_claim
from evaluators.agreement.proportions import cp_lower, kg_lower

#: What a bound may err.
ALPHA = 0.05


@dataclass(frozen=True)
class Claim:
    """The answer to "at least `target`", by exact one-sided 95 % bounds.

    answer: `pass` when the lower bound reaches the target, `fail` when the upper one stays below it, else `undecided`.
    more: about how many more labels would decide it with 80 % power if the judge is as good as it looks; None where that
    cannot be told: it is decided, what is seen is not better than the target, or all cases share one prompt, and then
    `reason` is few_clusters: it takes labels on cases of other prompts.
    alpha: what each bound may err, 0.05 at the first look and 0.05 / k at the k-th. risk: the chance of passing by luck at
    any of these looks, at most (the sum of their alphas).
    """

    target: float
    answer: Literal["pass", "fail", "undecided"]
    lower: float | None
    upper: float | None
    more: int | None = None
    alpha: float = ALPHA
    risk: float = ALPHA
    reason: str | None = None


def claim(share: Estimate, target: float, looks: int = 1) -> Claim:
    """Whether a share (of n cases, with its n_eff and clusters where cases share a prompt) is at least `target`, 0-1.

    Clopper & Pearson's bound (agreement of 85 of 100 shows no more than 78 %); Korn & Graubard's (1998) where clustered.
    looks: how often it has been tested with growing labels, this time included (Bonferroni).
    """
    alpha, risk = ALPHA / looks, min(1.0, ALPHA * math.fsum(1 / k for k in range(1, looks + 1)))
    if share.value is None or not share.n:
        return Claim(target, "undecided", None, None, alpha=alpha, risk=risk)
    lower, above = _lower(share, share.value, alpha), _lower(share, 1 - share.value, alpha)
    upper = None if above is None else 1 - above
    if lower is not None and lower >= target:
        return Claim(target, "pass", lower, upper, alpha=alpha, risk=risk)
    if upper is not None and upper < target:
        return Claim(target, "fail", lower, upper, alpha=alpha, risk=risk)
    reason = "few_clusters" if isinstance(share, ClusterEstimate) and share.deff is None else None
    more = _more(share, target, alpha) if reason is None else None
    return Claim(target, "undecided", lower, upper, more, alpha, risk, reason)


def _lower(share: Estimate, value: float, alpha: float) -> float | None:
    if isinstance(share, ClusterEstimate):
        return None if share.n_eff is None else kg_lower(value, share.n_eff, share.clusters, alpha)
    return cp_lower(round(value * share.n), round(share.n), alpha)


def _more(share: Estimate, target: float, alpha: float) -> int | None:
    if share.value <= target or not 0 < target < 1:
        return None
    needed = n_for_claim(target, min(share.value, 0.999), alpha=alpha)
    if needed is None:
        return None
    deff = share.deff if isinstance(share, ClusterEstimate) else 1.0
    return max(1, math.ceil(needed * deff - share.n))
