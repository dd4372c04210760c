"""May one claim that a judge agrees with people on at least so many cases?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from evaluators.agreement.estimate import ClusterEstimate, Estimate
from evaluators.agreement.planning import n_for_claim
from evaluators.agreement.proportions import cp_lower, kg_lower


@dataclass(frozen=True)
class Claim:
    """The answer to "at least `target`", by exact one-sided 95 % bounds.

    answer: `pass` when the lower bound reaches the target, `fail` when the upper one stays below it, else `undecided`.
    more: about how many more labels would decide it with 80 % power if the judge is as good as it looks; None where that
    cannot be told: it is decided, or what is seen is not better than the target.
    """

    target: float
    answer: Literal["pass", "fail", "undecided"]
    lower: float | None
    upper: float | None
    more: int | None = None


def claim(share: Estimate, target: float) -> Claim:
    """Whether a share (of n cases, with its n_eff and clusters where cases share a prompt) is at least `target`, 0-1.

    Clopper & Pearson's bound (agreement of 85 of 100 shows no more than 78 %); Korn & Graubard's (1998) where clustered.
    """
    if share.value is None or not share.n:
        return Claim(target, "undecided", None, None)
    lower, above = _lower(share, share.value), _lower(share, 1 - share.value)
    upper = None if above is None else 1 - above
    if lower is not None and lower >= target:
        return Claim(target, "pass", lower, upper)
    if upper is not None and upper < target:
        return Claim(target, "fail", lower, upper)
    return Claim(target, "undecided", lower, upper, _more(share, target))


def _lower(share: Estimate, value: float) -> float | None:
    if isinstance(share, ClusterEstimate):
        return None if share.n_eff is None else kg_lower(value, share.n_eff, share.clusters)
    return cp_lower(round(value * share.n), round(share.n))


def _more(share: Estimate, target: float) -> int | None:
    if share.value <= target or not 0 < target < 1:
        return None
    needed = n_for_claim(target, min(share.value, 0.999))
    if needed is None:
        return None
    deff = (share.deff or 1.0) if isinstance(share, ClusterEstimate) else 1.0
    return max(1, math.ceil(needed * deff - share.n))
