"""Agreement: how far the judge of a run can be trusted, and where it and people part."""

import streamlit as st

from data.store import cases, runs
from data.store.agreement import BASES, Basis
from pages.parts.agreement import apart, headline, items, over_time
from pages.parts.agreement.view import Chosen
from pages.parts.choices import choose, choose_dataset, choose_run
from pages.parts.guard import require_reviewer

#: What can be looked at, by its name in the address. Only the chosen view is computed.
VIEWS = {
    "headline": ("Headline", headline.draw),
    "apart": ("Where they part", apart.draw),
    "items": ("Item by item", items.draw),
    "time": ("Over time", over_time.draw),
}

reviewer = require_reviewer()
st.title("Agreement")

where, which, how = st.columns([3, 4, 3])
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

if run["threshold"] is None:
    st.text("This run gives scores without labels. Choose a threshold to see how it would agree.")
threshold = run["threshold"]
with st.expander("Try another threshold (nothing is asked again, nothing is stored)", expanded=threshold is None):
    tried = st.slider(
        "Usable from score", 0.0, 1.0, 0.5 if threshold is None else threshold, 0.01, key=f"try-{run['id']}",
        disabled=run["options"]["strict"], help="A strict run has set scores below 1 to 0: nothing else can be tried.",
    )  # fmt: skip
    if tried != threshold:
        st.text(
            "Trying thresholds on the labels that measure them flatters: the best one here will do less well on new cases."
        )
    threshold = tried

view = choose(
    "view", "View", {name: words for name, (words, _draw) in VIEWS.items()}, kind=st.segmented_control, required=True,
    label_visibility="collapsed",
)  # fmt: skip
VIEWS[view][1](Chosen(dataset, run, Basis(run["id"], threshold, basis_name), reviewer))
