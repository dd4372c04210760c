"""Labels of an audit only: views of random labels are empty, and say why."""

from __future__ import annotations

import pytest

from data.reports.groups import groups_report
from data.reports.over_time import over_time_report
from data.reports.people import people_report
from data.reports.planning import planning_report
from data.reports.scores import scores_report
from data.reports.versions import versions_report
from data.reports.words import ONLY_AUDITS
from data.store.agreement import Basis
from tests.data.test_generators import audited
from tests.data.test_queues import judged

VIEWS = {
    "groups": lambda basis: groups_report(basis, "generator"),
    "over_time": over_time_report,
    "people": people_report,
    "planning": planning_report,
    "scores": scores_report,
    "versions": lambda basis: versions_report(1, "overall", basis.name),
}


@pytest.mark.parametrize("view", VIEWS)
def test_only_audit_labels_are_not_called_no_labels(view, fill):
    run = judged(fill(8), {i: 0.1 if i <= 4 else 0.9 for i in range(1, 9)})
    basis = Basis(run, 0.5)
    assert ONLY_AUDITS not in VIEWS[view](basis)["words"]
    audited(1, run, dict.fromkeys(range(1, 9), "usable"), flagged_share=1.0, passed_share=0.5)
    words = VIEWS[view](basis)["words"]
    assert words[0] == ONLY_AUDITS
    assert "no labels" not in words[0]
