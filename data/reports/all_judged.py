"""The judge over all cases that it labelled, and how many of them are truly usable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from data.reports.words import percent
from data.store import agreement as agreement_store
from data.store.agreement import Basis
from evaluators.agreement import REASON_WORDS, ClusterEstimate, TwoPhase, cells_ratio, two_phase


def all_judged_report(basis: Basis, labelled: Mapping[str, Sequence[int]] | None = None) -> dict:
    """The judge over all cases that it labelled, and how many of them are truly usable, from random labels and audits.

    Within each of the judge's labels all drawn cases had the same chance, so random draws and audits go together there;
    how many cases it flagged is known (the two-phase estimator). At another threshold than the run's audits do not fit.
    cases, labelled, prompts: what it rests on; judge_usable: the share that the judge passed, which is not the true share
    of usable cases. labelled: counts_by_prompt of this basis, if they are known already.
    """
    judged = np.array(list(agreement_store.judged_by_prompt(basis).values()), float).reshape(-1, 2)
    if labelled is None:
        labelled = agreement_store.counts_by_prompt(basis)
    cells = np.array(list(labelled.values()), float).reshape(-1, 6)
    flagged, passed = (int(count) for count in judged.sum(axis=0))
    nothing = ClusterEstimate.undefined("no_data")
    within = [cells_ratio(cells, (hit,), (hit, miss)) or nothing for hit, miss in ((0, 1), (3, 2))]
    share = cells_ratio(judged, (0,), (0, 1)) or nothing
    found = two_phase(flagged, passed, *within, share, misses=int(cells[:, 2].sum()))
    return {
        **found.as_dict(),
        "cases": flagged + passed,
        "labelled": int(cells[:, :4].sum()),
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
