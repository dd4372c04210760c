"""People: how far reviewers agree with each other, and the judge with each of them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

import numpy as np

from data.reports.words import many, number, without_labels
from data.store import people as people_store
from data.store.agreement import Basis
from evaluators.agreement import (
    REASON_WORDS,
    SMALL,
    Ceiling,
    ClusterEstimate,
    Estimate,
    Panel,
    Votes,
    cells_ratio,
    panel,
    wilson,
)

#: How the label of a case came about, in the order in which it is told.
ACCORDS = {
    "unanimous": "two or more people, all with one label",
    "split": "people differ, most with one label",
    "adjudicated": "decided by a lead",
    "unresolved": "a tie, or all unsure: no label that counts",
    "single": "one person's label only",
}


def people_report(basis: Basis) -> dict:
    """The reviewers of a run's cases, as plain values; `words` is a list of sentences.

    cases: labelled ones, by `shares` (keys of ACCORDS: n and share; they describe these cases, hence no interval). shared:
    cases with votes of two or more people, on which `alpha`, `pairs` and `ceiling` (with words of its own) rest. pairs:
    every two reviewers: one, other, n, agreement, kappa, small. reviewers: name, labels (unsure ones included), votes, small,
    seconds (median time on a case over
    the latest labels, None if unknown), and estimates: bad and unsure (shares of what they say), adjudicated
    (agreement with a lead's decisions), others (with the majority of the other people), judge (the judge with this person;
    no label of the judge is a disagreement).
    """
    votes = votes_of(basis)
    found, reviewers = panel(votes), _reviewers(basis)
    for reviewer in reviewers:
        others = found.others.get(reviewer["name"], ClusterEstimate.undefined("too_few_units"))
        reviewer["others"] = others.as_dict()
    shares = people_store.cases_by_accord(basis)
    cases = sum(shares.values())
    ceiling = _ceiling(found.ceiling, basis, bool(votes))
    report = {
        "run": basis.run_id,
        "basis": basis.name,
        "threshold": basis.threshold,
        "cases": cases,
        "shares": {
            accord: {"n": shares.get(accord, 0), "share": shares.get(accord, 0) / cases if cases else None}
            for accord in ACCORDS
        },
        "shared": sum(vote.n for vote in votes),
        "alpha": found.alpha.as_dict(),
        "pairs": [
            {**asdict(pair), "small": pair.n < SMALL} for pair in found.pairs
        ],
        "ceiling": {**ceiling.as_dict(), "words": ceiling_words(ceiling)},
        "reviewers": reviewers,
    }  # fmt: skip
    return {**report, "words": people_words(report, found, basis)}


def people_words(report: Mapping, found: Panel, basis: Basis) -> list[str]:
    """What one must know to read these figures, in sentences."""
    if not report["cases"]:
        return [without_labels(basis, "There are no labels of people on cases of this run yet.")]
    people, cases = len(report["reviewers"]), report["cases"]
    words = [
        f"{many(people, 'person', 'people')} labelled {many(cases, 'case')} of this run; two or more said usable or "
        f"badcase on {report['shared']} of them."
    ]
    if not report["shared"]:
        return [
            *words,
            "So how far people agree with each other cannot be told. Let a second person label some of the same cases.",
        ]
    words.append(alpha_words(found.alpha))
    words.append(report["ceiling"]["words"])
    told = [f"{share['n']} {ACCORDS[accord]}" for accord, share in report["shares"].items() if share["n"]]
    words.append(f"How the {cases} cases got their label: {'; '.join(told)}.")
    words.append(
        f"All of this holds for this panel of {many(people, 'person', 'people')}: other reviewers, or another guideline, "
        "may agree more or less."
    )
    if len(report["pairs"]) > 1:
        words.append(
            f"Exploratory: {len(report['pairs'])} pairs and {people} people looked at; one of 20 intervals misses by chance "
            "alone."
        )
    if any(pair["small"] for pair in report["pairs"]):
        words.append(f"Marked small: pairs with fewer than {SMALL} common cases; their figures are first impressions.")
    return words


def alpha_words(alpha: ClusterEstimate) -> str:
    """Krippendorff's alpha, in a sentence."""
    if alpha.reason == "single_category":
        return (
            f"On all {alpha.n} cases that several people labelled they gave one and the same label: alpha is undefined."
        )
    return (
        f"Krippendorff's alpha, people's agreement beyond chance on these {alpha.n} cases, is {number(alpha)}: 1 is perfect, "
        "0 is what chance gives."
    )


def ceiling_words(found: Ceiling) -> str:
    """Whether the judge agrees with a person as much as people do with each other (`agreement.md` 3.2)."""
    if not found.n:
        return (
            "Whether the judge agrees with a person as much as people do with each other cannot be told: "
            f"{REASON_WORDS[found.reason]}."
        )
    hh, jh = (
        f"{100 * agreement:.1f} % (kappa {'undefined' if kappa is None else f'{kappa:.2f}'})"
        for agreement, kappa in ((found.hh_agreement, found.hh_kappa), (found.jh_agreement, found.jh_kappa))
    )
    said = f"On the same {found.n} cases two people agree on {hh}, the judge and a person on {jh}."
    difference = found.kappa_diff
    if difference.value is None:
        return f"{said} The kappas cannot be compared: {REASON_WORDS[difference.reason]}."
    if difference.reason:
        return f"{said} How far that difference is chance cannot be told: {REASON_WORDS[difference.reason]}."
    limits = f"{difference.value:+.2f} [{difference.lo:+.2f} to {difference.hi:+.2f}]"
    how = "less than" if difference.hi < 0 else "more than" if difference.lo > 0 else "about as much as"
    first = f" Fewer than {SMALL} cases: a first impression." if found.n < SMALL else ""
    return f"{said} The judge agrees with a reviewer {how} reviewers agree with each other (kappa {limits}).{first}"


def _ceiling(found: Ceiling, basis: Basis, any_shared: bool) -> Ceiling:
    """The ceiling, with a better reason where it is the judge that has no label."""
    if found.n or not any_shared:
        return found
    reason = "no_threshold" if basis.threshold is None else "judge_answered_none"
    return replace(found, reason=reason, kappa_diff=ClusterEstimate.undefined(reason))


def votes_of(basis: Basis) -> list[Votes]:
    """Who said what on the cases with two or more votes, as numbers."""
    as_number = {"badcase": 1, "usable": 0, None: None}
    read: dict[int, dict[str, int]] = {}  # the same labels come as the same object, many times

    def labels(said: Mapping[str, str]) -> dict[str, int]:
        if id(said) not in read:
            read[id(said)] = {name: as_number[label] for name, label in said.items()}
        return read[id(said)]

    return [
        Votes(cluster, as_number[judge], labels(said), n)
        for cluster, judge, said, n in people_store.shared_votes(basis)
    ]


def _reviewers(basis: Basis) -> list[dict]:
    """Each reviewer's own figures, in the order of their names."""
    times = people_store.looking_times(basis)
    return [_reviewer(name, parts, times.get(name, ()), basis.threshold is None)
            for name, parts in people_store.counts_by_reviewer(basis).items()]  # fmt: skip


def _reviewer(name: str, parts: Sequence[Mapping], times: Sequence[float], no_judge: bool) -> dict:
    labels, unsure, decided, kept = (
        sum(part[column] * part["prompts"] for part in parts)
        for column in ("labels", "unsure", "decided", "with_decision")
    )

    judge = ClusterEstimate.undefined("no_threshold") if no_judge else _share_of_votes(parts, "with_judge")
    return {
        "name": name,
        "labels": labels,
        "votes": labels - unsure,
        "small": labels - unsure < SMALL,
        "seconds": statistics.median(times) if times else None,
        "bad": _share_of_votes(parts, "bad").as_dict(),
        "unsure": wilson(unsure, labels).as_dict(),
        "adjudicated": wilson(kept, decided).as_dict(),
        "judge": judge.as_dict(),
    }


def _share_of_votes(parts: Sequence[Mapping], hits: str) -> Estimate:
    """The share of a person's votes that are `hits`, clustered by prompt; the prompts need no names."""
    cells = np.array([(part[hits], part["labels"] - part["unsure"]) for part in parts], float)
    by_prompt = np.repeat(cells, [part["prompts"] for part in parts], axis=0)
    return cells_ratio(by_prompt, (0,), (1,)) or ClusterEstimate.undefined("no_data")
