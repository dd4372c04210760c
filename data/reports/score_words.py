"""What a score tells, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from data.reports.headline import BASIS_WORDS
from data.reports.words import many, percent, without_labels
from data.store.agreement import Basis
from evaluators.agreement import FEW, REASON_WORDS, SMALL, WARNING_WORDS, Estimate


def sentences(report: Mapping) -> list[str]:
    """A scores report as a lead would read it aloud."""
    kind = BASIS_WORDS[report["basis"]]
    if not report["n"]:
        basis = Basis(report["run"], report["threshold"], report["basis"])
        return [without_labels(basis, f"There are no {kind} labels on cases that the judge scored yet.")]
    said = [
        f"On {report['n']:,} {kind}, randomly drawn {'case' if report['n'] == 1 else 'cases'} "
        f"({many(report['prompts'], 'prompt')}) a usable case gets the higher score in "
        f"{share(report['auc'])} of pairs with a badcase; 50 % would be chance.",
        f"Flagged from the lowest score up, {share(report['average_precision'])} of the flags are right on average; flagging "
        f"at random would reach {share(report['bad_rate'])}, the share of badcases.",
    ]
    if report["unscored"]:
        said.append(
            f"{many(report['unscored'], 'labelled case')} without a score {'is' if report['unscored'] == 1 else 'are'} left out."
        )
    if report["strict"]:
        said.append("This run is strict: scores below 1 were set to 0, so no other threshold says anything else.")
    said += _tuning(report)
    usable = report["n"] - report["badcases"]
    found = (("small_n", report["n"] < SMALL), ("few_human_bad", report["badcases"] < FEW), ("few_human_usable", usable < FEW),
             ("few_clusters", report["prompts"] < FEW))  # fmt: skip
    return said + [WARNING_WORDS[code] for code, applies in found if applies]


def _tuning(report: Mapping) -> list[str]:
    """Which threshold the labels favour, what a judge tuned so would reach on new cases, and now."""
    favoured, now = report["favoured"], report["now"]
    if favoured is None or report["held_out"] is None:
        reason = report["held_out_reason"]
        return [f"These labels favour no threshold that could be checked on other cases: {REASON_WORDS[reason]}."]
    at = favoured["threshold"]
    said = [
        f"These labels favour a threshold that {favoured['does']}." if at is None
        else f"These labels favour the threshold {at:.3g}.",
        f"On new cases a judge tuned so would have {_reached(report['held_out'], report['objective'])}. This is measured on "
        "cases that the threshold was not chosen on; on those that it was chosen on it would look better.",
    ]  # fmt: skip
    if now is None:
        return [*said, "The run has no threshold to compare with."]
    reached = _reached(now, report["objective"])
    return [*said, f"At the present threshold {report['threshold']:g} it has {reached}.",
            _gained(report["gain"], report["objective"])]  # fmt: skip


def _reached(figures: Mapping, objective: str) -> str:
    aim = {
        "youden": f"balanced accuracy {share(figures['balanced_accuracy'])}",
        "accuracy": f"agreement with people {share(figures['accuracy'])}",
    }.get(objective) or f"a cost per case of {_amount(figures['cost'])}"
    return (
        f"{aim}, with {share(figures['recall_bad'])} of badcases found and {share(figures['specificity'])} of usable cases "
        "passed"
    )


def _gained(gain: Mapping, objective: str) -> str:
    """Whether tuning is shown to be worth it."""
    if gain["value"] == 0 and gain["reason"] == "degenerate":
        return "A judge tuned so does just as well as the present threshold on these cases."
    if gain["value"] is None or gain["lo"] is None:
        return f"Whether tuning gains anything cannot be told: {REASON_WORDS[gain['reason']]}."
    if objective == "cost":
        size = f"{_amount(gain)} of cost saved per case"
    else:
        size = f"{100 * gain['value']:+.1f} points [{100 * gain['lo']:.1f} to {100 * gain['hi']:.1f}]"
    if gain["lo"] > 0:
        return f"Tuning is shown to gain: {size}."
    if gain["hi"] < 0:
        return f"Tuning is shown to lose: {size}. Keep the present threshold."
    return f"It is not shown that tuning gains anything: {size}."


def share(estimate: Mapping) -> str:
    """The plain values of an estimate as percent says it."""
    return percent(Estimate(*(estimate[name] for name in ("value", "lo", "hi", "reason"))))


def _amount(estimate: Mapping) -> str:
    """0.58 [0.41 to 0.71], without an end."""
    if estimate["lo"] is None:
        return f"{estimate['value']:.3g} (no interval: {REASON_WORDS[estimate['reason']]})"
    return f"{estimate['value']:.3g} [{estimate['lo']:.3g} to {estimate['hi']:.3g}]"
