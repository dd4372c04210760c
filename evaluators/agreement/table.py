"""Everything that follows from a 2x2 table of judge against people.

The positive class is *badcase*: tp people bad and judge bad, fp people usable and judge bad, fn people bad and judge
usable, tn both usable. All are counts of cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass

from evaluators.agreement.estimate import FEW, SMALL, Estimate
from evaluators.agreement.paired import PairedDifference, mcnemar
from evaluators.agreement.proportions import normal_quantile, wilson
from evaluators.agreement.scales import on_fisher

_ADDED = 0.25  # to each cell before an interval on the Fisher scale: keeps it honest in small and pure tables


@dataclass(frozen=True)
class BinaryMetrics:
    """All figures of a table. baseline: the share that the people's more frequent label has, None without data.

    baseline_diff: this judge's accuracy minus that of the constant judge, paired on the same cases.
    warnings: keys of WARNING_WORDS.
    """

    tp: int
    fp: int
    fn: int
    tn: int
    accuracy: Estimate
    recall_bad: Estimate
    specificity: Estimate
    precision_bad: Estimate
    npv: Estimate
    f1_bad: Estimate
    f1_usable: Estimate
    balanced_accuracy: Estimate
    kappa: Estimate
    mcc: Estimate
    ac1: Estimate
    prevalence_bad: Estimate
    judge_bad_rate: Estimate
    baseline: float | None
    baseline_diff: PairedDifference
    warnings: tuple[str, ...]

    @property
    def n(self) -> int:
        return self.tp + self.fp + self.fn + self.tn

    def as_dict(self) -> dict:
        """All fields and n, for JSON."""
        return {"n": self.n, **asdict(self), "warnings": list(self.warnings)}


def binary_metrics(tp: int, fp: int, fn: int, tn: int) -> BinaryMetrics:
    """Accuracy, recall, precision, kappa and the rest, each with its 95 % interval or the reason it is undefined."""
    n = tp + fp + fn + tn
    accuracy = wilson(tp + tn, n)
    recall, specificity = share(tp, tp + fn, "no_human_bad", n), share(tn, tn + fp, "no_human_usable", n)
    kappa = _fisher(cohen_kappa, kappa_se, "single_category", tp, fp, fn, tn)
    bad = tp + fn
    baseline = max(bad, n - bad) / n if n else None
    beaten = mcnemar(tn, fn, n) if 2 * bad > n else mcnemar(tp, fp, n)
    return BinaryMetrics(
        tp, fp, fn, tn,
        accuracy=accuracy,
        recall_bad=recall,
        specificity=specificity,
        precision_bad=share(tp, tp + fp, "judge_flagged_none", n),
        npv=share(tn, tn + fn, "judge_passed_none", n),
        f1_bad=_f1(tp, fp + fn, n),
        f1_usable=_f1(tn, fp + fn, n),
        balanced_accuracy=balanced(recall, specificity, n),
        kappa=kappa,
        mcc=_fisher(matthews, mcc_se, "zero_margin", tp, fp, fn, tn),
        ac1=_fisher(gwet_ac1, ac1_se, "no_data", tp, fp, fn, tn),
        prevalence_bad=wilson(bad, n),
        judge_bad_rate=wilson(tp + fp, n),
        baseline=baseline,
        baseline_diff=beaten,
        warnings=warnings(n, bad, accuracy, baseline, kappa, beaten),
    )  # fmt: skip


def cohen_kappa(tp: float, fp: float, fn: float, tn: float) -> float | None:
    """(po - pe) / (1 - pe); None when pe = 1 or there is no data."""
    n = tp + fp + fn + tn
    if n == 0:
        return None
    po = (tp + tn) / n
    pe = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / (n * n)
    return None if pe >= 1 else (po - pe) / (1 - pe)


def kappa_se(tp: float, fp: float, fn: float, tn: float) -> float:
    """Large-sample standard error of kappa (Fleiss, Cohen & Everitt 1969)."""
    n = tp + fp + fn + tn
    cells = ((tp / n, fp / n), (fn / n, tn / n))  # rows: judge bad, usable; columns: people bad, usable
    row = [sum(cells[i]) for i in (0, 1)]
    column = [cells[0][j] + cells[1][j] for j in (0, 1)]
    po = cells[0][0] + cells[1][1]
    pe = sum(row[i] * column[i] for i in (0, 1))
    agreeing = sum(cells[i][i] * ((1 - pe) - (row[i] + column[i]) * (1 - po)) ** 2 for i in (0, 1))
    differing = (1 - po) ** 2 * sum(cells[i][1 - i] * (column[i] + row[1 - i]) ** 2 for i in (0, 1))
    rest = (po * pe - 2 * pe + po) ** 2
    return math.sqrt(max(0.0, agreeing + differing - rest) / n) / (1 - pe) ** 2


def matthews(tp: float, fp: float, fn: float, tn: float) -> float | None:
    """Matthews correlation (phi); None when a margin is zero."""
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return None if margins == 0 else (tp * tn - fp * fn) / math.sqrt(margins)


def mcc_se(tp: float, fp: float, fn: float, tn: float) -> float:
    """Large-sample standard error of phi (Bishop, Fienberg & Holland 1975)."""
    n = tp + fp + fn + tn
    phi = matthews(tp, fp, fn, tn)
    r1, r2, c1, c2 = (tp + fp) / n, (fn + tn) / n, (tp + fn) / n, (fp + tn) / n
    skew = (r1 - r2) * (c1 - c2) / math.sqrt(r1 * r2 * c1 * c2)
    spread = (r1 - r2) ** 2 / (r1 * r2) + (c1 - c2) ** 2 / (c1 * c2)
    return math.sqrt(max(0.0, 1 - phi**2 + phi * (1 + phi**2 / 2) * skew - 0.75 * phi**2 * spread) / n)


def gwet_ac1(tp: float, fp: float, fn: float, tn: float) -> float | None:
    """Gwet's AC1; None without data. A footnote only: it rises as classes get more unequal."""
    n = tp + fp + fn + tn
    if n == 0:
        return None
    q = (2 * tp + fp + fn) / (2 * n)
    pe = 2 * q * (1 - q)
    return ((tp + tn) / n - pe) / (1 - pe)


def ac1_se(tp: float, fp: float, fn: float, tn: float) -> float:
    """Large-sample standard error of AC1 (Gwet 2008, eq. for two raters)."""
    n = tp + fp + fn + tn
    bad = (2 * tp + fp + fn) / (2 * n)
    usable = 1 - bad
    po, pe = (tp + tn) / n, 2 * bad * usable
    agreeing = (tp * (1 - bad) + tn * (1 - usable)) / n
    every = (tp * (1 - bad) ** 2 + tn * (1 - usable) ** 2 + (fp + fn) * 0.25) / n
    beyond = (1 - po) / (1 - pe)  # 1 - AC1
    variance = po * (1 - po) - 4 * beyond * (agreeing - po * pe) + 4 * beyond**2 * (every - pe * pe)
    return math.sqrt(max(0.0, variance) / n) / (1 - pe)


def share(k: int, n: int, reason: str, total: int) -> Estimate:
    """k of n with Wilson's interval; undefined for `reason` when n is 0, for `no_data` when there is nothing at all."""
    return wilson(k, n) if n else Estimate.undefined(reason if total else "no_data")


def _f1(hits: int, misses: int, total: int) -> Estimate:
    """F1 = 2J/(1+J) of the Jaccard share J, whose Wilson limits carry over."""
    if hits + misses == 0:
        return Estimate.undefined("class_absent" if total else "no_data")
    jaccard = wilson(hits, hits + misses)
    value, lo, hi = (2 * j / (1 + j) for j in (jaccard.value, jaccard.lo, jaccard.hi))
    return Estimate(value, lo, hi, n=hits + misses, method="Wilson on Jaccard")


def balanced(recall: Estimate, specificity: Estimate, total: int) -> Estimate:
    """Mean of recall and specificity; limits by MOVER (Newcombe 1998)."""
    if recall.value is None or specificity.value is None:
        return Estimate.undefined("one_human_class" if total else "no_data")
    value = (recall.value + specificity.value) / 2
    below = math.hypot(recall.value - recall.lo, specificity.value - specificity.lo) / 2
    above = math.hypot(recall.hi - recall.value, specificity.hi - specificity.value) / 2
    return Estimate(value, max(0.0, value - below), min(1.0, value + above), n=total, method="MOVER")


def _fisher(
    coefficient: Callable, standard_error: Callable, reason: str, tp: int, fp: int, fn: int, tn: int
) -> Estimate:
    """A coefficient in -1..1 with its interval on the Fisher scale of the table + 0.25, widened to hold the point."""
    n = tp + fp + fn + tn
    if n == 0:
        return Estimate.undefined("no_data")
    value = coefficient(tp, fp, fn, tn)
    if value is None:
        return Estimate.undefined(reason, n)
    moved = [cell + _ADDED for cell in (tp, fp, fn, tn)]
    centre = coefficient(*moved)
    lo, hi = on_fisher(centre, normal_quantile() * standard_error(*moved))
    return Estimate(
        value, min(lo, value), max(hi, value), n=n, se=standard_error_of(standard_error, tp, fp, fn, tn),
        method="Fisher z on the table + 0.25",
    )  # fmt: skip


def standard_error_of(standard_error: Callable, tp: int, fp: int, fn: int, tn: int) -> float | None:
    """The standard error on the table itself; None where a margin is empty and it does not exist."""
    try:
        return standard_error(tp, fp, fn, tn)
    except ZeroDivisionError:
        return None


def warnings(
    n: int, bad: int, accuracy: Estimate, baseline: float | None, kappa: Estimate, beaten: PairedDifference
) -> tuple[str, ...]:
    """What to say beside the figures of n cases of which people call `bad` badcase; keys of WARNING_WORDS."""
    if n == 0:
        return ("no_data",)
    found = []
    if n < SMALL:
        found.append("small_n")
    if bad < FEW:
        found.append("few_human_bad")
    if n - bad < FEW:
        found.append("few_human_usable")
    if accuracy.value >= 0.8 and baseline >= 0.8 and (kappa.value is None or kappa.value < 0.4):
        found.append("accuracy_misleading")
    if beaten.hi < 0:
        found.append("worse_than_constant")
    elif beaten.lo <= 0:
        found.append("not_shown_better_than_constant")
    return tuple(found)
