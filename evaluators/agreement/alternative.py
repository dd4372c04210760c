"""The alternative annotator test: could the judge stand in for a reviewer? An optional panel, never a gate."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass

from scipy.stats import t as student

from evaluators.agreement.comparisons import by

FEWEST_CASES = 30  # a reviewer needs, to be compared with
SIGNIFICANCE = 0.05

Labels = Mapping[Hashable, float]


@dataclass(frozen=True)
class Replaced:
    """One reviewer against the judge on n cases.

    difference: how often the reviewer comes at least as close to the other people as the judge, minus the reverse, -1..1;
    judge_as_good: the reverse share 0-1; p: of "the judge loses by eps or more"; beaten: whether that is rejected.
    """

    reviewer: str
    n: int
    difference: float
    judge_as_good: float
    p: float
    beaten: bool


@dataclass(frozen=True)
class AltTest:
    """winning_rate: share of reviewers that the judge beats; passed: at least half; rho: mean of judge_as_good.

    The judge may lose by eps and pass: show it. constant_passes: whether one that always gives people's most frequent label
    (their mean, for scores) passes too; then the test says nothing here. All None, with a reason, when undefined.
    """

    winning_rate: float | None
    rho: float | None
    passed: bool | None
    eps: float
    reviewers: tuple[Replaced, ...] = ()
    constant_passes: bool | None = None
    reason: str | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Keys of WARNING_WORDS."""
        return ("constant_passes",) if self.constant_passes else ()

    def as_dict(self) -> dict:
        """All fields and the warnings, for JSON."""
        return {**asdict(self), "warnings": list(self.warnings)}


def alt_test(
    judge: Labels,
    humans: Mapping[str, Labels],
    eps: float,
    metric: str = "accuracy",
    fewest_cases: int = FEWEST_CASES,
) -> AltTest:
    """Each reviewer in turn against the judge, by closeness to the *other* people on the case (Calderon et al. 2025).

    judge: its label or score by case. humans: the same by reviewer. eps: what the judge may lose by, 0.2 against experts,
    0.15 skilled people, 0.1 a crowd. metric: accuracy (labels) or neg_rmse (scores). A reviewer counts with at least
    `fewest_cases` cases that the judge and another person have labelled; without any: `too_few_units`. One-sided t-test
    against eps (p is 0 or 1 where all differences are the same), Benjamini-Yekutieli over reviewers at 0.05. Cases count
    as independent.

    :raises ValueError: for another metric.
    """
    if metric not in _CLOSENESS:
        raise ValueError(f"{metric} is not accuracy or neg_rmse")
    compared = _against_each(judge, humans, eps, _CLOSENESS[metric], fewest_cases)
    if not compared:
        return AltTest(None, None, None, eps, reason="too_few_units")
    given = [label for labels in humans.values() for label in labels.values()]
    constant = min(Counter(given).items(), key=lambda item: (-item[1], item[0]))[0]
    control = dict.fromkeys(judge, statistics.fmean(given) if metric == "neg_rmse" else constant)
    winning_rate = _winning_rate(compared)
    return AltTest(
        winning_rate,
        rho=statistics.fmean(one.judge_as_good for one in compared),
        passed=winning_rate >= 0.5,
        eps=eps,
        reviewers=tuple(compared),
        constant_passes=_winning_rate(_against_each(control, humans, eps, _CLOSENESS[metric], fewest_cases)) >= 0.5,
    )


def _share_equal(label: float, others: Sequence[float]) -> float:
    """The share of the others with the same label."""
    return sum(label == other for other in others) / len(others)


def _less_rmse(score: float, others: Sequence[float]) -> float:
    """Minus the root mean square distance to the others' scores."""
    return -math.sqrt(sum((score - other) ** 2 for other in others) / len(others))


_CLOSENESS = {"accuracy": _share_equal, "neg_rmse": _less_rmse}


def _against_each(
    judge: Labels, humans: Mapping[str, Labels], eps: float, closeness: Callable, fewest: int
) -> list[Replaced]:
    """The judge against every reviewer with enough cases, in the order of `humans`."""
    results = []
    for name, own in humans.items():
        people, judge_wins = [], []  # on each case: is the reviewer, is the judge at least as close to the others
        for case, label in own.items():
            others = [labels[case] for other, labels in humans.items() if other != name and case in labels]
            if case in judge and others:
                reviewer_near, judge_near = closeness(label, others), closeness(judge[case], others)
                people.append(reviewer_near >= judge_near)
                judge_wins.append(judge_near >= reviewer_near)
        if len(people) >= max(fewest, 2):
            differences = [int(a) - int(b) for a, b in zip(people, judge_wins, strict=True)]
            results.append((name, differences, statistics.fmean(judge_wins)))
    ps = [_p_below(differences, eps) for _name, differences, _wins in results]
    return [
        Replaced(name, len(differences), statistics.fmean(differences), wins, p, adjusted <= SIGNIFICANCE)
        for (name, differences, wins), p, adjusted in zip(results, ps, by(ps), strict=True)
    ]


def _p_below(differences: Sequence[int], eps: float) -> float:
    """p of a one-sided t-test of "their mean is eps or more"."""
    n, mean, sd = len(differences), statistics.fmean(differences), statistics.stdev(differences)
    if sd == 0:
        return 0.0 if mean < eps else 1.0
    return float(student.cdf((mean - eps) / (sd / math.sqrt(n)), n - 1))


def _winning_rate(compared: Sequence[Replaced]) -> float:
    """The share of reviewers that the judge beats."""
    return sum(one.beaten for one in compared) / len(compared)
