"""Cases: look at them, search, add one or many; and everything ever said about one."""

import streamlit as st

from data.store import cases
from pages.parts.case_adding import draw_add_many, draw_add_one
from pages.parts.case_gallery import draw_gallery
from pages.parts.case_view import draw_case
from pages.parts.guard import require_reviewer

reviewer = require_reviewer()

opened = st.query_params.get("case")
if opened is not None:
    case = cases.case_by_id(int(opened)) if opened.isdecimal() else None
    st.page_link("pages/cases.py", label="All cases", icon=":material/arrow_back:")
    if case is None:
        st.warning("There is no such case in this workspace. The address may be from another one.")
    else:
        draw_case(case, reviewer)
    st.stop()

st.title("Cases")
look, add_one, add_many = st.tabs(["Look", "Add one", "Add many"])
with look:
    draw_gallery()
with add_one:
    draw_add_one()
with add_many:
    draw_add_many()
