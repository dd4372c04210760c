"""Claims: tested on labels that were planned, and stricter with every further look."""

from __future__ import annotations

import pytest

from data.reports.headline import agreement_report
from data.store import claims, queues, reviews
from evaluators.agreement import claim, cp_lower, wilson
from tests.data.test_queues import judged, label


@pytest.fixture
def run(fill) -> int:
    return judged(fill(60), {i: 0.9 for i in range(1, 61)})


def label_more(count: int) -> None:
    ada = reviews.reviewer_named("Ada")
    for one in queues.next_cases(1, "overall", ada, count):
        label(one["case_id"], ada, "usable", one["draw_id"])


def verdict_on(run: int, planned: int | None = None) -> dict:
    return agreement_report(run, "all", None, 0.85, planned)["claim"]


def test_every_look_at_new_labels_counts_and_makes_the_bound_stricter(run):
    label_more(20)
    first = verdict_on(run)
    assert (first["answer"], first["looks"]) == ("pass", [20])
    assert first["lower"] == pytest.approx(cp_lower(20, 20))
    assert verdict_on(run) == first  # the same labels: the same look
    label_more(5)
    second = verdict_on(run)
    assert second["looks"] == [20, 25]
    assert second["lower"] == pytest.approx(cp_lower(25, 25, 0.025))
    assert second["risk"] == pytest.approx(0.05 + 0.025)
    assert "tested 2 times, at 20 and 25 labelled cases" in second["words"]
    # Another target on the same labels is the same look: the bound does not depend on it.
    other = agreement_report(run, "all", None, 0.851)["claim"]
    assert (other["looks"], other["lower"]) == ([20, 25], second["lower"])


def test_before_the_planned_labels_are_there_nothing_is_tested(run):
    label_more(19)
    found = verdict_on(run, planned=20)
    assert (found["answer"], found["looks"]) == ("interim", [])
    assert "interim: 19 of 20 planned labels" in found["words"]
    assert "pass" not in found["words"].split("interim")[0]
    label_more(1)
    found = verdict_on(run, planned=20)
    assert (found["answer"], found["looks"]) == ("pass", [20])


def test_what_passes_at_once_does_not_pass_at_a_later_look():
    share = wilson(92, 100)
    assert claim(share, 0.85).answer == "pass"
    assert claim(share, 0.85, looks=3).answer == "undecided"


def test_without_labels_no_look_is_counted(run):
    assert verdict_on(run)["answer"] == "undecided"
    assert claims.looks(run) == []


def test_a_claim_is_not_tested_at_a_threshold_that_these_labels_chose(run):
    label_more(20)
    report = agreement_report(run, "all", 0.3, 0.85)
    assert (report["claim"]["answer"], claims.looks(run)) == ("untested", [])
    assert "Tried at 0.3 instead of the run's own 0.5" in report["words"][1]
