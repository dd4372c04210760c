"""What seeing the verdict does to people's labels, counted by hand."""

from __future__ import annotations

import pytest

from data.reports.anchoring import anchoring_report
from data.store import queues, reviews
from data.store.connection import writing
from data.store.reviews import Review
from evaluators.agreement import two_prop_diff
from tests.data.test_queues import judged

BAD, OK = "badcase", "usable"


def first(
    person: str, case_id: int, said: str, run: int, blind: bool, drawn: bool | None = None, picked: bool = False
) -> None:
    """A label at the desk. drawn: what chance decided for this case, None if it did not."""
    reviewer = reviews.reviewer_named(person)
    queues.next_cases(1, "overall", reviewer, 1)
    if drawn is not None:
        with writing() as db:
            db.conn.execute(
                "INSERT INTO blind_draws (case_id, criterion, reviewer_id, blind, created) VALUES (?, 'overall', ?, ?, '')",
                [case_id, reviewer, drawn],
            )
    reviews.save_review(Review(
        f"{person}/{case_id}", case_id, 1, "overall", reviewer, said, blind=blind, shown=not blind, run_id=run,
        draw_id=None if picked else queues.draw_of(case_id, "overall", reviewer),
    ))  # fmt: skip


def revised(person: str, case_id: int, said: str, run: int) -> None:
    reviewer = reviews.reviewer_named(person)
    reviews.saw_verdicts(reviewer, [case_id])
    reviews.save_review(
        Review(f"{person}/{case_id}/again", case_id, 1, "overall", reviewer, said, shown=True, run_id=run)
    )


@pytest.fixture
def run(fill) -> int:
    """A judge that flags the first ten of twenty cases."""
    return judged(fill(20), {i: 0.1 if i <= 10 else 0.9 for i in range(1, 21)})


def test_blind_beside_shown_as_chance_decided(run):
    for case_id in range(1, 11):  # blind: 6 of 10 with the judge
        first("Ada", case_id, BAD if case_id <= 6 else OK, run, blind=True, drawn=True)
    for case_id in range(11, 21):  # shown: 9 of 10
        first("Ada", case_id, OK if case_id <= 19 else BAD, run, blind=False, drawn=False)
    first("Ben", 1, OK, run, blind=False)  # nobody drew how Ben saw it
    report = anchoring_report(run)
    assert report["randomised"] is True
    assert [(report[arm]["value"], report[arm]["n"]) for arm in ("blind", "shown")] == [(0.6, 10), (0.9, 10)]
    expected = two_prop_diff(9, 10, 6, 10)
    assert (report["difference"]["value"], report["difference"]["lo"]) == (pytest.approx(0.3), expected.lo)
    assert report["blind_share"] == 0.5
    words = "\n".join(report["words"])
    assert "Chance decided who saw the verdict; seeing it changes the agreement by +30.0 points" in words
    assert "It may be chance" in words and "Fewer than 30 labels on one side" in words
    assert "Not comparable" not in words


def test_a_pull_is_called_one(fill):
    run = judged(fill(120), dict.fromkeys(range(1, 121), 0.9))
    for case_id in range(1, 121):
        blind = case_id <= 60
        first("Ada", case_id, BAD if blind and case_id % 2 else OK, run, blind=blind, drawn=blind)
    report = anchoring_report(run)
    assert report["difference"]["lo"] > 0
    assert "Seeing the verdict pulls people towards the judge" in "\n".join(report["words"])


def test_who_chose_what_to_see_is_not_comparable(run):
    for case_id in range(1, 5):
        first("Ada", case_id, OK if case_id == 1 else BAD, run, blind=True)
        first("Ben", case_id, BAD, run, blind=False)
    report = anchoring_report(run)
    assert (report["randomised"], report["difference"]) == (False, None)
    assert [(report[arm]["value"], report[arm]["n"]) for arm in ("blind", "shown")] == [(0.75, 4), (1.0, 4)]
    assert "Not comparable: who saw the verdict was not drawn at random." in "\n".join(report["words"])


def test_blind_disagreements_that_went_over_to_the_judge(run):
    for case_id in (1, 2, 3, 4):
        first("Ada", case_id, BAD if case_id == 4 else OK, run, blind=True, drawn=True)
    revised("Ada", 1, BAD, run)  # over to the judge
    revised("Ada", 2, "unsure", run)
    revised("Ada", 4, OK, run)  # away from it: agreed before
    report = anchoring_report(run)
    assert (report["revised"]["value"], report["revised"]["n"]) == (pytest.approx(1 / 3), 3)
    assert (report["blind"]["value"], report["blind"]["n"]) == (0.25, 4)  # the first labels
    assert "Of 3 blind labels that differ from the judge, the same person later changed 33.3 %" in report["words"][-1]


def test_a_revision_counts_wherever_the_case_came_from_then(run):
    first("Ada", 1, OK, run, blind=True, drawn=True)
    revised("Ada", 1, BAD, run)
    with writing() as db:  # looked up and revised without its draw
        db.conn.execute("UPDATE reviews SET basis = 'opportunistic', draw_id = NULL WHERE token = 'Ada/1/again'")
    report = anchoring_report(run)
    assert (report["revised"]["value"], report["revised"]["n"]) == (1.0, 1)


def test_labels_about_one_prompt_are_worth_less(run):
    for case_id in range(1, 11):
        first("Ada", case_id, BAD if case_id <= 6 else OK, run, blind=True, drawn=True)
    for case_id in range(11, 21):
        first("Ada", case_id, OK if case_id <= 19 else BAD, run, blind=False, drawn=False)
    alone = anchoring_report(run)
    with writing() as db:  # pairs of cases share a prompt: 1, 2; 3, 4; …
        db.conn.execute("UPDATE cases SET prompt = 'prompt ' || ((id + 1) / 2)")
    shared = anchoring_report(run)
    for arm in ("blind", "shown", "difference"):
        assert shared[arm]["value"] == pytest.approx(alone[arm]["value"])
        assert shared[arm]["hi"] - shared[arm]["lo"] > alone[arm]["hi"] - alone[arm]["lo"]
    # Blind: of five prompts three are wholly with the judge and two are not: V = 5/4 * (3 * .8^2 + 2 * 1.2^2) / 10^2.
    assert shared["blind"]["n_eff"] == pytest.approx(0.24 / 0.06)
    below = ((0.9 - shared["shown"]["lo"]) ** 2 + (shared["blind"]["hi"] - 0.6) ** 2) ** 0.5
    assert shared["difference"]["lo"] == pytest.approx(0.3 - below)
    assert shared["revised"]["clusters"] == 2


def test_labels_taken_back_as_slips_picked_cases_and_other_runs_are_left_out(run):
    ada = reviews.reviewer_named("Ada")
    first("Ada", 1, OK, run, blind=True)
    reviews.undo_review("slip", "Ada/1", ada)  # before any verdict was seen
    first("Ada", 2, OK, run, blind=True, picked=True)
    first("Ada", 3, "unsure", run, blind=True)
    other = judged(1, {4: 0.9}, "other")
    first("Ada", 4, BAD, other, blind=True)
    assert anchoring_report(run)["blind"]["n"] == 0
    assert anchoring_report(other)["blind"]["n"] == 1
    first("Ada", 5, OK, run, blind=True)
    reviews.saw_verdicts(ada, [5])
    reviews.undo_review("too late", "Ada/5", ada)  # it stays the first label
    assert anchoring_report(run)["blind"]["n"] == 1


def test_too_few_blind_ones_are_said(run):
    for case_id in range(1, 11):
        first("Ada", case_id, BAD, run, blind=case_id == 1, drawn=case_id == 1)
    report = anchoring_report(run)
    assert report["blind_share"] == pytest.approx(0.1)
    assert "Only 10 % of these labels are blind" in "\n".join(report["words"])


def test_nothing_to_compare_is_a_sentence(run):
    report = anchoring_report(run)
    assert (report["blind"]["value"], report["blind_share"], report["revised"]["reason"]) == (None, None, "no_data")
    assert report["words"][0].startswith("There are no first labels given blind")
    with writing() as db:
        db.conn.execute("UPDATE runs SET threshold = NULL WHERE id = ?", [run])
    assert "without labels" in anchoring_report(run)["words"][0]
