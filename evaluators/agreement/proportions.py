"""Intervals and bounds for one proportion."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

from scipy.stats import beta
from scipy.stats import t as student

from evaluators.agreement.estimate import Estimate


def normal_quantile(conf: float = 0.95) -> float:
    """z of a two-sided interval: 1.959963984540054 at 95 %."""
    return NormalDist().inv_cdf(0.5 + conf / 2)


def student_quantile(df: float, conf: float = 0.95) -> float:
    """t of a two-sided interval with df degrees of freedom, at least 1."""
    return float(student.ppf(0.5 + conf / 2, df))


def wilson(k: float, n: float, conf: float = 0.95, crit: float | None = None) -> Estimate:
    """The Wilson score interval for k of n (Wilson 1927); n may be an effective, non-integer number.

    crit replaces the normal quantile, e.g. by Student's. lo is exactly 0 at k = 0 and hi exactly 1 at k = n.
    """
    if n <= 0:
        return Estimate.undefined("no_data")
    c = normal_quantile(conf) if crit is None else crit
    p = k / n
    d = 1 + c * c / n
    centre = (p + c * c / (2 * n)) / d
    half = c / d * math.sqrt(max(0.0, p * (1 - p)) / n + c * c / (4 * n * n))
    lo = 0.0 if k == 0 else max(0.0, centre - half)
    hi = 1.0 if k == n else min(1.0, centre + half)
    return Estimate(p, lo, hi, n=n, method="Wilson")


def clopper_pearson(k: int, n: int, conf: float = 0.95) -> Estimate:
    """The exact interval (Clopper & Pearson 1934) for k of n."""
    if n <= 0:
        return Estimate.undefined("no_data")
    tail = (1 - conf) / 2
    lo = 0.0 if k == 0 else float(beta.ppf(tail, k, n - k + 1))
    hi = 1.0 if k == n else float(beta.ppf(1 - tail, k + 1, n - k))
    return Estimate(k / n, lo, hi, n=n, method="Clopper-Pearson")


def cp_lower(k: int, n: int, alpha: float = 0.05) -> float | None:
    """The exact one-sided lower bound for claims ("at least 85 %"); None without data."""
    if n <= 0:
        return None
    return 0.0 if k == 0 else float(beta.ppf(alpha, k, n - k + 1))


def kg_lower(p: float, n_eff: float, clusters: int, alpha: float = 0.05) -> float | None:
    """The one-sided lower bound for claims about clustered cases (Korn & Graubard 1998).

    p: the share 0-1; n_eff and clusters: of its ClusterEstimate. None without data and with fewer than two clusters.
    """
    if n_eff <= 0 or clusters < 2:
        return None
    shrunk = n_eff * (normal_quantile(1 - 2 * alpha) / student_quantile(clusters - 1, 1 - 2 * alpha)) ** 2
    return 0.0 if p == 0 else float(beta.ppf(alpha, p * shrunk, shrunk - p * shrunk + 1))


def mover_difference(one: Estimate, other: Estimate) -> Estimate:
    """one - other with limits from both 95 % intervals (MOVER: Newcombe 1998; Zou & Donner 2008).

    The two count as independent. Undefined when either has no value (its reason); without limits when either has none.
    """
    for side in (one, other):
        if side.value is None:
            return Estimate.undefined(side.reason or "no_data", side.n)
    value, n = one.value - other.value, one.n + other.n
    if any(side.lo is None or side.hi is None for side in (one, other)):
        return Estimate(value, reason=one.reason or other.reason or "degenerate", n=n)
    below = math.hypot(one.value - one.lo, other.hi - other.value)
    above = math.hypot(one.hi - one.value, other.value - other.lo)
    return Estimate(value, value - below, value + above, n=n, method="MOVER")


def two_prop_diff(k1: int, n1: int, k2: int, n2: int) -> Estimate:
    """k1 of n1 minus k2 of n2, other cases on each side, in -1..1 (Newcombe 1998, from the two Wilson intervals).

    Undefined for `no_data` when either side is empty.
    """
    return replace(mover_difference(wilson(k1, n1), wilson(k2, n2)), method="Newcombe")
