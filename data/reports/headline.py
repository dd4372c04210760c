"""A run's agreement with people: the figures that a lead reads first, and the sentence that says them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

from data.reports.all_judged import all_judged_report
from data.reports.claims import claim_report
from data.reports.words import many, number, percent
from data.store import agreement as agreement_store
from data.store.agreement import Basis
from data.store.runs import run_by_id
from evaluators.agreement import (
    REASON_WORDS,
    SMALL,
    WARNING_WORDS,
    BinaryMetrics,
    Estimate,
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
    if at is None:
        figures = because(figures, "no_threshold")
    elif figures.n and not figures.answered.n:
        figures = because(figures, "judge_answered_none")
    people = human_agreement(agreement_store.vote_patterns(chosen))
    left_out = agreement_store.left_out(chosen)
    all_judged, with_audits = None, False
    if at is not None:
        with_audits = at == run["threshold"] and agreement_store.has_audits(chosen)
        all_judged = all_judged_report(replace(chosen, with_audits=with_audits), None if with_audits else by_prompt)
    report = {
        "run": run_id,
        "dataset": run["dataset"],
        "metric": run["metric"],
        "judge": run["judge"]["name"],
        "basis": basis,
        "threshold": at,
        **figures.as_dict(),
        "human": people.as_dict(),
        "unresolved": left_out.pop("unresolved"),
        "all_judged": all_judged,
        "left_out": left_out,
        "claim": None if target is None or at is None else claim_report(chosen, figures, target, planned),
        "by_audit": with_audits and figures.n < SMALL and all_judged["labelled"] > figures.answered.n,
        "short": f"{percent(figures.accuracy)} of {figures.n}" if figures.n else "no labels yet",
    }
    first = sentence(figures, people, basis, report["unresolved"])
    if at is None:
        report |= {"warnings": ["no_threshold"], "short": REASON_WORDS["no_threshold"]}
        first = None
    elif report["by_audit"]:
        # Drawn with unequal chances: the two-phase estimator may say how good the judge is, and the few random labels
        # beside them would say it worse.
        report |= {name: all_judged[name] for name in ("warnings", "short")}
        first = all_judged["words"]
    report["words"] = [
        *filter(None, (first, tried_words(run, at))),
        *(WARNING_WORDS[code] for code in report["warnings"]),
    ]
    if report["claim"]:
        report["words"].append(report["claim"]["words"])
    return report


def because(figures: Headline, reason: str) -> Headline:
    """The figures, undefined for a better reason than that there are no data."""

    def told(of: Headline | BinaryMetrics) -> dict[str, Estimate]:
        found = {field.name: getattr(of, field.name) for field in fields(of)}
        return {
            name: replace(value, reason=reason)
            for name, value in found.items()
            if isinstance(value, Estimate) and value.reason == "no_data"
        }

    return replace(figures, **told(figures), answered=replace(figures.answered, **told(figures.answered)))


def tried_words(run: Mapping, threshold: float | None) -> str | None:
    """That a threshold is tried instead of the run's own, and what that does; None where it is not."""
    own = run["threshold"]
    if own is None:
        return None if threshold is None else (
            f"This run gives scores without labels. Here it is as if it called usable what scores {threshold:g} or more."
        )  # fmt: skip
    if threshold == own:
        return None
    return (
        f"Tried at {threshold:g} instead of the run's own {own:g}. Trying thresholds on the labels that measure them flatters: "
        "the best one here will do less well on new cases."
    )


def sentence(figures: Headline, people: HumanAgreement, basis: str, unresolved: int = 0) -> str:
    """The headline as a lead would read it aloud. unresolved: labelled cases without a label that counts."""
    if figures.n == 0:
        if unresolved:
            return f"No label counts yet: on {many(unresolved, 'case')} of this run people's labels tie, or all are unsure."
        return f"There are no {BASIS_WORDS[basis]} labels on cases of this run yet."
    cells = figures.answered
    said = (
        f"On {figures.n} {BASIS_WORDS[basis]}, randomly drawn cases ({many(figures.prompts, 'prompt')}) the judge agrees with "
        f"people on {percent(figures.accuracy)}, always saying {figures.baseline_label} would score "
        f"{100 * figures.baseline:.1f} %; it finds {percent(figures.recall_bad)} of badcases, and "
        f"{percent(cells.precision_bad)} of its flags are right; balanced accuracy {percent(figures.balanced_accuracy)}; "
        f"kappa {number(cells.kappa)}"
    )
    if people.agreement.value is None:
        return f"{said}; how far people agree among themselves is unknown ({REASON_WORDS[people.agreement.reason]})."
    return (
        f"{said}, people among themselves {number(people.kappa)} (they agree on {percent(people.agreement)} of "
        f"{many(people.cases, 'case')})."
    )
