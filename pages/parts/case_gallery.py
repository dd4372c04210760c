"""The gallery: thumbnails with what is known of each case at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import streamlit as st

from data.store import cases, reviews
from data.store.cases import CASE_STATES, CaseFilter
from evaluators.case import Case
from evaluators.verdict import label_of, shown_score
from pages.parts.choices import ANY, any_of, choose
from pages.parts.pictures import url

PER_PAGE = 24
COLUMNS = 6

_STYLE = """<style>
.second-look-card { display: flex; flex-direction: column; gap: 6px; font-size: .85rem; }
.second-look-card .frame { aspect-ratio: 1; border-radius: 8px; overflow: hidden; display: grid; place-items: center;
  background: rgba(128, 128, 128, .12); text-align: center; padding: 0; overflow-wrap: anywhere; }
.second-look-card .frame > div { padding: 10px; opacity: .8; }
.second-look-card img { width: 100%; height: 100%; object-fit: contain; display: block; }
.second-look-card .prompt { height: 2.7em; line-height: 1.35em; overflow: hidden; overflow-wrap: anywhere; }
.second-look-card .marks { min-height: 1.4em; font-size: .78rem; opacity: .85; }
</style>"""


def draw_gallery(reviewer: dict) -> None:
    """Filters, and a page of cards; each opens its case. What others said of a case stays hidden until one has labelled
    it oneself, or asks to see it: then one's label is not blind any more."""
    found_datasets = cases.datasets()
    if not found_datasets:
        st.info("There are no cases yet. Add one, or many at once, in the tabs beside this one.")
        return
    wanted = _filters(found_datasets)
    count = cases.count_cases(wanted)
    if not count:
        st.info("No case is like that. Clear the search or a filter to see more.")
        return
    pages = -(-count // PER_PAGE)
    page = st.pagination(pages, key="cases_page") if pages > 1 else 1
    told, spoil = st.columns([3, 2], vertical_alignment="center")
    told.text(f"{count} case{'s' if count != 1 else ''}")
    show_all = spoil.toggle(
        "Show verdicts and labels", key="cases_show_all", persist_state="session",
        help="Also of cases that you have not labelled. Your labels on what you see here will not count as blind.",
    )  # fmt: skip
    rows = cases.list_cases(wanted, PER_PAGE, (page - 1) * PER_PAGE)
    ids = [row["id"] for row in rows]
    marks = cases.marks(ids, reviewer["id"])
    if show_all:
        reviews.saw_verdicts(reviewer["id"], ids)
    draw_cards({i: _marks(m) if show_all or m["mine"] else _hidden_marks(m) for i, m in marks.items()})


def draw_cards(lines: Mapping[int, str]) -> None:
    """A card for each case id: its picture, its prompt, the line given for it, and a link that opens it."""
    whole = cases.load_cases(list(lines))
    st.html(_STYLE)
    ids = list(lines)
    for start in range(0, len(ids), COLUMNS):
        for case_id, column in zip(ids[start : start + COLUMNS], st.columns(COLUMNS), strict=False):
            with column:
                st.html(_card(whole[case_id], lines[case_id]))
                st.page_link("pages/case.py", label="Open", query_params={"case": str(case_id)})


def _filters(found_datasets: list[dict]) -> CaseFilter:
    where, what, made_by, tagged, state = st.columns([3, 3, 2, 2, 2])
    with where:
        options = {ANY: "all datasets"} | {str(d["id"]): f"{d['name']} ({d['cases']})" for d in found_datasets}
        dataset = choose("dataset", "Dataset", options)
    dataset_id = None if dataset == ANY else int(dataset)
    with what:
        search = st.text_input("Search in prompts and ids", key="q", bind="query-params")
    with made_by:
        generator = choose("generator", "Generator", any_of(cases.generators(dataset_id)))
    with tagged:
        tag = choose("tag", "Tag", any_of(cases.tags(dataset_id)))
    with state:
        chosen = choose("state", "State", {ANY: "any"} | CASE_STATES)
    return CaseFilter(dataset_id, search or "", *("" if c == ANY else c for c in (generator, tag, chosen)))


def _card(case: Case, line: str) -> str:
    media = [part for part in (*case.output, *case.input, *case.context) if part.kind != "text"]
    part = media[0] if media else None
    if part is None:
        frame = "<div>no picture</div>"
    elif part.path is None:
        frame = f"<div>{escape(part.problem)}</div>"
    else:
        frame = f'<img src="{url(part, "thumb")}" alt="{escape(case.id, quote=True)}" loading="lazy">'
    return (
        f'<div class="second-look-card"><div class="frame">{frame}</div>'
        f'<div class="prompt" title="{escape(case.prompt, quote=True)}">{escape(case.prompt) or "no prompt"}</div>'
        f'<div class="marks">{escape(line)}</div></div>'
    )


def _hidden_marks(marks: dict) -> str:
    judged = "judged" if marks["status"] else "not judged"
    return f"{judged} · {len(marks['labels'])} label{'s' if len(marks['labels']) != 1 else ''}"


def _marks(marks: dict) -> str:
    if marks["status"] is None:
        judge = "not judged"
    elif marks["score"] is None:
        judge = f"judge: {marks['status']}"
    else:
        label = label_of(marks["score"], marks["threshold"]) or "score"
        judge = f"judge: {label} {shown_score(marks['score'], marks['threshold'])}"
    people = ", ".join(marks["labels"]) or "none yet"
    return f"{judge} · people: {people}"
