"""Anchoring: do people say what the judge says because they saw it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from data.reports.words import percent
from data.store.anchoring import first_labels
from data.store.runs import run_by_id
from evaluators.agreement import SMALL, WARNING_WORDS, Estimate, cluster_ratio, mover_difference, wilson

#: With a smaller share of blind labels the two are hardly comparable (`agreement.md` 2.1).
LEAST_BLIND = 0.2


def anchoring_report(run_id: int) -> dict:
    """Labels given blind beside labels given with this run's verdict on the screen, as plain values; `words` is a list of
    sentences.

    Each person's first label on randomly drawn cases counts. blind, shown: the share that agrees with the judge.
    difference: shown minus blind, what seeing the verdict does where `randomised`: chance decided who saw it, and only those
    labels are compared; else it is None. blind_share: of the labels compared. revised: of the blind labels that differ from
    the judge the share that the same person later changed to the judge's, wherever that was. All intervals know which labels
    are about one prompt.
    """
    found = first_labels(run_id)
    drawn = [r for r in found if r["drawn"]]
    randomised = {r["blind"] for r in drawn} == {0, 1}
    compared = drawn if randomised else found
    blind, shown = (_share((r for r in compared if r["blind"] == is_blind), "agrees") for is_blind in (1, 0))
    report = {
        "run": run_id,
        "randomised": randomised,
        "blind": blind,
        "shown": shown,
        "difference": mover_difference(shown, blind) if randomised else None,
        "blind_share": blind.n / (blind.n + shown.n) if blind.n + shown.n else None,
        "revised": _share((r for r in found if r["blind"] and not r["agrees"]), "went_over"),
    }
    has_labels = run_by_id(run_id)["threshold"] is not None
    words = anchoring_words(report) if has_labels else [WARNING_WORDS["no_threshold"]]
    return {name: v.as_dict() if isinstance(v, Estimate) else v for name, v in report.items()} | {"words": words}


def _share(labels: Iterable[Mapping], hit: str) -> Estimate:
    """The share of labels for which `hit` holds; Wilson's interval where no two of them are about one prompt."""
    rows = [(r["cluster"], r["n"] * r[hit], r["n"], 1.0) for r in labels]
    n = sum(row[2] for row in rows)
    if len({row[0] for row in rows}) == n:
        return wilson(sum(row[1] for row in rows), n)
    return cluster_ratio(rows, n)


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
        if min(blind.n, shown.n) < SMALL:
            words.append(f"Fewer than {SMALL} labels on one side: a first impression.")
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
