"""A prompt's rubric: its questions, in every version; editing makes the next version. Its address: /rubric?rubric=ID."""

from dataclasses import replace

import streamlit as st

from data.store import rubrics
from data.store.rubrics import RubricRefused
from evaluators.rubric import LETTERS, QUESTION_TYPES, RubricQuestion
from pages.parts.guard import require_reviewer
from pages.parts.plain import plain

reviewer = require_reviewer()
opened = st.query_params.get("rubric", "")
shown = rubrics.rubric_by_id(int(opened)) if opened.isdecimal() and len(opened) < 16 else None
if shown is None:
    st.warning("There is no such rubric in this workspace. Open one from a case that a Gecko metric has judged.")
    st.page_link("pages/cases.py", label="All cases", icon=":material/arrow_back:")
    st.stop()

st.title("Rubric")
versions = rubrics.versions(shown.prompt, shown.medium)
newest = versions[0]
st.text("The prompt:")
st.code(newest.prompt, language=None, wrap_lines=True)
if newest.keywords:
    st.text("Its key words, as marked when the rubric was made:")
    st.code(newest.keywords, language=None, wrap_lines=True)
st.text(
    f"Version {newest.version}, by {newest.author}. Every {newest.medium} of this prompt is asked these questions, by every "
    "judge. Verdicts keep the version that they answered."
)

key = f"rubric-draft-{newest.id}"
draft: list[RubricQuestion] = st.session_state.setdefault(key, list(newest.questions))
edited = []
for place, question in enumerate(draft):
    text, right, kind, away = st.columns([6, 2, 2, 1], vertical_alignment="bottom")
    asked = text.text_input(f"Question {place + 1}", question.text, key=f"{key}-{question.id}-text")
    if newest.medium == "image":
        answers = ("yes", "no")
        answer = right.selectbox(
            "Right answer", answers, answers.index(question.answer), key=f"{key}-{question.id}-answer"
        )
        type_ = kind.selectbox(
            "Type", QUESTION_TYPES, QUESTION_TYPES.index(question.type or "other"), key=f"{key}-{question.id}-type"
        )
        choices = question.choices
    else:
        lines = kind.text_area("Choices, one a line", "\n".join(question.choices), key=f"{key}-{question.id}-choices")
        choices = tuple(line.strip() for line in lines.splitlines() if line.strip())
        answer = right.selectbox(
            "Right letter", tuple(LETTERS), LETTERS.index(question.answer), key=f"{key}-{question.id}-answer"
        )
        type_ = ""
    if away.button("Delete", key=f"{key}-{question.id}-delete", help="Leave this question out of the next version"):
        draft.remove(question)
        st.rerun()
    edited.append(replace(question, text=asked, answer=answer, type=type_, choices=choices))

add, save = st.columns([1, 1])
if add.button("Add a question", key="rubric-add"):
    blank = ("yes", "no") if newest.medium == "image" else tuple(f"{letter}) " for letter in LETTERS)
    number = max((question.id for question in draft), default=0) + 1
    draft.append(RubricQuestion(number, "", blank[0][0] if newest.medium == "video" else "yes", blank, "other"))
    st.rerun()
changed = [q.text for q in edited] != [q.text for q in newest.questions] or [
    (q.answer, q.type, q.choices) for q in edited
] != [(q.answer, q.type, q.choices) for q in newest.questions]
if save.button("Save as the next version", type="primary", key="rubric-save", disabled=not changed):
    try:
        kept = rubrics.save_edited(newest.prompt, newest.medium, edited, reviewer["name"])
    except RubricRefused as error:
        st.error(plain(str(error)))
    else:
        del st.session_state[key]
        st.query_params["rubric"] = str(kept.id)
        st.rerun()

if len(versions) > 1:
    st.subheader("Earlier versions")
    for version in versions[1:]:
        with st.expander(f"Version {version.version}"):
            st.text(f"By {version.author}")
            for question in version.questions:
                st.text(f"{question.id}. {question.text} ({question.answer})")
