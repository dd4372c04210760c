"""The browser's door. This file leads two lives.

Run by Streamlit as a script (and by its AppTest) it is the router: navigation, who is reviewing, the page. Imported by
the server it is the ASGI app: it loads the sample workspace into an empty home, serves the pictures, and prepares the
garbage collector.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

PAGES = (
    ("pages/overview.py", "Overview", ":material/home:"),
    ("pages/cases.py", "Cases", ":material/photo_library:"),
    ("pages/runs.py", "Runs", ":material/play_circle:"),
    ("pages/review.py", "Review", ":material/rate_review:"),
    ("pages/agreement.py", "Agreement", ":material/query_stats:"),
    ("pages/export.py", "Export", ":material/download:"),
    ("pages/judges.py", "Judges", ":material/gavel:"),
)
#: Opened by links only.
HIDDEN_PAGES = (
    ("pages/case.py", "Case", ":material/image:"),
    ("pages/rubric.py", "Rubric", ":material/checklist:"),
    ("pages/methods.py", "How is this computed?", ":material/help:"),
)

#: The desk wants the room that Streamlit leaves free around a page.
COMPACT = """<style>
[data-testid="stMainBlockContainer"] { padding: 3.8rem 2rem 0.75rem; }
[data-testid="stSidebarHeader"] { height: 2.2rem; }
</style>"""


def router() -> None:
    """One page of the app."""
    from pages.parts.guard import draw_reviewer, require_reviewer

    st.set_page_config(
        page_title="Second Look", page_icon=str(Path(__file__).parent / "pages/parts/icon.png"), layout="wide",
        initial_sidebar_state=210,
        menu_items={"About": "Second Look: where people check the judge."},
    )  # fmt: skip
    # Before any st.stop(): while no session has called it, Streamlit would run files of pages/ past this gate.
    page = st.navigation(
        [st.Page(path, title=title, icon=icon) for path, title, icon in PAGES]
        + [st.Page(path, title=title, icon=icon, visibility="hidden") for path, title, icon in HIDDEN_PAGES]
    )
    st.html(COMPACT)
    require_reviewer()
    draw_reviewer()
    page.run()


if __name__ == "__main__":
    router()
else:
    import gc
    import logging

    import openai  # noqa: F401 - imported here so that it is frozen with the rest
    import pandas  # noqa: F401
    import plotly.graph_objects  # noqa: F401
    from starlette.routing import Route

    from data.sample import load as sample
    from pages.parts.routes import Wary, picture

    st.navigation(
        [st.Page(lambda: None, title="starting", url_path="starting")]
    )  # leaves pages/-directory mode at once
    if sample.is_wanted():
        sample.load()

    def tell(error: Exception) -> bool:
        """A sentence for people on the page, the traceback into the server's log."""
        logging.getLogger("second_look").error("A page failed", exc_info=error)
        st.error("This page met an error that it should not have. Nothing stored is harmed: reload the page to go on.")
        st.text(f"For whoever mends it: {type(error).__name__}; the server's log has the details.")
        return True

    gc.collect()
    gc.freeze()  # Streamlit collects garbage after every rerun: 80 ms each with these imports, 8 ms once they are frozen
    app = st.App(__file__, routes=[Route("/picture/{size}/{name}", picture)], middleware=[Wary], on_script_error=tell)
