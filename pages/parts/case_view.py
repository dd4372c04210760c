"""One case: its pictures and texts, every verdict with the raw replies, every label, and the lead's decision."""

from __future__ import annotations

import uuid

import pandas as pd
import streamlit as st

from data.store import cases, reviews, rubrics, verdicts
from data.store.badcase_tags import tag_words
from evaluators.case import Case
from evaluators.metrics import CRITERIA
from evaluators.verdict import FLAG_WORDS, STATUS_WORDS, shown_score
from pages.parts.pictures import draw


def draw_case(row: dict, reviewer: dict) -> None:
    """Everything about the case of that row."""
    case = cases.load_cases([row["id"]])[row["id"]]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"{case.id} · {row['dataset']} · {case.generator or 'no generator named'} · revision {row['revision']}")
        st.page_link(
            "pages/review.py", label="Review this case", icon=":material/rate_review:",
            query_params={"case": str(row["id"]), "dataset": str(row["dataset_id"])},
        )  # fmt: skip
    look, said = st.columns([3, 2])
    with look:
        shown = {
            words: [part for part in parts if part.kind != "text"]
            for words, parts in (
                ("input", case.input), ("result", case.output), ("expected", case.expected), ("context", case.context)
            )
        }  # fmt: skip
        captions = [
            f"{words} {n}" if len(of) > 1 else words for words, of in shown.items() for n, _ in enumerate(of, 1)
        ]
        draw([part for of in shown.values() for part in of], captions, "screen")
        _draw_texts(case)
    with said:
        st.subheader("What people said")
        _draw_reviews(row, reviewer)
        st.subheader("What judges said")
        _draw_verdicts(row, reviewer)
        _draw_adjudication(row, reviewer)


def _draw_texts(case: Case) -> None:
    st.subheader("Prompt")
    st.code(case.prompt or "(none)", language=None, wrap_lines=True)
    for words, parts in (("Output", case.output), ("Expected", case.expected), ("Context", case.context)):
        texts = [part.text for part in parts if part.kind == "text"]
        if texts:
            st.subheader(words)
            for text in texts:
                st.code(text, language=None, wrap_lines=True)
    if case.tags:
        st.text("Tags: " + ", ".join(case.tags))


def _draw_reviews(row: dict, reviewer: dict) -> None:
    history = reviews.history(row["id"])
    if not history:
        st.text("Nobody has reviewed it yet.")
        return
    hidden = _said_by_others(row, reviewer, history)
    if hidden:
        people = {review["reviewer"] for review in hidden}
        st.text(f"{len(people)} of your colleagues have reviewed it; you have not.")
        if not st.toggle(
            "Show what they said", key=f"others-{row['id']}",
            help="Your own label on this case will no longer count as one of your own mind.",
        ):  # fmt: skip
            history = [review for review in history if review not in hidden]
        else:
            reviews.saw_verdicts(reviewer["id"], [row["id"]])
    if not history:
        return
    tags = tag_words()
    table = [
        {
            "When": review["created"][:16].replace("T", " "),
            "Who": review["reviewer"],
            "Label": review["label"] or "took a label back",
            "Blind": "blind" if review["blind"] else "verdict seen",
            "Stands": _standing(review, row),
            "Corrected": ", ".join(f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"
                                   for key, value in review["items"].items()),
            "Tags": ", ".join(tags[tag] for tag in review["tags"]),
            "Comment": review["comment"],
            "Criterion": review["criterion"],
            "Came by": review["queue"] or ("picked by hand" if review["basis"] == "opportunistic" else review["basis"]),
        }
        for review in history
    ]  # fmt: skip
    st.dataframe(pd.DataFrame(table), hide_index=True, alt="Reviews of this case, newest first")


def _said_by_others(row: dict, reviewer: dict, history: list[dict]) -> list[dict]:
    """What others said under criteria on which this person's own label does not stand yet."""
    mine = {c for c in CRITERIA if reviews.current_review(row["id"], c, reviewer["id"])}
    return [review for review in history if review["reviewer"] != reviewer["name"] and review["criterion"] not in mine]


def _standing(review: dict, row: dict) -> str:
    if review["label"] is None:
        return ""
    if review["undone"]:
        return "taken back"
    return "yes" if review["revision"] == row["revision"] else f"about revision {review['revision']}"


def _draw_verdicts(row: dict, reviewer: dict) -> None:
    found = verdicts.verdicts_of_case(row["id"])
    if found:
        reviews.saw_verdicts(reviewer["id"], [row["id"]])
    if not found:
        st.text("No judge has looked at it yet.")
    for verdict in found:
        words = verdict["label"] or verdict["status"]
        title = f"Run {verdict['run_id']}, {verdict['metric']}: {words} {shown_score(verdict['score'], verdict['threshold'])}"
        with st.expander(title, expanded=verdict is found[0]):
            st.text(f"{verdict['judge']['name']}, threshold {verdict['threshold']}, {verdict['created'][:16]}")
            if verdict["revision"] != row["revision"]:
                st.text(f"This is about revision {verdict['revision']}; the case has changed since.")
            if verdict["problem"]:
                st.text(f"{STATUS_WORDS[verdict['status']].capitalize()}: {verdict['problem']}")
            for flag in verdict["flags"]:
                st.text(FLAG_WORDS[flag])
            if verdict["items"]:
                st.dataframe(pd.DataFrame(map(_item_row, verdict["items"])).dropna(axis=1, how="all"), hide_index=True)
            _draw_rubric(verdict)
            if verdict["reason"]:
                st.code(verdict["reason"], language=None, wrap_lines=True)
            for step in verdict["steps"]:
                st.text(step)
            for reply in verdict["replies"]:
                told = f"Raw reply to {reply['aspect']}, attempt {reply['attempt']}"
                ended = f" (ended by {reply['finish_reason']})" if reply["finish_reason"] not in (None, "stop") else ""
                st.text(told + ended + ("; from the store" if reply["cached"] else ""))
                st.code(reply["text"] or reply["refusal"] or "(empty)", language=None, wrap_lines=True)


def _item_row(item: dict) -> dict:
    answered = item["kind"] != "sub_score"
    return {
        "Item": item["text"] if answered else item["key"],
        "Value": item["value"],
        "Answer": (item["answer"] or "missing") if answered else None,
        "Right": item["expected"],
        "Group": item["group"] if item["kind"] == "question" else None,
        "Context": item["node"],
    }


def _draw_rubric(verdict: dict) -> None:
    """Which version of the prompt's rubric was answered, and a way to edit it."""
    if verdict["rubric_id"] is None:
        return
    answered = rubrics.rubric_by_id(verdict["rubric_id"])
    newest = rubrics.latest(answered.prompt, answered.medium)
    older = "" if newest.version == answered.version else f"; it is at version {newest.version} now"
    st.text(f"Answered version {answered.version} of the rubric, by {answered.author}{older}.")
    st.page_link("pages/rubric.py", label="See or edit the rubric", query_params={"rubric": str(newest.id)})


def _draw_adjudication(row: dict, reviewer: dict) -> None:
    st.subheader("The label that counts")
    decisions = reviews.adjudications(row["id"])
    if _said_by_others(row, reviewer, decisions) and not st.session_state.get(f"others-{row['id']}"):
        told = "Somebody has decided it"
        st.text(f"{told}; it is shown once you have labelled the case, or when you choose to see what others said.")
        decisions = []
    for decision in decisions:
        when = decision["created"][:16].replace("T", " ")
        st.text(
            f"{when}, {decision['reviewer']} decided: {decision['label']} ({decision['criterion']}). {decision['reason']}"
        )
    with (
        st.popover("Adjudicate", help="A lead's decision counts instead of the reviewers' majority."),
        st.form(f"adjudicate-{row['id']}", border=False),
    ):
        criterion = st.selectbox(
            "What is decided", list(CRITERIA), index=list(CRITERIA).index("overall"), format_func=CRITERIA.get
        )
        label = st.radio("The case is", ["usable", "badcase"], index=None, horizontal=True)
        reason = st.text_input("Why", max_chars=500)
        if st.form_submit_button("Decide", type="primary") and label:
            reviews.adjudicate(uuid.uuid4().hex, row["id"], criterion, reviewer["id"], label, reason)
            st.rerun()
