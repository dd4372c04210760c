"""Every page opens, whatever the workspace holds, and none without a reviewer."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from data.store import reviews
from tests.conftest import load_sample

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "pages").glob("*.py"))


def opened(page: str, **params: str) -> AppTest:
    """The app on that page, as somebody who has said who they are."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=20)
    app.session_state["reviewer"] = {"id": reviews.reviewer_named("Cleo"), "name": "Cleo"}
    app.run()
    app.switch_page(page)
    app.query_params.update(params)
    return app.run()


def told(app: AppTest) -> str:
    """All that stands on the page as text."""
    return "\n".join(
        e.value for kind in ("title", "subheader", "text", "info", "warning", "error") for e in app.get(kind)
    )


@pytest.mark.parametrize("page", PAGES)
def test_an_empty_workspace_says_what_to_do(page: str):
    app = opened(page)
    assert not app.exception
    assert told(app).strip()


@pytest.mark.parametrize("page", PAGES)
def test_the_sample_workspace_opens(page: str):
    load_sample()
    app = opened(page, case="1")
    assert not app.exception
    assert not app.error


@pytest.mark.parametrize("page", PAGES)
def test_pictures_that_are_gone_do_not_break_a_page(page: str, home: Path):
    load_sample()
    for picture in (home / "images").rglob("*.png"):
        picture.unlink()
    app = opened(page, case="1")
    assert not app.exception


@pytest.mark.parametrize("page", PAGES)
def test_no_page_runs_without_a_reviewer(page: str):
    load_sample()
    app = AppTest.from_file(str(ROOT / page), default_timeout=20).run()
    assert [field.label for field in app.text_input] == ["Your name"]
    assert not app.exception


@pytest.mark.parametrize("address", [{"case": "99999"}, {"case": "x"}, {"case": ""}, {"dataset": "7", "run": "77"}])
@pytest.mark.parametrize("page", ["pages/case.py", "pages/review.py", "pages/runs.py", "pages/agreement.py"])
def test_a_wrong_address_is_no_traceback(page: str, address: dict):
    load_sample()
    assert not opened(page, **address).exception


def test_the_name_is_asked_once_and_must_be_one():
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=20).run().run()  # widgets get their ids for good
    app.text_input(key="reviewer_name").set_value("   ")
    app.button[0].click().run()
    assert app.error[0].value == "A name has 1 to 80 characters."
    app.text_input(key="reviewer_name").set_value("  Cleo   Ray ")
    app.button[0].click().run()
    assert not app.text_input
    assert [r["name"] for r in reviews.reviewers()] == ["Cleo Ray"]


def test_a_run_is_planned_before_it_is_started():
    load_sample()
    app = opened("pages/runs.py", dataset="1")
    said = told(app)
    assert (
        "36 of 36 cases fit the metric. It will make 0 calls; 72 more are known from earlier and cost nothing." in said
    )
    app.selectbox(key="start-metric-1").set_value("image_editing").run()
    assert "36 will be skipped: needs exactly 1 input image, found 0" in told(app)


def test_a_lead_decides_a_tie_and_it_counts():
    load_sample()
    app = opened("pages/agreement.py", dataset="1", run="1")
    assert "3 labelled cases have no majority" in told(app)
    tied = reviews.rows("SELECT id FROM cases WHERE external_id = 't2i-04-borage'")[0]["id"]
    lead = reviews.reviewer_named("Lee")
    reviews.adjudicate("token", tied, "overall", lead, "badcase", "the cube is cut off")
    assert "2 labelled cases have no majority" in told(opened("pages/agreement.py", dataset="1", run="1"))
    app = opened("pages/case.py", case=str(tied))
    assert "Somebody has decided it" in told(app)  # Cleo has not labelled it
    app.toggle(key=f"others-{tied}").set_value(True).run()
    assert "Lee decided: badcase (overall). the cube is cut off" in told(app)
