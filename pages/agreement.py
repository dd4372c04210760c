"""Agreement: how far the judge of a run can be trusted, and where it and people part."""

import streamlit as st

from data.reports.headline import tried_words
from data.reports.html import cases_shown, report_html
from data.store import cases, reviews, runs
from data.store.agreement import BASES, Basis
from data.store.connection import data_revision
from pages.parts.agreement import apart, compare, generators, groups, headline, items, over_time, people, plan, scores
from pages.parts.agreement.view import Chosen
from pages.parts.choices import choose, choose_dataset, choose_run
from pages.parts.guard import require_reviewer

#: What can be looked at, by its name in the address. Only the chosen view is computed.
VIEWS = {
    "headline": ("Headline", headline.draw),
    "apart": ("Where they part", apart.draw),
    "groups": ("Groups", groups.draw),
    "items": ("Items", items.draw),
    "scores": ("Scores", scores.draw),
    "time": ("Over time", over_time.draw),
    "generators": ("Generators", generators.draw),
    "compare": ("Compare", compare.draw),
    "people": ("People", people.draw),
    "plan": ("Planning", plan.draw),
}

reviewer = require_reviewer()
title, reported, explained = st.columns([6, 2, 3], vertical_alignment="bottom")
title.title("Agreement")
explained.page_link("pages/methods.py", label="How is this computed?", icon=":material/help:")

where, which, how, at = st.columns([3, 4, 3, 2], vertical_alignment="bottom")
with where:
    dataset = choose_dataset(cases.datasets())
if dataset is None:
    st.stop()
with which:
    run = choose_run(runs.runs(dataset["id"]))
if run is None:
    st.text("No run of this dataset yet: there is no judge to compare with people.")
    st.page_link(
        "pages/runs.py",
        label="Start a run",
        icon=":material/play_circle:",
        query_params={"dataset": str(dataset["id"])},
    )
    st.stop()
with how:
    basis_name = choose("basis", "People's labels", BASES)
own = run["threshold"]
with at, st.popover("Threshold", icon=":material/tune:", width="stretch"):
    threshold = st.slider(
        "Usable from score", 0.0, 1.0, 0.5 if own is None else own, 0.01, key=f"try-{run['id']}",
        disabled=run["options"]["strict"], help="A strict run has set scores below 1 to 0: nothing else can be tried.",
    )  # fmt: skip
    st.text("Nothing is asked again, nothing is stored.")
tried = tried_words(run, threshold)
if tried:
    st.text(tried)


def report() -> bytes:
    """The report as a file. Whoever has it has seen the verdicts that it shows."""
    reviews.saw_verdicts(reviewer["id"], cases_shown(run["id"], basis_name, threshold))
    return report_html(run["id"], basis_name, threshold).encode("utf-8", "replace")


reported.download_button(
    "Report", data=report, file_name=f"agreement-run{run['id']}-r{data_revision()}.html", mime="text/html", key="report",
    on_click="ignore", icon=":material/summarize:", help="One page with all of this, to send or print",
)  # fmt: skip

view = choose(
    "view", "View", {name: words for name, (words, _draw) in VIEWS.items()}, kind=st.segmented_control, required=True,
    label_visibility="collapsed",
)  # fmt: skip
VIEWS[view][1](Chosen(dataset, run, Basis(run["id"], threshold, basis_name), reviewer))
