"""A judge's scores beside the scores that people give."""

from __future__ import annotations

from collections.abc import Sequence

from data.reports.words import many
from data.store import score_counts
from data.store.score_counts import ScorePair
from evaluators.agreement import FEW, REASON_WORDS, SMALL, WARNING_WORDS, ScoreAgreement, score_agreement

#: The key of the verdict's own score among the sub-scores.
OVERALL = "score"
#: Figures of a score in the order in which they are read, with their words; bias, mae and rmse are in its unit.
FIGURES = {
    "spearman": "Spearman correlation",
    "kendall": "Kendall's tau-b",
    "pearson": "Pearson correlation",
    "quadratic_kappa": "Quadratic kappa",
    "bias": "Bias (judge - people)",
    "mae": "Mean absolute error",
    "rmse": "Root mean square error",
    "ranking": "Pairs of a prompt in people's order",
}
ABOUT = (
    "People give scores by correcting those of a verdict, or by leaving them as they are with it in sight. Sub-scores given so "
    "count for every run, the verdict's score only for the run that was seen. What one has seen sways what one says: these "
    "figures flatter the run whose verdict was seen, and are hard on others."
)


def human_scores_report(run_id: int) -> dict:
    """For the verdict's score (0-1) and each sub-score (0-10): how the judge's goes along with people's, as plain values.

    scores: for each key, largest: the end of its scale, n cases of so many prompts, corrected: on how many of them a person
    gave another figure than the verdict in sight, cells: {judge, human, n} for a chart, small: n is below SMALL, words, and
    FIGURES as estimates. Sub-scores are never mixed. words: what holds of all.
    """
    counted = {OVERALL: score_counts.overall_score_counts(run_id)}
    for row in score_counts.sub_score_counts(run_id):
        counted.setdefault(row.key, []).append(row)
    scores = [_score(key, rows) for key, rows in counted.items() if rows]
    if not scores:
        return {"run": run_id, "scores": [], "words": ["Nobody has scored a drawn case of this run yet."]}
    return {"run": run_id, "scores": scores, "words": [ABOUT]}


def _score(key: str, rows: Sequence[ScorePair]) -> dict:
    found = score_agreement([(row.cluster, row.judge, row.human, row.n) for row in rows])
    cells: dict[tuple[float, float], int] = {}
    for row in rows:
        at = row.judge, row.human
        cells[at] = cells.get(at, 0) + row.n
    corrected = sum(row.corrected for row in rows)
    largest = 1 if key == OVERALL else 10
    return {
        "key": key,
        "largest": largest,
        "corrected": corrected,
        "small": found.n < SMALL,
        "cells": [{"judge": judge, "human": human, "n": n} for (judge, human), n in sorted(cells.items())],
        **found.as_dict(),
        "words": _words(key, found, corrected, largest),
    }


def _words(key: str, found: ScoreAgreement, corrected: int, largest: int) -> list[str]:
    name = "the verdict's score" if key == OVERALL else key
    said = [
        f"{name[0].upper()}{name[1:]}: {many(found.n, 'case')} ({many(found.prompts, 'prompt')}). People corrected "
        f"what they saw on {corrected} of them and left it on {found.n - corrected}."
    ]
    rank, bias, pairs = found.spearman, found.bias, found.ranking
    if rank.value is None:
        said.append(f"Whether the scores rise together is undefined: {REASON_WORDS[rank.reason]}.")
    else:
        said.append(f"Rank correlation over all cases {_interval(rank)}: 0 is none, 1 is the same order.")
    said.append(f"On its scale of 0 to {largest} the judge gives {_bias_words(bias.value)} than people: {_interval(bias)}."
                if bias.value else "On average the judge gives what people give.")  # fmt: skip
    if pairs.value is None:
        said.append(
            f"Whether the judge ranks the cases of one prompt as people do is undefined: {REASON_WORDS[pairs.reason]}."
        )
    else:
        said.append(
            f"Of {many(pairs.pairs, 'pair')} within a prompt that people rank the judge ranks {_interval(pairs, 100)} % alike, "
            f"a tie of its counting half; it ties on {100 * pairs.judge_ties / pairs.pairs:.0f} % of them."
        )
    return said + [WARNING_WORDS[code] for code, applies in (("small_n", found.n < SMALL), ("few_clusters", found.prompts < FEW))
                   if applies]  # fmt: skip


def _bias_words(bias: float) -> str:
    return f"{abs(bias):.2g} {'more' if bias > 0 else 'less'}"


def _interval(estimate, factor: float = 1.0) -> str:
    """0.58 [0.41 to 0.71], times a factor, or why there is no interval."""
    digits = 2 if factor == 1 else 1
    value = f"{factor * estimate.value:.{digits}f}"
    if estimate.lo is None:
        return f"{value} (no interval: {REASON_WORDS[estimate.reason]})"
    return f"{value} [{factor * estimate.lo:.{digits}f} to {factor * estimate.hi:.{digits}f}]"
