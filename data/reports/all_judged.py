"""The judge over all cases that it labelled, and how many of them are truly usable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from data.reports.words import percent
from data.store import agreement as agreement_store
from data.store.agreement import Basis
from evaluators.agreement import REASON_WORDS, TwoPhase, clustered_two_phase


def all_judged_report(basis: Basis, labelled: Mapping[str, Sequence[int]] | None = None) -> dict:
    """The judge over all cases that it labelled, and how many of them are truly usable, from random labels and audits.

    Within each of the judge's labels all drawn cases had the same chance, so random draws and audits go together there;
    how many cases it flagged is known (the two-phase estimator). At another threshold than the run's audits do not fit.
    cases, labelled, prompts: what it rests on; judge_usable: the share that the judge passed, which is not the true share
    of usable cases. labelled: counts_by_prompt of this basis, if they are known already.
    """
    judged = agreement_store.judged_by_prompt(basis)
    if labelled is None:
        labelled = agreement_store.counts_by_prompt(basis)
    found = clustered_two_phase(judged, labelled)
    flagged, passed = (sum(both[place] for both in judged.values()) for place in (0, 1))
    return {
        **found.as_dict(),
        "cases": flagged + passed,
        "labelled": sum(sum(cells[:4]) for cells in labelled.values()),
        "prompts": len(judged),
        "judge_usable": passed / (flagged + passed) if flagged + passed else None,
        "short": f"{percent(found.accuracy)} of {flagged + passed}, by audit",
        "words": all_judged_words(found, flagged + passed),
    }


def all_judged_words(found: TwoPhase, cases: int) -> str:
    """What the labels say about all judged cases, in a sentence."""
    if found.accuracy.value is None:
        return f"Over all {cases} judged cases nothing can be told yet: {REASON_WORDS[found.accuracy.reason]}."
    return (
        f"Over all {cases} judged cases the judge agrees with people on {percent(found.accuracy)}, it finds "
        f"{percent(found.recall_bad)} of badcases, and {percent(found.usable_rate)} of the cases are truly usable."
    )
