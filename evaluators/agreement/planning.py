"""How many labels it takes."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from evaluators.agreement.proportions import normal_quantile


def min_successes(n: int, p0: float, alpha: float = 0.05) -> int | None:
    """How many of n must be right to claim "at least p0": the smallest k with P(X >= k | n, p0) <= alpha.

    It is the smallest k with cp_lower(k, n) >= p0. None when even n of n is not enough.
    """
    if n <= 0 or p0**n > alpha:
        return None
    k = int(binom.isf(alpha, n, p0)) + 1  # isf: the smallest x with P(X > x) <= alpha
    return k if k <= n else None


def n_for_claim(p0: float, truth: float, power: float = 0.8, alpha: float = 0.05, most: int = 20_000) -> int | None:
    """The number of labels from which on "at least p0" is shown with the chance `power` by a judge right on `truth`.

    Some smaller numbers happen to reach it, too: the chance rises in a saw-tooth. None if `most` are not enough, in
    particular for truth <= p0.
    """
    n = np.arange(1, most + 1)
    needed = binom.isf(alpha, n, p0) + 1
    shown = np.where(needed <= n, binom.sf(needed - 1, n, truth), 0.0)
    last_short = int(n[shown < power].max(initial=0))
    return last_short + 1 if truth > p0 and last_short < most else None


def n_for_halfwidth(p: float, half: float) -> int:
    """The fewest independent labels for which Wilson's interval around a share p is p -+ half or narrower; half in 0-0.5.

    Multiply by the design effect for clustered cases.
    """
    c = normal_quantile()

    def half_width(n: int) -> float:
        return c / (1 + c * c / n) * math.sqrt(p * (1 - p) / n + c * c / (4 * n * n))

    enough = 1
    while half_width(enough) > half:
        enough *= 2
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        too_few, enough = (middle, enough) if half_width(middle) > half else (too_few, middle)
    return enough


def n_paired(delta: float, discordant: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """Cases on which two judges must be compared to see a difference of delta (McNemar; Connor 1987).

    discordant: the share of cases on which they differ in being right, at least abs(delta); both 0-1, delta not 0.
    """
    z_alpha, z_power = normal_quantile(1 - alpha), normal_quantile(2 * power - 1)
    root = z_alpha * math.sqrt(discordant) + z_power * math.sqrt(discordant - delta * delta)
    return math.ceil((root / delta) ** 2)
