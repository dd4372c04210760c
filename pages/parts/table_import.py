"""Bringing in tables: what each column is, what saving would do, and what was done. Nothing is saved before it was shown."""

from __future__ import annotations

import io
import shlex
from dataclasses import replace

import pandas as pd
import streamlit as st

from data.exchange import import_report
from data.exchange.bundles import is_bundle
from data.exchange.gathering import proposals_for, sources_in
from data.exchange.importing import ImportPlan, carry_out, plan_import
from data.exchange.pictures import Pictures
from data.exchange.proposing import Proposal
from data.exchange.reading import Source, TableUnreadable
from data.exchange.rejected import rejected_csv
from data.store.bulk import clean
from pages.parts.column_mapping import draw_choices, draw_columns, draw_keeping, draw_kept
from pages.parts.plain import plain

TABLE_TYPES = ["csv", "tsv", "txt", "xlsx", "json", "jsonl", "ndjson", "parquet", "zip"]
#: Rows that the preview shows.
_SHOWN = 100


def draw_tables(dataset: str, files: list, pictures: Pictures, round_: int) -> str | None:
    """The tables, how they are read, and what saving them would do; gives what was saved, in words, once it was."""
    try:
        found = _proposals(files, round_)
    except ValueError as error:
        st.error(_sentence(error))
        return None
    proposals = [_draw_table(proposal, f"{round_}-{place}") for place, proposal in enumerate(found)]
    if not dataset:
        st.text("Give the new dataset a name to save into it.")
    try:
        plan = _planned(dataset or "a new dataset", proposals, pictures, (round_, dataset, [f.file_id for f in files]))
    except ValueError as error:
        st.error(_sentence(error))
        return None
    _draw_plan(plan, pictures)
    if st.button(_button(plan), type="primary", key="many-save", disabled=not dataset or not _gives_something(plan)):
        try:
            done = carry_out(plan)
        except ValueError as error:
            st.error(_sentence(error))
            return None
        if any(file.rejected_rows for file in done.files):
            st.session_state["many_rejected"] = rejected_csv(done)
        return "\n".join(told.strip() for told in import_report.lines(_counts_only(done.report)))
    return None


def draw_rejected() -> None:
    """The rows that the last import did not take, to be mended and given again."""
    if content := st.session_state.get("many_rejected"):
        st.download_button(
            "Download the rows that were not taken", content, "rejected.csv", "text/csv", key="many-rejected"
        )


def _proposals(files: list, round_: int) -> list[Proposal]:
    facts = (round_, tuple(file.file_id for file in files))
    if st.session_state.get("many_tables_of") != facts:
        for file in files:
            if is_bundle(io.BytesIO(file.getvalue())):
                told = f"cli.py import {shlex.quote(file.name)} --dataset NAME"
                raise TableUnreadable(f"{file.name} is a bundle, a dataset as a whole: bring it in with {told}")
        sources = [source for file in files for source in sources_in(Source(file.name, file.getvalue()))]
        st.session_state["many_tables"] = proposals_for(sources)
        st.session_state["many_tables_of"] = facts
        st.session_state.pop("many_rejected", None)
    return st.session_state["many_tables"]


def _draw_table(proposal: Proposal, key: str) -> Proposal:
    """One table: its sheet, its columns, and what the file does not say."""
    proposal = _draw_sheet(proposal, key)
    said = f"{proposal.table.name}: {proposal.format}" if proposal.format else proposal.table.name
    with st.expander("What each column is", expanded=not proposal.mapping.fields):
        st.text(said)
        proposal = draw_kept(proposal, key)
        proposal = replace(proposal, mapping=draw_columns(proposal, key))
        keeping = st.container()
    proposal = replace(proposal, choices=draw_choices(proposal, key))
    with keeping:
        draw_keeping(proposal, key)
    return proposal


def _draw_sheet(proposal: Proposal, key: str) -> Proposal:
    sheets = proposal.table.sheets
    if len(sheets) < 2:
        st.text(proposal.table.name)
        return proposal
    chosen = st.selectbox(f"Sheet of {plain(proposal.table.source.short_name)}", sheets, sheets.index(proposal.table.sheet),
                          key=f"many-sheet-{key}")  # fmt: skip
    if chosen == proposal.table.sheet:
        return proposal
    try:
        return proposals_for([proposal.table.source], chosen)[0]
    except ValueError as error:
        st.error(_sentence(error))
        return proposal


def _planned(dataset: str, proposals: list[Proposal], pictures: Pictures, facts: tuple) -> ImportPlan:
    """The plan; made anew only when something that it rests on has changed, since decoding many pictures takes a while."""
    rests_on = (facts, [(p.table.name, p.mapping.as_dict(), p.choices) for p in proposals], pictures.names())
    if st.session_state.get("many_planned") != rests_on:
        with st.spinner("Reading …"):
            st.session_state["many_plan"] = plan_import(dataset, proposals, pictures)
        st.session_state["many_planned"] = rests_on
    return st.session_state["many_plan"]


def _draw_plan(plan: ImportPlan, pictures: Pictures) -> None:
    report = plan.report
    cases, wrong = report["cases"], {(p.get("file"), p["row"]) for p in report["problems"]}
    found = cases["new"] + cases["changed"] + cases["unchanged"]
    st.text(
        f"{report['rows']} rows: {found} cases, {len(wrong)} rows with something wrong, {cases['rejected']} rejected."
    )
    for line in import_report.lines(report | {"problems": [], "dataset": "Cases"}):
        st.text(line.strip())
    if report["labels_set_aside"]:
        st.warning(
            f"{report['labels_set_aside']} labels are about cases that this changes. They are kept, but stop counting until "
            "the cases are as they were."
        )
    left_over = [n for n in pictures.names() if n not in plan.named and n.rpartition("/")[2] not in plan.named]
    if left_over:
        st.warning(f"{len(left_over)} pictures are in no row.")
        st.text(", ".join(left_over[:20]) + (" …" if len(left_over) > 20 else ""))
    if report["problems"]:
        st.dataframe(pd.DataFrame(report["problems"][:1_000]), hide_index=True, height=220)
    for proposal, file in zip(plan.proposals, plan.files, strict=True):
        _draw_rows(proposal, file)


def _draw_rows(proposal: Proposal, file: import_report.FileReport) -> None:
    """The first rows as they are read, each with what is wrong with it."""
    wrong: dict[int, str] = {}
    for problem in file.problems:
        wrong[problem.row] = "; ".join(filter(None, (wrong.get(problem.row), f"{problem.column}: {problem.problem}")))
    shown = []
    for number, row in proposal.table.rows():
        cells = {target: clean(str(row.get(column, "")))[:300] for column, target in proposal.mapping.fields.items()}
        shown.append({"Row": number, "Match": wrong.get(number, "ok"), **cells})
        if len(shown) == _SHOWN:
            break
    st.text(f"{proposal.table.name}: the first {len(shown)} rows as they are read")
    st.dataframe(pd.DataFrame(shown), hide_index=True, height=min(320, 38 * (len(shown) + 1)))


def _button(plan: ImportPlan) -> str:
    counts = {
        kind: sum(plan.report[kind][what] for what in ("new", "changed", "unchanged")) for kind in import_report.KINDS
    }
    words = {"cases": "cases", "verdicts": "verdicts", "reviews": "labels"}
    told = [f"{count} {words[kind]}" for kind, count in counts.items() if count]
    return f"Save {', '.join(told)}" if told else "Save"


def _gives_something(plan: ImportPlan) -> bool:
    counts = [sum(plan.report[kind][what] for what in ("new", "changed", "unchanged")) for kind in import_report.KINDS]
    return any(counts) or plan.report["adjudications"] > 0


def _counts_only(report: dict) -> dict:
    return report | {"problems": [], "notes": [], "unread_columns": []}


def _sentence(error: Exception) -> str:
    """What is wrong, for an alert."""
    text = str(error)
    return plain(text[:1].upper() + text[1:] + ("" if text.endswith(".") else "."))
