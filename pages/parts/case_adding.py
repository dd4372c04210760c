"""Adding cases: one by hand, or many from pictures and a table. Nothing is saved before it was shown."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from data.exchange import case_table
from data.exchange.columns import join_list
from data.exchange.pictures import Pictures, PicturesUnusable
from data.images import FORMATS
from data.store import cases
from pages.parts.paste import paste_pictures
from pages.parts.plain import plain
from pages.parts.table_import import TABLE_TYPES, draw_rejected, draw_tables

PICTURE_TYPES = [extension for extension, _media in FORMATS.values()] + ["jpeg", "tiff"]
NEW = "a new dataset"


def draw_add_one() -> None:
    """A prompt, its input images and its result, by file or by paste."""
    round_ = st.session_state.setdefault("add_one_round", 0)  # a new round is a form without what was just saved
    _say_saved("add_one_saved")
    st.session_state.pop("add_one_saved", None)
    dataset = _dataset_box("one", round_)
    prompt = st.text_area("Prompt", key=f"one-prompt-{round_}", height=90, placeholder="what the picture was to show")
    left, right = st.columns(2)
    with left:
        inputs = st.file_uploader(
            "Input images (for editing and references)",
            PICTURE_TYPES,
            accept_multiple_files=True,
            key=f"one-inputs-{round_}",
        )
        pasted_inputs = paste_pictures("or click here and paste input images", f"one-paste-inputs-{round_}", many=True)
    with right:
        result = st.file_uploader("Result image", PICTURE_TYPES, key=f"one-result-{round_}")
        pasted_result = paste_pictures("or click here and paste the result", f"one-paste-result-{round_}")
    name, made_by, tagged = st.columns(3)
    row = {
        "prompt": prompt,
        "case_id": name.text_input("Case id", key=f"one-id-{round_}", placeholder="made from the content if empty"),
        "generator": made_by.text_input("Generator", key=f"one-generator-{round_}", placeholder="who made the result"),
        "tags": tagged.text_input("Tags", key=f"one-tags-{round_}", placeholder="separated by commas"),
    }
    files = {f"input {n}: {f}": c for n, (f, c) in enumerate([*_named(inputs), *pasted_inputs], 1)}
    row["input_images"] = join_list(list(files))
    results = _named([result] if result else []) or pasted_result
    if results:
        row["result_image"] = f"result: {results[0][0]}"
        files[row["result_image"]] = results[0][1]
    if not dataset:
        st.text("Give the new dataset a name to save into it.")
    if st.button("Save case", type="primary", key="one-save", disabled=not dataset):
        matched = case_table.match([row], Pictures.of_files(files))
        if matched.problems:
            for problem in matched.problems:
                st.error(f"Not saved. {_sentence(problem.problem)}")
            return
        saved = case_table.save(dataset, matched)
        case_id = matched.cases[0][1].id
        st.session_state["add_one_saved"] = (_counts(saved), dataset, cases.find_case(dataset, case_id))
        st.session_state["add_one_round"] += 1
        st.rerun()


def draw_add_many() -> None:
    """N pictures and a table of prompts, or a zip and a table; every row is shown with its match before it is saved."""
    round_ = st.session_state.setdefault("add_many_round", 0)
    _say_saved("add_many_saved")
    draw_rejected()
    dataset = _dataset_box("many", round_)
    left, right = st.columns(2)
    with left:
        dropped = st.file_uploader(
            "Pictures, or one zip of them",
            [*PICTURE_TYPES, "zip"],
            accept_multiple_files=True,
            key=f"many-pictures-{round_}",
        )
    with right:
        tables = st.file_uploader(
            "Tables: prompts, verdicts, labels (CSV, Excel, JSON, Parquet)",
            TABLE_TYPES,
            accept_multiple_files=True,
            key=f"many-table-{round_}",
        )
        typed = st.text_area(
            "or one prompt a line, in the order of the pictures' names", key=f"many-typed-{round_}", height=110,
            disabled=bool(tables),
        )  # fmt: skip
    with st.expander("Which columns a table may have"):
        st.text("Any: what each one is gets proposed, and you can change it. A prompt and a result picture are enough.")
        st.text("Tables of Coze, coze-loop, deepeval, Vertex Gecko, VIEScore, Label Studio and Argilla are recognised.")
        st.text("Pictures go by their file names or links, or lie in the cells of the sheet.")
    if not dropped and not tables and not typed.strip():
        st.text(
            "Drop pictures and a table of prompts above; each row shows here how it matched before anything is saved."
        )
        return
    st.session_state.pop("add_many_saved", None)  # what was saved before is said until something new is there
    try:
        pictures = _pictures(dropped) if dropped or not tables else _pictures_in(tables)
    except PicturesUnusable as error:
        st.error(_sentence(str(error)))
        return
    if tables:
        told = draw_tables(dataset, tables, pictures, round_)
        if told:
            st.session_state["add_many_saved"] = (told, dataset, None)
            st.session_state["add_many_round"] += 1
            st.rerun()
        return
    rows = case_table.pair_prompts([line.strip() for line in typed.splitlines() if line.strip()], pictures.names())
    _draw_match(dataset, rows, pictures, (round_, [f.file_id for f in dropped], typed))


def _draw_match(dataset: str, rows: list[dict], pictures: Pictures, facts: tuple) -> None:
    if st.session_state.get("many_facts") != facts:  # decoding a few hundred pictures takes a while: once a change
        st.session_state["many_match"] = case_table.match(rows, pictures, keeping=False)
        st.session_state["many_facts"] = facts
    matched = st.session_state["many_match"]
    wrong = {}
    for problem in matched.problems:
        wrong.setdefault(problem.row, []).append(f"{problem.column}: {problem.problem}")
    shown = [
        {
            "Row": number,
            "Match": "; ".join(wrong.get(number, [])) or "ok",
            "Prompt": row.get("prompt", ""),
            "Inputs": row.get("input_images", ""),
            "Result": row.get("result_image", ""),
        }
        for number, row in enumerate(rows, 1)
    ]
    used = {part.source for _row, case in matched.cases for part in (*case.input_images, *case.result_images)}
    left_over = [name for name in pictures.names() if name not in used and name.rpartition("/")[2] not in used]
    st.text(
        f"{len(rows)} rows: {len(matched.cases)} cases, {len(wrong)} rows with something wrong, {matched.rejected} rejected."
    )
    for number, told in list(wrong.items())[:10]:
        st.text(f"Row {number}: {'; '.join(told)}")
    if len(wrong) > 10:
        st.text(f"and {len(wrong) - 10} rows more, see the table")
    _draw_effect(dataset, matched)
    if left_over:
        st.warning(f"{len(left_over)} pictures are in no row.")
        st.text(", ".join(left_over[:20]) + (" …" if len(left_over) > 20 else ""))
    if matched.unread:
        st.text(f"Columns that are not read here: {', '.join(matched.unread)}")
    st.dataframe(pd.DataFrame(shown), hide_index=True, height=min(420, 38 * (len(shown) + 1)))
    if not dataset:
        st.text("Give the new dataset a name to save into it.")
    if st.button(
        f"Save {len(matched.cases)} cases", type="primary", key="many-save", disabled=not matched.cases or not dataset
    ):
        report = case_table.save(dataset, case_table.match(rows, pictures))
        st.session_state["add_many_saved"] = (_counts(report), dataset, None)
        st.session_state["add_many_round"] += 1
        st.rerun()


def _draw_effect(dataset: str, matched: case_table.Matched) -> None:
    """What saving would do to a dataset that is there already."""
    if not dataset or cases.dataset_id(dataset) is None:
        return
    effect = cases.compare(dataset, case_table.completed(dataset, matched))
    st.text(f"Into {dataset}: {effect.new} new, {effect.changed} changed, {effect.unchanged} unchanged.")
    if effect.set_aside:
        st.warning(
            f"{effect.set_aside} labels are about cases that this changes. They are kept, but stop counting until the cases "
            "are as they were."
        )


def _pictures(dropped: list) -> Pictures:
    zips = [file for file in dropped if file.name.lower().endswith(".zip")]
    if len(zips) > 1 or (zips and len(dropped) > 1):
        raise PicturesUnusable("Drop either pictures or one zip, not both.")
    names = [file.name for file in dropped]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise PicturesUnusable(f"Two pictures are named {twice}; rename one, so that a row can say which it means.")
    return Pictures.of_zip(zips[0], zips[0].name) if zips else Pictures.of_files(dict(_named(dropped)))


def _pictures_in(tables: list) -> Pictures:
    """The pictures beside the tables in a zip, if one was dropped as a table."""
    zips = [file for file in tables if file.name.lower().endswith(".zip")]
    return Pictures.of_zip(zips[0], zips[0].name) if len(zips) == 1 else Pictures.none()


def _dataset_box(which: str, round_: int) -> str:
    """The name of the dataset that the cases go into; empty while a new one has no name."""
    known = [dataset["name"] for dataset in cases.datasets()]
    box, field = st.columns(2)
    chosen = box.selectbox(
        "Into the dataset", [*known, NEW], index=len(known), key=f"{which}-dataset", persist_state="session"
    )
    if chosen != NEW:
        return chosen
    name = field.text_input("Its name", key=f"{which}-new-dataset", max_chars=200, placeholder="e.g. shoes, October")
    if name.strip() in known:
        field.text("There is a dataset of that name; the cases go into it.")
    return name.strip()


def _named(files: list) -> list[tuple[str, bytes]]:
    return [(file.name, file.getvalue()) for file in files]


def _counts(report: dict) -> str:
    counts = report["cases"]
    return f"{report['dataset']}: " + ", ".join(f"{number} {what}" for what, number in counts.items() if number)


def _say_saved(key: str) -> None:
    said = st.session_state.get(key)
    if said:
        st.success("Saved.")
        told, dataset, case_id = said
        st.text(told)
        if case_id:
            st.page_link("pages/case.py", label="Open the case", query_params={"case": str(case_id)})
        there = {"dataset": str(cases.dataset_id(dataset))}
        st.page_link("pages/runs.py", label="Judge this dataset", icon=":material/play_circle:", query_params=there)
        st.page_link("pages/review.py", label="Review it", icon=":material/rate_review:", query_params=there)


def _sentence(text: str) -> str:
    """What is wrong, for an alert."""
    return plain(text[:1].upper() + text[1:] + ("" if text.endswith(".") else "."))
