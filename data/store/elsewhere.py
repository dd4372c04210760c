"""The same judging on other datasets."""

from __future__ import annotations

from collections.abc import Mapping

from data.store.connection import rows
from data.store.judges import endpoint_settings
from data.store.runs import run_by_id


def runs_elsewhere(run_id: int) -> list[dict]:
    """The runs on other datasets that judge just as this one does, oldest first, as in `runs`.

    It is the same judge with the settings that could change a reply, the same metric in the same version with the same
    settings, and the same threshold.
    """
    run = run_by_id(run_id)
    found = rows(
        "SELECT o.id FROM runs r JOIN runs o ON o.judge_id = r.judge_id AND o.metric = r.metric "
        "AND o.metric_version = r.metric_version AND o.threshold IS r.threshold AND o.dataset_id != r.dataset_id "
        "WHERE r.id = ? ORDER BY o.id",
        [run_id],
    )
    return [other for other in (run_by_id(r["id"]) for r in found) if _judging(other) == _judging(run)]


def _judging(run: Mapping) -> tuple:
    """All of a run but its cases that could change a verdict."""
    judge = run["judge"]
    asked = endpoint_settings(judge).identity if judge["kind"] == "endpoint" else judge["settings"]
    return asked, run["metric_settings"], run["options"]["strict"]
