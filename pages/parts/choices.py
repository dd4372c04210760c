"""Choices that stand in the address, so that a page can be sent to a colleague as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import streamlit as st

#: The value of a choice that does not choose.
ANY = "any"


def choose(
    param: str, label: str, options: Mapping[str, str], default: str | None = None, kind: Callable = st.selectbox, **widget
) -> str | None:  # fmt: skip
    """A select box over `options` (value -> words) whose value is kept in the address as `param`.

    kind: another widget that chooses one. Gives the chosen value; None when there are no options. ANY is left out of the
    address.
    """
    if not options:
        return None
    key, seen = f"choice-{param}", f"choice-{param}-seen"
    wanted = st.query_params.get(param)
    if wanted in options and wanted != st.session_state.get(seen):
        st.session_state[key] = wanted  # the address was changed by a link, not by this box
    if st.session_state.get(key) not in options:
        st.session_state[key] = default if default in options else next(iter(options))
    chosen = kind(label, list(options), format_func=options.get, key=key, persist_state="session", **widget)
    st.session_state[seen] = chosen
    if chosen == ANY:
        st.query_params.pop(param, None)
    elif wanted != chosen:
        st.query_params[param] = chosen
    return chosen


def any_of(names: Iterable[str]) -> dict[str, str]:
    """Options for `choose`: one of these names, or any."""
    return {ANY: "any"} | {name: name for name in names}


def choose_dataset(datasets: list[dict], label: str = "Dataset", **widget) -> dict | None:
    """A dataset's row; None (with a sentence on the page) when there is none yet."""
    if not datasets:
        st.info("There are no cases yet.")
        st.page_link("pages/cases.py", label="Add cases", icon=":material/add_photo_alternate:")
        return None
    chosen = choose("dataset", label, {str(d["id"]): f"{d['name']} ({d['cases']} cases)" for d in datasets}, **widget)
    return next(d for d in datasets if str(d["id"]) == chosen)


def run_words(run: Mapping) -> str:
    """A run in one line, without what changes while it runs."""
    return f"{run['id']}: {run['metric']} · {run['judge_name']} · {run['cases']} cases"


def choose_run(runs: list[dict], label: str = "Run", none: str | None = None, **widget) -> dict | None:
    """A run's row, newest first; `none` offers to choose none, under those words."""
    options = {str(run["id"]): run_words(run) for run in reversed(runs)}
    if none:
        options["none"] = none
    chosen = choose("run", label, options, **widget)
    return next((run for run in runs if str(run["id"]) == chosen), None)
