"""Who is reviewing: asked once, kept in this browser. Every page begins with it."""

from __future__ import annotations

from urllib.parse import unquote

import streamlit as st

from data.store import reviews
from pages.parts.plain import plain

COOKIE = "second_look_reviewer"

_remember = st.components.v2.component(
    "second_look_remember",
    html="<span hidden></span>\n",
    js="""
// A tab keeps its name, whatever another tab of this browser does: sessionStorage is the tab's own. The cookie is only for
// new tabs. When the server has forgotten the tab (a restart) and took the cookie's name, the tab says who it is.
const KEY = "second_look_reviewer"
export default function ({ data, setTriggerValue }) {
  const mine = sessionStorage.getItem(KEY)
  if (mine !== null && mine !== data.name && !data.chosen) return setTriggerValue("mine", mine)
  sessionStorage.setItem(KEY, data.name)
  const wanted = `${data.cookie}=${encodeURIComponent(data.name)}`
  if (data.chosen && !document.cookie.split("; ").includes(wanted)) {
    document.cookie = `${wanted}; path=/; max-age=31536000; samesite=lax`
  }
}
""",
)


def require_reviewer() -> dict:
    """The reviewer of this session, as id and name. Unknown: asks, and the page ends there."""
    known = st.session_state.get("reviewer") or _from_cookie()
    if known is None:
        _ask()
        st.stop()
    st.session_state["reviewer"] = known
    return known


def draw_reviewer() -> None:
    """The reviewer's name in the sidebar, and the way to be somebody else."""
    reviewer = st.session_state.get("reviewer")
    if reviewer is None:
        return
    with st.sidebar:
        with st.popover(f"Reviewing as {plain(reviewer['name'])}", width="stretch"):
            st.text("Your reviews carry this name.")
            if st.button("I am somebody else", key="change_reviewer"):
                st.session_state["reviewer"] = None
                st.session_state["reviewer_asked"] = True
                st.rerun()
        _remember(
            key="remember_reviewer",
            data={"cookie": COOKIE, "name": reviewer["name"], "chosen": bool(st.session_state.get("reviewer_asked"))},
            on_mine_change=_be_the_tabs_own,
        )


def _be_the_tabs_own() -> None:
    """The tab says whose it is: the name in the cookie belongs to another tab."""
    name = st.session_state["remember_reviewer"].mine
    if name:
        st.session_state["reviewer"] = _reviewer(name)


def _from_cookie() -> dict | None:
    name = unquote(st.context.cookies.get(COOKIE, ""))
    if not name.strip() or st.session_state.get("reviewer_asked"):
        return None
    try:
        return _reviewer(name)
    except reviews.ReviewRefused:
        return None  # somebody edited the cookie: ask again


def _ask() -> None:
    st.title("Second Look")
    st.text("Where people check the judge. Your reviews are kept under your name; it is asked once on this browser.")
    with st.form("reviewer_form", width=420):
        name = st.text_input("Your name", max_chars=80, key="reviewer_name", placeholder="as your colleagues know you")
        if st.form_submit_button("Start", type="primary"):
            try:
                st.session_state["reviewer"] = _reviewer(name)
                st.session_state["reviewer_asked"] = True
            except reviews.ReviewRefused as error:
                st.error(str(error))
            else:
                st.rerun()


def _reviewer(name: str) -> dict:
    name = " ".join(name.split())
    return {"id": reviews.reviewer_named(name), "name": name}
