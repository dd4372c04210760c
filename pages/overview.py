"""Where we stand, and what to do next."""

import pandas as pd
import streamlit as st

from data.reports.headline import agreement_report
from data.store import cases, reviews, runs
from pages.parts.guard import require_reviewer

reviewer = require_reviewer()
st.title("Overview")

all_datasets, all_runs = cases.datasets(), runs.runs()
if not all_datasets:
    st.info("This workspace is empty. Add cases: a prompt and its picture, or many at once.")
    st.page_link("pages/cases.py", label="Add cases", icon=":material/add_photo_alternate:")
    st.stop()

table, steps = [], []


def _labelled(report: dict) -> int:
    """How many labelled cases the figure beside it rests on."""
    return report["all_judged"]["labelled"] if report["by_audit"] else report["n"]


for dataset in all_datasets:
    of_dataset = [run for run in all_runs if run["dataset_id"] == dataset["id"] and not run["options"]["flaky"]]
    criterion = of_dataset[-1]["criterion"] if of_dataset else "overall"
    mine = reviews.reviewed_count(dataset["id"], criterion, reviewer["id"])
    report = agreement_report(of_dataset[-1]["id"]) if of_dataset else None
    table.append(
        {
            "Dataset": dataset["name"],
            "Cases": dataset["cases"],
            "Reviewed by you": mine,
            "Latest run": f"{of_dataset[-1]['id']}: {of_dataset[-1]['judge_name']}" if of_dataset else "none yet",
            "Labelled cases": _labelled(report) if report else 0,
            "Judge agrees with people": report["short"] if report else "not judged yet",
        }
    )
    if mine < dataset["cases"]:
        steps.append((dataset, of_dataset, dataset["cases"] - mine))

one, two, three, four = st.columns(4)
one.metric("Cases", sum(dataset["cases"] for dataset in all_datasets), border=True)
two.metric("Runs", len(all_runs), border=True)
three.metric("People", len([p for p in reviews.reviewers() if p["reviews"]]), border=True)
four.metric("Reviews that stand", sum(p["reviews"] for p in reviews.reviewers()), border=True)

st.subheader("What to do next")
for dataset, of_dataset, left in steps:
    params = {"dataset": str(dataset["id"])}
    if of_dataset:
        params["run"] = str(of_dataset[-1]["id"])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link("pages/review.py", label="Review", icon=":material/rate_review:", query_params=params)
        st.text(f"{left} cases of {dataset['name']} wait for your label.")
if not steps:
    st.text("You have looked at every case. Add cases, or start another run and compare.")
for run in all_runs:
    if run["status"] in ("interrupted", "stopped", "cancelled"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link(
                "pages/runs.py", label="Resume", icon=":material/play_circle:", query_params={"run": str(run["id"])}
            )
            st.text(f"Run {run['id']} has {run['cases'] - run['done']} cases to go ({run['status']}).")

st.subheader("Datasets")
st.dataframe(pd.DataFrame(table), hide_index=True, width="stretch")
st.page_link("pages/agreement.py", label="See how far the judges can be trusted", icon=":material/query_stats:")
