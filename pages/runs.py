"""Runs: start one, follow it, read what came of it."""

import streamlit as st

from data.store import cases, runs
from pages.parts.choices import choose_dataset, choose_run
from pages.parts.guard import require_reviewer
from pages.parts.run_follow import draw_progress, draw_results, draw_slowest
from pages.parts.run_start import draw_start

reviewer = require_reviewer()
st.title("Runs")

dataset = choose_dataset(cases.datasets())
if dataset is None:
    st.stop()
of_dataset = runs.runs(dataset["id"])
with st.expander("Start a run", expanded=not of_dataset):
    draw_start(dataset)
if not of_dataset:
    st.text(
        "No run of this dataset yet. Without one you can still label cases: the labels measure whatever judge comes."
    )
    st.stop()
run = choose_run(of_dataset)
draw_progress(run["id"])
draw_results(run["id"], reviewer)
draw_slowest(run["id"])
