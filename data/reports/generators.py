"""How many of each generator's cases are truly usable, and which order of the generators that supports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace

from data.reports.words import many
from data.store.agreement import Basis
from data.store.breakdowns import cells_by_group, count_judged_prompts, judged_by_generator
from evaluators.agreement import (
    REASON_WORDS,
    SMALL,
    WARNING_WORDS,
    Estimate,
    cluster_ratio,
    clustered_two_phase,
    each_prompt,
    rank_intervals,
)

#: So many generators are looked at, those with the most cases.
MOST_GENERATORS = 60
_RATES = ("judge_rate", "usable_rate", "labels_only")


def generators_report(basis: Basis) -> dict:
    """The true usable rate of each generator's judged cases, as plain values; `words` is a list of sentences.

    generators: the highest rate first, those without a rate last; each with name, cases (that the judge labelled, flagged
    and passed among them), unanswered (that it did not), prompts, and three rates 0-1 with intervals clustered by prompt:
    judge_rate (the share that the judge passed: not the true one), usable_rate (the two-phase estimate from all its labels
    and `labelled` cases with labels of people; worst cases and a reason when people saw none of those flagged or passed),
    labels_only (from `labelled_at_random` cases alone, the judge aside; cases that it left without a label among them).
    small: fewer than 30 labelled cases. rank: best, worst (places that the labels support), better, worse (how many
    generators are shown to be so). told_apart of pairs: how many pairs are. same_prompts: whether all have the same prompts.

    Labels of the run's audits are used at the run's own threshold only.
    """
    drawn = _by_prompt(cells_by_group(replace(basis, with_audits=False), "generator"))
    with_audits = replace(basis, with_audits=True)
    labelled = _by_prompt(cells_by_group(with_audits, "generator")) if basis.is_own else drawn
    judged = _by_prompt(judged_by_generator(basis))
    prompts = count_judged_prompts(basis)
    names = sorted(judged, key=lambda name: (-_size(judged[name].values()), name))
    kept = names[:MOST_GENERATORS]
    found = [
        _rates(name, judged[name], labelled.get(name, {}), drawn.get(name, {}), basis.threshold is None)
        for name in kept
    ]
    for row, rank in zip(found, rank_intervals([row["usable_rate"] for row in found]), strict=True):
        row["rank"] = asdict(rank)
    found.sort(key=lambda row: (row["usable_rate"].value is None, -(row["usable_rate"].value or 0), row["name"]))
    report = {
        "run": basis.run_id,
        "basis": basis.name,
        "threshold": basis.threshold,
        "with_audits": labelled is not drawn,
        "generators": [{**row, **{rate: row[rate].as_dict() for rate in _RATES}} for row in found],
        "left_out": len(names) - len(kept),
        "pairs": len(found) * (len(found) - 1) // 2,
        "told_apart": sum(row["rank"]["better"] for row in found),
        "same_prompts": all(len(judged[name]) == prompts for name in names),
    }
    return {**report, "words": generators_words(report)}


def generators_words(report: Mapping) -> list[str]:
    """What one must know to read the rates and the order, in sentences."""
    found = report["generators"]
    if report["threshold"] is None:
        return [WARNING_WORDS["no_threshold"]]
    if not found:
        return ["The judge has judged no case of this run yet."]
    told = [row for row in found if row["usable_rate"]["value"] is not None]
    words = [
        "The true usable rate of a generator's judged cases: what the judge says of all of them, put right by what people say "
        f"of {sum(row['labelled'] for row in found)} of {sum(row['cases'] for row in found)}."
    ]
    if len(found) > 1:
        words += _ranking_words(report, len(told))
    if len(told) < len(found):
        reasons = sorted({REASON_WORDS[row["usable_rate"]["reason"]] for row in found if row not in told})
        words.append(
            f"{many(len(found) - len(told), 'generator has', 'generators have')} no rate ({'; '.join(reasons)}): where "
            "limits are given they are the worst cases."
        )
    small = sum(row["small"] for row in found)
    if small:
        words.append(
            f"{many(small, 'generator has', 'generators have')} fewer than {SMALL} labelled cases: first impressions, marked small."
        )
    unanswered = sum(row["unanswered"] for row in found)
    if unanswered:
        words.append(f"{many(unanswered, 'case')} without a label from the judge are not in its rate.")
    if report["left_out"]:
        words.append(f"Not listed: the generators with the fewest cases, {report['left_out']} in number.")
    return words


def _ranking_words(report: Mapping, told: int) -> list[str]:
    """How much of the order the labels support."""
    apart, pairs = report["told_apart"], report["pairs"]
    if told < 2:
        return []
    if not apart:
        words = [f"No two of the {len(report['generators'])} generators are told apart: the order below may be chance."]
    else:
        words = [
            f"{many(apart, 'pair')} of {pairs} {'is' if apart == 1 else 'are'} told apart; the places given hold "
            "for all generators together with 95 % confidence (Holm)."
        ]
    if told > 2:
        words.append("The first of several looks better than it is: who comes first also had luck.")
    if not report["same_prompts"]:
        words.append("The generators were not judged on the same prompts: a difference may be that of the prompts.")
    return words


def _rates(name: str, judged: Mapping, labelled: Mapping, drawn: Mapping, no_threshold: bool) -> dict:
    """A generator's counts and its three rates as estimates."""
    flagged, passed, unanswered = (sum(both[i] for both in judged.values()) for i in range(3))
    cases = flagged + passed
    usable = [(p, cells[3] + cells[1] + cells[5], sum(cells), 1.0) for p, cells in drawn.items()]
    found = {
        "generator": name,
        "name": name or "no generator named",
        "cases": cases,
        "flagged": flagged,
        "passed": passed,
        "unanswered": unanswered,
        "prompts": len(judged),
        "labelled": sum(sum(cells[:4]) for cells in labelled.values()),
        "labelled_at_random": _size(drawn.values()),
        "labels_only": cluster_ratio(usable, _size(drawn.values())),
    }
    if not cases:
        none = Estimate.undefined("no_threshold" if no_threshold else "judge_answered_none")
        rates = {"judge_rate": none, "usable_rate": none}
    else:
        of_judge = [(p, counts[1], counts[0] + counts[1], 1.0) for p, counts in judged.items()]
        rates = {
            "judge_rate": cluster_ratio(of_judge, cases),
            "usable_rate": clustered_two_phase(judged, labelled).usable_rate,
        }
    return {**found, **rates, "small": found["labelled"] < SMALL}


def _by_prompt(groups: Mapping) -> dict[str, dict]:
    return {name: each_prompt(alike) for name, alike in groups.items()}


def _size(counts: Iterable[Iterable[int]]) -> int:
    return sum(map(sum, counts))
