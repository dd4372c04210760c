"""Queues: who is offered which case, in which order, with what chance; and that no case is anybody's twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from data.store import agreement, badcase_tags, queues, reviews
from data.store import cases as case_store
from data.store import judges as judge_store
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.connection import rows, value, writing
from data.store.queues import Filters, Queue
from data.store.review_settings import blind_cases, review_settings, set_review_settings
from evaluators import METRICS, Options, Verdict
from tests.conftest import REPOSITORY


@pytest.fixture
def ada() -> int:
    return reviews.reviewer_named("Ada")


@pytest.fixture
def ben() -> int:
    return reviews.reviewer_named("Ben")


def judged(
    dataset: int, scores: dict[int, float | None], name: str = "judge", flags: dict[int, tuple] | None = None
) -> int:
    """A run with these scores by case id; None is a refused one."""
    judge_store.save_recorded(name, {"model": name})
    run_id = run_store.create_run(dataset, METRICS["text_to_image"], judge_store.judge_named(name), Options())
    verdict_store.save_verdicts(run_id, [
        (case_id, 1, Verdict(f"c{case_id}", "text_to_image", "refused" if score is None else "ok", score=score, threshold=0.5,
                             flags=(flags or {}).get(case_id, ())))
        for case_id, score in scores.items()
    ])  # fmt: skip
    return run_id


def offered(dataset: int, reviewer: int, count: int = 100, **queue) -> list[int]:
    return [o["case_id"] for o in queues.next_cases(dataset, "overall", reviewer, count, queue=Queue(**queue))]


def label(case_id: int, reviewer: int, said: str = "usable", draw_id: int | None = None, token: str = "") -> None:
    reviews.save_review(
        reviews.Review(token or os.urandom(8).hex(), case_id, 1, "overall", reviewer, said, draw_id=draw_id)
    )


# --- orders ------------------------------------------------------------------------------------------------------------


def test_the_orders_that_go_by_a_run(fill, ada):
    dataset = fill(6)
    run = judged(dataset, {1: 0.9, 2: 0.45, 3: 0.1, 4: None, 5: 0.55, 6: 0.7}, flags={6: ("says_no_image",)})
    assert offered(dataset, ada, kind="lowest", run_id=run) == [3, 2, 5, 6, 1, 4]
    nearest = offered(dataset, ada, kind="nearest", run_id=run)
    assert (set(nearest[:2]), nearest[2:]) == ({2, 5}, [6, 1, 3, 4])
    assert offered(dataset, ada, kind="flagged", run_id=run) == [6, 2, 3, 1, 4, 5]
    assert {r["basis"] for r in rows("SELECT basis FROM queue_draws")} == {"opportunistic"}


def test_disagreements_of_judges_and_with_people_come_first(fill, ada, ben):
    dataset = fill(5)
    run = judged(dataset, {1: 0.9, 2: 0.9, 3: 0.9, 4: 0.1, 5: 0.9})
    judged(dataset, {1: 0.8, 2: 0.2, 3: 0.9, 4: 0.1, 5: None}, "other")
    label(5, ben, "badcase")
    label(1, ben, "unsure")
    assert offered(dataset, ada, kind="disagreement", run_id=run) == [2, 5, 1, 3, 4]


def test_cases_judged_later_are_put_behind(fill, ada):
    dataset = fill(3)
    run = judged(dataset, {1: 0.9})
    assert offered(dataset, ada, kind="lowest", run_id=run) == [1]
    verdict_store.save_verdicts(run, [(2, 1, Verdict("c1", "text_to_image", "ok", score=0.1, threshold=0.5))])
    assert offered(dataset, ada, kind="lowest", run_id=run) == [1, 2]


def test_a_seed_is_another_random_order(fill, ada):
    dataset = fill(30)
    orders = [offered(dataset, ada, seed=seed) for seed in (0, 1, 2, 0)]
    assert orders[0] == orders[3]
    assert len({tuple(order) for order in orders}) == 3
    assert {r["basis"] for r in rows("SELECT basis FROM queue_draws")} == {"random"}


@pytest.mark.parametrize("bad", [{"kind": "best"}, {"kind": "audit"}, {"passed_share": 0.01}, {"flagged_share": 1.5}])
def test_a_queue_that_makes_no_sense_is_refused(bad):
    with pytest.raises(ValueError, match=r"\w"):
        Queue(**bad)


# --- filters -----------------------------------------------------------------------------------------------------------


def test_filters_leave_cases_out_and_their_labels_never_count(fill, ada, ben):
    dataset = fill(4)
    run = judged(dataset, {1: 0.9, 2: 0.1, 3: 0.2, 4: None})
    with writing() as db:
        db.conn.execute("UPDATE cases SET generator = 'g1', tags_json = '[\"hands\"]' WHERE id IN (1, 3)")
    label(3, ben)

    def found(**wanted) -> set[int]:
        return set(offered(dataset, ada, run_id=run, filters=Filters(**wanted)))

    assert found(generator="g1") == found(tag="hands") == {1, 3}
    assert found(label="badcase") == {2, 3}
    assert found(label="badcase", generator="g1") == {3}
    assert found(labelled_by=ben) == {3}
    [draw] = rows("SELECT id, queue, basis FROM queue_draws WHERE queue LIKE '%generator=g1' AND case_id = 1")
    assert (draw["queue"], draw["basis"]) == ("random/generator=g1", "opportunistic")
    label(1, ada, "usable", draw["id"])
    assert sum(agreement.counts(agreement.Basis(run, 0.5, "all")).values()) == 0
    assert 1 not in found(generator="g1")  # done here
    assert 1 in offered(dataset, ada)  # and still in the sample


# --- the audit ---------------------------------------------------------------------------------------------------------


def test_an_audit_draws_each_stratum_with_its_chance_and_the_same_cases_for_everybody(fill, ada, ben):
    dataset = fill(600)
    run = judged(dataset, {i: 0.1 if i <= 200 else 0.9 for i in range(1, 600)} | {600: None})
    audit = {"kind": "audit", "run_id": run, "flagged_share": 0.5, "passed_share": 0.1}
    drawn = offered(dataset, ada, 1000, **audit)
    assert set(drawn) == set(offered(dataset, ben, 1000, **audit))
    flagged, passed = sum(i <= 200 for i in drawn), sum(200 < i < 600 for i in drawn)
    assert abs(flagged - 100) < 4 * (200 * 0.5 * 0.5) ** 0.5
    assert abs(passed - 40) < 4 * (399 * 0.1 * 0.9) ** 0.5
    assert 600 in drawn  # without a label there is nothing to weigh it by: all of those
    assert drawn != sorted(drawn)
    stored = {r["stratum"]: (r["pi"], r["basis"]) for r in rows("SELECT * FROM queue_draws")}
    assert stored == {"flagged": (0.5, "designed"), "passed": (0.1, "designed"), "no label": (1.0, "designed")}
    draws = value("SELECT count(*) FROM queue_draws")
    offered(dataset, ada, 5, **audit)
    assert value("SELECT count(*) FROM queue_draws") == draws  # what was left out is left out for good


def test_labels_of_an_audit_do_not_enter_the_plain_figures(fill, ada):
    dataset = fill(4)
    run = judged(dataset, {i: 0.1 for i in range(1, 5)})
    queue = Queue("audit", run, flagged_share=1.0)
    [first, *_] = queues.next_cases(dataset, "overall", ada, 10, queue=queue)
    label(first["case_id"], ada, "badcase", first["draw_id"])
    assert value("SELECT basis FROM reviews") == "designed"
    assert sum(agreement.counts(agreement.Basis(run, 0.5, "all")).values()) == 0
    assert agreement.left_out(agreement.Basis(run, 0.5, "all"))["audited"] == 1
    assert len(queues.next_cases(dataset, "overall", ada, 10, queue=queue)) == 3


def test_an_audited_case_joins_the_random_sample_when_the_random_order_comes_past_it(fill, ada):
    dataset = fill(30)
    run = judged(dataset, {i: 0.1 for i in range(1, 31)})
    order = queues.next_cases(dataset, "overall", ada, 30)
    audit = {
        o["case_id"]: o["draw_id"] for o in queues.next_cases(dataset, "overall", ada, 30, queue=Queue("audit", run))
    }
    early = next(o["case_id"] for o in order[:-1] if o["case_id"] in audit)
    label(early, ada, "badcase", audit[early])

    def counted() -> int:
        return sum(agreement.counts(agreement.Basis(run, 0.5, "all")).values())

    assert counted() == 0
    assert early not in offered(dataset, ada)  # it is not labelled twice
    at = [o["case_id"] for o in order].index(early)
    for one in order[: at + 2]:  # the next one in the random order after it
        if one["case_id"] != early:
            label(one["case_id"], ada, "usable", one["draw_id"])
    assert counted() == at + 2


def test_an_audit_of_another_run_tells_nothing_about_this_one(fill, ada):
    dataset = fill(4)
    run, other = judged(dataset, {i: 0.1 for i in range(1, 5)}), judged(dataset, {i: 0.9 for i in range(1, 5)}, "other")
    for one in queues.next_cases(dataset, "overall", ada, 4, queue=Queue("audit", other, passed_share=1.0)):
        label(one["case_id"], ada, "usable", one["draw_id"])
    assert sum(agreement.counts(agreement.Basis(run, 0.5, "all", with_audits=True)).values()) == 0
    assert sum(agreement.counts(agreement.Basis(other, 0.5, "all", with_audits=True)).values()) == 4


# --- many reviewers ----------------------------------------------------------------------------------------------------


def test_with_an_overlap_a_case_is_one_persons_at_a_time_until_enough_people_labelled_it(fill, ada, ben):
    dataset = fill(10)
    set_review_settings(dataset, None, 1)
    mine = offered(dataset, ada, 6)
    theirs = offered(dataset, ben, 6)
    assert len(mine) == 6 and len(theirs) == 4 and not set(mine) & set(theirs)
    assert queues.held_by_others(dataset, "overall", ben) == 6
    for case_id in mine:
        label(case_id, ada, draw_id=queues.draw_of(case_id, "overall", ada))
    assert offered(dataset, ben, 10) == theirs  # one label each is enough
    assert offered(dataset, ada, 10) == []


def test_what_one_person_audits_is_not_missing_from_the_random_sample_of_another(fill, ada, ben):
    dataset = fill(12)
    run = judged(dataset, {i: 0.1 if i <= 6 else 0.9 for i in range(1, 13)})
    set_review_settings(dataset, None, 1)
    for one in queues.next_cases(dataset, "overall", ada, 12, queue=Queue("audit", run, flagged_share=1.0)):
        label(one["case_id"], ada, draw_id=one["draw_id"])
    assert len(offered(dataset, ben, 12)) == 12


def test_a_second_queue_of_a_person_does_not_free_what_the_first_one_holds(fill, ada, ben):
    dataset = fill(10)
    run = judged(dataset, {i: i / 20 for i in range(1, 11)})
    set_review_settings(dataset, None, 1)
    first = offered(dataset, ada, 4)
    second = offered(dataset, ada, 4, kind="lowest", run_id=run)
    assert not set(offered(dataset, ben, 10)) & {*first, *second}


def test_a_lease_ends_by_itself(fill, ada, ben, monkeypatch):
    dataset = fill(3)
    set_review_settings(dataset, None, 1)
    assert len(offered(dataset, ada, 3)) == 3
    assert offered(dataset, ben, 3) == []
    clock = queues.time.time() + queues.LEASE_SECONDS + 1
    monkeypatch.setattr(queues.time, "time", lambda: clock)
    assert len(offered(dataset, ben, 3)) == 3
    assert offered(dataset, ada, 3) == []


def test_two_tabs_of_one_person_are_offered_the_same_and_count_once(fill, ada):
    dataset = fill(4)
    set_review_settings(dataset, None, 2)
    one, two = offered(dataset, ada, 4), offered(dataset, ada, 4)
    assert one == two
    for tab in ("one", "two"):
        label(one[0], ada, draw_id=queues.draw_of(one[0], "overall", ada), token=tab)
    assert value("SELECT count(*) FROM current_reviews") == 1
    assert offered(dataset, ada, 4) == one[1:]


def test_cases_that_others_have_begun_come_first(fill, ada, ben):
    dataset = fill(20)
    set_review_settings(dataset, None, 2)
    begun = offered(dataset, ada, 3)
    for case_id in begun:
        label(case_id, ada, draw_id=queues.draw_of(case_id, "overall", ada))
    assert set(offered(dataset, ben, 3)) == set(begun)


WORKER = """
import random, sys, time
from data.store import queues, reviews
reviewer, dataset = reviews.reviewer_named(sys.argv[1]), 1
chance, idle = random.Random(sys.argv[1]), 0
while idle < 40:
    offered = queues.next_cases(dataset, "overall", reviewer, 4)
    if not offered:
        idle += 1
        time.sleep(0.05)
        continue
    idle = 0
    for one in offered:
        print(time.time(), one["case_id"], "begins", flush=True)
    done = offered[: chance.randint(1, 4)]
    for one in [*done, *offered[len(done):]]:
        print(time.time(), one["case_id"], "ends", flush=True)
        if one in done:
            reviews.save_review(reviews.Review(
                f"{sys.argv[1]}/{one['case_id']}", one["case_id"], 1, "overall", reviewer, chance.choice(reviews.LABELS),
                draw_id=one["draw_id"]))
"""


@pytest.mark.timeout(110)
def test_ten_people_and_500_cases_at_overlap_2_make_exactly_1000_labels(fill):
    dataset = fill(500)
    assert dataset == 1
    set_review_settings(dataset, None, 2)
    people = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, f"person {n}"], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
        )
        for n in range(10)
    ]
    told = [person.communicate(timeout=100)[0] for person in people]
    assert [person.returncode for person in people] == [0] * 10
    labels = rows("SELECT case_id, reviewer_id FROM reviews")
    assert len(labels) == 1000
    assert set(Counter(r["case_id"] for r in labels).values()) == {2}
    assert len({(r["case_id"], r["reviewer_id"]) for r in labels}) == 1000
    events = sorted(line.split() for output in told for line in output.splitlines())
    held: set[str] = set()
    for _at, case_id, what in events:  # no case is on two people's desks at once
        if what == "begins":
            assert case_id not in held
            held.add(case_id)
        else:
            held.remove(case_id)
    assert value("SELECT count(*) FROM leases") == 0


def test_progress_by_reviewer_and_queue(fill, ada, ben):
    dataset = fill(3)
    run = judged(dataset, {1: 0.9, 2: 0.1})
    first = offered(dataset, ada)[0]
    label(first, ada, draw_id=queues.draw_of(first, "overall", ada))
    offered(dataset, ben, kind="lowest", run_id=run)
    told = [(p["reviewer"], p["queue"], p["labelled"], p["drawn"]) for p in queues.progress(dataset, "overall")]
    assert told == [("Ada", "random", 1, 3), ("Ben", f"lowest/run {run}", 0, 2)]


# --- blind or shown, by chance -----------------------------------------------------------------------------------------


def test_a_random_share_is_blind_drawn_once_for_each_case_and_person(fill, ada, ben):
    fill(1)
    ids = list(range(1, 401))
    with writing() as db:
        db.conn.executemany(
            "INSERT OR IGNORE INTO cases (id, dataset_id, external_id, prompt, generator, tags_json, created) "
            "VALUES (?, 1, ?, '', '', '[]', '')",
            [(i, f"x{i}") for i in ids],
        )
    blind = blind_cases(ids, "overall", ada, 0.3)
    assert abs(len(blind) - 120) < 4 * (400 * 0.3 * 0.7) ** 0.5
    assert blind_cases(ids, "overall", ada, 0.9) == blind  # as it was drawn
    assert blind_cases(ids, "overall", ben, 0.3) != blind
    assert blind_cases(ids[:5], "match", ada, 1.0) == set(ids[:5])


def test_review_settings_are_checked(fill):
    dataset = fill(1)
    assert review_settings(dataset) == {"blind_share": None, "overlap": None}
    set_review_settings(dataset, 0.25, 3)
    assert review_settings(dataset) == {"blind_share": 0.25, "overlap": 3}
    for share, overlap in ((1.5, None), (None, 0), (-0.1, 2)):
        with pytest.raises(ValueError, match="outside"):
            set_review_settings(dataset, share, overlap)
    assert review_settings(dataset) == {"blind_share": 0.25, "overlap": 3}


# --- tags --------------------------------------------------------------------------------------------------------------


def test_tags_can_be_changed_and_old_reviews_keep_theirs(fill, ada):
    fill(2)
    assert list(badcase_tags.offered_tags().values())[:2] == ["missing object", "wrong object"]
    reviews.save_review(reviews.Review("r", 1, 1, "overall", ada, "badcase", tags=["anatomy"]))
    badcase_tags.offer_tags(["手指错误", "wrong  object", "Text is wrong"])
    assert badcase_tags.offered_tags() == {
        "手指错误": "手指错误", "wrong_object": "wrong object", "text_is_wrong": "Text is wrong",
    }  # fmt: skip
    assert badcase_tags.tag_words()["anatomy"] == "anatomy"
    reviews.save_review(reviews.Review("s", 2, 1, "overall", ada, "badcase", tags=["手指错误", "anatomy"]))
    assert value("SELECT count(*) FROM reviews") == 2


@pytest.mark.parametrize("words", [["a", "A "], ["…"], ["x" * 41], [f"t{n}" for n in range(27)]])
def test_a_list_of_tags_that_cannot_be_is_refused_whole(words):
    before = badcase_tags.offered_tags()
    with pytest.raises(ValueError, match=r"\w"):
        badcase_tags.offer_tags(words)
    assert badcase_tags.offered_tags() == before


def test_a_case_of_another_dataset_is_not_offered(fill, ada):
    one, other = fill(2), fill(2, "boots")
    assert len(offered(one, ada)) == len(offered(other, ada)) == 2
    assert case_store.count_cases(case_store.CaseFilter(dataset_id=one)) == 2
