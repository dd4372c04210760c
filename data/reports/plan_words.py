"""A plan of labels in sentences."""

from __future__ import annotations

from data.reports.words import many
from evaluators.agreement.two_phase import FEWEST_MISSES

#: Why no number of labels can be named, beside REASON_WORDS.
PLAN_REASONS = {
    "not_better_than_claim": "a judge that is right no more often than claimed cannot show the claim",
    "too_close_to_claim": "the judge is so close to the claim that 20,000 independent labels are too few",
    "few_clusters": "with one prompt it is unknown how far its pictures repeat each other: label cases of other prompts",
}


def goal_words(goal: dict, now: dict) -> str:
    """How many labels a goal takes, from which queue, and for how long, in a few sentences."""
    alike = f", times {now['deff']:.1f} as pictures of one prompt are alike" if now["deff"] > 1.05 else ""
    if now["accuracy"]["value"] is None:
        alike = ", as if no two cases shared a prompt"
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
        said += f" That is about {many(goal['days'], 'working day')}."
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
        f"{many(pace['labels'], 'label')} on {many(pace['cases'], 'case')}: {pace['cases'] / pace['days']:.0f} cases a working day."
    )
