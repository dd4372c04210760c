"""What the tables with one row a case are made of: what each run and each person said of a case, side by side.

What must be looked up for the whole dataset at once (who was first, what is gold) is kept as temporary tables of the
snapshot; the rest is looked up for some hundred cases at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from data.store.agreement import BASES, Basis
from data.store.export import corrections_of, items_of, marks
from data.store.snapshot import Snapshot


def prepare(of: Snapshot, runs: Sequence[Mapping]) -> None:
    """Find out once which reviews are first and current, which adjudications count, and what is gold for each run."""
    ids = "id INTEGER PRIMARY KEY"
    of.keep("firsts", ids, "SELECT id FROM first_reviews")
    of.keep("currents", ids, "SELECT id FROM current_reviews")
    of.keep("decided", ids, "SELECT id FROM current_adjudications")
    for run in runs:
        for name in BASES:
            basis = Basis(run["id"], run["threshold"], name)
            select = f"{basis.sql} SELECT case_id, gold FROM pairs"
            of.keep(f"gold_{run['id']}_{name}", "case_id INTEGER PRIMARY KEY, gold TEXT", select, basis.parameters)


def people(of: Snapshot, dataset_id: int, criterion: str | None = None) -> list[tuple[str, str]]:
    """(criterion, name) of everybody who labelled in a dataset, in order."""
    found = of.rows(
        "SELECT DISTINCT r.criterion, w.name FROM reviews r JOIN cases c ON c.id = r.case_id "
        "JOIN reviewers w ON w.id = r.reviewer_id WHERE c.dataset_id = ? AND (? IS NULL OR r.criterion = ?) "
        "ORDER BY r.criterion, w.name",
        [dataset_id, criterion, criterion],
    )
    return [(r["criterion"], r["name"]) for r in found]


def decided_criteria(of: Snapshot, dataset_id: int) -> list[str]:
    """The criteria under which a lead has decided cases of a dataset."""
    found = of.rows(
        "SELECT DISTINCT a.criterion FROM adjudications a JOIN cases c ON c.id = a.case_id WHERE c.dataset_id = ? "
        "ORDER BY a.criterion",
        [dataset_id],
    )
    return [r["criterion"] for r in found]


def verdicts_of(of: Snapshot, case_ids: Sequence[int], run_ids: Sequence[int]) -> Iterator[dict]:
    """The verdicts of these runs on these cases, with their items."""
    found = list(
        of.rows(
            "SELECT v.id, v.run_id, v.case_id, v.revision, v.status, v.score, v.reason, v.problem, v.flags_json, "
            "v.created, g.version AS rubric_version FROM verdicts v LEFT JOIN rubrics g ON g.id = v.rubric_id "
            f"WHERE v.case_id IN ({marks(case_ids)}) AND v.run_id IN ({marks(run_ids)})",
            [*case_ids, *run_ids],
        )
    )
    items = items_of(of, [verdict["id"] for verdict in found])
    return ({**verdict, "items": items.get(verdict["id"], {})} for verdict in found)


def labels_of(of: Snapshot, case_ids: Sequence[int], which: str) -> Iterator[dict]:
    """Each person's `firsts` or `currents` among the reviews of these cases, with pi and corrected items."""
    found = list(
        of.rows(
            "SELECT r.id, r.case_id, r.criterion, w.name AS reviewer, r.label, r.blind, r.basis, d.pi, r.tags_json, "
            "r.comment, r.created FROM reviews r JOIN reviewers w ON w.id = r.reviewer_id "
            "LEFT JOIN queue_draws d ON d.id = r.draw_id "
            f"WHERE r.case_id IN ({marks(case_ids)}) AND r.id IN (SELECT id FROM {which})",
            list(case_ids),
        )
    )
    items = corrections_of(of, [review["id"] for review in found])
    return ({**review, "items": items.get(review["id"], {})} for review in found)


def decisions_of(of: Snapshot, case_ids: Sequence[int]) -> Iterator[dict]:
    """The decisions of leads that count for these cases."""
    return of.rows(
        "SELECT a.case_id, a.criterion, a.label, w.name AS reviewer, a.reason, a.created FROM adjudications a "
        f"JOIN reviewers w ON w.id = a.reviewer_id WHERE a.case_id IN ({marks(case_ids)}) "
        "AND a.id IN (SELECT id FROM decided)",
        list(case_ids),
    )


def gold_of(of: Snapshot, case_ids: Sequence[int], run_id: int) -> dict[str, dict[int, str]]:
    """By basis and case: the gold label that the figures of a run count."""
    found: dict[str, dict[int, str]] = {}
    for name in BASES:
        rows = of.rows(
            f"SELECT case_id, gold FROM gold_{int(run_id)}_{name} WHERE case_id BETWEEN ? AND ?",
            [min(case_ids), max(case_ids)],
        )
        found[name] = {r["case_id"]: r["gold"] for r in rows}
    return found


def judged_cases(of: Snapshot, run_id: int) -> Iterator[dict]:
    """The cases with a verdict of the run on them as they are now."""
    return of.rows(
        "SELECT c.id, c.external_id AS case_id, c.prompt, c.generator, c.revision, v.status, v.score FROM verdicts v "
        "JOIN cases c ON c.id = v.case_id AND c.revision = v.revision WHERE v.run_id = ? ORDER BY c.id",
        [run_id],
    )
