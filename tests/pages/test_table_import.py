"""Tables on the screen: proposed, changed by hand, shown before they are saved, and saved as they were shown."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from data.exchange.gathering import proposals_for
from data.exchange.importing import run_import
from data.exchange.reading import Source
from data.exchange.writing import write
from data.store import cases as case_store
from data.store import mappings as mapping_store
from data.store import runs as run_store
from data.store.agreement import Basis, counts
from tests.data.test_viescore_in import FILES, check_figures
from tests.pages.test_pages import PAGES, opened

CASES = "编号,提示词,效果图\na,红色的方块,red.png\nb,a blue square,blue.png\n"
SAID = "case_id,judge,score,reasoning,grade\na,gpt,0.9,fine,good\nb,gpt,0.1,wrong,bad\n"


def page(files: tuple[tuple[str, bytes], ...]) -> None:
    """The part of the page below the upload boxes, given what was dropped on them."""
    import dataclasses

    import streamlit as st

    from data.exchange.pictures import Pictures
    from pages.parts.table_import import draw_rejected, draw_tables

    @dataclasses.dataclass
    class Dropped:
        name: str
        content: bytes

        @property
        def file_id(self) -> str:
            return self.name

        def getvalue(self) -> bytes:
            return self.content

    draw_rejected()
    dataset = st.text_input("Dataset", "shoes", key="dataset")
    told = draw_tables(dataset, [Dropped(*file) for file in files], Pictures.none(), 0)
    if told:
        st.success(told)


def dropped(*files: tuple[str, str | bytes]) -> AppTest:
    content = tuple((name, text.encode() if isinstance(text, str) else text) for name, text in files)
    app = AppTest.from_function(page, args=(content,), default_timeout=60).run()
    assert not app.exception
    return app


def told(app: AppTest) -> str:
    return "\n".join(e.value for kind in ("text", "success", "error", "warning") for e in app.get(kind))


def save(app: AppTest) -> AppTest:
    button = next(b for b in app.button if b.key == "many-save")
    assert not button.disabled
    app = button.click().run()
    assert not app.exception
    return app


def test_a_table_with_chinese_columns_is_proposed_shown_and_saved():
    app = dropped(("方块.csv", CASES))
    assert "2 rows: 2 cases, 2 rows with something wrong, 0 rejected." in told(app)
    assert case_store.datasets() == []
    assert next(b for b in app.button if b.key == "many-save").label == "Save 2 cases"
    save(app)
    case_id = case_store.find_case("shoes", "a")
    assert case_store.load_cases([case_id])[case_id].prompt == "红色的方块"


def test_what_a_column_is_can_be_changed_before_anything_is_saved():
    app = dropped(("cases.csv", CASES), ("said.csv", SAID))
    box = next(b for b in app.selectbox if b.label == "grade")
    assert box.value == "not read"
    app = box.select("human_label").run()
    assert "Save 2 cases, 2 verdicts, 2 labels" in [b.label for b in app.button]
    app = next(c for c in app.checkbox if "without seeing the judge" in c.label).check().run()
    app = next(c for c in app.checkbox if "random draw" in c.label).check().run()
    save(app)
    (run,) = run_store.runs()
    assert (run["judge_name"], run["threshold"]) == ("gpt", 0.5)
    found = counts(Basis(run["id"], run["threshold"]))
    assert (found["tp"], found["tn"], found["fp"], found["fn"]) == (1, 1, 0, 0)


def test_a_mapping_that_is_kept_is_used_for_the_next_file_of_that_kind():
    app = dropped(("odd.csv", "what,where\na red square,https://example.com/a.png\n"))
    app = next(b for b in app.selectbox if b.label == "what").select("prompt").run()
    app = next(t for t in app.text_input if t.label == "Keep this mapping as").input("odd ones").run()
    next(b for b in app.button if b.label == "Keep").click().run()
    assert mapping_store.mapping_named("odd ones")["fields"] == {"what": "prompt", "where": "result_image"}
    app = dropped(("other.csv", "what,where\na blue square,https://example.com/b.png\n"))
    assert "other.csv: kept mapping odd ones" in told(app)
    assert next(b for b in app.selectbox if b.label == "what").value == "prompt"


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("empty.csv", b"", r"Empty\.csv is empty\."),
        ("old.xls", b"\xd0\xcf\x11\xe0" + b"\0" * 100, "is an old Excel file"),
        ("page.csv", b"<html><body>x</body></html>", "is a web page"),
        ("colours.csv", b"colour,shape\nred,round\n", "has none of the known columns"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(name, content, problem):
    app = dropped((name, content))
    assert problem in told(app)
    assert case_store.datasets() == []


def test_a_bundle_names_the_command_that_brings_it_in(tmp_path):
    run_import("shoes", proposals_for([Source("w.csv", b"case_id,prompt\na,p\n")]))
    write("cases", "shoes", tmp_path / "shoes.zip", format="bundle")
    app = dropped(("shoes.zip", (tmp_path / "shoes.zip").read_bytes()))
    assert "cli.py import shoes.zip --dataset" in told(app).replace("\\", "")


def test_half_an_emoji_is_shown_and_saved():
    app = dropped(("half.json", '[{"case_id": "a", "prompt": "x\\ud83d"}]'))
    save(app)
    assert case_store.load_cases([1])[1].prompt == "x?"


def test_any_error_of_a_choice_is_a_sentence():
    app = dropped(("said.csv", "case_id,prompt,judge,score,threshold\na,p,gpt,0.5,7\n"))
    assert "must be a number from 0 to 1" in told(app)


@pytest.mark.skipif(not FILES[0].exists(), reason="the real data is not here")
def test_real_cases_verdicts_and_ratings_go_in_on_the_screen_and_the_figures_are_those_of_the_files():
    app = dropped(*((path.name, path.read_bytes()) for path in FILES))
    assert "Save 2417 cases, 4834 verdicts, 7251 labels" in [b.label for b in app.button]
    app = next(c for c in app.checkbox if "without seeing the judge" in c.label).check().run()
    app = next(c for c in app.checkbox if "random draw" in c.label).check().run()
    save(app)
    check_figures()


@pytest.mark.parametrize("path", PAGES)
def test_every_page_shows_a_workspace_whose_verdicts_came_from_a_file(path):
    wide = "case_id,prompt,gpt.score,gpt.item:SC.x,rater1\na,a red square,0.9,9,usable\nb,a blue square,0.2,1,badcase\n"
    run_import("shoes", proposals_for([Source("w.csv", wide.encode())]))
    app = opened(path, run="1", case="1", dataset="1")
    assert not app.exception
    assert not app.error
