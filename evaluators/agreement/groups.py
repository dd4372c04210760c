"""The figures of one group of cases among many."""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluators.agreement.clusters import Row, cluster_ratio
from evaluators.agreement.estimate import SMALL, Estimate
from evaluators.agreement.headline import headline
from evaluators.agreement.jackknife import jackknife


@dataclass(frozen=True)
class GroupFigures:
    """A judge against people on a group, as in Headline: end to end, kappa over the cases that the judge labelled."""

    n: int
    prompts: int
    accuracy: Estimate
    recall_bad: Estimate
    specificity: Estimate
    kappa: Estimate
    baseline: float | None
    baseline_label: str | None

    @property
    def small(self) -> bool:
        """Too few cases for more than a first impression."""
        return self.n < SMALL


def each_prompt(alike: Mapping[tuple[int, ...], int]) -> dict[int, tuple[int, ...]]:
    """The counts of each prompt under a number, from how many prompts have the same ones.

    Which prompt has which number is shuffled, always in the same way: a jackknife that deals prompts into groups by their
    ids (`jackknife.deal`) takes those for a random division.
    """
    counts = [cells for cells, prompts in sorted(alike.items()) for _prompt in range(prompts)]
    random.Random(0).shuffle(counts)
    return dict(enumerate(counts))


def group_figures(by_prompt: Mapping[Hashable, Sequence[int]]) -> GroupFigures:
    """The figures of `clustered_headline` that groups are compared by, at a fraction of its price.

    by_prompt: (tp, fp, fn, tn, unanswered_bad, unanswered_usable) of each prompt.
    """
    plain = headline(*(map(sum, zip(*by_prompt.values(), strict=True)) if by_prompt else ()))
    prompts = sum(map(any, by_prompt.values()))
    kappa = plain.answered.kappa
    found = GroupFigures(
        plain.n, prompts, plain.accuracy, plain.recall_bad, plain.specificity, kappa, plain.baseline, plain.baseline_label
    )  # fmt: skip
    if prompts < plain.n:
        rows = [(p, *cells) for p, cells in by_prompt.items()]
        bad = [(p, tp, tp + fn + silent, 1.0) for p, tp, _fp, fn, _tn, silent, _ in rows]
        usable = [(p, tn, tn + fp + silent, 1.0) for p, _tp, fp, _fn, tn, _, silent in rows]
        right = [(p, a + c, b + d, 1.0) for (p, a, b, _), (_p, c, d, _) in zip(bad, usable, strict=True)]
        found = replace(
            found,
            accuracy=_share(right, found.accuracy),
            recall_bad=_share(bad, found.recall_bad),
            specificity=_share(usable, found.specificity),
            kappa=jackknife({p: cells[:4] for p, cells in by_prompt.items()}, "kappa"),
        )
    if found.n and not plain.answered.n:
        return replace(found, kappa=Estimate.undefined("judge_answered_none"))
    return found


def _share(rows: Sequence[Row], otherwise: Estimate) -> Estimate:
    """The clustered share, or what is said of an empty one."""
    counted = sum(x for _prompt, _y, x, _w in rows)
    return cluster_ratio(rows, counted) if counted else otherwise
