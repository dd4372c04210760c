"""How many labels it takes, from which queue, and how many working days that is at the present pace."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from data.reports.all_judged import all_judged_report
from data.reports.plan_words import PLAN_REASONS, goal_words, pace_words
from data.reports.words import without_labels
from data.store import agreement as agreement_store
from data.store.agreement import Basis
from data.store.pace_of_labels import count_unlabelled, pace_of_labels
from data.store.runs import run_by_id
from evaluators.agreement import (
    REASON_WORDS,
    WARNING_WORDS,
    ClusterEstimate,
    Estimate,
    clustered_headline,
    n_for_claim,
    n_for_halfwidth,
    n_paired,
    two_phase,
    wilson,
)

#: Audits that are weighed against the random order: the shares of flagged and of passed cases that they draw.
#: More of the passed helps most, since few misses are seen there.
AUDITS = ((0.5, 0.05), (0.5, 0.10), (1.0, 0.05), (1.0, 0.10), (1.0, 0.25), (1.0, 0.50))
#: Share of cases on which two judges differ in being right, where nothing better is known; the words give half of it, too.
DIFFERING = 0.2


def planning_report(
    basis: Basis, half_width: float = 0.05, claim: float = 0.85, truth: float | None = None, difference: float = 0.05,
    recall_half_width: float = 0.10,
) -> dict:  # fmt: skip
    """How many labelled cases it takes for each goal, and how many more those are, as plain values; `words` says it.

    half_width: of the interval around agreement; recall_half_width: around the share of badcases found. claim: "agrees on
    at least so much", to be shown with 80 % power by a judge that is right on `truth`, the present agreement unless given.
    difference: between two judges on the same cases. All 0-1, above 0.

    n, bad: cases with a gold label, and badcases among them. accuracy: as it is now. deff: design effect by which all
    numbers are multiplied; 1 where cases share no prompt and without any figure, None where all are of one prompt: then no
    number can be named. cases_left: judged test cases that nobody has labelled. pace: see `pace_of_labels`. goals: a dict
    each with goal, name, needed, there and more (labelled cases; None with a `reason`), queue (random or audit), days
    (working days, None without a pace), words. audits: what each of AUDITS would reach for the badcases found.
    """
    run = run_by_id(basis.run_id)
    by_prompt = agreement_store.counts_by_prompt(basis)
    figures = clustered_headline(by_prompt if basis.threshold is not None else {})
    n = sum(map(sum, by_prompt.values()))
    bad = sum(tp + fn + unanswered for tp, _fp, fn, _tn, unanswered, _usable in by_prompt.values())
    now = {
        "n": n, "bad": bad, "accuracy": _as_dict(figures.accuracy, basis), "recall_bad": _as_dict(figures.recall_bad, basis),
        "deff": _deff(figures.accuracy), "cases_left": count_unlabelled(basis),
        "pace": pace_of_labels(run["dataset_id"], run["criterion"]),
    }  # fmt: skip
    audits = _audits(basis, by_prompt, now) if basis.threshold is not None else []
    goals = [
        _with_words(goal, now)
        for goal in (
            _for_half_width(now, half_width),
            _for_claim(now, claim, truth),
            _for_recall(now, _deff(figures.recall_bad), recall_half_width, audits),
            _for_difference(now, difference),
        )
    ]
    words = [pace_words(now["pace"]), *(goal["words"] for goal in goals)]
    if basis.threshold is None:
        words.insert(0, WARNING_WORDS["no_threshold"])
    elif not n and (audited := without_labels(basis, "")):
        words.insert(0, audited)
    return {**now, "goals": goals, "audits": audits, "words": words}


def _deff(estimate: Estimate) -> float | None:
    """None for cases that are all of one prompt."""
    return estimate.deff if isinstance(estimate, ClusterEstimate) and estimate.value is not None else 1.0


def _as_dict(estimate: Estimate, basis: Basis) -> dict:
    """An estimate of now; without a threshold that is why there is none, however many labels there are."""
    return estimate.as_dict() if basis.threshold is not None else Estimate.undefined("no_threshold").as_dict()


def _for_half_width(now: dict, half_width: float) -> dict:
    """Labels until the interval around agreement is as narrow as wanted."""
    present = now["accuracy"]["value"]
    name = f"Agreement to within ±{100 * half_width:g} points"
    found = {"goal": "agreement", "name": name, "there": now["n"], "queue": "random"}
    if now["deff"] is None:
        return {**found, "needed": None, "worst": None, "reason": "few_clusters"}
    needed, worst = (
        math.ceil(n_for_halfwidth(p, half_width) * now["deff"]) for p in (0.5 if present is None else present, 0.5)
    )
    seen = (
        "no agreement is known yet, so for the worst case, 50 %"
        if present is None
        else f"at the present agreement of {100 * present:.1f} %; {worst:,} in the worst case, 50 %"
    )
    return {**found, "needed": needed, "worst": worst, "why": seen}


def _for_claim(now: dict, claim: float, truth: float | None) -> dict:
    """Labels until "at least so much" would be shown, in 8 of 10 tries, by a judge as good as `truth`."""
    present = now["accuracy"]["value"]
    # Nobody is right for ever: a judge without an error so far is planned as one with an error in a thousand.
    right = truth if truth is not None else None if present is None else min(present, 0.999)
    found = {"goal": "claim", "name": f"To show “at least {100 * claim:g} %”", "there": now["n"], "queue": "random"}
    if right is None:
        return {**found, "needed": None, "reason": now["accuracy"]["reason"]}
    if right <= claim:
        return {**found, "needed": None, "reason": "not_better_than_claim"}
    if now["deff"] is None:
        return {**found, "needed": None, "reason": "few_clusters"}
    independent = n_for_claim(claim, right)
    if independent is None:
        return {**found, "needed": None, "reason": "too_close_to_claim"}
    why = (
        f"with 80 % chance, if the judge is right on {100 * right:.1f} %; "
        "fix the number first and look once, when it is reached"
    )
    return {**found, "needed": math.ceil(independent * now["deff"]), "truth": right, "why": why}


def _for_recall(now: dict, deff: float | None, half_width: float, audits: list[dict]) -> dict:
    """Labels until the share of badcases found is known: badcases are needed, and random cases or an audit bring them."""
    present = now["recall_bad"]["value"]
    name = f"Badcases found to within ±{100 * half_width:g} points"
    found = {"goal": "recall", "name": name, "badcases": None, "there": now["n"], "queue": "random"}
    if deff is None:
        return {**found, "needed": None, "reason": "few_clusters"}
    badcases = math.ceil(n_for_halfwidth(0.5 if present is None else present, half_width) * deff)
    found["badcases"] = badcases
    if not now["bad"]:
        return {**found, "needed": None, "reason": "no_human_bad" if now["n"] else now["accuracy"]["reason"]}
    rate = now["bad"] / now["n"]
    missing = max(0, badcases - now["bad"])
    more = math.ceil(missing / rate)
    found |= {"needed": now["n"] + more if missing else math.ceil(badcases / rate)}
    found["why"] = f"{badcases:,} badcases, and {100 * rate:.1f} % of labelled cases are such; {now['bad']:,} are there"
    enough = [audit for audit in audits if audit["half_width"] is not None and audit["half_width"] <= half_width]
    best = min(enough, key=lambda audit: audit["more"], default=None)
    if missing and best and (best["more"] < more or more > now["cases_left"]):
        return {**found, "queue": "audit", "random_more": more, "audit": best}
    return found


def _for_difference(now: dict, difference: float) -> dict:
    """Cases on which two judges must be compared until a difference between them would be seen, in 8 of 10 tries."""
    name = f"A difference of {100 * difference:g} points between two judges"
    found = {"goal": "difference", "name": name, "there": now["n"], "queue": "random"}
    if now["deff"] is None:
        return {**found, "needed": None, "alike": None, "reason": "few_clusters"}
    needed, alike = (
        math.ceil(n_paired(difference, max(difference, share)) * now["deff"]) for share in (DIFFERING, DIFFERING / 2)
    )
    why = (
        f"with 80 % chance, if they differ on {100 * DIFFERING:g} % of cases; {alike:,} if on {50 * DIFFERING:g} %; "
        "both judge the same labelled cases"
    )
    return {**found, "needed": needed, "alike": alike, "why": why}


def _audits(basis: Basis, by_prompt: Mapping[str, Sequence[int]], now: dict) -> list[dict]:
    """What each audit would tell of the badcases found, if flags and passed cases stay right as often as now.

    flagged, passed: shares drawn. labels: of the whole audit; more: those that the labels already there leave missing.
    half_width: half of the interval that the two-phase estimator would then give, None with a `reason`; misses: badcases
    seen among the passed by then.
    """
    is_audited = basis.is_own and agreement_store.has_audits(basis)
    known = all_judged_report(replace(basis, with_audits=is_audited), None if is_audited else by_prompt)
    passed = round(known["cases"] * (known["judge_usable"] or 0))
    flagged = known["cases"] - passed
    right, fine = known["precision_bad"]["value"], known["npv"]["value"]
    seen_flagged, seen_passed = known["precision_bad"]["n"], known["npv"]["n"]
    found = []
    for share_flagged, share_passed in AUDITS if flagged + passed else ():
        drawn, checked = share_flagged * flagged, share_passed * passed
        with_drawn, with_checked = max(drawn, seen_flagged), max(checked, seen_passed)
        more = with_drawn + with_checked - seen_flagged - seen_passed
        recall = Estimate.undefined("few_clusters")
        if now["deff"] is not None:
            shares = (_expected(share, n, now["deff"]) for share, n in ((right, with_drawn), (fine, with_checked)))
            recall = two_phase(flagged, passed, *shares).recall_bad
        reason = recall.reason if recall.value is None or recall.lo is None else None
        found.append({
            "flagged": share_flagged, "passed": share_passed, "labels": math.ceil(drawn + checked),
            "more": math.ceil(more), "days": _days(math.ceil(more), now["pace"]), "reason": reason,
            "half_width": (recall.hi - recall.lo) / 2 if reason is None else None,
            "misses": (1 - fine) * with_checked if fine is not None else None,
        })  # fmt: skip
    return found


def _expected(share: float | None, labels: float, deff: float) -> Estimate:
    """The share as it would be estimated from so many labels."""
    worth = labels / deff
    return Estimate.undefined("unreviewed_verdict") if share is None else wilson(share * worth, worth)


def _days(more: int, pace: dict) -> int | None:
    """Working days for so many more cases: as many cases a day as were labelled on the days of the pace."""
    return math.ceil(more * pace["days"] / pace["cases"]) if pace["cases"] else None


def _with_words(goal: dict, now: dict) -> dict:
    """The goal with how many more cases it takes, in how many days, and its sentence."""
    needed, audit = goal["needed"], goal.get("audit")
    if needed is None:
        told = PLAN_REASONS.get(goal["reason"]) or REASON_WORDS[goal["reason"]]
        return {**goal, "more": None, "days": None, "words": f"{goal['name']}: no number can be named, since {told}."}
    more = audit["more"] if audit else max(0, needed - goal["there"])
    found = {**goal, "reason": None, "more": more, "days": _days(more, now["pace"])}
    return {**found, "words": goal_words(found, now)}
