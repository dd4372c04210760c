"""Workspaces with a judge and people's labels of which every count is known."""

from __future__ import annotations

from data.store import judges as judge_store
from data.store import reviews
from data.store import runs as run_store
from data.store.connection import insert, insert_many, now, writing
from evaluators import METRICS, Options


def labelled(
    name: str, tp: int = 0, fp: int = 0, fn: int = 0, tn: int = 0, unanswered: int = 0, unlabelled: int = 0,
    prompts: int | None = None, threshold: float | None = 0.5, people: int = 1, judge: str = "",
) -> int:  # fmt: skip
    """A dataset with a run whose counts against people's blind labels on randomly drawn cases are these; gives the run.

    unanswered: usable cases that the judge refused. unlabelled: cases that it passed and nobody labelled. prompts: how
    many the cases share in turn, a prompt each if not told. people: how many label every case, all alike.
    """
    kinds = ["tp"] * tp + ["fp"] * fp + ["fn"] * fn + ["tn"] * tn + ["unanswered"] * unanswered + ["none"] * unlabelled
    judge = judge or f"judge of {name}"
    judge_store.save_recorded(judge, {"model": "recorded"})
    with writing() as db:
        dataset = insert(db, "datasets", name=name, created=now())
        columns = ("dataset_id", "external_id", "prompt", "generator", "tags_json", "created")
        insert_many(db, "cases", columns, [
            (dataset, f"c{i}", f"prompt {i % (prompts or len(kinds))}", "", [], now()) for i in range(len(kinds))
        ])  # fmt: skip
        run = run_store.create_run(
            dataset, METRICS["text_to_image"], judge_store.judge_named(judge), Options(threshold=threshold)
        )
        db.conn.execute("UPDATE runs SET status = 'done' WHERE id = ?", [run])
        cases = [case_id for case_id, _revision in run_store.open_cases(run)]
        columns = ("run_id", "case_id", "revision", "status", "score", "reason", "flags_json", "problem", "steps_json",
                   "seconds", "created")  # fmt: skip
        insert_many(db, "verdicts", columns, [
            (run, case_id, 1, "refused" if kind == "unanswered" else "ok",
             None if kind == "unanswered" else 0.1 if kind in ("tp", "fp") else 0.9, "", [], "", [], 0.0, now())
            for case_id, kind in zip(cases, kinds, strict=True)
        ])  # fmt: skip
        for person in range(people):
            label_cases(db, f"person {person}", {
                case_id: "badcase" if kind in ("tp", "fn") else "usable"
                for case_id, kind in zip(cases, kinds, strict=True) if kind != "none"
            })  # fmt: skip
    return run


def label_cases(db, person: str, said: dict[int, str], basis: str = "random", blind: bool = True) -> None:
    """One person's labels by case id, on cases drawn for them."""
    reviewer = reviews.reviewer_named(person)
    columns = ("queue", "reviewer_id", "case_id", "criterion", "stratum", "pi", "basis", "created")
    insert_many(db, "queue_draws", columns, [
        (basis, reviewer, case_id, "overall", "all", 1.0, basis, now()) for case_id in said
    ])  # fmt: skip
    draws = dict(
        db.conn.execute("SELECT case_id, id FROM queue_draws WHERE reviewer_id = ? AND queue = ?", [reviewer, basis])
    )
    columns = ("token", "case_id", "revision", "criterion", "reviewer_id", "label", "tags_json", "comment", "blind",
               "draw_id", "basis", "created")  # fmt: skip
    insert_many(db, "reviews", columns, [
        (f"{person}/{basis}/{case_id}", case_id, 1, "overall", reviewer, label, [], "", int(blind), draws[case_id], basis, now())
        for case_id, label in said.items()
    ])  # fmt: skip
