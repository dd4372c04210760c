"""How well a score tells usable from badcase, whatever the threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from evaluators.agreement.estimate import Estimate
from evaluators.agreement.proportions import normal_quantile
from evaluators.agreement.scales import on_logit


def auc(pos: Sequence[float], neg: Sequence[float]) -> Estimate:
    """P(a usable case scores above a badcase) plus half of the ties, 0-1; 0.5 is chance.

    pos: scores of cases that people call usable; neg: of badcases. Standard error: DeLong et al. 1988 by mid-ranks
    (Sun & Xu 2014), interval on the logit scale. One class only: `one_human_class`. A value of 0 or 1, one case in a
    class, or all cases alike: no interval, `degenerate`. Cases drawn by a queue at different rates need weights; use audit labels.
    """
    usable, bad = len(pos), len(neg)
    if not usable + bad:
        return Estimate.undefined("no_data")
    if not usable or not bad:
        return Estimate.undefined("one_human_class", usable + bad)
    ranks = rankdata([*pos, *neg])
    # How far each usable case stands above the badcases, and each badcase below the usable ones, 0-1.
    above = (ranks[:usable] - rankdata(pos)) / bad
    below = 1 - (ranks[usable:] - rankdata(neg)) / usable
    value = float(above.mean())
    if usable < 2 or bad < 2 or value in (0.0, 1.0):
        return Estimate(value, reason="degenerate", n=usable + bad)
    se = math.sqrt(float(above.var(ddof=1)) / usable + float(below.var(ddof=1)) / bad)
    if se == 0:
        return Estimate(value, reason="degenerate", n=usable + bad)
    lo, hi = on_logit(value, normal_quantile() * se)
    return Estimate(value, min(lo, value), max(hi, value), n=usable + bad, se=se, method="DeLong, logit")


def average_precision(scores: Sequence[float], bad: Sequence[int]) -> float | None:
    """Precision of flags averaged over the badcases found as the threshold rises, step-wise, 0-1.

    bad: 1 where people say badcase; the lowest scores are flagged first, equal ones together. Its baseline is the share of
    badcases. None without a badcase.
    """
    bad = np.asarray(bad)
    if not bad.sum():
        return None
    index = np.unique(scores, return_inverse=True)[1]
    flagged, found = np.bincount(index), np.bincount(index, weights=bad)
    return float((found / bad.sum() * found.cumsum() / flagged.cumsum()).sum())


def quadratic_kappa(x: Sequence[float], y: Sequence[float], levels: Sequence[float]) -> float | None:
    """Cohen's kappa of two ratings on ordered levels, weighing a disagreement by its squared number of steps (Cohen 1968).

    levels: all, in order; every rating is one of them. None without ratings and when both gave one and the same level.

    :raises KeyError: for a rating that is not a level.
    """
    step = {level: i for i, level in enumerate(levels)}
    x, y = np.array([step[rating] for rating in x]), np.array([step[rating] for rating in y])
    if not len(x):
        return None
    observed = float(((x - y) ** 2).mean())
    expected = float(
        ((x[:, None] - np.arange(len(levels))) ** 2).mean(axis=0) @ np.bincount(y, minlength=len(levels)) / len(y)
    )
    return 1 - observed / expected if expected else None
