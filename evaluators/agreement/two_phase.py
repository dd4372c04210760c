"""What a review queue says about all judged cases, although it looks at flagged ones more often than at passed ones.

Within each of the judge's verdicts the reviewed cases are a random draw, so the share of flags that are right (F) and of
passed cases that are usable (P) can be told; the share of flagged cases among all (W) is known. Everything else follows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from evaluators.agreement.estimate import Estimate
from evaluators.agreement.proportions import student_quantile, wilson
from evaluators.agreement.scales import expit, log, logit
from evaluators.agreement.table import cohen_kappa, matthews

FEWEST_MISSES = 5  # seen among the passed cases: with fewer, recall is a guess


@dataclass(frozen=True)
class TwoPhase:
    """A judge against people over all judged cases, and how the generator fares.

    usable_rate: the true share of usable images. kappa, mcc: points without an interval, None where undefined.
    cells: tp, fp, fn, tn that all judged cases are estimated to have; None while a verdict is unreviewed.
    warnings: keys of WARNING_WORDS.
    """

    precision_bad: Estimate
    npv: Estimate
    accuracy: Estimate
    usable_rate: Estimate
    recall_bad: Estimate
    specificity: Estimate
    kappa: float | None
    mcc: float | None
    cells: tuple[float, float, float, float] | None
    warnings: tuple[str, ...]

    def as_dict(self) -> dict:
        """All fields, for JSON."""
        return asdict(self)


def two_phase(
    N_bad: int,  # noqa: N803
    N_usable: int,  # noqa: N803
    flagged: Estimate,
    passed: Estimate,
    share_flagged: Estimate | None = None,
    misses: int | None = None,
) -> TwoPhase:
    """From random labels within each verdict to all judged cases (Begg & Greenes 1983; Kohn 2022).

    N_bad, N_usable: all judged cases by verdict, reviewed or not. flagged: the share of flags that are right; passed: of
    passed cases that are usable; each from wilson, stratified, or cluster_ratio. share_flagged: N_bad of all with
    its interval, Wilson's unless given (cluster_ratio where cases are clustered). misses: badcases seen among the passed,
    for the warning; unless given, what `passed` says.

    Limits: accuracy and usable_rate by MOVER (Newcombe 1998), recall and specificity by MOVER-R (Donner & Zou 2012)
    joined with the share flagged on the logit scale. A verdict that occurs and was never reviewed leaves the figures
    undefined, accuracy and usable_rate with worst-case limits (`unreviewed_verdict`, or `unsampled_stratum` for a band
    of it). A judge that flagged nothing has recall 0, one that passed nothing recall 1, without an interval.
    """
    total = N_bad + N_usable
    if not total:
        nothing = Estimate.undefined("no_data")
        return TwoPhase(nothing, nothing, nothing, nothing, nothing, nothing, None, None, None, ("no_data",))
    weight = wilson(N_bad, total) if share_flagged is None else share_flagged
    flagged = flagged if N_bad else Estimate.undefined("judge_flagged_none")
    passed = passed if N_usable else Estimate.undefined("judge_passed_none")
    cells = _cells(N_bad, N_usable, flagged, passed)
    wrong_flags, misses_share = _complement(flagged), _complement(passed)
    if misses is None and passed.value is not None:
        misses = round(passed.n * (1 - passed.value))
    return TwoPhase(
        precision_bad=_reviewed(flagged, N_bad),
        npv=_reviewed(passed, N_usable),
        accuracy=_mixture(weight, N_bad, flagged, N_usable, passed),
        usable_rate=_mixture(weight, N_bad, wrong_flags, N_usable, passed),
        recall_bad=_found(weight, N_bad, flagged, N_usable, misses_share, "no_human_bad"),
        specificity=_found(_complement(weight), N_usable, passed, N_bad, wrong_flags, "no_human_usable"),
        kappa=cohen_kappa(*cells) if cells else None,
        mcc=matthews(*cells) if cells else None,
        cells=cells,
        warnings=("few_misses",) if misses is not None and misses < FEWEST_MISSES else (),
    )


def _cells(bad: int, usable: int, flagged: Estimate, passed: Estimate) -> tuple[float, float, float, float] | None:
    """Estimated tp, fp, fn, tn of all judged cases; None while a verdict that occurs has no share."""
    if (bad and flagged.value is None) or (usable and passed.value is None):
        return None
    right, fine = flagged.value or 0.0, passed.value or 0.0
    return bad * right, bad * (1 - right) if bad else 0.0, usable * (1 - fine) if usable else 0.0, usable * fine


def _reviewed(share: Estimate, cases: int) -> Estimate:
    """The share of a verdict as it is reported: undefined for the right reason."""
    if share.value is not None or not cases or share.reason == "unsampled_stratum":
        return share
    return Estimate.undefined("unreviewed_verdict")


def _complement(share: Estimate) -> Estimate:
    """1 - share, limits swapped."""
    value, lo, hi = (None if x is None else 1 - x for x in (share.value, share.hi, share.lo))
    return Estimate(value, lo, hi, share.reason, share.n, share.se, share.method)


def _mixture(weight: Estimate, cases: int, first: Estimate, others: int, second: Estimate) -> Estimate:
    """weight first + (1 - weight) second; a verdict that does not occur does not matter."""
    if not cases or not others:
        only = first if cases else second
        return only if only.value is not None else _worst(1.0, only, 0.0, only)
    if first.value is None or second.value is None:
        return _worst(weight.value, first, 1 - weight.value, second)
    w, slope = weight.value, first.value - second.value
    value = min(1.0, w * first.value + (1 - w) * second.value)
    less, more = (w - weight.lo, weight.hi - w) if slope > 0 else (weight.hi - w, w - weight.lo)
    below = math.hypot(w * (first.value - first.lo), (1 - w) * (second.value - second.lo), slope * less)
    above = math.hypot(w * (first.hi - first.value), (1 - w) * (second.hi - second.value), slope * more)
    return Estimate(value, max(0.0, value - below), min(1.0, value + above), n=first.n + second.n, method="MOVER")


def _worst(w: float, first: Estimate, v: float, second: Estimate) -> Estimate:
    """The limits of w first + v second when what was not reviewed is all wrong or all right; no value."""

    def ends(share: Estimate) -> tuple[float, float]:
        if share.value is not None:
            return share.value, share.value
        return (0.0 if share.lo is None else share.lo, 1.0 if share.hi is None else share.hi)

    (low, high), (lower, higher) = ends(first), ends(second)
    return Estimate(None, w * low + v * lower, w * high + v * higher, _why(first, second), method="worst cases")


def _why(*shares: Estimate) -> str:
    """Why a figure of these verdicts is undefined: a band was never reviewed, or all of a verdict."""
    reasons = {share.reason for share in shares if share.value is None}
    return "unsampled_stratum" if reasons == {"unsampled_stratum"} else "unreviewed_verdict"


def _found(weight: Estimate, cases: int, hit: Estimate, others: int, miss: Estimate, none: str) -> Estimate:
    """Of all cases of a class, the share that got its verdict: w hit / (w hit + (1 - w) miss) = 1 / (1 + R).

    cases, hit: with that verdict, and the share of them in the class; others, miss: the same with the other verdict.
    """
    if (cases and hit.value is None) or (others and miss.value is None):
        return Estimate.undefined(_why(*(share for share, n in ((hit, cases), (miss, others)) if n)))
    if not (hit.value if cases else 0) and not (miss.value if others else 0):
        return Estimate.undefined(none)
    if not cases or not others:
        flagged_none = (none == "no_human_bad") == (not cases)
        return Estimate(1.0 if cases else 0.0, reason="judge_flagged_none" if flagged_none else "judge_passed_none")
    least, most = ratio_limits(miss, hit)
    centre, method, n = logit(weight.value), "MOVER-R", hit.n + miss.n
    if miss.value == 0:
        return Estimate(1.0, expit(centre - log(most)), 1.0, n=n, method=method)
    if hit.value == 0:
        return Estimate(0.0, 0.0, expit(centre - log(least)), n=n, method=method)
    at = log(miss.value / hit.value)
    below = math.hypot(log(most) - at, centre - logit(weight.lo))
    above = math.hypot(at - log(least), logit(weight.hi) - centre)
    return Estimate(expit(centre - at), expit(centre - at - below), expit(centre - at + above), n=n, method=method)


def ratio_limits(top: Estimate, bottom: Estimate) -> tuple[float, float]:
    """MOVER-R limits of top / bottom (Donner & Zou 2012), both shares and not both 0; inf where there is no upper one.

    The lower limit is the textbook's (a - sqrt(a^2 - x y)) / y as x / (a + sqrt(a^2 - x y)), which needs no special case
    for y = 0 and loses no digits.
    """
    t1, t2, a = top.value, bottom.value, top.value * bottom.value
    x, y = top.lo * (2 * t1 - top.lo), bottom.hi * (2 * t2 - bottom.hi)
    under = a + math.sqrt(max(0.0, a * a - x * y))
    lo = max(0.0, x / under) if under > 0 else 0.0
    x, y = top.hi * (2 * t1 - top.hi), bottom.lo * (2 * t2 - bottom.lo)
    hi = (a + math.sqrt(max(0.0, a * a - x * y))) / y if y > 0 else math.inf
    return lo, hi


@dataclass(frozen=True)
class StratifiedEstimate(Estimate):
    """A share from bands of cases. n_eff: the independent cases that the n are worth; df: degrees of freedom."""

    n_eff: float | None = None
    df: int = 0


def stratified(strata: Iterable[tuple[int, int, int]]) -> StratifiedEstimate:
    """The share over score bands of which each was reviewed at its own rate (Cochran 1977, ch. 5).

    strata: (N, n, k): cases in the band, reviewed at random, of these in the class. Value sum W k/n with W = N / sum N;
    variance sum W^2 q(1-q)/(n-1), q = k/n or, in a band that is all one, (k + 0.5)/(n + 1); n - 1 counts as 1 where one
    case was reviewed. Wilson on n_eff = p(1-p)/V with Student's t; at p = 0 or 1, n_eff is 1 / sum (W^2 / n).
    A band with cases and no review: no value, worst-case limits, `unsampled_stratum`. No cases: `no_data`.
    """
    bands = [(size, n, k) for size, n, k in strata if size > 0]
    total = sum(size for size, _n, _k in bands)
    if not total:
        return StratifiedEstimate.undefined("no_data")
    reviewed = sum(n for _size, n, _k in bands)
    p = math.fsum(size / total * k / n for size, n, k in bands if n)
    unknown = sum(size for size, n, _k in bands if not n) / total
    if unknown:
        return StratifiedEstimate(None, p, min(1.0, p + unknown), "unsampled_stratum", reviewed, method="worst cases")
    variance = 0.0
    for size, n, k in bands:
        q = k / n if 0 < k < n else (k + 0.5) / (n + 1)
        variance += (size / total) ** 2 * q * (1 - q) / max(1, n - 1)
    df = max(1, sum(n - 1 for _size, n, _k in bands))
    pure = all(k == 0 for _size, _n, k in bands) or all(k == n for _size, n, k in bands)
    p = float(round(p)) if pure else p
    n_eff = 1 / math.fsum((size / total) ** 2 / n for size, n, _k in bands) if pure else p * (1 - p) / variance
    limits = wilson(p * n_eff, n_eff, crit=student_quantile(df))
    return StratifiedEstimate(
        p, min(limits.lo, p), max(limits.hi, p), n=reviewed, se=math.sqrt(variance),
        method="Wilson on the effective n", n_eff=n_eff, df=df,
    )  # fmt: skip
