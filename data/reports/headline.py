"""A run's agreement with people: the figures that a lead reads first, and the sentence that says them."""

from __future__ import annotations

from dataclasses import replace

from data.reports.all_judged import all_judged_report
from data.reports.claims import claim_report
from data.reports.words import number, percent
from data.store import agreement as agreement_store
from data.store.agreement import Basis
from data.store.runs import run_by_id
from evaluators.agreement import (
    REASON_WORDS,
    WARNING_WORDS,
    Headline,
    HumanAgreement,
    clustered_headline,
    human_agreement,
)

#: The basis in the words of a sentence.
BASIS_WORDS = {"blind": "blind", "all": "blind or shown"}


def agreement_report(
    run_id: int, basis: str = "blind", threshold: float | None = None, target: float | None = None,
    planned: int | None = None,
) -> dict:  # fmt: skip
    """The first figures of a run on a basis, as plain values; `words` says them in sentences.

    threshold: another one than the run's own, to try it; 0-1. target: a claim to test, "agrees on at least so much", 0-1,
    on a planned number of labelled cases (see `claim_report`).
    """
    run = run_by_id(run_id)
    at = run["threshold"] if threshold is None else threshold
    chosen = Basis(run_id, at, basis)
    by_prompt = agreement_store.counts_by_prompt(chosen) if at is not None else {}
    figures = clustered_headline(by_prompt)
    people = human_agreement(agreement_store.vote_patterns(chosen))
    left_out = agreement_store.left_out(chosen)
    all_judged = None
    if at is not None:
        with_audits = replace(chosen, with_audits=at == run["threshold"] and agreement_store.has_audits(chosen))
        all_judged = all_judged_report(with_audits, None if with_audits.with_audits else by_prompt)
    by_audit = figures.n == 0 and all_judged is not None and all_judged["labelled"] > 0
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
        "all_judged": all_judged,
        "left_out": left_out,
        "claim": None if target is None or at is None else claim_report(chosen, figures, target, planned),
        "short": f"{percent(figures.accuracy)} of {figures.n}" if figures.n else "no labels yet",
        "words": [sentence(figures, people, basis), *(WARNING_WORDS[code] for code in figures.warnings)],
    }
    if by_audit:  # unequal chances: only the two-phase estimator may say how good the judge is
        report |= {"warnings": all_judged["warnings"], "short": all_judged["short"], "words": [
            all_judged["words"], *(WARNING_WORDS[code] for code in all_judged["warnings"])
        ]}  # fmt: skip
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


def sentence(figures: Headline, people: HumanAgreement, basis: str) -> str:
    """The headline as a lead would read it aloud."""
    if figures.n == 0:
        return f"There are no {BASIS_WORDS[basis]} labels on cases of this run yet."
    cells = figures.answered
    said = (
        f"On {figures.n} {BASIS_WORDS[basis]}, randomly drawn cases ({figures.prompts} prompts) the judge agrees with people on "
        f"{percent(figures.accuracy)}, always saying {figures.baseline_label} would score {100 * figures.baseline:.1f} %; "
        f"it finds {percent(figures.recall_bad)} of badcases, and {percent(cells.precision_bad)} of its flags are right; "
        f"balanced accuracy {percent(figures.balanced_accuracy)}; kappa {number(cells.kappa)}"
    )
    if people.agreement is None:
        return f"{said}; how far people agree among themselves is unknown ({REASON_WORDS[people.reason]})."
    kappa = "undefined" if people.kappa is None else f"{people.kappa:.2f}"
    return f"{said}, people among themselves {kappa} (they agree on {100 * people.agreement:.1f} % of {people.cases} cases)."
