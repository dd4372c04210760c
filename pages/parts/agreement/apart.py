"""Where judge and people part, and where people have no majority."""

from __future__ import annotations

import streamlit as st

from data.store import agreement, reviews
from data.store.agreement import with_own_audits
from evaluators.verdict import shown_score
from pages.parts.agreement.view import Chosen
from pages.parts.case_gallery import draw_cards

_MOST = 60


def draw(chosen: Chosen) -> None:
    """The cases to look at again. Whoever reads them has seen their verdicts: no later label of theirs is blind there."""
    basis = with_own_audits(chosen.basis)
    st.subheader("Where they part")
    apart = agreement.disagreements(basis, _MOST)
    if not apart:
        any_labels = sum(agreement.counts(basis).values())
        st.text("Nowhere: judge and people agree on every counted case." if any_labels else "No label counts here yet.")
    else:
        cells = agreement.counts(basis)
        count = sum(cells.values()) - cells["tp"] - cells["tn"]
        reviews.saw_verdicts(chosen.reviewer["id"], [pair["case_id"] for pair in apart])
        first = f", the first {len(apart)} here" if count > len(apart) else ""
        st.text(f"{count} case{'s' if count != 1 else ''}{first}. Open one to see everything that was said of it.")
        draw_cards({pair["case_id"]: _apart_words(pair, basis.threshold) for pair in apart})
    tied = agreement.unresolved(basis, _MOST)
    if tied:
        st.subheader("Without a majority")
        st.text(
            "People's labels tie here, or all are unsure. Open a case to adjudicate it: the decision counts from then on."
        )
        draw_cards({pair["case_id"]: f"people: {pair['bad']} badcase, {pair['usable']} usable" for pair in tied})


def _apart_words(pair: dict, threshold: float | None) -> str:
    return f"judge: {pair['judge'] or pair['status']} {shown_score(pair['score'], threshold)} · people: {pair['gold']}"
