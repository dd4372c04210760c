"""Runs of one dataset and criterion on the same labelled cases: counts by who is right, and the cases that tell them apart."""

from __future__ import annotations

import json
from collections.abc import Sequence

from data.store.agreement import Basis
from data.store.connection import rows, value
from evaluators.agreement import PromptTold, Told

# What other runs said, each at its own threshold, of the cases as they are now.
_OTHERS = """
    SELECT o.run_id, o.case_id, o.status, o.score,
        CASE WHEN o.score IS NULL THEN NULL WHEN o.score >= r.threshold THEN 'usable' ELSE 'badcase' END AS label
    FROM runs r JOIN verdicts o ON o.run_id = r.id JOIN cases c ON c.id = o.case_id AND c.revision = o.revision
    WHERE r.id IN (SELECT value FROM json_each(:others)) AND r.threshold IS NOT NULL AND o.status != 'skipped'
"""
# Who is right: IS, so that a judge without a label is wrong.
_WHO = {
    "both": "judge IS gold AND label IS gold",
    "only_it": "judge IS NOT gold AND label IS gold",
    "only_reference": "judge IS gold AND label IS NOT gold",
    "neither": "judge IS NOT gold AND label IS NOT gold",
}
_CLASSES = ("badcase", "usable")


def told_by_run(reference: int, others: Sequence[int], basis_name: str) -> dict[int, dict[PromptTold, int]]:
    """By run, how many prompts have which counts of who is right, on the gold-labelled cases that it and the reference
    both judged: among those that people call badcase, and usable.

    A run without a threshold gives no labels and is missing, as is one that shares no labelled case with the reference.
    """
    basis = _own(reference, basis_name)
    columns = [f"{said}_{name}" for said in _CLASSES for name in _WHO]
    sums = ", ".join(
        f"sum(gold = '{said}' AND {who}) AS {said}_{name}" for said in _CLASSES for name, who in _WHO.items()
    )
    found = rows(
        f"{basis.sql}, prompts AS (SELECT o.run_id, {sums} FROM pairs JOIN ({_OTHERS}) o USING (case_id) "
        "  WHERE gold IS NOT NULL GROUP BY o.run_id, pairs.cluster) "
        f"SELECT *, count(*) AS prompts FROM prompts GROUP BY run_id, {', '.join(columns)}",
        {**basis.parameters, "others": json.dumps(list(others))},
    )
    told: dict[int, dict[PromptTold, int]] = {}
    for r in found:
        bad, usable = (Told(*(r[f"{said}_{name}"] for name in _WHO)) for said in _CLASSES)
        told.setdefault(r["run_id"], {})[bad, usable] = r["prompts"]
    return told


def telling_cases(run_a: int, run_b: int, basis_name: str = "blind", limit: int = 60) -> list[dict]:
    """The cases on which people side with one of two runs and not with the other.

    sides_with: the run that says what people say, by turns run_a and run_b as far as there are such cases. Beside it case_id,
    external_id, prompt, generator, gold, and of each run label_a, score_a, status_a, label_b, score_b, status_b.
    """
    basis = _own(run_a, basis_name)
    return rows(
        f"{basis.sql} SELECT *, row_number() OVER (PARTITION BY sides_with ORDER BY case_id) AS place FROM ("
        "  SELECT pairs.case_id, external_id, prompt, generator, gold, judge AS label_a, pairs.score AS score_a, "
        "    pairs.status AS status_a, o.label AS label_b, o.score AS score_b, o.status AS status_b, "
        "    CASE WHEN judge IS gold THEN :run ELSE o.run_id END AS sides_with "
        f"  FROM pairs JOIN ({_OTHERS}) o USING (case_id) "
        "  WHERE gold IS NOT NULL AND (judge IS gold) != (o.label IS gold)"
        ") ORDER BY place, sides_with != :run, case_id LIMIT :limit",
        {**basis.parameters, "others": json.dumps([run_b]), "limit": limit},
    )


def versions(dataset_id: int, criterion: str) -> list[dict]:
    """The runs of a dataset with that criterion, oldest first: id, judge_name, metric, metric_version, threshold, criterion,
    dataset_id, created."""
    return rows(
        "SELECT r.id, j.name AS judge_name, r.metric, r.metric_version, r.threshold, r.criterion, r.dataset_id, r.created "
        "FROM runs r JOIN judges j ON j.id = r.judge_id WHERE r.dataset_id = ? AND r.criterion = ? ORDER BY r.id",
        [dataset_id, criterion],
    )


def _own(run_id: int, basis_name: str) -> Basis:
    """The basis of a run at its own threshold."""
    return Basis(run_id, value("SELECT threshold FROM runs WHERE id = ?", [run_id]), basis_name)
