"""Rubrics are kept by prompt, in versions; an edit changes nothing that was said before."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from data.runs import RunRefused, judge_run, plan
from data.store import cases as case_store
from data.store import connection, rubrics, run_figures
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.connection import rows, value
from data.store.rubrics import RubricRefused
from evaluators import METRICS, Options
from evaluators.rubric import Rubric, RubricQuestion
from tests.chat_server import ChatServer, drawn, said
from tests.conftest import REPOSITORY, kept_case, shade

GECKO = METRICS["gecko_image"]
CHOICES = ("a) left", "b) right", "c) up", "d) down")


def question(text: str, answer: str = "yes", kind: str = "object", number: int = 1) -> RubricQuestion:
    return RubricQuestion(number, text, answer, ("yes", "no"), kind)


def rubric(*texts: str, prompt: str = "a red square", medium: str = "image") -> Rubric:
    return Rubric(
        prompt, medium, tuple(question(text, number=i) for i, text in enumerate(texts, 1)), "{1}[red]", 2, 1, "judge: x"
    )


def texts(found: Rubric | None) -> list[str]:
    return [q.text for q in found.questions]


# --- keeping -----------------------------------------------------------------------------------------------------------


def test_a_rubric_is_kept_by_its_prompt_and_read_back_as_it_was():
    kept = rubrics.keep_first(rubric("is it red?", "is it a square?"))
    assert (
        rubrics.latest("a red square", "image") == kept == replace(rubric("is it red?", "is it a square?"), id=kept.id)
    )
    assert rubrics.rubric_by_id(kept.id) == kept
    for prompt, medium in (
        ("a red square ", "image"),
        ("A red square", "image"),
        ("a red square", "video"),
        ("", "image"),
    ):
        assert rubrics.latest(prompt, medium) is None
    assert rubrics.rubric_by_id(99) is None


def test_the_first_rubric_of_a_prompt_stays_the_first():
    first = rubrics.keep_first(rubric("is it red?"))
    assert rubrics.keep_first(rubric("is it blue?")) == first
    assert rubrics.versions("a red square", "image") == [first]


@pytest.mark.parametrize(
    "prompt", ["红色的方块", "a\nb", "x" * 100_000, "half an emoji \ud83d", "'; DROP TABLE rubrics; --"]
)
def test_any_prompt_has_its_rubric(prompt):
    kept = rubrics.keep_first(rubric("is it red?", prompt=prompt))
    assert rubrics.latest(prompt, "image").id == kept.id


def test_a_video_question_keeps_its_choices():
    film = Rubric("it rolls", "video", (RubricQuestion(1, "which way?", "b", CHOICES),))
    assert rubrics.keep_first(film).questions[0].choices == CHOICES
    assert rubrics.latest("it rolls", "video").questions == film.questions


def test_the_rubrics_of_a_dataset_are_the_newest_of_its_prompts(fill):
    dataset = fill(2)
    rubrics.keep_first(rubric("old?", prompt="square number 0"))
    new = rubrics.save_edited("square number 0", "image", [question("new?")], "Ada")
    rubrics.keep_first(rubric("other?", prompt="square number 9"))
    assert rubrics.of_dataset(dataset) == [new]


# --- editing -----------------------------------------------------------------------------------------------------------


def test_an_edit_is_the_next_version_and_the_older_ones_stay():
    first = rubrics.keep_first(rubric("is it red?", "is it round?"))
    second = rubrics.save_edited(
        "a red square", "image", [question(" is it red? "), question("is it big?", "no", "attribute")], "Ada"
    )
    assert (second.version, second.author, second.keywords, texts(second)) == (
        2,
        "Ada",
        "{1}[red]",
        ["is it red?", "is it big?"],
    )
    assert [q.id for q in second.questions] == [1, 2]
    assert [q.answer for q in second.questions] == ["yes", "no"]
    assert rubrics.latest("a red square", "image") == second
    assert rubrics.versions("a red square", "image") == [second, first]
    assert rubrics.save_edited("a red square", "image", [question("x?")], "Bo").version == 3


def test_a_person_may_write_the_first_rubric_too():
    kept = rubrics.save_edited("a new prompt", "image", [question("is it red?")], "Ada")
    assert (kept.version, kept.author) == (1, "Ada")
    assert rubrics.keep_first(rubric("is it blue?", prompt="a new prompt")) == kept


@pytest.mark.parametrize(
    ("questions", "medium", "problem"),
    [
        ([], "image", "A rubric needs at least one question."),
        ([question("a?"), question("  ")], "image", "Question 2 has no text."),
        ([question("a?", "maybe")], "image", "Question 1 needs one of these answers: yes, no."),
        ([question("a?", "")], "image", "Question 1 needs one of these answers: yes, no."),
        ([question("a?", "a")], "image", "Question 1 needs one of these answers: yes, no."),
        ([question("a?", kind="mood")], "image", "Question 1 needs one of these types: object, human"),
        ([question("a?", kind="")], "image", "Question 1 needs one of these types"),
        ([question("Is it red?"), question("is it RED? ")], "image", "Question 2 is asked twice."),
        ([RubricQuestion(1, "a?", "yes", CHOICES)], "video", "Question 1 needs one of these answers: a, b, c, d."),
        ([RubricQuestion(1, "a?", "e", CHOICES)], "video", "Question 1 needs one of these answers: a, b, c, d."),
        ([RubricQuestion(1, "a?", "a", CHOICES[:3])], "video", "Question 1 needs four choices"),
        ([RubricQuestion(1, "a?", "a", ())], "video", "Question 1 needs four choices"),
    ],
)
def test_a_rubric_that_cannot_be_asked_is_turned_down_in_a_sentence_and_not_kept(questions, medium, problem):
    with pytest.raises(RubricRefused, match=problem):
        rubrics.save_edited("a red square", medium, questions, "Ada")
    assert rubrics.versions("a red square", medium) == []


def test_two_questions_that_differ_by_a_sign_only_do_not_stop_a_run(fill, server, judge_at):
    dataset = fill(2)
    try:
        rubrics.save_edited("square number 0", "image", [question("is it red?"), question("is it red")], "Ada")
    except RubricRefused as error:
        assert "Question 2 is asked twice." in str(error)
    run_id = run_store.create_run(dataset, GECKO, judge_at(server.url), Options())
    judge_run(run_id)
    assert [row["status"] for row in verdict_store.result_rows(run_id)] == ["ok", "ok"]


def test_choices_without_their_letters_are_turned_down():
    with pytest.raises(RubricRefused):
        rubrics.save_edited(
            "it rolls", "video", [RubricQuestion(1, "which way?", "d", ("left", "right", "up", "down"))], "Ada"
        )


# --- with runs ---------------------------------------------------------------------------------------------------------


def yes_to_all(request):
    if request.wants == "answers":
        return said(answers=[{"id": number, "question": text, "verdict": "yes"} for number, text in request.asked])
    return None


@pytest.fixture
def square() -> int:
    """A dataset of two pictures of one prompt; gives its id."""
    made = [kept_case(f"c{i}", shade(i), "a red square") for i in range(2)]
    case_store.save_cases("squares", [case for case, _ in made], [kept for _, kept in made])
    return case_store.dataset_id("squares")


def judge(dataset: int, judge: dict, options: Options | None = None) -> int:
    run_id = run_store.create_run(dataset, GECKO, judge, options or Options())
    judge_run(run_id)
    return run_id


def test_pictures_of_a_prompt_and_a_second_judge_share_one_rubric(square, judge_at):
    with ChatServer(yes_to_all) as server:
        runs = [judge(square, judge_at(server.url)), judge(square, judge_at(server.url, "second"))]
        other = judge_at(server.url, "third", image_side=32)
        runs.append(judge(square, other))
    assert [request.wants for request in server.requests].count("questions") == 1
    assert value("SELECT count(*) FROM rubrics") == 1
    assert value("SELECT count(DISTINCT rubric_id) FROM verdicts") == 1
    assert [run_figures.summary(run)["mean_score"] for run in runs] == [1.0, 1.0, 1.0]


def test_an_edit_changes_no_earlier_verdict_and_an_older_one_says_which_rubric_it_answered(square, judge_at):
    with ChatServer(yes_to_all) as server:
        old = judge(square, judge_at(server.url))
        before = rows("SELECT * FROM verdicts"), rows("SELECT * FROM items")
        first = rubrics.latest("a red square", "image")
        edited = [question("is it a fork?", "no"), question("is it red?")]
        second = rubrics.save_edited("a red square", "image", edited, "Ada")
        assert (rows("SELECT * FROM verdicts"), rows("SELECT * FROM items")) == before
        new = judge(square, judge_at(server.url))
    assert [run_figures.summary(run)["mean_score"] for run in (old, new)] == [1.0, 0.5]
    newer, older = verdict_store.verdicts_of_case(1)
    assert [rubrics.rubric_by_id(v["rubric_id"]) for v in (newer, older)] == [second, first]
    assert rubrics.rubric_by_id(older["rubric_id"]).version < rubrics.latest("a red square", "image").version
    assert [item["text"] for item in newer["items"]] == ["is it a fork?", "is it red?"]
    assert [item["text"] for item in older["items"]] == texts(first)


def test_the_plan_knows_whether_a_prompt_has_its_rubric(square, judge_at):
    with ChatServer(yes_to_all) as server:
        endpoint = judge_at(server.url)
        assert plan(square, GECKO, endpoint, Options()).calls == 3  # the rubric once, the answers of each picture
        rubrics.keep_first(rubric("is it red?"))
        assert plan(square, GECKO, endpoint, Options()).calls == 2
        judge(square, endpoint)
        found = plan(square, GECKO, endpoint, Options())
    assert (found.calls, found.known, server.replies) == (2, 2, 2)


def test_a_prompt_without_a_usable_rubric_has_unreadable_verdicts_and_no_rubric_is_kept(square, judge_at):
    with ChatServer(lambda request: said(keywords="", questions=[])) as server:
        run_id = judge(square, judge_at(server.url))
    assert [row["status"] for row in verdict_store.result_rows(run_id)] == ["unreadable", "unreadable"]
    assert value("SELECT count(*) FROM rubrics") == 0


# --- several at once ---------------------------------------------------------------------------------------------------


def test_two_threads_that_make_the_first_rubric_at_once_end_with_one():
    connection.database()

    def keep(number: int) -> int:
        try:
            return rubrics.keep_first(rubric(f"question {number}?")).id
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        kept = set(threads.map(keep, range(16)))
    assert len(kept) == 1
    assert value("SELECT count(*) FROM rubrics") == 1


def test_two_workers_that_make_the_first_rubric_at_once_end_with_one_and_answer_it(square, judge_at):
    """Each worker gets a rubric of its own from its judge; both must ask the one that was kept first."""

    def slowly(request):
        answer = yes_to_all(request)
        if answer is None:
            first, second = (f"is {request.body['model']} {what}?" for what in ("red", "square"))
            questions = [
                {"id": i, "question": q, "type": "color", "answer": "yes"} for i, q in enumerate((first, second), 1)
            ]
            answer = replace(said(keywords="{1}[red] {2}[square]", questions=questions), delay=0.4)
        return answer

    with ChatServer(slowly) as server:
        runs = []
        for name in ("one", "two"):
            endpoint = judge_at(server.url, name, image_side=32 if name == "one" else 64)
            runs.append(run_store.create_run(square, GECKO, endpoint, Options()))
        workers = [
            subprocess.Popen([sys.executable, "cli.py", "resume", str(run)], cwd=REPOSITORY, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
            for run in runs
        ]  # fmt: skip
        problems = [worker.communicate(timeout=60)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], problems
    assert value("SELECT count(*) FROM rubrics") == 1
    assert value("SELECT count(DISTINCT rubric_id) FROM verdicts") == 1
    assert value("SELECT count(*) FROM verdicts WHERE status = 'ok'") == 4


def test_two_people_that_edit_at_once_make_two_versions():
    rubrics.keep_first(rubric("is it red?"))

    def edit(number: int) -> int:
        try:
            return rubrics.save_edited("a red square", "image", [question(f"edit {number}?")], "Ada").version
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(edit, range(4))) == [2, 3, 4, 5]


def test_a_run_that_does_not_exist_is_refused():
    with pytest.raises(RunRefused):
        judge_run(7)


def test_the_default_judge_of_these_tests_writes_rubrics_that_can_be_edited(square, server, judge_at):
    judge(square, judge_at(server.url))
    found = rubrics.latest("a red square", "image")
    assert texts(rubrics.save_edited(found.prompt, "image", found.questions, "Ada")) == texts(found)
    assert drawn(server.requests[0]).text
