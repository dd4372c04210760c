"""Every version of a judge on one dataset: its runs under a criterion, each against people."""

from __future__ import annotations

from collections.abc import Mapping

from data.reports.words import many, percent, without_labels
from data.store import compared
from data.store.agreement import Basis, counts_by_prompt
from evaluators.agreement import SMALL, Headline, clustered_headline

#: What is told of each version.
FIGURES = ("accuracy", "balanced_accuracy", "recall_bad", "kappa")


def versions_report(dataset_id: int, criterion: str, basis_name: str = "blind") -> dict:
    """Each run of the dataset with that criterion and a threshold, oldest first, as plain values; `words` in sentences.

    versions: run, judge, metric, metric_version, threshold, created, n, prompts, small (n < 30), baseline (the constant
    judge on the same cases), and the estimates of FIGURES, kappa among the cases that the judge labelled.
    """
    runs = compared.versions(dataset_id, criterion)
    found = [
        (run, clustered_headline(counts_by_prompt(Basis(run["id"], run["threshold"], basis_name))))
        for run in runs
        if run["threshold"] is not None
    ]
    report = {
        "dataset": dataset_id,
        "criterion": criterion,
        "basis": basis_name,
        "versions": [_version(run, figures) for run, figures in found],
        "without_threshold": [run["id"] for run in runs if run["threshold"] is None],
    }
    return {**report, "words": _words(found, basis_name)}


def _version(run: Mapping, figures: Headline) -> dict:
    kept = {name: run[name] for name in ("metric", "metric_version", "threshold", "created")}
    known = figures.as_dict()
    return {
        "run": run["id"],
        "judge": run["judge_name"],
        **kept,
        "n": figures.n,
        "prompts": figures.prompts,
        "small": figures.n < SMALL,
        "baseline": figures.baseline,
        **{name: known[name] for name in FIGURES},
    }


def _words(found: list[tuple[dict, Headline]], basis_name: str) -> list[str]:
    measured = [(run, figures) for run, figures in found if figures.n]
    if not measured:
        empty = "No run of this dataset has both a threshold and labels yet."
        told = [without_labels(Basis(run["id"], run["threshold"], basis_name), empty) for run, _figures in found]
        return [next((words for words in told if words != empty), empty)]
    newest, figures = measured[-1]
    words = [
        f"{many(len(measured), 'run')} measured. The newest, run {newest['id']} "
        f"({newest['judge_name']}), agrees with people on {percent(figures.accuracy)} of {figures.n} cases."
    ]
    if len(measured) > 1:
        words.append(
            "Each run is measured on its own labelled cases, so a step from one to the next is no test: compare the two on "
            "the cases that both judged."
        )
    return words
