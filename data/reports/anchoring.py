"""Anchoring: do people say what the judge says because they saw it?"""

from __future__ import annotations

from collections.abc import Mapping

from data.reports.words import percent
from data.store.anchoring import first_labels
from data.store.runs import run_by_id
from evaluators.agreement import WARNING_WORDS, Estimate, two_prop_diff, wilson

#: With a smaller share of blind labels the two are hardly comparable (`agreement.md` 2.1).
LEAST_BLIND = 0.2


def anchoring_report(run_id: int) -> dict:
    """Labels given blind beside labels given with this run's verdict on the screen, as plain values; `words` is a list of
    sentences.

    Each person's first label on randomly drawn cases counts. blind, shown: the share that agrees with the judge.
    difference: shown minus blind, what seeing the verdict does where `randomised`: chance decided who saw it, and only those
    labels are compared; else it is None. blind_share: of the labels compared. revised: of the blind labels that differ from
    the judge the share that the same person later changed to the judge's.
    """
    found = first_labels(run_id)
    drawn = [r for r in found if r["drawn"]]
    randomised = {r["blind"] for r in drawn} == {0, 1}
    compared = drawn if randomised else found
    (blind_hits, blind), (shown_hits, shown) = (_agreeing(compared, is_blind) for is_blind in (1, 0))
    differing = [r for r in found if r["blind"] and not r["agrees"]]
    report = {
        "run": run_id,
        "randomised": randomised,
        "blind": wilson(blind_hits, blind),
        "shown": wilson(shown_hits, shown),
        "difference": two_prop_diff(shown_hits, shown, blind_hits, blind) if randomised else None,
        "blind_share": blind / (blind + shown) if blind + shown else None,
        "revised": wilson(sum(r["n"] for r in differing if r["agrees_now"]), sum(r["n"] for r in differing)),
    }
    has_labels = run_by_id(run_id)["threshold"] is not None
    words = anchoring_words(report) if has_labels else [WARNING_WORDS["no_threshold"]]
    return {name: v.as_dict() if isinstance(v, Estimate) else v for name, v in report.items()} | {"words": words}


def _agreeing(found: list[dict], is_blind: int) -> tuple[int, int]:
    """(labels that agree with the judge, labels) of the blind or of the shown ones."""
    own = [r for r in found if r["blind"] == is_blind]
    return sum(r["n"] for r in own if r["agrees"]), sum(r["n"] for r in own)


def anchoring_words(report: Mapping) -> list[str]:
    """What the labels say about anchoring, in sentences."""
    blind, shown = report["blind"], report["shown"]
    words = []
    for given, labels in (("given blind", blind), ("given with its verdict on the screen", shown)):
        words.append(
            f"First labels {given} agree with this judge on {percent(labels)} of {labels.n}."
            if labels.n
            else f"There are no first labels {given}, on randomly drawn cases that the judge labelled."
        )
    if report["randomised"]:
        words.append(_difference_words(report["difference"]))
        if min(blind.n, shown.n) < 30:
            words.append("Fewer than 30 labels on one side: a first impression.")
    elif blind.n and shown.n:
        words.append(
            "Not comparable: who saw the verdict was not drawn at random. A dataset set to “a random share blind” (Settings "
            "on the Review page) makes it so."
        )
    if shown.n and report["blind_share"] < LEAST_BLIND:
        words.append(
            f"Only {100 * report['blind_share']:.0f} % of these labels are blind: let at least {100 * LEAST_BLIND:.0f} % be, "
            "or there is too little to compare with."
        )
    revised = report["revised"]
    if revised.n:
        words.append(
            f"Of {revised.n} blind labels that differ from the judge, the same person later changed {percent(revised)} to the "
            "judge's."
        )
    return words


def _difference_words(difference: Estimate) -> str:
    """What seeing the verdict does."""
    lo, hi = 100 * difference.lo, 100 * difference.hi
    said = f"{100 * difference.value:+.1f} points [{lo:+.1f} to {hi:+.1f}]"
    if lo > 0:
        meaning = "Seeing the verdict pulls people towards the judge, so only blind labels measure it."
    elif hi < 0:
        meaning = "Seeing the verdict pushes people away from the judge."
    else:
        meaning = "It may be chance: no pull is shown, and none is ruled out within that interval."
    return f"Chance decided who saw the verdict; seeing it changes the agreement by {said}. {meaning}"
