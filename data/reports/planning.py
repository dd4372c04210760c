"""How many labels it takes, from which queue, and how many working days that is at the present pace."""

from __future__ import annotations

import math
from dataclasses import replace

from data.reports.all_judged import all_judged_report
from data.store import agreement as agreement_store
from data.store.agreement import Basis
from data.store.pace_of_labels import pace_of_labels
from data.store.runs import run_by_id
from evaluators.agreement import (
    REASON_WORDS,
    Estimate,
    clustered_headline,
    n_for_claim,
    n_for_halfwidth,
    n_paired,
    two_phase,
    wilson,
)
from evaluators.agreement.two_phase import FEWEST_MISSES

#: Audits that are weighed against the random order: the shares of flagged and of passed cases that they draw.
#: More of the passed helps most, since few misses are seen there.
AUDITS = ((0.5, 0.05), (0.5, 0.10), (1.0, 0.05), (1.0, 0.10), (1.0, 0.25), (1.0, 0.50))
#: Why no number of labels can be named, beside REASON_WORDS.
PLAN_REASONS = {
    "not_better_than_claim": "a judge that is right no more often than claimed cannot show the claim",
    "too_close_to_claim": "the judge is so close to the claim that 20,000 independent labels are too few",
}
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
    numbers are multiplied; 1 where cases share no prompt. cases_left: of the run, without a gold label. pace: see
    `pace_of_labels`. goals: a dict each with goal, name, needed, there and more (labelled cases; None with a `reason`),
    queue (random or audit), days (working days, None without a pace), words. audits: what each of AUDITS would reach for
    the badcases found.
    """
    run = run_by_id(basis.run_id)
    by_prompt = agreement_store.counts_by_prompt(basis)
    figures = clustered_headline(by_prompt if basis.threshold is not None else {})
    n = sum(map(sum, by_prompt.values()))
    bad = sum(tp + fn + unanswered for tp, _fp, fn, _tn, unanswered, _usable in by_prompt.values())
    now = {
        "n": n, "bad": bad, "accuracy": figures.accuracy.as_dict(), "recall_bad": figures.recall_bad.as_dict(),
        "deff": _deff(figures.accuracy), "cases_left": run["cases"] - n,
        "pace": pace_of_labels(run["dataset_id"], run["criterion"]),
    }  # fmt: skip
    audits = _audits(basis, now) if basis.threshold is not None else []
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
    return {**now, "goals": goals, "audits": audits, "words": words}


def _deff(estimate: Estimate) -> float:
    return getattr(estimate, "deff", None) or 1.0


def _for_half_width(now: dict, half_width: float) -> dict:
    """Labels until the interval around agreement is as narrow as wanted."""
    present = now["accuracy"]["value"]
    needed, worst = (
        math.ceil(n_for_halfwidth(p, half_width) * now["deff"]) for p in (0.5 if present is None else present, 0.5)
    )
    seen = (
        "no agreement is known yet, so for the worst case, 50 %"
        if present is None
        else f"at the present agreement of {100 * present:.1f} %; {worst:,} in the worst case, 50 %"
    )
    name = f"Agreement to within ±{100 * half_width:g} points"
    return {"goal": "agreement", "name": name, "needed": needed, "worst": worst, "there": now["n"], "queue": "random",
            "why": seen}  # fmt: skip


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
    independent = n_for_claim(claim, right)
    if independent is None:
        return {**found, "needed": None, "reason": "too_close_to_claim"}
    why = (
        f"with 80 % chance, if the judge is right on {100 * right:.1f} %; "
        "fix the number first and look once, when it is reached"
    )
    return {**found, "needed": math.ceil(independent * now["deff"]), "truth": right, "why": why}


def _for_recall(now: dict, deff: float, half_width: float, audits: list[dict]) -> dict:
    """Labels until the share of badcases found is known: badcases are needed, and random cases or an audit bring them."""
    present = now["recall_bad"]["value"]
    badcases = math.ceil(n_for_halfwidth(0.5 if present is None else present, half_width) * deff)
    found = {"goal": "recall", "name": f"Badcases found to within ±{100 * half_width:g} points", "badcases": badcases,
             "there": now["n"], "queue": "random"}  # fmt: skip
    if not now["bad"]:
        return {**found, "needed": None, "reason": "no_human_bad" if now["n"] else "no_data"}
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
    needed, alike = (
        math.ceil(n_paired(difference, max(difference, share)) * now["deff"]) for share in (DIFFERING, DIFFERING / 2)
    )
    why = (
        f"with 80 % chance, if they differ on {100 * DIFFERING:g} % of cases; {alike:,} if on {50 * DIFFERING:g} %; "
        "both judge the same labelled cases"
    )
    name = f"A difference of {100 * difference:g} points between two judges"
    return {"goal": "difference", "name": name, "needed": needed, "alike": alike, "there": now["n"], "queue": "random",
            "why": why}  # fmt: skip


def _audits(basis: Basis, now: dict) -> list[dict]:
    """What each audit would tell of the badcases found, if flags and passed cases stay right as often as now.

    flagged, passed: shares drawn. labels: of the whole audit; more: those that the labels already there leave missing.
    half_width: half of the interval that the two-phase estimator would then give, None with a `reason`; misses: badcases
    seen among the passed by then.
    """
    known = all_judged_report(replace(basis, with_audits=basis.is_own))
    passed = round(known["cases"] * (known["judge_usable"] or 0))
    flagged = known["cases"] - passed
    right, fine = known["precision_bad"]["value"], known["npv"]["value"]
    seen_flagged, seen_passed = known["precision_bad"]["n"], known["npv"]["n"]
    found = []
    for share_flagged, share_passed in AUDITS if flagged + passed else ():
        drawn, checked = share_flagged * flagged, share_passed * passed
        with_drawn, with_checked = max(drawn, seen_flagged), max(checked, seen_passed)
        more = with_drawn + with_checked - seen_flagged - seen_passed
        shares = _expected(right, with_drawn, now), _expected(fine, with_checked, now)
        recall = two_phase(flagged, passed, *shares).recall_bad
        reason = recall.reason if recall.value is None or recall.lo is None else None
        found.append({
            "flagged": share_flagged, "passed": share_passed, "labels": math.ceil(drawn + checked),
            "more": math.ceil(more), "days": _days(math.ceil(more), now["pace"]), "reason": reason,
            "half_width": (recall.hi - recall.lo) / 2 if reason is None else None,
            "misses": (1 - fine) * with_checked if fine is not None else None,
        })  # fmt: skip
    return found


def _expected(share: float | None, labels: float, now: dict) -> Estimate:
    """The share as it would be estimated from so many labels."""
    worth = labels / now["deff"]
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


def goal_words(goal: dict, now: dict) -> str:
    """How many labels a goal takes, from which queue, and for how long, in a few sentences."""
    alike = f", times {now['deff']:.1f} as pictures of one prompt are alike" if now["deff"] > 1.05 else ""
    said = f"{goal['name']}: {goal['needed']:,} labelled cases in random order ({goal['why']}{alike}). "
    if not goal["more"]:
        return f"{said}They are there."
    audit = goal.get("audit")
    if audit:
        said += (
            f"Random order would take {goal['random_more']:,} more; an audit of {audit_words(audit)} takes about "
            f"{audit['more']:,} more and would reach ±{100 * audit['half_width']:.0f} points."
        )
        if audit["misses"] < FEWEST_MISSES:
            said += f" It would see fewer than {FEWEST_MISSES} missed badcases, so take the figure with care."
    else:
        said += f"{goal['there']:,} are there, so {goal['more']:,} more, from the random queue."
        if goal["more"] > now["cases_left"]:
            left = f"Only {now['cases_left']:,} cases of the run are" if now["cases_left"] else "No case of the run is"
            said += f" {left} left: add cases and judge them."
    if goal["days"] is not None:
        said += f" That is about {goal['days']:,} working day{'s' if goal['days'] != 1 else ''}."
    return said


def audit_words(audit: dict) -> str:
    """all of the flagged and 10 % of the passed cases."""
    flagged = "all" if audit["flagged"] == 1 else "half" if audit["flagged"] == 0.5 else f"{100 * audit['flagged']:g} %"
    return f"{flagged} of the flagged and {100 * audit['passed']:g} % of the passed cases"


def pace_words(pace: dict) -> str:
    """How fast people label now."""
    if not pace["labels"]:
        return "Nobody has labelled here yet, so how many days it takes cannot be told."
    days = "day" if pace["days"] == 1 else f"{pace['days']} days"
    return (
        f"On the last {days} with labels ({pace['first_day']} to {pace['last_day']}) all reviewers together gave "
        f"{pace['labels']:,} labels on {pace['cases']:,} cases: {pace['cases'] / pace['days']:.0f} cases a working day."
    )
