"""Two judges on the same labelled cases: which is right more often, overall, among badcases and among usable cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from evaluators.agreement.clusters import cluster_ratio
from evaluators.agreement.comparisons import ClusterDifference, paired_cluster_diff
from evaluators.agreement.estimate import FEW, SMALL, Estimate
from evaluators.agreement.paired import mcnemar
from evaluators.agreement.planning import n_paired
from evaluators.agreement.proportions import wilson


class Told(NamedTuple):
    """Cases by who is right on them: both judges, only the one that is compared, only the reference, neither."""

    both: int = 0
    only_it: int = 0
    only_reference: int = 0
    neither: int = 0


#: The cases of one prompt: those that people call badcase, and those that they call usable.
PromptTold = tuple[Told, Told]


@dataclass(frozen=True)
class SameCases:
    """A judge minus the reference on the cases that both judged; a case left without a label is one it is wrong on.

    b: cases that only it is right on; c: those that only the reference is right on. difference: (b - c) / n in -1..1;
    recall_bad, specificity: the same among the cases that people call badcase, and usable. accuracy, reference_accuracy:
    of each alone, on the same cases. p_midp, p_exact: McNemar's test, every case for itself. p: of the difference, the
    prompts being known; p_midp where no two cases share one; None where there is no test. warnings: keys of WARNING_WORDS.
    """

    n: int
    prompts: int
    both: int
    b: int
    c: int
    neither: int
    accuracy: Estimate
    reference_accuracy: Estimate
    difference: ClusterDifference
    recall_bad: ClusterDifference
    specificity: ClusterDifference
    p: float | None
    p_midp: float | None
    p_exact: float | None
    warnings: tuple[str, ...]

    @property
    def apart(self) -> float | None:
        """The share of cases that tell the two apart, 0-1."""
        return (self.b + self.c) / self.n if self.n else None

    def labels_for(self, difference: float) -> int | None:
        """The labelled cases that it takes to see such a difference (0-1) four times of five, as often as they differ now.

        Times the design effect where cases share prompts. None without cases, and when several cases all share one prompt.
        """
        effect = self._design_effect() if self.n else None
        return None if effect is None else math.ceil(n_paired(difference, max(self.apart, difference)) * effect)

    def _design_effect(self) -> float | None:
        """How much wider the interval is for knowing the prompts: the ratio of the two variances, at least 1; None where one
        prompt leaves it unknown."""
        if self.difference.reason == "few_clusters":
            return None
        value, se = self.difference.value, self.difference.se
        independent = (self.apart - value**2) / self.n
        return max(1.0, se**2 / independent) if se and independent > 0 else 1.0


def same_cases(prompts: Mapping[PromptTold, int]) -> SameCases:
    """The comparison of two judges, from how many prompts have which counts: there are far fewer of those than prompts."""
    held = [(parts, count) for parts, count in prompts.items() if any(map(any, parts))]
    bad, usable = ([(parts[said], count) for parts, count in held] for said in (0, 1))
    every = [(Told(*map(sum, zip(*parts, strict=True))), count) for parts, count in held]
    total, n_bad, n_usable = _sum(every), sum(_sum(bad)), sum(_sum(usable))
    n = sum(total)
    plain = mcnemar(total.only_it, total.only_reference, n)
    difference = paired_difference(every)
    held_prompts = sum(count for _told, count in every)
    return SameCases(
        n, held_prompts, total.both, total.only_it, total.only_reference, total.neither,
        accuracy=_right(every, lambda told: told.both + told.only_it),
        reference_accuracy=_right(every, lambda told: told.both + told.only_reference),
        difference=difference,
        recall_bad=paired_difference(bad, "no_human_bad" if n else "no_data"),
        specificity=paired_difference(usable, "no_human_usable" if n else "no_data"),
        p=difference.p, p_midp=plain.p_midp, p_exact=plain.p_exact,
        warnings=_warnings(n, held_prompts, n_bad, n_usable),
    )  # fmt: skip


def paired_difference(prompts: Iterable[tuple[Told, int]], reason: str = "no_data") -> ClusterDifference:
    """How much more often one judge is right than the reference. prompts: counts, and how many prompts have them.

    Bonett & Price's interval and McNemar's mid-p where every prompt has one case, else Student's t over prompts (see
    paired_cluster_diff). reason: why it is undefined without cases.
    """
    held = [(told, count) for told, count in prompts if any(told)]
    total = _sum(held)
    n = sum(total)
    if not n:
        return ClusterDifference.undefined(reason)
    if all(sum(told) == 1 for told, _count in held):
        plain = mcnemar(total.only_it, total.only_reference, n)
        return ClusterDifference(plain.diff, plain.lo, plain.hi, n=n, method="Bonett-Price", clusters=n, p=plain.p_midp)
    rows = (
        ((i, prompt), (told.only_it - told.only_reference) / sum(told), sum(told))
        for i, (told, count) in enumerate(held)
        for prompt in range(count)
    )
    found = paired_cluster_diff(rows)
    if found.lo is None:
        return replace(found, n=n)
    # Student's t knows no bounds; a difference of shares does.
    return replace(found, n=n, lo=max(-1.0, found.lo), hi=min(1.0, found.hi))


def _sum(prompts: Sequence[tuple[Told, int]]) -> Told:
    return Told(*(sum(told[cell] * count for told, count in prompts) for cell in range(4)))


def _right(prompts: Sequence[tuple[Told, int]], right: Callable[[Told], int]) -> Estimate:
    """The share of cases on which a judge is right."""
    n = sum(_sum(prompts))
    if all(sum(told) == 1 for told, _count in prompts):
        return wilson(sum(right(told) * count for told, count in prompts), n)
    rows = (
        ((i, prompt), right(told), sum(told), 1.0) for i, (told, count) in enumerate(prompts) for prompt in range(count)
    )
    return cluster_ratio(rows, n)


def _warnings(n: int, prompts: int, bad: int, usable: int) -> tuple[str, ...]:
    if not n:
        return ("no_data",)
    held = {
        "small_n": n < SMALL,
        "few_human_bad": bad < FEW,
        "few_human_usable": usable < FEW,
        "few_clusters": prompts < min(n, FEW),
    }
    return tuple(code for code, holds in held.items() if holds)
