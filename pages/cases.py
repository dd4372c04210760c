"""Cases: look at them, search, add one or many."""

import streamlit as st

from pages.parts.case_adding import draw_add_many, draw_add_one
from pages.parts.case_gallery import draw_gallery
from pages.parts.guard import require_reviewer
from pages.parts.link_fetching import draw_fetching

reviewer = require_reviewer()
st.title("Cases")
with st.container():  # there also when empty: what comes and goes above the tabs would open the first one again
    draw_fetching()
look, add_one, add_many = st.tabs(["Look", "Add one", "Add many"])
with look:
    draw_gallery(reviewer)
with add_one:
    draw_add_one()
with add_many:
    draw_add_many()
