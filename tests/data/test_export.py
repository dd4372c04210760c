"""Tables go out: they open right in a spreadsheet, and nothing that was said is lost or mixed up."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pandas as pd
import pytest

from data.exchange.case_table import match
from data.exchange.columns import CASE_COLUMNS
from data.exchange.export import frame_csv
from data.exchange.pictures import Pictures
from data.exchange.tables import read_csv
from data.exchange.writing import write
from data.store import cases as case_store
from data.store import queues, reviews
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.reviews import Review
from evaluators import METRICS, Case, Item, Options, Part, Verdict
from tests.conftest import kept_case

FORMULA = '=HYPERLINK("http://evil.example")'


@pytest.fixture
def run(judge_at) -> int:
    """Two judged cases; Ada says usable then badcase on the first, Ben says badcase, and the lead decides usable."""
    made = [kept_case("a", "red", FORMULA), kept_case("b", "blue", "蓝色，方块")]
    case_store.save_cases("shoes", [case for case, _ in made], [kept for _, kept in made])
    dataset = case_store.dataset_id("shoes")
    run_id = run_store.create_run(dataset, METRICS["text_to_image"], judge_at("http://localhost:1/v1"), Options())
    items = (Item("SC.prompt_following", "sub_score", "", "SC", 7.0), Item("PQ.artifacts", "sub_score", "", "PQ", 4.0))
    verdict_store.save_verdicts(
        run_id,
        [
            (
                1,
                1,
                Verdict("a", "text_to_image", "ok", score=0.4, reason="-torn", items=items, flags=("suspect_scale",)),
            ),
            (2, 1, Verdict("b", "text_to_image", "refused", problem="no")),
        ],
    )
    for token, name, label, blind in (
        ("1", "Ada", "usable", 1),
        ("2", "Ada", "badcase", 0),
        ("3", "Ben", "badcase", 1),
    ):
        person = reviews.reviewer_named(name)
        queues.next_cases(dataset, "overall", person, 2)
        draw = queues.draw_of(1, "overall", person)
        said = {"items": {"SC.prompt_following": 3}, "tags": ["artefact"], "comment": "@home"} if token == "3" else {}
        reviews.save_review(
            Review(token, 1, 1, "overall", person, label, blind=bool(blind), draw_id=draw, run_id=run_id, **said)
        )
    reviews.adjudicate("lead", 1, "overall", reviews.reviewer_named("Lead"), "usable", "fine")
    return run_id


def written(table: str, dataset: str = "shoes", run_id: int | None = None) -> bytes:
    """The table as a CSV file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write(table, dataset, path, format="csv", run_id=run_id)
        return path.read_bytes()


def opened(table: str, run_id: int | None = None) -> list[dict[str, str]]:
    """The rows as a spreadsheet shows them."""
    content = written(table, run_id=run_id)
    assert content.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_cases_go_out_under_the_names_they_came_in_by(run):
    first, second = opened("cases")
    assert tuple(first)[: len(CASE_COLUMNS)] == CASE_COLUMNS
    assert (second["case_id"], second["prompt"], second["result_image"]) == ("b", "蓝色，方块", "b.png")


def test_verdicts_have_a_column_for_every_item(run):
    ok, refused = opened("verdicts")
    named = ("case_id", "judge", "metric", "status", "score", "label", "item:SC.prompt_following", "item:PQ.artifacts")
    assert [ok[name] for name in named] == ["a", "tester", "text_to_image", "ok", "0.4", "badcase", "7.0", "4.0"]
    assert [refused[name] for name in named] == ["b", "tester", "text_to_image", "refused", "", "", "", ""]
    assert (ok["flags"], refused["problem"]) == ("suspect_scale", "no")


def test_reviews_tell_everything_that_was_said_in_order(run):
    reviews.undo_review("undo", "3", reviews.reviewer_named("Ben"))
    named = ("reviewer", "human_label", "blind", "stands", "undoes", "human_item:SC.prompt_following", "basis")
    assert [tuple(row[name] for name in named) for row in opened("reviews")] == [
        ("Ada", "usable", "1", "0", "", "", "random"),
        ("Ada", "badcase", "0", "1", "", "", "random"),
        ("Ben", "badcase", "1", "0", "", "3.0", "random"),
        ("Ben", "", "1", "0", "3", "", "random"),
    ]


def test_raw_first_and_final_labels_stand_in_columns_of_their_own(run):
    labelled, unlabelled = opened("agreement", run)
    assert {name: labelled[name] for name in labelled if "label" in name or name == "adjudicated"} == {
        "judge_label": "badcase",
        "first_label:Ada": "usable", "first_label:Ben": "badcase",
        "label:Ada": "badcase", "label:Ben": "badcase",
        "adjudicated": "usable", "final_label": "usable", "final_label_blind": "usable", "final_label_all": "usable",
    }  # fmt: skip
    assert (unlabelled["status"], unlabelled["judge_label"], unlabelled["final_label"]) == ("refused", "", "")


def test_a_text_that_looks_like_a_formula_is_made_harmless(run):
    assert opened("cases")[0]["prompt"] == "'" + FORMULA
    assert opened("verdicts")[0]["reasoning"] == "'-torn"
    assert opened("reviews")[2]["comment"] == "'@home"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_every_start_of_a_formula_is_made_harmless_and_numbers_stay_numbers(start):
    told = pd.DataFrame([{"a": f"{start}1+1", "b": -1.5, "c": None, "d": True, "e": "1=1"}])
    content = frame_csv(told).decode("utf-8-sig")
    assert next(csv.reader(io.StringIO(content.partition("\r\n")[2], newline=""))) == [
        f"'{start}1+1",
        "-1.5",
        "",
        "1",
        "1=1",
    ]


def test_a_table_without_rows_still_has_its_header(run):
    case_store.save_cases("empty", [Case("x", (Part.of_text("p"),))])
    assert b"human_label" in written("reviews", "empty")


def test_an_exported_table_that_comes_in_again_changes_nothing(run):
    content = written("cases")
    matched = match(read_csv(content, "cases.csv"), Pictures.none())
    assert [case.prompt for _row, case in matched.cases] == [FORMULA, "蓝色，方块"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("cases", "boots"), "There is no dataset 'boots'"),
        (("pictures", "shoes"), "There is no table 'pictures'"),
        (("agreement", "shoes"), "is of one run; name it"),
        (("verdicts", "shoes", 99), "Run 99 is not a run of 'shoes'"),
    ],
)
def test_what_cannot_be_exported_is_said(arguments, problem, run):
    with pytest.raises(ValueError, match=problem):
        written(*arguments)
