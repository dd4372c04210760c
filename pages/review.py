"""The desk: look at a case, say usable or badcase, see what the judge said."""

import streamlit as st

from data.store import cases, runs
from pages.parts.choices import choose_dataset, choose_run
from pages.parts.desk import draw_desk
from pages.parts.desk.desk import Sitting
from pages.parts.guard import require_reviewer
from pages.parts.review_controls import choose_mode, choose_queue, draw_progress, draw_settings

reviewer = require_reviewer()

opened = st.query_params.get("case")
case = cases.case_by_id(int(opened)) if opened and opened.isdecimal() and len(opened) < 16 else None
if opened and case is None:
    st.warning("The case in this address does not exist; here is the queue instead.")
if case is not None and st.query_params.get("dataset") != str(case["dataset_id"]):
    st.query_params["dataset"] = str(case["dataset_id"])

where, beside, how, *rest = st.columns([2.5, 3.1, 2.2, 1.85, 2.1, 2.2], gap="small")
with where:
    dataset = choose_dataset(cases.datasets(), label_visibility="collapsed")
if dataset is None:
    st.stop()
if case is not None and case["dataset_id"] != dataset["id"]:
    case = None  # another dataset was chosen in the box
    del st.query_params["case"]
with beside:
    run = choose_run(
        runs.runs(dataset["id"]), "Beside the verdicts of run", none="no run: label only", label_visibility="collapsed"
    )
criterion = run["criterion"] if run else "overall"
with how:
    mode = choose_mode(dataset, run)
with rest[0]:
    queue = choose_queue(dataset, run)
with rest[1]:
    draw_settings(dataset)
with rest[2]:
    draw_progress(dataset, criterion, reviewer)

draw_desk(
    Sitting(
        dataset_id=dataset["id"],
        criterion=criterion,
        reviewer_id=reviewer["id"],
        run_id=run["id"] if run else None,
        mode=mode,
        queue=queue,
        first_case_id=case["id"] if case else None,
    )
)
