"""Runs compared on the same labelled cases: who agrees with people more often, and is it more than chance?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from data.reports.words import percent
from data.store import compared
from data.store.runs import run_by_id
from evaluators.agreement import REASON_WORDS, SMALL, WARNING_WORDS, ClusterDifference, SameCases, bh, holm, same_cases

#: The difference whose price in labels is told, 0-1.
SEEN = 0.05
#: How p values are adjusted for many comparisons, and when.
ADJUSTMENTS = {True: ("Holm", holm), False: ("Benjamini-Hochberg", bh)}


def comparison_report(run_ids: Sequence[int], basis_name: str = "blind", planned: bool = True) -> dict:
    """Each run against the first one, the current judge, on the gold-labelled cases that both judged, as plain values.

    Each at its own threshold; a case that a judge left without a label is one it is wrong on. planned: the comparisons were
    meant beforehand (Holm), or one explores (Benjamini-Hochberg, marked exploratory). Differences are shares -1..1, each run
    minus the first; `words` says them.

    :raises ValueError: if there is no such run, or they are not all of one dataset and criterion.
    """
    runs = _runs(run_ids)
    first, others = runs[0] if runs else None, runs[1:]
    usable = [run for run in others if run["threshold"] is not None and first["threshold"] is not None]
    told = compared.told_by_run(first["id"], [run["id"] for run in usable], basis_name) if usable else {}
    found = [(run, same_cases(told.get(run["id"], {}))) for run in usable]
    adjustment, adjust = ADJUSTMENTS[planned]
    tested = [run["id"] for run, figures in found if figures.p is not None]
    adjusted = dict(zip(tested, adjust([f.p for _run, f in found if f.p is not None]), strict=True))
    comparisons = [_compared(run, first, figures, adjusted.get(run["id"]), len(tested)) for run, figures in found]
    report = {
        "runs": runs,
        "basis": basis_name,
        "planned": planned,
        "exploratory": not planned,
        "adjustment": adjustment,
        "comparisons": comparisons,
        "without_threshold": [run["id"] for run in runs if run["threshold"] is None],
    }
    return {**report, "words": _words(report, len(tested))}


def _runs(run_ids: Sequence[int]) -> list[dict]:
    """What is told of each run, the first one first, each once."""
    runs = []
    for run_id in dict.fromkeys(run_ids):
        run = run_by_id(run_id)
        if run is None:
            raise ValueError(f"There is no run {run_id}.")
        if runs and (run["dataset_id"], run["criterion"]) != (runs[0]["dataset_id"], runs[0]["criterion"]):
            raise ValueError(
                f"Run {run_id} is about other cases or another criterion than run {runs[0]['id']}: nothing to compare."
            )
        runs.append(
            {"judge": run["judge_name"]}
            | {k: run[k] for k in ("id", "metric", "metric_version", "threshold", "criterion", "dataset_id", "created")}
        )
    return runs


def _compared(run: Mapping, first: Mapping, figures: SameCases, p_adjusted: float | None, tests: int) -> dict:
    """One run against the first, as plain values and in words."""
    difference = figures.difference
    is_shown = (
        p_adjusted is not None and p_adjusted < 0.05 and difference.lo is not None and not difference.lo <= 0 <= difference.hi
    )  # fmt: skip
    row = {
        "run": run["id"], "reference": first["id"], "judge": run["judge"], "n": figures.n, "prompts": figures.prompts,
        "both": figures.both, "b": figures.b, "c": figures.c, "neither": figures.neither, "apart": figures.apart,
        "accuracy": figures.accuracy.as_dict(), "reference_accuracy": figures.reference_accuracy.as_dict(),
        "difference": difference.as_dict(), "recall_bad": figures.recall_bad.as_dict(),
        "specificity": figures.specificity.as_dict(), "p": figures.p, "p_midp": figures.p_midp,
        "p_exact": figures.p_exact, "p_adjusted": p_adjusted, "is_shown": is_shown, "small": figures.n < SMALL,
        "labels_needed": figures.labels_for(SEEN), "warnings": list(figures.warnings),
    }  # fmt: skip
    return {**row, "words": _comparison_words(row, figures, tests)}


def more_often(difference: ClusterDifference, reference: str) -> str:
    """4.2 points more often than run 1 [1.1–7.3]; less often turns the signs, so that the interval reads as it is said."""
    sign = -1 if difference.value < 0 else 1
    said = f"{100 * abs(difference.value):.1f} points {'less' if sign < 0 else 'more'} often than {reference}"
    if difference.value == 0:
        said = f"as often as {reference}"
    if difference.lo is None:
        return f"{said} (no interval: {REASON_WORDS[difference.reason]})"
    lo, hi = sorted((100 * sign * difference.lo, 100 * sign * difference.hi))
    return f"{said} [{_number(lo)}{' to ' if lo < 0 else '–'}{_number(hi)}]"


def _number(value: float) -> str:
    """With a minus sign that is no dash."""
    return f"{round(value, 1) + 0.0:.1f}".replace("-", "−")


def _comparison_words(row: Mapping, figures: SameCases, tests: int) -> list[str]:
    """What one comparison says, in sentences."""
    it, reference = f"run {row['run']}", f"run {row['reference']}"
    if not row["n"]:
        return [f"{it.capitalize()} and {reference} have no labelled case in common: nothing can be compared."]
    on = f"on {row['n']} common cases ({row['prompts']} prompts)"
    if not row["b"] + row["c"]:
        words = [f"{it.capitalize()} agrees with people exactly as often as {reference} {on}: no case told them apart."]
    else:
        words = [
            f"{it.capitalize()} agrees with people {more_often(figures.difference, reference)} {on}: "
            f"{percent(figures.accuracy)} against {percent(figures.reference_accuracy)}.",
            f"{row['b'] + row['c']} cases told them apart: {it} was right on {row['b']} of them, {reference} on {row['c']}. "
            + _test_words(row, tests),
        ]
        words += _part_words(it, reference, figures)
    said = f"They differ on {100 * row['apart']:.1f} % of the cases. "
    if row["labels_needed"] is None:
        words.append(
            f"{said}How many it takes to see a difference is unknown from one prompt: label cases of other prompts."
        )
    else:
        words.append(
            f"{said}To see a difference of {100 * SEEN:g} points takes about {row['labels_needed']:,} labelled cases (four "
            "times of five)."
        )
    return words + [WARNING_WORDS[code] for code in row["warnings"]]


def _test_words(row: Mapping, tests: int) -> str:
    """Whether chance explains it."""
    if row["p"] is None:
        return "Whether that is more than chance cannot be tested: the cases are too few or too uniform."
    p = f"p = {row['p']:.3f}" if row["p"] >= 0.001 else "p < 0.001"
    if tests > 1:
        p += f", adjusted {row['p_adjusted']:.3f}" if row["p_adjusted"] >= 0.001 else ", adjusted < 0.001"
    if row["is_shown"]:
        return f"That is more than chance explains ({p})."
    return f"Chance alone can do that ({p}): it is not shown that one is better."


def _part_words(it: str, reference: str, figures: SameCases) -> list[str]:
    """What it does better or worse: find badcases, or pass usable cases."""
    parts = (
        ("finds a badcase", figures.recall_bad, "badcases found"),
        ("passes a usable case", figures.specificity, "usable cases passed"),
    )
    return [
        f"{it.capitalize()} {does} {more_often(part, reference)} (of {part.n:g})."
        if part.value is not None
        else f"The difference of {figure} is undefined: {REASON_WORDS[part.reason]}."
        for does, part, figure in parts
    ]


def _words(report: Mapping, tests: int) -> list[str]:
    """All comparisons, and what is to be known of them together."""
    missing = [
        f"Run {run_id} gives scores without labels and cannot be compared: it needs a threshold."
        for run_id in report["without_threshold"]
    ]
    if not report["comparisons"]:
        return [*missing, "It takes two runs with a threshold to compare."]
    words = [sentence for row in report["comparisons"] for sentence in row["words"]]
    if report["exploratory"]:
        words.append(
            "Exploratory: these comparisons were not planned. What stands out here is a guess to test on new labels."
        )
    if tests > 1:
        words.append(f"The p values are adjusted for {tests} comparisons ({report['adjustment']}).")
    if len(report["comparisons"]) > 1:
        words.append(
            f"The best of {len(report['comparisons']) + 1} runs looks better than it is: some of its lead is luck (ten judges "
            "that are all right on 85 % look like 89 % at best on 100 cases). Confirm it on new labels."
        )
    return words + missing
