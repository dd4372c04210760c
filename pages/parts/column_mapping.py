"""What each column of a table is, and what the file does not say of itself: proposed, and changed by hand."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from data.exchange.mapping import (
    FIELDS,
    LABEL,
    LABEL_CONTENT,
    VERDICT,
    VERDICT_CONTENT,
    Choices,
    Mapping,
    kept_choices,
    split_field,
)
from data.exchange.proposing import Proposal, with_kept
from data.store import mappings as mapping_store
from data.store.bulk import clean
from evaluators.metrics import CRITERIA
from pages.parts.plain import plain

_UNREAD = "not read"


def draw_columns(proposal: Proposal, key: str) -> Mapping:
    """A row for each column: its name, what stands in it, and what it is."""
    sample = proposal.table.sample(20)
    mapping = Mapping()
    for place, column in enumerate(proposal.table.columns):
        field, item, name = split_field(proposal.mapping.fields.get(column, ""))
        told, example, what, whose = st.columns([2, 3, 3, 2])
        told.text(clean(column))
        example.text(clean(next((row[column] for row in sample if row.get(column, "").strip()), ""))[:80])
        options = [_UNREAD, *FIELDS]
        chosen = what.selectbox(
            plain(clean(column)), options, options.index(field) if field in FIELDS else 0, format_func=_words,
            key=f"many-is-{key}-{place}-{field}", label_visibility="collapsed",
        )  # fmt: skip
        if chosen == _UNREAD:
            continue
        item, name = _draw_whose(whose, chosen, column, item, name, f"{key}-{place}-{field}")
        mapping = mapping.with_column(column, f"{chosen}{item}" + (f"@{name}" if name else ""))
    return mapping


def _draw_whose(box, field: str, column: str, item: str, name: str, key: str) -> tuple[str, str]:
    """The key of an item, and whose verdict or label it is where several stand side by side."""
    if field.endswith(":"):
        item = box.text_input("Key", item or column, key=f"many-key-{key}", max_chars=200).strip() or column
    if FIELDS[field][0] in (VERDICT, LABEL) and field not in ("judge", "reviewer", "run"):
        asked = "Judge" if FIELDS[field][0] == VERDICT else "Person"
        name = box.text_input(
            asked, name, key=f"many-of-{key}", max_chars=80, placeholder="if there are several"
        ).strip()
        return item if field.endswith(":") else "", name.replace("@", " ")
    return item if field.endswith(":") else "", ""


def _words(field: str) -> str:
    return field if field == _UNREAD else f"{field.rstrip(':')} - {FIELDS[field][1]}"


def draw_kept(proposal: Proposal, key: str) -> Proposal:
    """Use a mapping that was kept earlier."""
    kept = [found["name"] for found in mapping_store.mappings()]
    chosen = st.selectbox("Use a kept mapping", ["", *kept], key=f"many-kept-{key}") if kept else ""
    return with_kept(proposal, chosen) if chosen else proposal


def draw_keeping(proposal: Proposal, key: str) -> None:
    """Keep what was chosen for the next file with these columns."""
    name, button = st.columns([3, 1], vertical_alignment="bottom")
    called = name.text_input("Keep this mapping as", key=f"many-keep-{key}", max_chars=80)
    if button.button("Keep", key=f"many-keep-button-{key}", disabled=not called.strip()):
        fields = {column: proposal.mapping.fields.get(column, "") for column in proposal.table.columns}
        mapping_store.keep_mapping(called, fields, kept_choices(proposal.choices))
        st.text("Kept: a file with the same columns is read so from now on.")


def draw_choices(proposal: Proposal, key: str) -> Choices:
    """What verdicts and labels are about, if the table has any."""
    choices, mapping = proposal.choices, proposal.mapping
    has_verdicts, has_labels = mapping.has(VERDICT_CONTENT), mapping.has(LABEL_CONTENT)
    if not has_verdicts and not has_labels:
        return choices
    boxes = st.columns(3)
    criteria = ["", *CRITERIA]
    criterion = boxes[0].selectbox(
        "What was asked", criteria, criteria.index(choices.criterion), key=f"many-criterion-{key}",
        format_func=lambda name: CRITERIA.get(name, "as the file says, else overall"),
    )  # fmt: skip
    choices = replace(choices, criterion=criterion)
    if has_verdicts:
        choices = _draw_verdict_choices(boxes, choices, mapping, key)
    if has_labels:
        choices = _draw_label_choices(choices, mapping, key)
    return choices


def _draw_verdict_choices(boxes: list, choices: Choices, mapping: Mapping, key: str) -> Choices:
    if not mapping.columns_of("judge") and not _names(mapping, VERDICT_CONTENT):
        judge = boxes[1].text_input(
            "Judge", choices.judge, key=f"many-judge-{key}", placeholder="the file's name if empty"
        )
        choices = replace(choices, judge=judge.strip())
    threshold = boxes[2].number_input(
        "Usable from the score", 0.0, 1.0, choices.threshold, 0.05, key=f"many-threshold-{key}",
        placeholder="as the labels say, else 0.5", help="0-1, once scores are brought to 0-1.",
    )  # fmt: skip
    return replace(choices, threshold=threshold)


def _draw_label_choices(choices: Choices, mapping: Mapping, key: str) -> Choices:
    boxes = st.columns(3)
    if not mapping.columns_of("blind"):
        blind = boxes[0].checkbox("Labels were given without seeing the judge", choices.blind, key=f"many-blind-{key}")
        choices = replace(choices, blind=blind)
    if not mapping.columns_of("basis"):
        random = boxes[1].checkbox("Labels are on all cases or a random draw", bool(choices.random),
                                   key=f"many-random-{key}")  # fmt: skip
        choices = replace(choices, random=random)
    if not mapping.columns_of("reviewer") and not _names(mapping, LABEL_CONTENT):
        who = boxes[2].text_input("Who labelled", choices.reviewer, key=f"many-reviewer-{key}", max_chars=80)
        choices = replace(choices, reviewer=who.strip())
    return choices


def _names(mapping: Mapping, fields: frozenset[str]) -> bool:
    """Whether columns of these fields name whose they are."""
    return any(split_field(f)[2] for f in mapping.fields.values() if split_field(f)[0] in fields)
