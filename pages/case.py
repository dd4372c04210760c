"""One case, with everything ever said about it. Its address can be sent: /case?case=ID."""

import streamlit as st

from data.store import cases
from pages.parts.case_view import draw_case
from pages.parts.guard import require_reviewer

reviewer = require_reviewer()
opened = st.query_params.get("case", "")
case = cases.case_by_id(int(opened)) if opened.isdecimal() and len(opened) < 16 else None
st.page_link("pages/cases.py", label="All cases", icon=":material/arrow_back:")
if case is None:
    st.warning("There is no such case in this workspace. The address may be from another one.")
else:
    draw_case(case, reviewer)
