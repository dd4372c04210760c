"""The cases from which one learns most about a judge: it was sure, and people were as sure of the opposite."""

from __future__ import annotations

from data.store.agreement import Basis, with_own_audits
from data.store.instructive import confident_disagreements, remarks
from data.store.runs import run_by_id
from data.store.verdicts import verdicts_of_run

MOST = 10


def instructive_disagreements(basis: Basis, most: int = MOST) -> list[dict]:
    """At most `most` cases on which judge and people differ, both directions in turn, at most one a prompt.

    In each direction first those on which all people are against the judge, then those of which the judge's score is
    farthest from the threshold, so it is no borderline case, then those with more labels; where a direction has too few
    cases the other one fills up. The choice is fixed by the data. It is a choice of extremes: it shows how the judge
    errs, never how often.

    Each as in `confident_disagreements`, with reason (the judge's), and said (people's label, tags and comment).
    """
    if basis.threshold is None or most < 1:
        return []
    # Twice as many, so that a direction has enough once the other's prompts are out.
    found = confident_disagreements(with_own_audits(basis), 2 * most)
    chosen = _in_turn(found, most)
    ids = [case["case_id"] for case in chosen]
    verdicts = verdicts_of_run(basis.run_id, ids)
    said = remarks(ids, run_by_id(basis.run_id)["criterion"])
    return [{**case, "reason": verdicts[case["case_id"]]["reason"], "said": said[case["case_id"]]} for case in chosen]


def _in_turn(found: list[dict], most: int) -> list[dict]:
    """From each direction in turn its next case whose prompt is not there yet; missed badcases begin."""
    waiting = {judge: [case for case in found if case["judge"] == judge] for judge in ("usable", "badcase")}
    chosen: list[dict] = []
    while len(chosen) < most and any(waiting.values()):
        for cases in waiting.values():
            prompts = {case["cluster"] for case in chosen}
            while cases and cases[0]["cluster"] in prompts:
                cases.pop(0)
            if cases and len(chosen) < most:
                chosen.append(cases.pop(0))
    return chosen
