"""Every figure of a run at once, for `cli.py agreement --json`."""

from __future__ import annotations

from data.reports.alternative import alt_report
from data.reports.anchoring import anchoring_report
from data.reports.comparison import comparison_report
from data.reports.generators import generators_report
from data.reports.groups import GROUPINGS, groups_report
from data.reports.headline import agreement_report
from data.reports.human_scores import human_scores_report
from data.reports.items import item_report
from data.reports.over_time import over_time_report
from data.reports.people import people_report
from data.reports.planning import planning_report
from data.reports.repeats import consistency_report
from data.reports.scores import scores_report
from data.reports.versions import versions_report
from data.store.agreement import Basis
from data.store.runs import run_by_id, runs


def full_report(
    run_id: int, basis_name: str = "blind", threshold: float | None = None, target: float | None = None,
    planned: int | None = None,
) -> dict:  # fmt: skip
    """`agreement_report`, and beside it what each view of the Agreement page tells, by the name of its report."""
    report = agreement_report(run_id, basis_name, threshold, target, planned)
    run, basis = run_by_id(run_id), Basis(run_id, report["threshold"], basis_name)
    others = [r["id"] for r in runs(run["dataset_id"]) if r["criterion"] == run["criterion"] and r["id"] != run_id]
    return report | {
        "groups": {by: groups_report(basis, by) for by in GROUPINGS},
        "generators": generators_report(basis),
        "items": item_report(run_id),
        "scores": scores_report(basis),
        "human_scores": human_scores_report(run_id),
        "over_time": over_time_report(basis, others=0),
        "versions": versions_report(run["dataset_id"], run["criterion"], basis_name),
        "comparison": comparison_report([run_id, *others], basis_name, planned=False),
        "people": people_report(basis),
        "alternative": alt_report(basis),
        "anchoring": anchoring_report(run_id),
        "planning": planning_report(basis),
        "repeats": consistency_report(run_id),
    }
