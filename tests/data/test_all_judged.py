"""What random labels and audits say together about all judged cases."""

from __future__ import annotations

import random

import pytest

from data.reports.headline import agreement_report
from data.store import queues, reviews
from data.store.queues import Queue
from tests.data.test_queues import judged, label


def test_an_audit_tells_about_all_judged_cases_what_its_plain_shares_do_not(fill):
    """300 of 1000 flagged; 80 % of flags and 95 % of passed cases are right. Half of the flagged are audited, a tenth of
    the passed: among the audited cases alone the judge is far worse than it is."""
    dataset, chance = fill(1000), random.Random(5)
    scores = {i: 0.1 if i <= 300 else 0.9 for i in range(1, 1001)}
    truth = {i: ("badcase" if chance.random() < (0.8 if i <= 300 else 0.05) else "usable") for i in scores}
    run, ada = judged(dataset, scores), reviews.reviewer_named("Ada")
    queue = Queue("audit", run, flagged_share=0.5, passed_share=0.1)
    drawn = queues.next_cases(dataset, "overall", ada, 2000, queue=queue)
    for one in drawn:
        reviews.save_review(reviews.Review(str(one["case_id"]), one["case_id"], 1, "overall", ada, truth[one["case_id"]],
                                           blind=True, draw_id=one["draw_id"]))  # fmt: skip
    report = agreement_report(run)
    found = report["all_judged"]
    assert report["n"] == 0  # they are no random sample
    assert (found["cases"], found["labelled"]) == (1000, len(drawn))
    right = sum((truth[i] == "badcase") == (i <= 300) for i in scores) / 1000
    usable = sum(said == "usable" for said in truth.values()) / 1000
    naive = sum((truth[o["case_id"]] == "badcase") == (o["case_id"] <= 300) for o in drawn) / len(drawn)
    assert found["accuracy"]["lo"] <= right <= found["accuracy"]["hi"]
    assert found["usable_rate"]["lo"] <= usable <= found["usable_rate"]["hi"]
    assert abs(found["accuracy"]["value"] - right) < abs(naive - right)
    assert found["judge_usable"] == 0.7
    assert f"the judge agrees with people on {100 * found['accuracy']['value']:.1f} %" in found["words"]


def test_random_labels_count_there_as_well(fill):
    dataset = fill(6)
    run, ada = judged(dataset, {i: 0.1 if i <= 2 else 0.9 for i in range(1, 7)}), reviews.reviewer_named("Ada")
    for one in queues.next_cases(dataset, "overall", ada, 6):
        said = "badcase" if one["case_id"] in (1, 3) else "usable"
        reviews.save_review(reviews.Review(str(one["case_id"]), one["case_id"], 1, "overall", ada, said, blind=True,
                                           draw_id=one["draw_id"]))  # fmt: skip
    report = agreement_report(run)
    assert (
        report["all_judged"]["accuracy"]["value"] == pytest.approx(report["accuracy"]["value"]) == pytest.approx(4 / 6)
    )
    assert report["all_judged"]["usable_rate"]["value"] == pytest.approx(4 / 6)


def test_a_verdict_that_nobody_reviewed_leaves_it_open(fill):
    dataset = fill(4)
    run, ada = judged(dataset, {1: 0.1, 2: 0.9, 3: 0.9, 4: 0.9}), reviews.reviewer_named("Ada")
    drawn = {o["case_id"]: o["draw_id"] for o in queues.next_cases(dataset, "overall", ada, 4)}
    label(2, ada, "usable", drawn[2])
    found = agreement_report(run, "all")["all_judged"]
    assert (found["accuracy"]["value"], found["accuracy"]["reason"]) == (None, "unreviewed_verdict")
    assert "nothing can be told yet" in found["words"]
