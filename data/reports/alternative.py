"""Could the judge stand in for a person? The alternative annotator test, with the constant judge beside it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from data.reports.people import votes_of
from data.store.agreement import Basis
from evaluators.agreement import REASON_WORDS, AltTest, alt_test

#: By how much the judge may lose to a person and still pass, with whom that is meant for (Calderon et al. 2025).
EPS = {0.2: "experts", 0.15: "skilled people", 0.1: "a crowd"}


def alt_report(basis: Basis, eps: float = 0.15) -> dict:
    """The alternative annotator test (`agreement.md` 3.3) as plain values; `words` is a list of sentences.

    eps: what the judge may lose by, 0-1. The fields of AltTest; constant: the same test for a judge that always gives
    people's more frequent label (label, winning_rate, rho, passed), None where the test is undefined. informative: whether
    that one fails. Takes time with the number of cases that several people labelled: compute it when somebody asks.
    """
    judge: dict[int, int] = {}
    people: dict[str, dict[int, int]] = defaultdict(dict)
    case = 0
    for votes in votes_of(basis):
        for _ in range(votes.n):
            case += 1
            if votes.judge is not None:
                judge[case] = votes.judge
            for name, label in votes.labels.items():
                people[name][case] = label
    people = {name: people[name] for name in sorted(people)}
    found = alt_test(judge, people, eps)
    reason = found.reason
    if reason and people and not judge:
        reason = "no_threshold" if basis.threshold is None else "judge_answered_none"
    report = {
        "run": basis.run_id,
        "basis": basis.name,
        "threshold": basis.threshold,
        **found.as_dict(),
        "reason": reason,
        "constant": None if reason else _constant(judge, people, eps),
        "informative": None if reason else not found.constant_passes,
    }
    return {**report, "words": alt_words(report)}


def _constant(judge: Mapping[int, int], people: Mapping[str, Mapping[int, int]], eps: float) -> dict:
    """The test for the judge that `alt_test` takes as its control."""
    given = Counter(label for labels in people.values() for label in labels.values())
    label = min(given, key=lambda label: (-given[label], label))
    found: AltTest = alt_test(dict.fromkeys(judge, label), people, eps)
    return {
        "label": "badcase" if label else "usable",
        "winning_rate": found.winning_rate,
        "rho": found.rho,
        "passed": found.passed,
    }


def alt_words(report: Mapping) -> list[str]:
    """What the test says, in sentences; eps is always named."""
    eps = f"{100 * report['eps']:g}"
    if report["reason"] == "too_few_units":
        return ["It cannot be told: nobody has 30 cases that the judge and another person labelled as well."]
    if report["reason"]:
        return [f"It cannot be told: {REASON_WORDS[report['reason']]}."]
    constant = report["constant"]
    words = [
        f"Each person in turn against the judge: who is closer to the other people? The judge may lose by {eps} points "
        f"(eps {report['eps']:g}) and still pass.",
        f"{_verdict_words('The judge', report)} A judge that always says {constant['label']}: "
        f"{_verdict_words('it', constant, len(report['reviewers']))}",
    ]
    if not report["informative"]:
        words.append(
            f"Not informative here: always saying {constant['label']} passes as well, since most cases have that label. Look "
            "at kappa instead."
        )
    words.append(
        "Every case counts as independent here, pictures of one prompt as well: p is too small where they are alike."
    )
    return words


def _verdict_words(who: str, found: Mapping, people: int | None = None) -> str:
    """On whom it wins, how close it is, and whether it passes."""
    people = people or len(found["reviewers"])
    return (
        f"{who} does so well against {round(found['winning_rate'] * people)} of {people} people, is at least as close as they "
        f"are on {100 * found['rho']:.1f} % of cases, and {'passes' if found['passed'] else 'does not pass'}."
    )
