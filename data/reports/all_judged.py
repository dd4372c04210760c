"""The judge over all cases that it labelled, and how many of them are truly usable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from data.reports.words import many, percent
from data.store import agreement as agreement_store
from data.store.agreement import Basis
from evaluators.agreement import FEW, REASON_WORDS, SMALL, TwoPhase, clustered_two_phase


def all_judged_report(basis: Basis, labelled: Mapping[str, Sequence[int]] | None = None) -> dict:
    """The judge over all cases that it labelled, and how many of them are truly usable, from random labels and audits.

    Within each of the judge's labels all drawn cases had the same chance, so random draws and audits go together there;
    how many cases it flagged is known (the two-phase estimator). At another threshold than the run's audits do not fit.
    cases, labelled, prompts: what it rests on; judge_usable: the share that the judge passed, which is not the true share
    of usable cases; unanswered: the cases without a label from the judge, which are none of these. labelled: counts_by_prompt
    of this basis, if they are known already.
    """
    judged = agreement_store.judged_by_prompt(basis)
    if labelled is None:
        labelled = agreement_store.counts_by_prompt(basis)
    found = clustered_two_phase(judged, labelled)
    flagged, passed = (sum(both[place] for both in judged.values()) for place in (0, 1))
    cells = [sum(counts[place] for counts in labelled.values()) for place in range(4)]
    report = {
        **found.as_dict(),
        "cases": flagged + passed,
        "labelled": sum(cells),
        "prompts": sum(any(counts[:4]) for counts in labelled.values()),
        "unanswered": agreement_store.count_unanswered(basis),
        "judge_usable": passed / (flagged + passed) if flagged + passed else None,
        "short": f"{percent(found.accuracy)} of {flagged + passed}, by {sum(cells)} labels",
    }
    report["warnings"] = [*_warnings(cells), *report["warnings"]]
    return {**report, "words": all_judged_words(found, report)}


def _warnings(cells: Sequence[int]) -> list[str]:
    """What the number of labels forbids to take for sure."""
    tp, fp, fn, tn = cells
    if not sum(cells):
        return []
    few = {"small_n": sum(cells) < SMALL, "few_human_bad": tp + fn < FEW, "few_human_usable": fp + tn < FEW}
    return [code for code, holds in few.items() if holds]


def all_judged_words(found: TwoPhase, report: Mapping) -> str:
    """What the labels say about all judged cases, in a sentence."""
    if found.accuracy.value is None:
        return (
            f"Over all {report['cases']} judged cases nothing can be told yet: {REASON_WORDS[found.accuracy.reason]}."
        )
    usable = found.usable_rate.value
    words = (
        f"Over all {report['cases']} judged cases, told by {report['labelled']} of them that people labelled after random "
        f"draws or audits ({many(report['prompts'], 'prompt')}), the judge agrees with people on {percent(found.accuracy)}, "
        f"always saying {'usable' if usable >= 0.5 else 'badcase'} would score about {100 * max(usable, 1 - usable):.0f} %; it "
        f"finds {percent(found.recall_bad)} of badcases, and {percent(found.precision_bad)} of its flags are right; "
        f"{percent(found.usable_rate)} of the cases are truly usable."
    )
    if report["unanswered"]:
        all_cases = report["cases"] + report["unanswered"]
        words += (
            f" On {report['unanswered']} more it gave no label; with those as disagreements it agrees on "
            f"{100 * found.accuracy.value * report['cases'] / all_cases:.1f} % of {all_cases}."
        )
    return words
