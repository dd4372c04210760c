"""A run's agreement with people, put together once for the page, the command line and the export."""

from __future__ import annotations

from dataclasses import asdict, replace

from data.store import agreement as agreement_store
from data.store.agreement import Basis
from data.store.run_figures import repeated_scores
from data.store.runs import repeats, run_by_id
from evaluators.agreement import (
    REASON_WORDS,
    WARNING_WORDS,
    Estimate,
    Headline,
    HumanAgreement,
    TwoPhase,
    bias_mae,
    claim,
    cluster_ratio,
    clustered_headline,
    human_agreement,
    self_consistency,
    two_phase,
    wilson,
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
    unresolved = len(agreement_store.unresolved(chosen))
    report = {
        "run": run_id,
        "dataset": run["dataset"],
        "metric": run["metric"],
        "judge": run["judge"]["name"],
        "basis": basis,
        "threshold": at,
        **figures.as_dict(),
        "human": vars(people),
        "items": item_report(run_id),
        "unresolved": unresolved,
        "all_judged": all_judged_report(replace(chosen, with_audits=at == run["threshold"]))
        if at is not None
        else None,
        "left_out": agreement_store.left_out(run_id),
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


def all_judged_report(basis: Basis) -> dict:
    """The judge over all cases that it labelled, and how many of them are truly usable, from random labels and audits.

    Within each of the judge's labels all drawn cases had the same chance, so random draws and audits go together there;
    how many cases it flagged is known (the two-phase estimator). At another threshold than the run's audits do not fit.
    cases, labelled, prompts: what it rests on; judge_usable: the share that the judge passed, which is not the true share
    of usable cases.
    """
    judged = agreement_store.judged_by_prompt(basis)
    labelled = agreement_store.counts_by_prompt(basis)
    flagged, passed = (sum(both[i] for both in judged.values()) for i in (0, 1))
    within = [
        cluster_ratio([(p, cells[hit], cells[hit] + cells[miss], 1.0) for p, cells in labelled.items()],
                      sum(cells[hit] + cells[miss] for cells in labelled.values()))
        for hit, miss in ((0, 1), (3, 2))
    ]  # fmt: skip
    share = cluster_ratio([(p, f, f + u, 1.0) for p, (f, u) in judged.items()], flagged + passed)
    found = two_phase(flagged, passed, *within, share, misses=sum(cells[2] for cells in labelled.values()))
    return {
        **found.as_dict(),
        "cases": flagged + passed,
        "labelled": sum(sum(cells[:4]) for cells in labelled.values()),
        "prompts": len(judged),
        "judge_usable": passed / (flagged + passed) if flagged + passed else None,
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


def item_report(run_id: int) -> list[dict]:
    """Agreement item by item: a row for each sub-score (bias, MAE) and for each group of answers (share that agrees)."""
    groups: dict[tuple[str, str], list[dict]] = {}
    for pair in agreement_store.item_pairs(run_id):
        name = pair["key"] if pair["kind"] == "sub_score" else pair["group"]
        groups.setdefault((pair["kind"], name), []).append(pair)
    report = []
    for (kind, name), pairs in groups.items():
        row = {"item": name, "kind": kind, "n": len(pairs)}
        if kind == "sub_score":
            error = bias_mae([p["judge_value"] for p in pairs], [p["human_value"] for p in pairs])
            same = wilson(sum(p["judge_value"] == p["human_value"] for p in pairs), len(pairs))
            row |= {"bias": error.bias, "bias_lo": error.lo, "bias_hi": error.hi, "mae": error.mae}
        else:
            # A missing answer agrees with nobody, left as it was or not.
            agreed = sum(p["judge_answer"] == p["human_answer"] is not None for p in pairs)
            same = wilson(agreed, len(pairs))
            row |= {"bias": None, "bias_lo": None, "bias_hi": None, "mae": None}
        report.append(row | {"agreement": same.value, "lo": same.lo, "hi": same.hi})
    return report


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


def percent(estimate: Estimate) -> str:
    """84.3 % [79.1-88.5], or why there is no figure."""
    if estimate.value is None:
        return f"an undefined share ({REASON_WORDS[estimate.reason]})"
    if estimate.lo is None:
        return f"{100 * estimate.value:.1f} % (no interval: {REASON_WORDS[estimate.reason]})"
    return f"{100 * estimate.value:.1f} % [{100 * estimate.lo:.1f}–{100 * estimate.hi:.1f}]"


def number(estimate: Estimate) -> str:
    """0.58 [0.41-0.71], or why there is no figure."""
    if estimate.value is None:
        return f"undefined ({REASON_WORDS[estimate.reason]})"
    if estimate.lo is None:
        return f"{estimate.value:.2f} (no interval: {REASON_WORDS[estimate.reason]})"
    return f"{estimate.value:.2f} [{estimate.lo:.2f}–{estimate.hi:.2f}]"


def consistency_report(run_id: int) -> dict:
    """How far a run and its repeats agree with each other, as plain values; `words` says it in a sentence."""
    ids = repeats(run_id)
    found = self_consistency(list(repeated_scores(ids).values()))
    words = f"Measured {found.measurements} times: "
    if found.agreement is None:
        words += "no case has a label in every measurement, so how steady the judge is cannot be told."
    else:
        words += (
            f"{found.stable} of {found.cases} cases got the same label every time; two measurements agree on "
            f"{found.agreement:.1%} of labels; scores scatter by {found.score_sd:.3f} (standard deviation within a case)."
        )
    return {**asdict(found), "runs": ids, "words": words}
