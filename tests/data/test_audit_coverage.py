"""A queue of half of the flagged and a twentieth of the passed cases: the page's interval holds, the naive one never would."""

from __future__ import annotations

import random

from data.reports.headline import agreement_report
from data.store import judges as judge_store
from data.store import queues, reviews
from data.store import runs as run_store
from data.store.connection import insert, insert_many, now, writing
from data.store.queues import Queue
from evaluators import METRICS, Options
from evaluators.agreement import wilson

CASES, SEEDS = 600, 100
#: Of all cases: badcases flagged, usable cases flagged, badcases passed, usable cases passed.
TRUE_SHARES = (0.12, 0.09, 0.02, 0.77)
TRUTH = TRUE_SHARES[0] + TRUE_SHARES[3]


def audited(seed: int, ada: int) -> tuple[int, list[bool]]:
    """A run over new cases that Ada audited; gives it and on which of the audited cases she and the judge agree."""
    chance = random.Random(seed)
    kinds = chance.choices(("tp", "fp", "fn", "tn"), TRUE_SHARES, k=CASES)
    with writing() as db:
        dataset = insert(db, "datasets", name=f"shoes {seed}", created=now())
        columns = ("dataset_id", "external_id", "prompt", "generator", "tags_json", "created")
        insert_many(db, "cases", columns, [(dataset, f"c{i}", f"prompt {i}", "", [], now()) for i in range(CASES)])
        run = run_store.create_run(dataset, METRICS["text_to_image"], judge_store.judge_named("judge"), Options())
        said = [(run, case_id, revision, "ok", 0.1 if kind in ("tp", "fp") else 0.9, "", [], "", [], 0.0, now())
                for kind, (case_id, revision) in zip(kinds, run_store.open_cases(run), strict=True)]  # fmt: skip
        columns = ("run_id", "case_id", "revision", "status", "score", "reason", "flags_json", "problem", "steps_json",
                   "seconds", "created")  # fmt: skip
        insert_many(db, "verdicts", columns, said)
        truth = {row[1]: kind in ("tp", "fn") for kind, row in zip(kinds, said, strict=True)}
        right = {row[1]: kind in ("tp", "tn") for kind, row in zip(kinds, said, strict=True)}
    drawn = queues.next_cases(
        dataset, "overall", ada, CASES, queue=Queue("audit", run, flagged_share=0.5, passed_share=0.05)
    )
    with writing():
        for one in drawn:
            label = "badcase" if truth[one["case_id"]] else "usable"
            reviews.save_review(reviews.Review(
                f"{seed}/{one['case_id']}", one["case_id"], 1, "overall", ada, label, blind=True, draw_id=one["draw_id"]
            ))  # fmt: skip
    return run, [right[one["case_id"]] for one in drawn]


def test_the_interval_of_an_audit_contains_the_truth_in_93_of_100():
    judge_store.save_recorded("judge", {"model": "judge"})
    ada = reviews.reviewer_named("Ada")
    held = naive_held = 0
    for seed in range(SEEDS):
        run, agreed = audited(seed, ada)
        report = agreement_report(run)
        shown = report["all_judged"]["accuracy"]
        held += shown["lo"] <= TRUTH <= shown["hi"]
        naive = wilson(sum(agreed), len(agreed))
        naive_held += naive.lo <= TRUTH <= naive.hi
        assert report["n"] == 0 and report["accuracy"]["value"] is None  # no random label: no plain figure
        assert f"{100 * naive.value:.1f} %" not in report["words"][0]
        assert report["words"][0].startswith(f"Over all {CASES} judged cases, told by {len(agreed)} of them")
        assert f"the judge agrees with people on {100 * shown['value']:.1f} %" in report["words"][0]
    assert held >= 93
    assert naive_held <= 10  # what the correction is for
