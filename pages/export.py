"""Export: the tables of a dataset, in the format that is wanted."""

import os
import shlex
import tempfile
from pathlib import Path
from typing import BinaryIO

import streamlit as st

from data.exchange.export import first_rows
from data.exchange.writing import FORMATS, MEDIA_TYPES, NEED_RUN, OF_RUNS, TABLES, WHOLE, ending_of, write
from data.store import cases, runs
from data.store.connection import data_revision
from pages.parts.choices import choose, choose_dataset, choose_run
from pages.parts.guard import require_reviewer

#: Rows from which a file is better written by the command: the app has to hold a whole file to hand it out.
MANY = 50_000


def written(table: str, dataset: str, run_id: int | None, format: str, thumbnails: bool) -> BinaryIO:
    """The file, open and without a name on disk any more."""
    folder = tempfile.mkdtemp(prefix="second-look-export-")
    path = Path(folder) / f"export{ending_of(format)}"
    try:
        write(table, dataset, path, format=format, run_id=run_id, thumbnails=thumbnails)
        return path.open("rb")
    finally:
        path.unlink(missing_ok=True)
        os.rmdir(folder)


require_reviewer()
st.title("Export")

dataset = choose_dataset(cases.datasets())
if dataset is None:
    st.stop()
run = choose_run(runs.runs(dataset["id"]), "Run", none="all runs")
run_id = run["id"] if run else None

format = choose("format", "Format", {name: f"{name}: {what}" for name, (what, _) in FORMATS.items()})
thumbnails = format in ("xlsx", "coze") and st.checkbox("Put small pictures into the sheet", key="export-thumbnails")

for table, what in ({format: FORMATS[format][0]} if format in WHOLE else TABLES).items():
    with st.container(border=True):
        told, button = st.columns([4, 1], vertical_alignment="center")
        told.text(f"{table}: {what}")
        if table in NEED_RUN and run_id is None:
            told.text("Choose a run for this one.")
            continue
        of_run = f"-run{run_id}" if run_id and table in OF_RUNS else ""
        button.download_button(
            format,
            data=lambda table=table: written(table, dataset["name"], run_id, format, thumbnails),
            # The revision in the name: without it a changed file of the same length could be served stale.
            file_name=f"{table}-dataset{dataset['id']}{of_run}-r{data_revision()}{ending_of(format)}",
            mime=MEDIA_TYPES[ending_of(format)],
            key=f"export-{table}",
            on_click="ignore",
            icon=":material/download:",
            help=f"Download {table} as {format}",
        )

if dataset["cases"] >= MANY:
    st.text("So many cases are written with less memory from a terminal, for example:")
    st.code(f"cli.py export everything --dataset {shlex.quote(dataset['name'])} -o everything.parquet", language=None)
preview = st.selectbox("Look into a table", list(TABLES), index=None, placeholder="choose one to see its first rows")
if preview and not (preview in NEED_RUN and run_id is None):
    st.dataframe(first_rows(preview, dataset["name"], run_id), hide_index=True)
