"""The Export page offers every table in every format, and a page shows how far links are."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from data.exchange.writing import FORMATS, TABLES, WHOLE
from data.store import cases as case_store
from data.store import links as link_store
from evaluators.case import Case, Part
from tests.conftest import load_sample
from tests.pages.test_pages import opened, told


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_offered_for_what_it_can_hold(format):
    load_sample()
    app = opened("pages/export.py", dataset="1", run="1", format=format)
    assert not app.exception
    offered = {button.proto.id.rpartition("export-")[2] for button in app.get("download_button")}
    assert offered == ({format} if format in WHOLE else set(TABLES))


def test_what_needs_a_run_says_so():
    load_sample()
    app = opened("pages/export.py", dataset="1", run="none", format="coze")
    assert "Choose a run for this one." in told(app) and not app.get("download_button")


@pytest.mark.parametrize("table", TABLES)
def test_a_table_can_be_looked_into(table):
    load_sample()
    app = opened("pages/export.py", dataset="1", run="1")
    app.selectbox[-1].set_value(table).run()
    assert not app.exception
    assert len(app.dataframe[0].value.columns) > 5


def fetching_page() -> None:
    from pages.parts.link_fetching import draw_fetching

    draw_fetching({"id": 1, "name": "shoes"})


def test_without_links_nothing_is_shown(fill):
    fill(1)
    app = AppTest.from_function(fetching_page).run()
    assert not app.exception and not app.text and not app.get("progress")


def test_failed_links_are_named_and_can_be_tried_again():
    links = [f"http://127.0.0.1:9/{n}.png" for n in range(2)]
    case_store.save_cases("shoes", [Case(link, (), (Part("image", source=link, problem="x"),)) for link in links])
    for link in links:
        link_store.keep_failed(link, f"{link} answered 404 (Not Found)")
    app = AppTest.from_function(fetching_page).run()
    assert not app.exception
    assert app.expander[0].label == "2 links gave no picture"
    assert list(app.dataframe[0].value["Why"]) == [f"{link} answered 404 (Not Found)" for link in links]
    app.button(key="retry-1").click().run()
    assert not app.exception
    assert "2 are still to come; reviewing goes on meanwhile." in told(app) or link_store.progress()["failed"]
