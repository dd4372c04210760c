"""What people said is kept as they said it, and what counts now follows from it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest

from data.store import agreement, queues, reviews
from data.store import cases as case_store
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.connection import rows, value
from data.store.reviews import Review, ReviewRefused
from evaluators import METRICS, Case, Options, Part, Verdict
from tests.conftest import REPOSITORY, kept_case


@pytest.fixture
def ada() -> int:
    return reviews.reviewer_named("Ada")


@pytest.fixture
def shoes(fill) -> int:
    """A dataset of three cases; gives its id."""
    return fill(3)


def review(token: str, case_id: int, reviewer_id: int, label: str = "usable", **facts) -> Review:
    return Review(
        **{"token": token, "case_id": case_id, "revision": 1, "criterion": "overall", "reviewer_id": reviewer_id,
           "label": label, "blind": True, **facts}
    )  # fmt: skip


def standing(view: str) -> list[str]:
    return [r["token"] for r in rows(f"SELECT token FROM {view} ORDER BY id")]


# --- reviews -----------------------------------------------------------------------------------------------------------


def test_a_revision_is_a_new_row_and_the_first_label_stays(shoes, ada):
    reviews.save_review(review("first", 1, ada, "usable", comment="nice", items={"SC.prompt_following": 4}))
    reviews.save_review(review("second", 1, ada, "badcase", blind=False, tags=["wrong_count"]))
    assert (standing("first_reviews"), standing("current_reviews")) == (["first"], ["second"])
    told = reviews.history(1)
    assert [(r["token"], r["label"], r["comment"], r["tags"], r["items"], r["reviewer"]) for r in told] == [
        ("second", "badcase", "", ["wrong_count"], {}, "Ada"),
        ("first", "usable", "nice", [], {"SC.prompt_following": 4.0}, "Ada"),
    ]


def test_an_undo_takes_a_review_back_without_deleting_it(shoes, ada):
    reviews.save_review(review("r", 1, ada))
    assert reviews.undo_review("u", "r", ada) is True
    assert standing("standing_reviews") == []
    told = reviews.history(1)
    assert [(r["token"], r["label"]) for r in told] == [("u", None), ("r", "usable")]
    assert told[1]["undone"] == told[0]["created"]


def test_undoing_a_revision_brings_the_first_label_back(shoes, ada):
    reviews.save_review(review("first", 1, ada, "usable"))
    reviews.save_review(review("second", 1, ada, "badcase"))
    reviews.undo_review("u", "second", ada)
    assert (standing("first_reviews"), standing("current_reviews")) == (["first"], ["first"])


def test_undoing_the_first_leaves_the_revision(shoes, ada):
    reviews.save_review(review("first", 1, ada, "usable"))
    reviews.save_review(review("second", 1, ada, "badcase"))
    reviews.undo_review("u", "first", ada)
    assert (standing("first_reviews"), standing("current_reviews")) == (["second"], ["second"])


def test_a_review_can_be_undone_once(shoes, ada):
    reviews.save_review(review("r", 1, ada))
    assert [reviews.undo_review(token, "r", ada) for token in ("u1", "u2", "u1")] == [True, False, False]
    assert value("SELECT count(*) FROM reviews") == 2


def test_nobody_undoes_what_another_person_said_and_an_undo_is_not_undone(shoes, ada):
    ben = reviews.reviewer_named("Ben")
    reviews.save_review(review("r", 1, ada))
    reviews.undo_review("u", "r", ada)
    for token, reviewer in (("r", ben), ("u", ada), ("never", ada)):
        with pytest.raises(ReviewRefused):
            reviews.undo_review("x", token, reviewer)


def test_a_token_is_taken_once_however_often_the_browser_sends_it(shoes, ada):
    assert [reviews.save_review(review("same", 1, ada)) for _ in range(3)] == [True, False, False]
    assert value("SELECT count(*) FROM reviews") == 1


def test_people_do_not_stand_in_each_others_way(shoes, ada):
    ben = reviews.reviewer_named("Ben")
    reviews.save_review(review("a", 1, ada, "usable"))
    reviews.save_review(review("b", 1, ben, "badcase"))
    reviews.save_review(review("m", 1, ada, "unsure", criterion="match"))
    assert standing("current_reviews") == ["a", "b", "m"]
    assert [(p["name"], p["reviews"]) for p in reviews.reviewers()] == [("Ada", 2), ("Ben", 1)]
    assert reviews.reviewed_count(shoes, "overall", ada) == 1


@pytest.mark.parametrize(
    "facts",
    [
        {"token": ""},
        {"token": "x" * 101},
        {"label": "fine"},
        {"label": None},
        {"tags": ["nonsense"]},
        {"items": {"SC.prompt_following": 11}},
        {"items": {"SC.prompt_following": -1}},
        {"items": {"SC.prompt_following": float("nan")}},
        {"case_id": 99},
        {"reviewer_id": 99},
        {"run_id": 99},
        {"comment": None},
        {"items": {"SC.prompt_following": None}},
        {"items": {"SC.prompt_following": [7]}},
        {"dwell_ms": 10**30},
        {"criterion": "beauty"},
        {"revision": 7},
    ],
    ids=str,
)
def test_what_is_no_review_is_refused_with_a_sentence_and_nothing_is_stored(facts, shoes, ada):
    with pytest.raises(ReviewRefused):
        reviews.save_review(replace(review("r", 1, ada), **facts))
    assert value("SELECT count(*) FROM reviews") == 0


def test_a_name_is_one_person_whatever_its_case_and_blanks(ada):
    assert reviews.reviewer_named("  ada ") == ada
    for name in ("", "   ", "x" * 81):
        with pytest.raises(ReviewRefused):
            reviews.reviewer_named(name)


def test_the_leads_decision_is_gold_and_the_newest_one_counts(shoes, ada):
    assert reviews.adjudicate("t1", 1, "overall", ada, "usable", "close enough")
    assert reviews.adjudicate("t2", 1, "overall", ada, "badcase", "no, look at the hand")
    assert not reviews.adjudicate("t2", 1, "overall", ada, "badcase", "sent twice")
    assert [a["label"] for a in rows("SELECT * FROM current_adjudications")] == ["badcase"]
    assert [a["reason"] for a in reviews.adjudications(1)] == ["no, look at the hand", "close enough"]
    with pytest.raises(ReviewRefused):
        reviews.adjudicate("t3", 1, "overall", ada, "unsure", "")


def test_two_processes_that_write_at_once_lose_nothing(shoes, ada):
    code = (
        "import sys; from data.store.reviews import Review, save_review, undo_review\n"
        "for i in range(60):\n"
        "    t = f'{sys.argv[1]}-{i}'\n"
        f"    assert save_review(Review(t, 1 + i % 3, 1, 'overall', {ada}, 'usable', items={{'SC.x': 3}}))\n"
        f"    if i % 3 == 0: assert undo_review('u' + t, t, {ada})\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, name], cwd=REPOSITORY, stderr=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    errors = [process.communicate(timeout=60)[1] for process in started]
    assert [process.returncode for process in started] == [0, 0], errors
    assert value("SELECT count(*) FROM reviews") == 160
    assert value("SELECT count(*) FROM review_items") == 120
    assert value("SELECT count(*) FROM standing_reviews") == 80


# --- changed cases -----------------------------------------------------------------------------------------------------


@pytest.fixture
def run(shoes, judge_at) -> int:
    """A run over the dataset with a verdict on its first case."""
    run_id = run_store.create_run(shoes, METRICS["text_to_image"], judge_at("http://localhost:1/v1"), Options())
    verdict_store.save_verdicts(run_id, [(1, 1, Verdict("c0", "text_to_image", "ok", score=0.8))])
    return run_id


def change_first_case() -> None:
    case, picture = kept_case("c0", "white", "another prompt")
    assert case_store.save_cases("shoes", [case], [picture]).changed == 1


def test_a_changed_case_gets_a_new_revision_and_what_was_said_of_the_old_one_no_longer_counts(shoes, run, ada):
    queues.next_cases(shoes, "overall", ada, 3)
    reviews.save_review(review("r", 1, ada, "usable", draw_id=queues.draw_of(1, "overall", ada)))
    basis = agreement.Basis(run, 0.5)
    assert agreement.counts(basis)["tn"] == 1

    change_first_case()

    assert case_store.case_by_id(1)["revision"] == 2
    assert standing("standing_reviews") == []
    assert sum(agreement.counts(basis).values()) == 0
    left_out = agreement.left_out(agreement.Basis(run, 0.5, "all"))
    assert {key: n for key, n in left_out.items() if n} == {"stale": 1}
    assert [r["token"] for r in reviews.history(1)] == ["r"]
    assert 1 not in verdict_store.verdicts_of_run(run, [1, 2, 3])
    assert [v["score"] for v in verdict_store.verdicts_of_case(1)] == [0.8]
    assert case_store.load_cases([1])[1].prompt == "another prompt"
    assert case_store.load_cases([1], {1: 1})[1].prompt == "square number 0"


def test_a_case_that_changed_comes_back_to_the_reviewers_queue(shoes, ada):
    for offered in queues.next_cases(shoes, "overall", ada, 3):
        token = f"r{offered['case_id']}"
        reviews.save_review(review(token, offered["case_id"], ada, draw_id=offered["draw_id"]))
    assert queues.next_cases(shoes, "overall", ada, 3) == []
    change_first_case()
    assert [offered["case_id"] for offered in queues.next_cases(shoes, "overall", ada, 3)] == [1]


def test_new_tags_or_another_generator_make_no_new_revision(shoes):
    case = replace(case_store.load_cases([1])[1], tags=("hands",), generator="Aster 1")
    assert case_store.save_cases("shoes", [case]).changed == 1
    found = case_store.case_by_id(1)
    assert (found["revision"], found["tags"], found["generator"]) == (1, ["hands"], "Aster 1")
    assert case_store.save_cases("shoes", [case]).unchanged == 1


def test_a_case_is_saved_whole_or_not_at_all(shoes):
    unknown = Part("image", sha256="0" * 64, source="ghost.png")
    good = Case("new", (Part.of_text("a prompt"),))
    with pytest.raises(sqlite3.IntegrityError):
        case_store.save_cases("shoes", [good, Case("bad", (), (unknown,))])
    assert case_store.find_case("shoes", "new") is None


def test_a_picture_whose_file_is_gone_leaves_a_case_that_says_so(shoes, home):
    for file in (home / "images").rglob("*.png"):
        file.unlink()
    [part] = case_store.load_cases([1])[1].result_images
    assert part.path is None
    assert part.problem == "c0.png: its file is missing from the workspace"


# --- looking for cases -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "search"),
    [
        ("A Blue Shoe", "blue"),
        ("a blue shoe", "BLUE"),
        ("两个红色球体", "红色"),
        ("100% wool_x", "100%"),
        ("École en été", "École"),
        ("Красный куб", "Красный"),
        ("ÄPFEL", "äpfel"),
    ],
)
def test_a_search_finds_a_prompt_whatever_its_case(prompt, search):
    case_store.save_cases("texts", [Case("x", (Part.of_text(prompt),)), Case("y", (Part.of_text("other"),))])
    assert [c["external_id"] for c in case_store.list_cases(case_store.CaseFilter(search=search), 10)] == ["x"]


def test_filters_by_state(shoes, run, ada):
    def found(state: str) -> list[int]:
        return [c["id"] for c in case_store.list_cases(case_store.CaseFilter(shoes, state=state), 10)]

    reviews.save_review(review("r", 2, ada))
    verdict_store.save_verdicts(run, [(3, 1, Verdict("c2", "text_to_image", "refused", problem="no"))])
    states = {state: found(state) for state in case_store.CASE_STATES}
    assert states == {"unreviewed": [1, 3], "reviewed": [2], "unjudged": [2], "problem": [3]}


# --- queues and gold ---------------------------------------------------------------------------------------------------


def test_everybody_has_a_random_order_of_their_own_that_stays(fill, ada):
    dataset, ben = fill(20), reviews.reviewer_named("Ben")
    order = [offered["case_id"] for offered in queues.next_cases(dataset, "overall", ada, 20)]
    assert sorted(order) == list(range(1, 21)) != order
    assert [offered["case_id"] for offered in queues.next_cases(dataset, "overall", ada, 20)] == order
    assert [offered["case_id"] for offered in queues.next_cases(dataset, "overall", ben, 20)] != order


def test_a_skipped_case_comes_last(shoes, ada):
    first, *rest = [offered["case_id"] for offered in queues.next_cases(shoes, "overall", ada, 3)]
    assert [offered["case_id"] for offered in queues.next_cases(shoes, "overall", ada, 3, [first])] == [*rest, first]


def test_a_label_on_a_case_that_somebody_picked_never_enters_a_figure(shoes, run, ada):
    reviews.save_review(review("picked", 1, ada, "badcase"))
    assert sum(agreement.counts(agreement.Basis(run, 0.5, "all")).values()) == 0
    assert agreement.left_out(agreement.Basis(run, 0.5, "all"))["picked"] == 1


def test_blind_figures_use_first_labels_and_the_others_the_current_ones(shoes, run, ada):
    queues.next_cases(shoes, "overall", ada, 3)
    draw = queues.draw_of(1, "overall", ada)
    reviews.save_review(review("first", 1, ada, "badcase", draw_id=draw))
    reviews.save_review(review("seen", 1, ada, "usable", blind=False, draw_id=draw))
    assert agreement.counts(agreement.Basis(run, 0.5, "blind"))["fn"] == 1
    assert agreement.counts(agreement.Basis(run, 0.5, "all"))["tn"] == 1


def test_a_draw_of_another_person_does_not_make_a_review_random(shoes, ada):
    ben = reviews.reviewer_named("Ben")
    queues.next_cases(shoes, "overall", ben, 3)
    reviews.save_review(review("r", 1, ada, draw_id=queues.draw_of(1, "overall", ben)))
    assert value("SELECT basis FROM reviews") == "opportunistic"


def test_two_people_who_differ_leave_a_case_unresolved_until_the_lead_decides(shoes, run, ada):
    ben = reviews.reviewer_named("Ben")
    for person, label in ((ada, "usable"), (ben, "badcase")):
        queues.next_cases(shoes, "overall", person, 3)
        reviews.save_review(review(label, 1, person, label, draw_id=queues.draw_of(1, "overall", person)))
    basis = agreement.Basis(run, 0.5)
    assert (sum(agreement.counts(basis).values()), len(agreement.unresolved(basis))) == (0, 1)
    assert list(agreement.vote_patterns(basis).values()) == [[(2, 1, 1)]]
    reviews.adjudicate("lead", 1, "overall", ada, "badcase", "")
    assert (agreement.counts(basis)["fn"], agreement.unresolved(basis)) == (1, [])
    [case] = agreement.disagreements(basis)
    assert (case["external_id"], case["gold"], case["judge"]) == ("c0", "badcase", "usable")


def test_a_tie_with_the_threshold_is_usable_and_another_threshold_needs_no_new_verdicts(shoes, run, ada):
    queues.next_cases(shoes, "overall", ada, 3)
    reviews.save_review(review("r", 1, ada, "usable", draw_id=queues.draw_of(1, "overall", ada)))
    assert agreement.counts(agreement.Basis(run, 0.8))["tn"] == 1
    assert agreement.counts(agreement.Basis(run, 0.8000001))["fp"] == 1
    assert agreement.counts(agreement.Basis(run, None))["unanswered_usable"] == 1


def test_half_an_emoji_does_not_lose_a_review(shoes, ada):
    reviews.save_review(replace(review("r", 1, ada), comment="half \ud83d of it"))
    assert value("SELECT comment FROM reviews") == "half ? of it"
