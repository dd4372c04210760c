"""What stands above the desk: which queue, how the dataset is reviewed, who got how far. Nothing in a closed popover is
looked up: the page runs again with every decision."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from data.store import cases, queues, reviews
from data.store.badcase_tags import offer_tags, offered_tags
from data.store.queues import KINDS, LEAST_SHARE, RANDOM, Filters, Queue
from data.store.review_settings import review_settings, set_review_settings
from pages.parts.choices import ANY, any_of, choose
from pages.parts.desk.desk import MODES
from pages.parts.plain import plain

#: What labels from a queue are worth, by its basis.
BASIS_WORDS = {
    "random": "Labels from this queue are a random sample: they enter every figure.",
    "designed": "Each case is drawn with a known chance: labels enter the figures that weight them, not the plain ones.",
    "opportunistic": "Picked, not drawn: labels from this queue are listed and never enter a figure.",
}


def choose_mode(dataset: Mapping, run: Mapping | None) -> str:
    """How the verdict is shown: as the dataset is set, else as the reviewer likes."""
    share = review_settings(dataset["id"])["blind_share"]
    options = {mode: words for mode, words in MODES.items() if mode != "mixed"}
    if share is not None:
        options = {_mode_of(share): _share_words(share), "adjudicate": MODES["adjudicate"]}
    if run is None:
        options = {"blind": MODES["blind"], "adjudicate": MODES["adjudicate"]}
    return choose("mode", "The verdict is", options, label_visibility="collapsed")


def choose_queue(dataset: Mapping, run: Mapping | None) -> Queue:
    """The queue, as the address has it; its popover changes it, and says what its labels are worth."""
    popover = st.popover(
        "Queue", icon=":material/filter_list:", on_change="rerun", key="queue-popover", width="stretch"
    )
    if not popover.open:
        return _asked_queue(run)
    with popover:
        worth = st.empty()  # above the controls, which may need scrolling
        _draw_queue(dataset, run)
        queue = _asked_queue(run)
        worth.text(BASIS_WORDS[queue.basis])
    return queue


def _asked_queue(run: Mapping | None) -> Queue:
    """The queue in the address; the random one where that cannot be."""
    asked = st.query_params
    kind = asked.get("queue", RANDOM)
    try:
        return Queue(
            kind=kind if kind in KINDS and (run or kind == RANDOM) else RANDOM,
            run_id=run["id"] if run else None,
            seed=int(asked.get("seed", 0)),
            flagged_share=float(asked.get("flagged", 0.5)),
            passed_share=float(asked.get("passed", 0.1)),
            filters=Filters(
                generator=asked.get("only_generator", ""), tag=asked.get("only_tag", ""),
                label=asked.get("only_label", "") if run else "",
                labelled_by=int(asked["only_reviewer"]) if "only_reviewer" in asked else None,
            ),
        )  # fmt: skip
    except ValueError as error:
        st.warning(plain(f"The queue in this address cannot be used ({error}); here is the random one."))
        return Queue()


def _draw_queue(dataset: Mapping, run: Mapping | None) -> None:
    kinds = KINDS if run else {RANDOM: KINDS[RANDOM]}
    kind = choose("queue", "Order", kinds, RANDOM)
    if not run:
        st.text("The other orders go by a run's verdicts: choose a run first.")
    again = "another number, another order" if kind in (RANDOM, "audit") else (
        "the order is written down when a round begins, as things are then; another number begins a new one"
    )  # fmt: skip
    _number("seed", "Round", 0, 0, 10**6, 1, again)
    if kind == "audit":
        _number(
            "flagged",
            "Share of the flagged",
            0.5,
            LEAST_SHARE,
            1.0,
            0.05,
            "chance of a case that the judge calls badcase",
        )
        _number("passed", "Share of the passed", 0.1, LEAST_SHARE, 1.0, 0.05, "chance of a case that it calls usable")
    st.text("Only these cases")
    choose("only_generator", "Generator", any_of(cases.generators(dataset["id"])))
    choose("only_tag", "Tag of the case", any_of(cases.tags(dataset["id"])))
    if run:
        choose("only_label", "The judge says", any_of(["usable", "badcase"]))
    people = {str(person["id"]): person["name"] for person in reviews.reviewers()}
    choose("only_reviewer", "Labelled by", {ANY: "any"} | people)


def _number(param: str, label: str, default: float, low: float, high: float, step: float, help_text: str) -> None:
    """A number that stands in the address unless it is the default."""
    try:
        given = min(max(type(default)(st.query_params.get(param, default)), low), high)
    except ValueError:
        given = default
    chosen = st.number_input(label, low, high, given, step, help=help_text, key=f"queue-{param}")
    if chosen == default:
        st.query_params.pop(param, None)
    else:
        st.query_params[param] = f"{chosen:g}"


def draw_settings(dataset: Mapping) -> None:
    """How everybody reviews this dataset, and the list of badcase tags."""
    popover = st.popover("Settings", icon=":material/tune:", on_change="rerun", key="settings-popover", width="stretch")
    if not popover.open:
        return
    now = review_settings(dataset["id"])
    with popover, st.form(f"review-settings-{dataset['id']}", border=False):
        st.text("They hold for everybody who reviews this dataset.")
        shares = {"each reviewer chooses": None, "blind, then revealed": 1.0, "shown": 0.0, "a random share blind": 0.5}
        at = next(i for i, share in enumerate(shares.values()) if _same_kind(share, now["blind_share"]))
        how = st.radio("The verdict is", list(shares), at)
        mixed = now["blind_share"] if now["blind_share"] not in (None, 0, 1) else 0.5
        share = st.number_input("Share blind, when random", 0.01, 0.99, mixed, 0.05,
                                help="Drawn once for each case and reviewer. At least 0.2 makes the two comparable.")  # fmt: skip
        overlap = st.number_input(
            "People who label each case", 1, 100, now["overlap"], placeholder="everybody every case"
        )
        tags = st.text_area(
            "Badcase tags, one a line (for all datasets)", "\n".join(offered_tags().values()), height=200
        )
        if st.form_submit_button("Save settings", type="primary"):
            chosen = shares[how]
            try:
                offer_tags([line for line in tags.splitlines() if line.strip()])
                set_review_settings(dataset["id"], share if chosen == 0.5 else chosen, overlap)
            except ValueError as error:
                st.error(plain(f"Not saved: {error}"))
            else:
                st.rerun()


def draw_progress(dataset: Mapping, criterion: str, reviewer: Mapping) -> None:
    """Who got how far in which queue, and what this person said last."""
    popover = st.popover(
        "Progress", icon=":material/groups:", on_change="rerun", key="progress-popover", width="stretch"
    )
    if not popover.open:
        return
    with popover:
        got = queues.progress(dataset["id"], criterion)
        if got:
            st.dataframe(
                pd.DataFrame([{"Reviewer": p["reviewer"], "Queue": p["queue"], "Labelled": p["labelled"], "Drawn": p["drawn"]}
                              for p in got]), hide_index=True,
            )  # fmt: skip
        else:
            st.text("Nobody has begun yet.")
        latest = reviews.latest_of(reviewer["id"], dataset["id"], criterion, 20)
        if latest:
            st.text("What you said last; open one to look again or to revise it.")
        for mine in latest:
            st.page_link(
                "pages/review.py", label=plain(f"{mine['external_id']}: {mine['label']}"),
                query_params={**st.query_params.to_dict(), "case": str(mine["case_id"])},
            )  # fmt: skip


def _mode_of(share: float) -> str:
    return "reveal" if share == 1 else "shown" if share == 0 else "mixed"


def _share_words(share: float) -> str:
    return MODES[_mode_of(share)] if share in (0, 1) else f"{share:.0%} of cases blind"


def _same_kind(one: float | None, other: float | None) -> bool:
    """Whether two shares are the same choice: none, blind, shown, or in between."""
    return (one is None) == (other is None) and (one is None or _mode_of(one) == _mode_of(other))
