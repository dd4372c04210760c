"""The rubric page: a person edits the questions, and the next version is asked."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from data.store import rubrics
from evaluators.rubric import Rubric, RubricQuestion
from tests.pages.test_pages import opened, told

PROMPT = "a red square"


@pytest.fixture
def kept() -> Rubric:
    questions = tuple(
        RubricQuestion(i, text, "yes", ("yes", "no"), kind)
        for i, (text, kind) in enumerate(
            [("is it red?", "color"), ("is it a square?", "shape"), ("is it big?", "attribute")], 1
        )
    )
    return rubrics.keep_first(Rubric(PROMPT, "image", questions, "{1}[red]", author="judge: tester"))


def page(rubric: Rubric) -> AppTest:
    app = opened("pages/rubric.py", rubric=str(rubric.id))
    assert not app.exception
    return app


def save(app: AppTest) -> AppTest:
    app.button(key="rubric-save").click().run()
    assert not app.exception
    return app


def errors(app: AppTest) -> list[str]:
    """What the page complains of, without the signs that keep markdown from reading it."""
    return [error.value.replace("\\", "") for error in app.error]


def now() -> list[tuple]:
    return [(q.text, q.answer, q.type) for q in rubrics.latest(PROMPT, "image").questions]


def test_the_questions_stand_there_with_the_prompt_and_the_version(kept):
    app = page(kept)
    assert [field.value for field in app.text_input] == ["is it red?", "is it a square?", "is it big?"]
    assert [box.value for box in app.selectbox if "type" in box.key] == ["color", "shape", "attribute"]
    assert PROMPT in [code.value for code in app.code]
    assert "Version 1, by judge: tester" in told(app)
    assert app.button(key="rubric-save").disabled


def test_an_edited_question_is_saved_as_the_next_version(kept):
    app = page(kept)
    app.text_input[0].set_value("is it crimson?")
    [box for box in app.selectbox if "answer" in box.key][1].set_value("no")
    [box for box in app.selectbox if "type" in box.key][2].set_value("other").run()
    assert now()[0][0] == "is it red?"  # nothing is kept before it is saved
    app = save(app)
    assert now() == [
        ("is it crimson?", "yes", "color"),
        ("is it a square?", "no", "shape"),
        ("is it big?", "yes", "other"),
    ]
    assert (rubrics.latest(PROMPT, "image").version, rubrics.latest(PROMPT, "image").author) == (2, "Cleo")
    assert "Version 2, by Cleo" in told(app) and "Earlier versions" in told(app)
    assert rubrics.rubric_by_id(kept.id) == kept


def test_a_question_is_deleted_and_edits_of_the_others_stay(kept):
    app = page(kept)
    app.text_input[2].set_value("is it huge?").run()
    next(button for button in app.button if button.key and button.key.endswith("-2-delete")).click().run()
    assert [field.value for field in app.text_input] == ["is it red?", "is it huge?"]
    save(app)
    assert [text for text, *_ in now()] == ["is it red?", "is it huge?"]


def test_a_question_is_added(kept):
    app = page(kept)
    app.button(key="rubric-add").click().run()
    app.text_input[3].set_value("is it alone?").run()
    save(app)
    assert now()[3] == ("is it alone?", "yes", "other")


def test_a_rubric_that_cannot_be_asked_is_refused_in_a_sentence_and_the_draft_stays(kept):
    app = page(kept)
    app.button(key="rubric-add").click().run()
    save(app)
    assert errors(app) == ["Question 4 has no text."]
    app.text_input[3].set_value("IS IT RED?").run()
    save(app)
    assert errors(app) == ["Question 4 is asked twice."]
    assert app.text_input[3].value == "IS IT RED?"
    assert rubrics.latest(PROMPT, "image") == kept


def test_deleting_every_question_is_refused(kept):
    app = page(kept)
    for _ in range(3):
        next(button for button in app.button if button.key and button.key.endswith("-delete")).click().run()
    save(app)
    assert errors(app) == ["A rubric needs at least one question."]


def test_an_older_version_s_address_leads_to_the_newest(kept):
    rubrics.save_edited(PROMPT, "image", kept.questions[:1], "Ada")
    app = page(kept)
    assert "Version 2, by Ada" in told(app)
    assert "2. is it a square? (yes)" in told(app)  # among the earlier versions


def test_a_video_question_is_edited_with_its_choices():
    choices = ("a) left", "b) right", "c) up", "d) down")
    first = rubrics.keep_first(Rubric(PROMPT, "video", (RubricQuestion(1, "which way?", "b", choices),)))
    app = page(first)
    app.text_area[0].set_value("a) left\nb) right\nc) in\nd) out").run()
    next(box for box in app.selectbox if "answer" in box.key).set_value("d").run()
    save(app)
    (question,) = rubrics.latest(PROMPT, "video").questions
    assert (question.answer, question.choices) == ("d", ("a) left", "b) right", "c) in", "d) out"))
    app = page(first)
    app.text_area[0].set_value("a) left").run()
    save(app)
    assert errors(app) == ["Question 1 needs four choices that begin with a), b), c) and d)."]


@pytest.mark.parametrize("number", ["", "x", "0", "99", "-1", "1e3", "9" * 30])
def test_an_address_that_leads_nowhere_says_so(number, kept):
    app = opened("pages/rubric.py", rubric=number)
    assert not app.exception
    assert "There is no such rubric" in told(app)


def test_texts_of_people_and_judges_are_shown_as_they_are(home):
    nasty = "![x](http://evil/x.png) <script>alert(1)</script> $x$ :red[y]"
    first = rubrics.keep_first(
        Rubric(nasty, "image", (RubricQuestion(1, nasty, "yes", ("yes", "no"), "other"),), nasty)
    )
    rubrics.save_edited(nasty, "image", [RubricQuestion(1, nasty + "?", "yes", ("yes", "no"), "other")], nasty)
    app = page(first)
    assert not [element.value for element in app.markdown if "evil" in element.value]
