"""Two judges on the same cases: the difference with its interval, and whether chance explains it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.stats import binom

from evaluators.agreement.proportions import normal_quantile


@dataclass(frozen=True)
class PairedDifference:
    """diff = (b - c) / n with its interval in -1..1; p_exact and p_midp of McNemar's test; discordant = b + c."""

    diff: float | None
    lo: float | None
    hi: float | None
    p_exact: float | None
    p_midp: float | None
    discordant: int
    reason: str | None = None


def mcnemar(b: int, c: int, n: int) -> PairedDifference:
    """b cases that only A has right, c that only B has right, among n.

    Interval: Bonett & Price 2012. p_midp: McNemar mid-p (Fagerland et al. 2013); p_exact is kept for exports.
    """
    if n <= 0:
        return PairedDifference(None, None, None, None, None, 0, "no_data")
    p1, p2 = (b + 1) / (n + 2), (c + 1) / (n + 2)
    d = p1 - p2
    half = normal_quantile() * math.sqrt((p1 + p2 - d * d) / (n + 2))
    m, low = b + c, min(b, c)
    if m == 0:
        p_exact = p_midp = 1.0
    else:
        p_exact = min(1.0, 2 * float(binom.cdf(low, m, 0.5)))
        p_midp = 1.0 if b == c else p_exact - float(binom.pmf(low, m, 0.5))
    return PairedDifference((b - c) / n, max(-1.0, d - half), min(1.0, d + half), p_exact, p_midp, m)
