"""Export: the tables of a dataset as CSV."""

import pandas as pd
import streamlit as st

from data.exchange.columns import TABLES
from data.exchange.export import as_csv, table_rows
from data.store import cases, runs
from data.store.connection import data_revision
from pages.parts.choices import choose_dataset, choose_run
from pages.parts.guard import require_reviewer

require_reviewer()
st.title("Export")

dataset = choose_dataset(cases.datasets())
if dataset is None:
    st.stop()
of_dataset = runs.runs(dataset["id"])
run = choose_run(of_dataset, "Run (for verdicts and agreement)", none="all runs (no agreement table)")
run_id = run["id"] if run else None

for table, (what, _columns) in TABLES.items():
    with st.container(border=True):
        told, button = st.columns([4, 1], vertical_alignment="center")
        told.text(f"{table}: {what}")
        if table == "agreement" and run_id is None:
            told.text("Choose a run for this one.")
            continue
        of_run = f"-run{run_id}" if run_id and table in ("verdicts", "agreement") else ""
        button.download_button(
            "CSV",
            data=lambda table=table: as_csv(table, table_rows(table, dataset["name"], run_id)),
            # The revision in the name: without it a changed file of the same length could be served stale.
            file_name=f"{table}-dataset{dataset['id']}{of_run}-r{data_revision()}.csv",
            mime="text/csv",
            key=f"export-{table}",
            on_click="ignore",
            icon=":material/download:",
            help=f"Download the table of {table}",
        )

st.text(
    "CSV in UTF-8 that spreadsheets open right, Chinese texts included; cells that look like formulas are made harmless."
)
preview = st.selectbox("Look into a table", list(TABLES), index=None, placeholder="choose one to see its first rows")
if preview and not (preview == "agreement" and run_id is None):
    rows = table_rows(preview, dataset["name"], run_id)
    st.dataframe(pd.DataFrame(rows[:100]), hide_index=True)
