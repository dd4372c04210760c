"""The true usable rate of a dataset from labels on another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from data.reports.all_judged import all_judged_report
from data.reports.words import many, percent
from data.store import agreement as agreement_store
from data.store.agreement import Basis
from data.store.elsewhere import runs_elsewhere
from data.store.runs import run_by_id
from evaluators.agreement import REASON_WORDS, WARNING_WORDS, Corrected, Estimate, cluster_ratio, corrected_elsewhere

ASSUMPTION = (
    "This assumes that the judge passes usable cases and flags badcases as often here as there, which cannot be tested "
    "without labels here."
)


def usable_rate_from_elsewhere(run_id: int, other_run_id: int, basis_name: str = "blind") -> dict:
    """The true share of usable cases among those that a run judged, from people's labels on another run's dataset.

    usable_rate: Rogan & Gladen's rate with Lang & Reiczigel's interval. judge_rate: the share that the judge passed here.
    calibration: tp, fp, fn, tn, n and prompts of the randomly drawn labels there. labels_here: the share of usable cases
    among random labels on this dataset; own: the two-phase estimate from its labels. Where these have a value they are the
    better source. words: a list of sentences, `assumption` among them.

    :raises ValueError: when the other run does not judge in the same way on another dataset.
    """
    run = run_by_id(run_id)
    other = next((one for one in runs_elsewhere(run_id) if one["id"] == other_run_id), None)
    if other is None:
        raise ValueError(
            f"Run {other_run_id} cannot tell how run {run_id} errs: it is not the same judge, metric, settings and threshold "
            "on another dataset."
        )
    here, there = (Basis(one["id"], one["threshold"], basis_name) for one in (run, other))
    labels_only = run["threshold"] is None
    judged = {} if labels_only else agreement_store.judged_by_prompt(here)
    labelled = {} if labels_only else agreement_store.counts_by_prompt(there)
    own_cells = agreement_store.counts_by_prompt(here)
    none = Corrected.undefined("no_threshold")
    found = none if labels_only else corrected_elsewhere(judged, labelled)
    cells = [sum(counts[i] for counts in labelled.values()) for i in range(4)]
    report = {
        "run": run_id,
        "dataset": run["dataset"],
        "other_run": other_run_id,
        "other_dataset": other["dataset"],
        "basis": basis_name,
        "threshold": run["threshold"],
        "usable_rate": found.as_dict(),
        "judge_rate": (none if labels_only else _rate(judged, (1,), (0, 1))).as_dict(),
        "cases": sum(map(sum, judged.values())),
        "calibration": {
            **dict(zip(("tp", "fp", "fn", "tn"), cells, strict=True)),
            "n": sum(cells),
            "prompts": sum(any(counts[:4]) for counts in labelled.values()),
        },
        "labels_here": _rate(own_cells, (1, 3, 5), range(6)).as_dict(),
        "own": none.as_dict() if labels_only else all_judged_report(replace(here, with_audits=True))["usable_rate"],
        "warnings": list(found.warnings),
        "assumption": ASSUMPTION,
    }
    return {**report, "words": elsewhere_words(report, found)}


def elsewhere_words(report: Mapping, found: Corrected) -> list[str]:
    """What the labels elsewhere say, on which assumption, and what there is to compare it with."""
    if report["threshold"] is None:
        return [WARNING_WORDS["no_threshold"]]
    if not report["cases"]:
        return ["The judge has labelled no case of this run yet."]
    calibration, raw = report["calibration"], 100 * report["judge_rate"]["value"]
    source = (
        f"{many(calibration['n'], 'label')} ({many(calibration['prompts'], 'prompt')}) on “{report['other_dataset']}”"
    )
    if found.value is None:
        words = [f"From {source} the true usable rate cannot be told: {REASON_WORDS[found.reason]}."]
    else:
        words = [
            f"From {source}, {percent(found)} of the {report['cases']} judged cases of “{report['dataset']}” are truly usable; "
            f"the judge passed {raw:.1f} %."
        ]
    words.append(ASSUMPTION)
    words += [WARNING_WORDS[code] for code in report["warnings"]]
    sources = {"own": "the judge's labels and people's labels here", "labels_here": "people's random labels here alone"}
    known = next((name for name in sources if report[name]["value"] is not None), None)
    if known:
        here = Estimate(*(report[known][part] for part in ("value", "lo", "hi", "reason")))
        words.append(f"To compare, from {sources[known]}, without that assumption: {percent(here)}.")
    return words


def _rate(counts: Mapping, hits: Sequence[int], of: Sequence[int]) -> Estimate:
    """The clustered share of these cells, positions in the counts of each prompt."""
    rows = [(prompt, sum(cells[i] for i in hits), sum(cells[i] for i in of), 1.0) for prompt, cells in counts.items()]
    return cluster_ratio(rows, sum(x for _prompt, _y, x, _w in rows))
