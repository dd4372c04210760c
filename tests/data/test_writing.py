"""Tables go out in every format: typed, safe, nothing cut without a word, and memory does not grow with the rows."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.exchange.columns import as_typed, harmless
from data.exchange.tables import read_table
from data.exchange.writing import ExportRefused, write
from data.exchange.writing.excel import write_xlsx
from data.exchange.writing.parquet import write_parquet
from data.exchange.writing.table import Column, Table
from data.exchange.writing.text import write_csv, write_jsonl
from data.reports.headline import agreement_report
from data.store import cases as case_store
from data.store import queues, reviews
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.connection import value, writing
from data.store.reviews import Review
from data.store.snapshot import snapshot
from evaluators import METRICS, Case, Item, Options, Part, Verdict
from tests.conftest import REPOSITORY, kept_case

SCORE = 0.1 + 0.2  # 17 digits
RUN = "tester text_to_image (run 1)"


@pytest.fixture
def dataset(judge_at) -> str:
    """Three cases, two of them judged; Ada and 陈 label the first, Ada thinks again, the lead decides."""
    made = [kept_case("a", "red", "红色，方块"), kept_case("b", "blue", "=1+1")]
    linked = Case("c", (Part.of_text("p"),), (Part("image", source="https://x.example/c.png", problem="not fetched"),))
    case_store.save_cases("shoes", [*(case for case, _ in made), linked], [kept for _, kept in made])
    shoes = case_store.dataset_id("shoes")
    run_id = run_store.create_run(shoes, METRICS["text_to_image"], judge_at("http://localhost:1/v1"), Options())
    items = (Item("SC.prompt_following", "sub_score", "follows", "SC", 7.0), Item("q1", "question", "?", answer="yes"))
    ok = Verdict("a", "text_to_image", "ok", score=SCORE, reason="torn", items=items, flags=("suspect_scale",))
    verdict_store.save_verdicts(run_id, [(1, 1, ok), (2, 1, Verdict("b", "text_to_image", "refused", problem="no"))])
    for token, name, label, blind in (
        ("1", "Ada", "usable", True),
        ("2", "Ada", "badcase", False),
        ("3", "陈", "badcase", True),
    ):
        person = reviews.reviewer_named(name)
        queues.next_cases(shoes, "overall", person, 3)
        said = {"items": {"SC.prompt_following": 3}, "tags": ["artefact"], "comment": "手不对"} if token == "3" else {}
        draw = queues.draw_of(1, "overall", person)
        reviews.save_review(
            Review(token, 1, 1, "overall", person, label, blind=blind, draw_id=draw, run_id=run_id, **said)
        )
    reviews.adjudicate("lead", 1, "overall", reviews.reviewer_named("Lead"), "usable", "fine")
    return "shoes"


def csv_rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def written(tmp_path: Path, name: str, table: str = "everything", format: str = "csv", **how) -> Path:
    write(table, "shoes", tmp_path / name, format=format, **how)
    return tmp_path / name


# --- the wide table ----------------------------------------------------------------------------------------------------


def test_everything_has_a_row_a_case_with_what_runs_and_people_said(dataset, tmp_path):
    judged, refused, linked = csv_rows(written(tmp_path, "e.csv").read_bytes())
    assert {name: judged[f"{RUN}.{name}"] for name in ("status", "label", "score", "reason", "item:SC.prompt_following")} == {
        "status": "ok", "label": "badcase", "score": "0.30000000000000004", "reason": "torn", "item:SC.prompt_following": "7.0",
    }  # fmt: skip
    assert (judged[f"{RUN}.item:q1"], judged[f"{RUN}.flags"], judged[f"{RUN}.gold_all"]) == (
        "yes",
        "suspect_scale",
        "usable",
    )
    ada = {
        name: judged[f"Ada (overall).{name}"]
        for name in ("first_label", "first_blind", "label", "blind", "basis", "pi")
    }
    assert ada == {
        "first_label": "usable",
        "first_blind": "1",
        "label": "badcase",
        "blind": "0",
        "basis": "random",
        "pi": "1.0",
    }
    chen = {name: judged[f"陈 (overall).{name}"] for name in ("label", "tags", "comment", "item:SC.prompt_following")}
    assert chen == {"label": "badcase", "tags": "artefact", "comment": "手不对", "item:SC.prompt_following": "3.0"}
    decided = [judged[f"{name} (overall)"] for name in ("gold", "adjudicated", "adjudicated_by", "adjudication_reason")]
    assert decided == ["usable", "usable", "Lead", "fine"]
    assert (refused[f"{RUN}.status"], refused[f"{RUN}.label"], refused[f"{RUN}.problem"]) == ("refused", "", "no")
    assert (linked["result_image"], linked[f"{RUN}.status"], linked["split"]) == ("https://x.example/c.png", "", "test")


def test_gold_without_a_decision_is_the_majority_and_a_tie_is_none(dataset, tmp_path):
    for token, name, label in (("4", "Ada", "badcase"), ("5", "陈", "usable")):
        reviews.save_review(Review(token, 2, 1, "overall", reviews.reviewer_named(name), label))
    reviews.save_review(Review("6", 3, 1, "overall", reviews.reviewer_named("Ada"), "badcase"))
    assert [row["gold (overall)"] for row in csv_rows(written(tmp_path, "e.csv").read_bytes())] == [
        "usable",
        "",
        "badcase",
    ]


def test_each_criterion_of_a_person_has_columns_of_its_own(dataset, tmp_path):
    reviews.save_review(Review("7", 1, 1, "match", reviews.reviewer_named("Ada"), "usable"))
    row = csv_rows(written(tmp_path, "e.csv").read_bytes())[0]
    assert (row["Ada (match).label"], row["Ada (overall).label"], row["gold (match)"]) == (
        "usable",
        "badcase",
        "usable",
    )


def test_many_different_questions_share_a_column(dataset, tmp_path):
    with writing() as db:
        db.conn.executemany(
            'INSERT INTO items (verdict_id, position, key, kind, "group", text, answer) VALUES (1, ?, ?, ?, ?, ?, ?)',
            [(n, f"question {n}", "question", "", "?", "no") for n in range(10, 400)],
        )
    row = csv_rows(written(tmp_path, "e.csv").read_bytes())[0]
    others = json.loads(row[f"{RUN}.items"])
    assert row[f"{RUN}.item:SC.prompt_following"] == "7.0" and len(others) == 391 and others["q1"] == "yes"
    assert len(row) < 70


# --- formats -----------------------------------------------------------------------------------------------------------


def test_excel_has_types_a_frozen_header_and_texts_that_stay_texts(dataset, tmp_path):
    sheet = openpyxl.load_workbook(written(tmp_path, "e.xlsx", format="xlsx")).active
    places = {cell.value: cell.column for cell in sheet[1]}

    def cell(row: int, name: str):
        return sheet.cell(row, places[name])

    assert sheet.freeze_panes == "B2" and sheet.auto_filter.ref.startswith("A1:")
    assert (cell(2, f"{RUN}.score").value, cell(2, f"{RUN}.score").data_type) == (SCORE, "n")
    assert cell(2, "created").is_date and cell(2, "Ada (overall).first_blind").value is True
    assert (cell(3, "prompt").value, cell(3, "prompt").data_type) == ("=1+1", "s")
    assert cell(4, "result_image").value == "https://x.example/c.png" and cell(4, "result_image").hyperlink is None


def test_thumbnails_stand_in_the_rows_of_their_cases(dataset, tmp_path):
    sheet = openpyxl.load_workbook(written(tmp_path, "e.xlsx", "cases", "xlsx", thumbnails=True)).active
    assert [image.anchor._from.row for image in sheet._images] == [1, 2]
    assert [sheet.cell(row, 2).value for row in (1, 2, 4)] == ["case_id", "a", "c"]
    with pytest.raises(ExportRefused, match="Excel files only"):
        written(tmp_path, "e.csv", thumbnails=True)


def test_parquet_has_types(dataset, tmp_path):
    table = pq.read_table(written(tmp_path, "e.parquet", format="parquet"))
    first = table.to_pylist()[0]
    assert (first[f"{RUN}.score"], first["Ada (overall).first_blind"], first["tags"]) == (SCORE, True, [])
    assert first["created"].tzinfo is not None and first["created"].date() == datetime.now(UTC).date()
    assert table.to_pylist()[1][f"{RUN}.score"] is None


def test_json_lines_have_lists_and_nulls(dataset, tmp_path):
    lines = written(tmp_path, "v.jsonl", "verdicts", "jsonl").read_text(encoding="utf-8").splitlines()
    first, second = map(json.loads, lines)
    assert (first["score"], first["flags"], first["raw_replies"], second["score"]) == (
        SCORE,
        ["suspect_scale"],
        [],
        None,
    )


def test_cozes_table_is_filled(dataset, tmp_path):
    rows = list(openpyxl.load_workbook(written(tmp_path, "c.xlsx", format="coze", run_id=1)).active.values)
    assert rows == [
        ("input_images", "user_prompt", "result_image", "score", "reasoning"),
        ("[]", "红色，方块", "a.png", SCORE, "torn"),
        ("[]", "=1+1", "b.png", None, "refused: no"),
        ("[]", "p", "https://x.example/c.png", None, None),
    ]
    assert csv_rows(written(tmp_path, "c.csv", format="coze", run_id=1).read_bytes())[0]["reasoning"] == "torn"


def test_label_studio_gets_verdicts_as_predictions_and_labels_as_annotations(dataset, tmp_path):
    first, _, linked = json.loads(written(tmp_path, "l.json", format="labelstudio").read_text(encoding="utf-8"))
    assert first["data"]["image"].startswith("/data/local-files/?d=images/") and first["data"]["prompt"] == "红色，方块"
    assert linked["data"]["image"] == "https://x.example/c.png"
    (prediction,) = first["predictions"]
    assert (prediction["score"], prediction["result"][0]["value"]) == (SCORE, {"choices": ["badcase"]})
    said = [
        (a["created_username"], a["ground_truth"], a["result"][0]["value"]["choices"]) for a in first["annotations"]
    ]
    assert sorted(said) == [("Ada", False, ["badcase"]), ("Lead", True, ["usable"]), ("陈", False, ["badcase"])]


def test_an_empty_dataset_has_a_header_in_every_format(tmp_path):
    case_store.save_cases("shoes", [])
    assert written(tmp_path, "e.csv").read_bytes().startswith(b"\xef\xbb\xbfcase_id,prompt,")
    assert openpyxl.load_workbook(written(tmp_path, "e.xlsx", format="xlsx")).active["A1"].value == "case_id"
    assert pq.read_table(written(tmp_path, "e.parquet", format="parquet")).num_rows == 0
    assert json.loads(written(tmp_path, "l.json", format="labelstudio").read_text()) == []


# --- a bundle ----------------------------------------------------------------------------------------------------------


def test_a_bundle_has_all_that_the_figures_rest_on(dataset, tmp_path):
    case_store.save_cases("shoes", [Case("c", (Part.of_text("another prompt"),))])
    with zipfile.ZipFile(written(tmp_path, "b.zip", format="bundle")) as archive:
        assert archive.testzip() is None
        tables = {name: csv_rows(archive.read(name)) for name in archive.namelist() if name.endswith(".csv")}
        pictures = {name for name in archive.namelist() if name.startswith("images/")}
        runs = [json.loads(line) for line in archive.read("runs.jsonl").decode().splitlines()]
        words = json.loads(archive.read("dataset.json"))
    assert {row["result_image"] for row in tables["cases.csv"]} == {*pictures, ""}
    assert [(r["case_id"], r["revision"], r["text"]) for r in tables["parts.csv"] if r["role"] == "input"][2:] == [
        ("c", "1", "p"), ("c", "2", "another prompt"),
    ]  # fmt: skip
    assert [(r["token"], r["queue"], r["pi"], r["basis"], r["blind"]) for r in tables["reviews.csv"]] == [
        ("1", "random", "1.0", "random", "1"), ("2", "random", "1.0", "random", "0"), ("3", "random", "1.0", "random", "1"),
    ]  # fmt: skip
    assert len(tables["draws.csv"]) == value("SELECT count(*) FROM queue_draws") == 6
    assert (tables["adjudications.csv"][0]["reviewer"], tables["adjudications.csv"][0]["token"]) == ("Lead", "lead")
    assert [float(r["score"]) for r in tables["verdicts.csv"] if r["score"]] == [SCORE]
    assert [(r["key"], r["kind"], r["text"], r["group"]) for r in tables["items.csv"]] == [
        ("SC.prompt_following", "sub_score", "follows", "SC"), ("q1", "question", "?", ""),
    ]  # fmt: skip
    assert (runs[0]["threshold"], runs[0]["metric"], words["name"], words["overlap"]) == (
        0.5,
        "text_to_image",
        "shoes",
        None,
    )
    assert len(tables["run_cases.csv"]) == 3


# --- safety ------------------------------------------------------------------------------------------------------------


def put(tmp_path: Path, value: object, kind: str, writer) -> Path:
    path = tmp_path / "one"
    writer(Table("t", (Column("prompt"), Column("v", kind)), 1, iter([{"prompt": "p", "v": value}])), path)
    return path


@given(st.text(max_size=20) | st.text(alphabet="'=+-@＝a", max_size=5))
def test_a_harmless_cell_never_runs_and_is_typed_back_as_it_was(text):
    assert as_typed(harmless(text)) == text
    assert not harmless(text).startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize(
    "text", ["=1+1", "'=1+1", "''", "-3", "＝A1", "plain", "https://x.example", "{=SUM(1)}", " =1"]
)
@pytest.mark.parametrize("writer", [write_csv, write_xlsx])
def test_a_text_that_a_table_wrote_is_read_as_it_was(text, writer, tmp_path):
    content = put(tmp_path, text, "text", writer).read_bytes()
    assert read_table(content, "t.csv" if writer is write_csv else "t.xlsx")[0]["v"] == text


@pytest.mark.parametrize("text", ["\x00a", "a\ud800b", "\x1f", "\ufffe", "🎈" * 40_000, "_x0041_"])
def test_no_text_spoils_a_file(text, tmp_path):
    assert (
        len(openpyxl.load_workbook(io.BytesIO(put(tmp_path, text, "text", write_xlsx).read_bytes())).active["B"]) == 2
    )
    read_table(put(tmp_path, text, "text", write_csv).read_bytes(), "t.csv")
    json.loads(put(tmp_path, text, "text", write_jsonl).read_text(encoding="utf-8"))
    assert pq.read_table(put(tmp_path, text, "text", write_parquet)).num_rows == 1


def test_a_cell_that_is_cut_is_counted(tmp_path):
    table = Table("t", (Column("v"),), 2, iter([{"v": "x" * 32_767}, {"v": "x" * 32_768}]))
    assert write_xlsx(table, tmp_path / "t.xlsx") == 1


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_keeps_its_last_digit(tmp_path_factory, number):
    tmp_path = tmp_path_factory.mktemp("numbers")
    assert float(csv_rows(put(tmp_path, number, "number", write_csv).read_bytes())[0]["v"]) == number
    assert openpyxl.load_workbook(put(tmp_path, number, "number", write_xlsx).open("rb")).active["B2"].value == number


def test_more_rows_than_a_sheet_holds_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ExportRefused, match="an Excel sheet holds 1,048,575"):
        write_xlsx(Table("t", (Column("v"),), 2_000_000, iter([])), tmp_path / "t.xlsx")


def test_a_file_that_fails_leaves_what_was_there(dataset, tmp_path):
    (tmp_path / "e.csv").write_text("mine")
    with pytest.raises(ExportRefused):
        written(tmp_path, "e.csv", "agreement")
    assert (tmp_path / "e.csv").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".export")] == []


def test_a_table_is_as_it_was_at_one_moment(dataset):
    with snapshot() as of:
        before = of.value("SELECT count(*) FROM reviews")
        reviews.save_review(Review("late", 2, 1, "overall", reviews.reviewer_named("Ada"), "usable"))
        assert of.value("SELECT count(*) FROM reviews") == before == value("SELECT count(*) FROM reviews") - 1


def test_the_gold_labels_that_go_out_are_those_that_the_figures_count(dataset, tmp_path):
    report = agreement_report(1, "all")
    rows = csv_rows(written(tmp_path, "a.csv", "agreement", run_id=1).read_bytes())
    assert sum(bool(row["final_label_all"]) for row in rows) == report["n"] == 1


def test_memory_does_not_grow_with_the_rows(tmp_path):
    """6,000 rows of 10 kB each: 60 MB of texts, written with a small part of that."""
    code = (
        "from pathlib import Path\n"
        "from data.exchange.writing.excel import write_xlsx\n"
        "from data.exchange.writing.parquet import write_parquet\n"
        "from data.exchange.writing.table import Column, Table\n"
        "from data.exchange.writing.text import write_csv, write_jsonl\n"
        "from tests.memory import peak_megabytes\n"
        "def table(): return Table('t', (Column('v'),), 6000, ({'v': chr(65 + n % 26) * 10_000} for n in range(6000)))\n"
        "before = peak_megabytes()\n"
        "for writer in (write_csv, write_jsonl, write_xlsx): writer(table(), Path('out'))\n"
        "print(round(peak_megabytes() - before))\n"
    )
    here = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=here, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 25
