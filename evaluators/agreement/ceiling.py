"""The ceiling of a judge: does it agree with a reviewer as much as reviewers agree with each other?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from evaluators.agreement.estimate import ClusterEstimate
from evaluators.agreement.jackknife import NO_SPREAD, deal, jackknife_se
from evaluators.agreement.proportions import student_quantile
from evaluators.agreement.table import cohen_kappa


@dataclass(frozen=True)
class Ceiling:
    """Human-human (hh) and judge-human (jh) agreement 0-1 and Cohen's kappa, both with single humans on the same n cases.

    kappa_diff: jh_kappa - hh_kappa; an interval that reaches 0 says that the judge agrees with a reviewer about as much as
    reviewers do with each other. Figures are None, with a reason, when undefined.
    """

    n: int
    hh_agreement: float | None
    jh_agreement: float | None
    hh_kappa: float | None
    jh_kappa: float | None
    kappa_diff: ClusterEstimate
    reason: str | None = None

    def as_dict(self) -> dict:
        """All fields, for JSON."""
        return asdict(self)


def ceiling(rows: Iterable[tuple[Hashable, int | None, Sequence[int | None]]]) -> Ceiling:
    """Both agreements, every case weighing the same however many labels it has.

    rows: (prompt, judge's label, people's labels), 1 badcase and 0 usable, None where missing. A case counts with a
    verdict and at least two labels: all ordered pairs of people, over m(m-1), and the judge with each, over m. Interval of
    the difference: delete-one-prompt jackknife, Student's t, cut at -2..2.

    Undefined: no such case (`too_few_units`); a kappa, and so the difference, where only one label occurs
    (`single_category`). The interval is -2..2 with one prompt (`few_clusters`) and where leaving out a prompt leaves one
    label (`interval_undefined`); there is none where every prompt says the same (`degenerate`).
    """
    patterns: Counter = Counter()
    for cluster, judge, humans in rows:
        labels = [label for label in humans if label is not None]
        if judge is not None and len(labels) >= 2:
            patterns[cluster, int(judge), len(labels), sum(labels)] += 1
    n = sum(patterns.values())
    if not n:
        nothing = ClusterEstimate.undefined("too_few_units")
        return Ceiling(0, None, None, None, None, nothing, "too_few_units")
    group = deal(cluster for cluster, *_rest in patterns)
    parts = np.zeros((max(group.values()) + 1, 2, 4))
    for (cluster, judge, m, bad), times in patterns.items():
        parts[group[cluster]] += times * np.array([_humans(m, bad), _judged(judge, m, bad)])
    hh, jh = (list(map(float, table)) for table in np.round(parts.sum(axis=0), 12))
    return Ceiling(
        n,
        hh_agreement=(hh[0] + hh[3]) / n,
        jh_agreement=(jh[0] + jh[3]) / n,
        hh_kappa=cohen_kappa(*hh),
        jh_kappa=cohen_kappa(*jh),
        kappa_diff=_difference(parts, n, len(group)),
        reason="single_category" if None in (cohen_kappa(*hh), cohen_kappa(*jh)) else None,
    )


def _humans(m: int, bad: int) -> tuple[float, float, float, float]:
    """The 2x2 table of all ordered pairs of m labels, `bad` of them badcase, summing to 1."""
    pairs, usable = m * (m - 1), m - bad
    return bad * (bad - 1) / pairs, bad * usable / pairs, bad * usable / pairs, usable * (usable - 1) / pairs


def _judged(judge: int, m: int, bad: int) -> tuple[float, float, float, float]:
    """The 2x2 table of the judge with each of m people, summing to 1."""
    return (bad / m, (m - bad) / m, 0.0, 0.0) if judge else (0.0, 0.0, bad / m, (m - bad) / m)


def _kappa_diff(tables: np.ndarray) -> float | None:
    """Judge-human minus human-human kappa of two tables, shape (2, 4); None when either is undefined."""
    hh, jh = (cohen_kappa(*map(float, table)) for table in tables)
    return None if hh is None or jh is None else jh - hh


def _difference(parts: np.ndarray, n: int, clusters: int) -> ClusterEstimate:
    """The difference of the kappas with its jackknife interval. parts: (groups of prompts, hh and jh, cells)."""
    value = _kappa_diff(np.round(parts.sum(axis=0), 12))
    if value is None:
        return ClusterEstimate(None, reason="single_category", n=n, clusters=clusters)
    se = jackknife_se(_kappa_diff, parts)
    if se is None:
        reason = "few_clusters" if clusters < 2 else "interval_undefined"
        return ClusterEstimate(value, -2.0, 2.0, reason, n, clusters=clusters)
    if se < NO_SPREAD:
        return ClusterEstimate(value, reason="degenerate", n=n, clusters=clusters)
    half = student_quantile(len(parts) - 1) * se
    return ClusterEstimate(
        value, max(-2.0, value - half), min(2.0, value + half), n=n, se=se,
        method="jackknife over clusters", clusters=clusters,
    )  # fmt: skip
