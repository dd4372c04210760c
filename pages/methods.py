"""How is this computed? One page of plain explanations. /methods?section=kappa puts that one first."""

import streamlit as st

from pages.parts.guard import require_reviewer
from pages.parts.methods.sections import SECTIONS, code_lines

require_reviewer()
st.title("How is this computed?")
st.page_link("pages/agreement.py", label="Back to the figures", icon=":material/arrow_back:")

wanted = st.query_params.get("section")
for section in SECTIONS:
    if section.anchor == wanted:
        with st.container(border=True):
            st.subheader(section.title, anchor=False)
            st.markdown(section.text)
            st.markdown("\n".join(code_lines(section)))
st.markdown(" · ".join(f"[{section.title}](#{section.anchor})" for section in SECTIONS))
for section in SECTIONS:
    st.subheader(section.title, anchor=section.anchor)
    st.markdown(section.text)
    if section.codes:
        st.markdown("**When the page says**\n\n" + "\n".join(code_lines(section)))
