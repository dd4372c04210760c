"""The figures that a lead reads first, and how people agree among themselves."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from evaluators.agreement.clusters import ClusterMetrics, cells_ratio, cluster_metrics
from evaluators.agreement.comparisons import paired_sums_diff
from evaluators.agreement.estimate import FEW, Estimate
from evaluators.agreement.jackknife import jackknife
from evaluators.agreement.paired import PairedDifference, mcnemar
from evaluators.agreement.proportions import wilson
from evaluators.agreement.table import BinaryMetrics, balanced, binary_metrics, share, warnings


@dataclass(frozen=True)
class Headline:
    """A judge against people, end to end.

    n: cases with a gold label, whether the judge answered or not. accuracy, recall_bad, specificity, balanced_accuracy:
    over all of them; a case that the judge left without a label is a disagreement, a badcase among them not found. answered:
    the 2x2 figures over the cases it did label, kappa and precision among them. coverage: the share of n that it labelled.
    baseline, baseline_diff: the constant judge on the same n cases. prompts: how many the cases belong to; n where every
    case has its own, or where it is not known. warnings: keys of WARNING_WORDS, about all n cases.
    """

    n: int
    prompts: int
    accuracy: Estimate
    recall_bad: Estimate
    specificity: Estimate
    balanced_accuracy: Estimate
    coverage: Estimate
    answered: BinaryMetrics
    baseline: float | None
    baseline_label: str | None
    baseline_diff: PairedDifference
    unanswered_bad: int
    unanswered_usable: int
    warnings: tuple[str, ...]

    def as_dict(self) -> dict:
        """The names that the command line and the export use."""
        cells = self.answered.as_dict()
        return {
            **cells,
            "n": self.n,
            "prompts": self.prompts,
            "accuracy": self.accuracy.as_dict(),
            "recall_bad": self.recall_bad.as_dict(),
            "specificity": self.specificity.as_dict(),
            "balanced_accuracy": self.balanced_accuracy.as_dict(),
            "accuracy_answered": cells["accuracy"],
            "answered": self.answered.n,
            "unanswered_bad": self.unanswered_bad,
            "unanswered_usable": self.unanswered_usable,
            "coverage": self.coverage.as_dict(),
            "baseline": self.baseline,
            "baseline_label": self.baseline_label,
            "baseline_diff": vars(self.baseline_diff),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True)
class HumanAgreement:
    """Pairs of people on the same cases: share of agreeing pairs 0-1 and Cohen's kappa; cases: how many it rests on."""

    cases: int
    agreement: Estimate
    kappa: Estimate

    def as_dict(self) -> dict:
        """All fields, for JSON."""
        return {"cases": self.cases, "agreement": self.agreement.as_dict(), "kappa": self.kappa.as_dict()}


def headline(
    tp: int = 0, fp: int = 0, fn: int = 0, tn: int = 0, unanswered_bad: int = 0, unanswered_usable: int = 0
) -> Headline:
    """All first figures from the counts of a run against gold."""
    answered = binary_metrics(tp, fp, fn, tn)
    bad, usable = tp + fn + unanswered_bad, tn + fp + unanswered_usable
    n = bad + usable
    constant_bad = bad > usable
    # Where the judge is right and the constant judge wrong, and the reverse.
    gained, lost = (tn, fn + unanswered_bad) if constant_bad else (tp, fp + unanswered_usable)
    recall, passed = share(tp, bad, "no_human_bad", n), share(tn, usable, "no_human_usable", n)
    accuracy, baseline, beaten = wilson(tp + tn, n), max(bad, usable) / n if n else None, mcnemar(gained, lost, n)
    return Headline(
        n=n,
        prompts=n,
        accuracy=accuracy,
        recall_bad=recall,
        specificity=passed,
        balanced_accuracy=balanced(recall, passed, n),
        coverage=wilson(answered.n, n),
        answered=answered,
        baseline=baseline,
        baseline_label=("badcase" if constant_bad else "usable") if n else None,
        baseline_diff=beaten,
        unanswered_bad=unanswered_bad,
        unanswered_usable=unanswered_usable,
        warnings=warnings(n, bad, accuracy, baseline, answered.kappa, beaten),
    )


def clustered_headline(by_prompt: Mapping[Hashable, Sequence[int]]) -> Headline:
    """The same figures with intervals that know which cases share a prompt.

    by_prompt: (tp, fp, fn, tn, unanswered_bad, unanswered_usable) of each prompt. Where every prompt has one case the
    cases are independent, and the intervals are those of `headline`.
    """
    cells = np.array([cells for cells in by_prompt.values() if any(cells)], float).reshape(-1, 6)
    plain, prompts = headline(*(int(count) for count in cells.sum(axis=0))), len(cells)
    if prompts == plain.n:
        return plain
    found = cluster_metrics({prompt: cells[:4] for prompt, cells in by_prompt.items() if any(cells[:4])})
    tp, fp, fn, tn, no_bad, no_usable = every = range(6)
    accuracy = cells_ratio(cells, (tp, tn), every) or plain.accuracy
    recall = cells_ratio(cells, (tp,), (tp, fn, no_bad)) or plain.recall_bad
    passed = cells_ratio(cells, (tn,), (tn, fp, no_usable)) or plain.specificity
    gained, lost = ((tn,), (fn, no_bad)) if plain.baseline_label == "badcase" else ((tp,), (fp, no_usable))
    size = cells.sum(axis=1)
    beaten = paired_sums_diff(cells[:, gained].sum(axis=1) - cells[:, lost].sum(axis=1), size, plain.n)
    limits = {} if beaten.lo is None else {"lo": beaten.lo, "hi": beaten.hi}
    known = {field.name: getattr(found, field.name) for field in fields(ClusterMetrics)}
    answered = replace(plain.answered, **known)
    baseline_diff = replace(plain.baseline_diff, **limits)
    bad = int(cells[:, (tp, fn, no_bad)].sum())
    told = warnings(plain.n, bad, accuracy, plain.baseline, answered.kappa, baseline_diff)
    return replace(
        plain, prompts=prompts, accuracy=accuracy, recall_bad=recall, specificity=passed,
        balanced_accuracy=balanced(recall, passed, plain.n),
        coverage=cells_ratio(cells, (tp, fp, fn, tn), every) or plain.coverage,
        answered=answered, baseline_diff=baseline_diff,
        warnings=(*told, *(("few_clusters",) if prompts < FEW else ())),
    )  # fmt: skip


def human_agreement(by_prompt: Mapping[Hashable, Iterable[tuple[int, int, int]]]) -> HumanAgreement:
    """Every pair of people on a case, cases weighing the same, with intervals that know prompts.

    by_prompt: (labels m, badcase labels b, number of such cases) of each prompt; cases with fewer than two labels do not
    count. Undefined: no such case (`too_few_units`); kappa where only one label occurs (`single_category`).
    """
    tables = {}
    for prompt, patterns in by_prompt.items():
        table = np.zeros(4)
        for m, b, count in patterns:
            if m >= 2:
                pairs = np.array([b * (b - 1), b * (m - b), b * (m - b), (m - b) * (m - b - 1)])
                table += count * pairs / (m * (m - 1))
        if table.any():
            tables[prompt] = table
    if not tables:
        nothing = Estimate.undefined("too_few_units")
        return HumanAgreement(0, nothing, nothing)
    cells = np.array(list(tables.values()))
    cases = round(cells.sum())
    if len(tables) < cases:
        return HumanAgreement(cases, cells_ratio(cells, (0, 3), range(4)), jackknife(tables, "kappa"))
    agree, kappa = float(cells[:, (0, 3)].sum()), binary_metrics(*(float(cell) for cell in cells.sum(axis=0))).kappa
    return HumanAgreement(cases, wilson(agree, cases), kappa)
