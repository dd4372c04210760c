"""A run's agreement with people: the figures that a lead reads first, and the sentence that says them."""

from __future__ import annotations

from dataclasses import asdict, replace

from data.reports.all_judged import all_judged_report
from data.reports.words import number, percent
from data.store import agreement as agreement_store
from data.store.agreement import Basis
from data.store.runs import run_by_id
from evaluators.agreement import (
    REASON_WORDS,
    WARNING_WORDS,
    Headline,
    HumanAgreement,
    claim,
    clustered_headline,
    human_agreement,
)

#: The basis in the words of a sentence.
BASIS_WORDS = {"blind": "blind", "all": "blind or shown"}


def agreement_report(
    run_id: int, basis: str = "blind", threshold: float | None = None, target: float | None = None
) -> dict:
    """Every figure of a run on a basis, as plain values; `words` says them in sentences.

    threshold: another one than the run's own, to try it; 0-1. target: a claim to test, "agrees on at least so much"; 0-1.
    """
    run = run_by_id(run_id)
    at = run["threshold"] if threshold is None else threshold
    chosen = Basis(run_id, at, basis)
    figures = clustered_headline(agreement_store.counts_by_prompt(chosen) if at is not None else {})
    people = human_agreement(agreement_store.vote_patterns(chosen))
    left_out = agreement_store.left_out(chosen)
    report = {
        "run": run_id,
        "dataset": run["dataset"],
        "metric": run["metric"],
        "judge": run["judge"]["name"],
        "basis": basis,
        "threshold": at,
        **figures.as_dict(),
        "human": vars(people),
        "unresolved": left_out.pop("unresolved"),
        "all_judged": all_judged_report(replace(chosen, with_audits=at == run["threshold"]))
        if at is not None
        else None,
        "left_out": left_out,
        "claim": None if target is None else claim_report(figures, target),
        "short": f"{percent(figures.accuracy)} of {figures.n}" if figures.n else "no labels yet",
        "words": [sentence(figures, people, basis), *(WARNING_WORDS[code] for code in figures.warnings)],
    }
    if report["claim"]:
        report["words"].append(report["claim"]["words"])
    if at is None:
        return _undefined(report, "no_threshold")
    return _undefined(report, "judge_answered_none") if figures.n and not figures.answered.n else report


def _undefined(report: dict, reason: str) -> dict:
    """A report whose figures are undefined for a better reason than that there are no data."""
    found = {
        name: {**value, "reason": reason} if isinstance(value, dict) and value.get("reason") == "no_data" else value
        for name, value in report.items()
    }
    if reason == "no_threshold":
        return {**found, "warnings": [reason], "short": REASON_WORDS[reason], "words": [WARNING_WORDS[reason]]}
    return found


def claim_report(figures: Headline, target: float) -> dict:
    """Whether one may say that the judge agrees with people on at least `target`, as plain values and in words."""
    found = claim(figures.accuracy, target)
    said = f"“At least {100 * target:g} %”"
    bounds = (
        "" if found.lower is None else f" (95 % sure: above {100 * found.lower:.1f} %, below {100 * found.upper:.1f} %)"
    )
    words = {
        "pass": f"{said} holds{bounds}.",
        "fail": f"{said} does not hold{bounds}.",
        "undecided": f"{said} is undecided{bounds}.",
    }[found.answer]
    if found.more:
        words += f" About {found.more:,} more labels would decide it, if the judge is as good as it looks."
    elif found.answer == "undecided" and figures.n:
        words += " What is seen so far is not better than that: more labels will hardly show it."
    return {**asdict(found), "words": words}


def sentence(figures: Headline, people: HumanAgreement, basis: str) -> str:
    """The headline as a lead would read it aloud."""
    if figures.n == 0:
        return f"There are no {BASIS_WORDS[basis]} labels on cases of this run yet."
    cells = figures.answered
    said = (
        f"On {figures.n} {BASIS_WORDS[basis]}, randomly drawn cases ({figures.prompts} prompts) the judge agrees with people on "
        f"{percent(figures.accuracy)}; always saying {figures.baseline_label} would agree on {100 * figures.baseline:.1f} %. "
        f"It finds {percent(figures.recall_bad)} of badcases, and {percent(cells.precision_bad)} of its flags are right. "
        f"Kappa {number(cells.kappa)}"
    )
    if people.agreement is None:
        return f"{said}; how far people agree among themselves is unknown ({REASON_WORDS[people.reason]})."
    kappa = "undefined" if people.kappa is None else f"{people.kappa:.2f}"
    return f"{said}; people among themselves agree on {100 * people.agreement:.1f} % of {people.cases} cases, kappa {kappa}."
