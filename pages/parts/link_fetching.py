"""Pictures that are links: how many are fetched, what failed, and a button to try those again."""

from __future__ import annotations

import time

import pandas as pd
import streamlit as st

from data.links import start_fetching
from data.store import links

#: Seconds that a worker gets for its first sign of life.
STARTING_SECONDS = 15.0


def draw_fetching(dataset: dict | None = None) -> None:
    """How far fetching is, of a dataset (its row) or of all; nothing where no case names a link.

    Fetching is begun the first time that somebody looks; it is followed every two seconds while it goes on.
    """
    dataset_id, name = (dataset["id"], dataset["name"]) if dataset else (None, None)
    found = links.progress(dataset_id)
    if not found["links"]:
        return
    if found["waiting"] and not found["alive"] and name not in st.session_state.get("fetching_begun", {}):
        _begin(name)
    st.fragment(_progress, run_every="2s" if _goes_on(found, name) else None)(dataset_id, name, _goes_on(found, name))


def _begin(name: str | None) -> None:
    st.session_state.setdefault("fetching_begun", {})[name] = time.time()
    start_fetching(name)


def _goes_on(found: dict, name: str | None) -> bool:
    """Whether links are being fetched, or a worker has been started just now and is not there yet."""
    begun = st.session_state.get("fetching_begun", {}).get(name, 0)
    return bool(found["waiting"] and (found["alive"] or time.time() - begun < STARTING_SECONDS))


def _progress(dataset_id: int | None, name: str | None, was_going_on: bool) -> None:
    found = links.progress(dataset_id)
    told = f"{found['fetched']} of {found['links']} linked pictures fetched"
    told += f", {found['failed']} failed" if found["failed"] else ""
    st.progress((found["fetched"] + found["failed"]) / max(found["links"], 1), text=told)
    if found["waiting"]:
        st.text(f"{found['waiting']} are still to come; reviewing goes on meanwhile.")
    if found["waiting"] and not _goes_on(found, name) and st.button("Fetch them now", key=f"fetch-{dataset_id}"):
        _begin(name)
        st.rerun()
    if found["failed"]:
        _draw_failed(dataset_id, name)
    if was_going_on and not found["waiting"]:
        st.rerun()  # once more as a whole: the pictures are there now, and nothing is left to follow


def _draw_failed(dataset_id: int | None, name: str | None) -> None:
    with st.expander(f"{links.progress(dataset_id)['failed']} links gave no picture"):
        rows = links.failed(dataset_id)
        table = [{"Link": r["url"], "Why": r["problem"], "Cases": r["cases"], "Tried": r["tried"][:16]} for r in rows]
        st.dataframe(pd.DataFrame(table), hide_index=True)
        st.text("These cases stay as they are, with a placeholder; they can be reviewed all the same.")
        if st.button("Try these again", key=f"retry-{dataset_id}"):
            links.try_again(dataset_id)
            _begin(name)
            st.rerun()
