"""Agreement item by item: answers by question type and by question, sub-scores by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from data.store.item_counts import AnswerCount, answer_counts
from data.store.score_counts import ScorePair, sub_score_counts
from evaluators.agreement import SMALL, ClusterEstimate, cluster_ratio, group_figures, paired_cluster_diff, wilson

#: Single questions that are listed, those with the most answers first.
MOST_QUESTIONS = 200
#: Figures of the questions with two answers, where the wrong one is what is looked for; the names are GroupFigures'.
FIGURES = {
    "recall_bad": "Wrong ones found",
    "specificity": "Right ones passed",
    "kappa": "Cohen's kappa",
}
_CELLS = ("tp", "fp", "fn", "tn")
ABOUT = (
    "A person speaks of all items of a verdict by correcting one of them, or by labelling with the verdict in sight; those left "
    "as they were are right to that person. Such answers count for every run with the same items. What one has seen sways what "
    "one says: they flatter the run whose verdict was seen, and are hard on others."
)
WRONG_WORDS = (
    "A question with two answers is wrong when it does not get the expected answer. Baseline: how often giving every question "
    "the more frequent of right and wrong would agree with people."
)


def item_report(run_id: int) -> dict:
    """Agreement with people by item, as plain values; every interval knows which answers belong to one prompt.

    groups: a row for each question type (or element, statement, contradiction) and each sub-score. pooled: all
    that have answers together, None without any. questions: the single ones, with key and group, at most MOST_QUESTIONS, those with
    the most answers first; questions_seen: how many there are. A row: item, kind, n (answers by people; for a sub-score
    cases), prompts, agreement (estimate), small (n below SMALL); for questions with two answers also tp, fp, fn, tn, baseline and
    (not for single ones) FIGURES, for sub-scores bias and mae (estimates). words: what to know of them.
    """
    answers = answer_counts(run_id)
    by_group, by_key = _grouped(answers, "kind", "group"), _grouped(answers, "key")
    groups = [_answers_row(name, kind, rows) for (kind, name), rows in by_group.items()]
    groups += [_sub_score_row(key, rows) for key, rows in _grouped(sub_score_counts(run_id), "key").items()]
    most = sorted(by_key.items(), key=lambda pair: (-sum(row.n for row in pair[1]), pair[0]))[:MOST_QUESTIONS]
    questions = [
        {"key": key, "group": rows[0].group, **_answers_row(rows[0].text, rows[0].kind, rows, is_single=True)}
        for key, rows in most
    ]
    report = {
        "run": run_id,
        "groups": groups,
        "pooled": _answers_row("all questions", "all", answers) if answers else None,
        "questions": questions,
        "questions_seen": len(by_key),
    }
    return {**report, "words": _words(report)}


def _grouped(rows: Iterable[tuple], *fields: str) -> dict:
    """Rows by their value of a field, or by their values of some."""
    groups: dict = {}
    key = attrgetter(*fields)
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _answers_row(name: str, kind: str, rows: Sequence[AnswerCount], is_single: bool = False) -> dict:
    """One line from the counts of its items by prompt."""
    n, prompts = sum(row.n for row in rows), len({row.cluster for row in rows})
    if is_single and prompts == 1:
        agreement = _of_one_prompt(rows)
    else:
        agreement = cluster_ratio([(row.cluster, row.agreed, row.n, 1.0) for row in rows], n)
    found = {
        "item": name,
        "kind": kind,
        "n": n,
        "prompts": prompts,
        "small": n < SMALL,
        "agreement": agreement.as_dict(),
    }
    tables: dict[str, tuple[int, ...]] = {}
    for row in rows:
        tp, fp, fn, tn = tables.get(row.cluster, (0, 0, 0, 0))
        tables[row.cluster] = (tp + row.tp, fp + row.fp, fn + row.fn, tn + row.tn)
    if not any(map(any, tables.values())):
        return found
    figures = group_figures({prompt: (*cells, 0, 0) for prompt, cells in tables.items()})
    total = (sum(cells) for cells in zip(*tables.values(), strict=True))
    found |= {**dict(zip(_CELLS, total, strict=True)), "baseline": figures.baseline}
    return found if is_single else {**found, **{name: getattr(figures, name).as_dict() for name in FIGURES}}


def _of_one_prompt(rows: Sequence[AnswerCount]) -> ClusterEstimate:
    """The share of answers that agree on a question that only one prompt asks: it says something about that prompt, whose
    cases are what it is worth; several people on a case count as one."""
    n, cases = sum(row.n for row in rows), sum(row.cases for row in rows)
    limits = wilson(sum(row.agreed for row in rows) / n * cases, cases)
    return ClusterEstimate(
        limits.value, limits.lo, limits.hi, n=n, method="Wilson over the cases of one prompt", n_eff=cases,
        deff=n / cases, clusters=1,
    )  # fmt: skip


def _sub_score_row(key: str, rows: Sequence[ScorePair]) -> dict:
    """One line from the counts of equal pairs of scores by prompt."""
    n, prompts = sum(row.n for row in rows), len({row.cluster for row in rows})
    same = cluster_ratio(((r.cluster, r.n * (r.judge == r.human), r.n, 1.0) for r in rows), n)
    bias = paired_cluster_diff((row.cluster, row.judge - row.human, row.n) for row in rows)
    error = paired_cluster_diff((row.cluster, abs(row.judge - row.human), row.n) for row in rows)
    error = replace(error, p=None, lo=None if error.lo is None else max(0.0, error.lo))
    return {
        "item": key,
        "kind": "sub_score",
        "n": n,
        "prompts": prompts,
        "small": n < SMALL,
        "agreement": same.as_dict(),
        "bias": replace(bias, n=n).as_dict(),
        "mae": replace(error, n=n).as_dict(),
    }


def _words(report: Mapping) -> list[str]:
    groups, questions = report["groups"], report["questions"]
    if not groups:
        return ["Nobody has corrected an item, or left one as it is beside a verdict, on a drawn case yet."]
    said = [ABOUT]
    if report["pooled"] and "tp" in report["pooled"]:
        said.append(WRONG_WORDS)
    looks = len(groups) + len(questions)
    if looks > 1:
        said.append(
            f"Exploratory: {looks} lines are looked at, and of 20 intervals one misses by chance alone. The lowest line is "
            "where to look next, not a finding."
        )
    small = sum(row["small"] for row in (*groups, *questions))
    if small:
        said.append(f"{small} of {looks} lines rest on fewer than {SMALL} answers: first impressions.")
    if report["questions_seen"] > len(questions):
        said.append(
            f"The {len(questions)} of {report['questions_seen']} single questions with the most answers are listed."
        )
    return said
