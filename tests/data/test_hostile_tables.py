"""Files that mean harm or are broken: one clear sentence each, nothing half-saved, memory bounded."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import time
import zipfile

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest

from data.exchange.gathering import proposals_for
from data.exchange.importing import run_import
from data.exchange.mapping import MappingWrong
from data.exchange.reading import Source, TableUnreadable, open_table
from data.exchange.reading.excel_parts import sheets_parts
from data.store.connection import database
from tests.conftest import REPOSITORY
from tests.data.test_case_table import case
from tests.data.test_tables import ENTITIES, HOSTILE, OUTSIDE, PLAIN, SHEET, changed, content_of
from tests.data.test_tables import book as book_of

TABLES = ("datasets", "cases", "parts", "runs", "verdicts", "reviews", "reviewers", "images", "imports")


def everything() -> dict[str, int]:
    return {table: database()[table].count for table in TABLES}


def refused(content: bytes, name: str = "cases.csv") -> str:
    """The sentence that a file is answered with; nothing may be left of it."""
    before = everything()
    with pytest.raises((TableUnreadable, MappingWrong)) as told:
        run_import("hostile", proposals_for([Source(name, content)]))
    assert everything() == before
    sentence = str(told.value)
    assert "\n" not in sentence and len(sentence) < 700
    return sentence


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"\n\n\n", "has no header"),
        (b"prompt\n\x00\x00\n", "holds NUL characters"),
        (b"\xef\xbb\xbf", "has no header"),
        (b"\xff\xfe", "has no header"),
        (b"prompt,x\n" + b"y" * 2_000_000 + b",1\n", "has more than 1,000,000 characters"),
        (b'prompt\n"never closed\n' + b"and so on\n" * 200_000, "in line 2 has more than 1,000,000 characters, or a quote"),
        (b"x" * 30_000_000, "has a line of more than 20,000,000 characters"),
        (b"," * 5_000 + b"\n", "has no header"),
        (b"a," * 5_000 + b"\n1\n", "columns, more than 2,000"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "is a picture, not a table"),
        (b"%PDF-1.7", "is a PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is an old Excel file"),
        (b"<html><table></table></html>", "is a web page"),
        (b'[{"prompt": "a"', "is not JSON"),
        (b"[" * 100_000, "is not JSON: it is nested too deeply"),
        (b'{"prompt": ' * 50_000 + b"1" + b"}" * 50_000, "nested too deeply"),
        (b'[{"prompt": "a"}, 7]', "JSON without a list of objects"),
        (b'{"prompt": "a"}\n{"prompt": \n', "line 2 is not JSON"),
        (b'{"prompt": "' + b"x" * 1_500_000 + b'"}\n{"prompt": "b"}\n', "the cell has 1,500,000 characters"),
        (b"PAR1 and then something else", "cannot be read as Parquet"),
        (b"PK\x03\x04", "cannot be read as an Excel file"),
        (b"\x1f\x8b\x08", "is packed with gzip"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_table_is_one_sentence(content, told):
    assert told in refused(content)


@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in ("a column twice", "a header alone")])
def test_hostile_workbooks(name):
    assert refused(HOSTILE[name], "cases.xlsx").startswith("cases.xlsx")


@pytest.mark.parametrize("part", ["xl/styles.xml", "xl/sharedStrings.xml", "xl/workbook.xml"])
def test_an_entity_bomb_in_any_part_is_answered(part):
    try:
        rows = [row for _n, row in open_table(Source("x.xlsx", changed(PLAIN, {part: ENTITIES}))).rows()]
    except TableUnreadable:
        return
    assert len(str(rows)) < 10_000


def test_an_outside_entity_brings_in_nothing():
    assert "root:" not in refused(changed(PLAIN, {SHEET: OUTSIDE}), "cases.xlsx")


def test_a_part_that_is_small_packed_and_huge_unpacked_is_not_unpacked():
    content = changed(PLAIN, {"xl/styles.xml": b"<styleSheet>" + b" " * 60_000_000})
    assert len(content) < 200_000
    assert "xl/styles.xml would unpack to 60,000,012 bytes, more than 30,000,000" in refused(content, "cases.xlsx")


@pytest.mark.parametrize(
    "path", ["xl/media/strings.xml", "xl/media/strings.png", "xl/strings.bin", "xl/worksheets/sheetstrings.xml"]
)
def test_texts_are_not_unpacked_whatever_their_part_is_called(path):
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    with zipfile.ZipFile(io.BytesIO(PLAIN)) as archive:
        types = archive.read("[Content_Types].xml")
    types = types.replace(b"</Types>", b'<Override PartName="/%s" ContentType="%s"/></Types>' % (path.encode(), kind))
    content = changed(PLAIN, {path: b" " * 90_000_000, "[Content_Types].xml": types})
    assert "would unpack to 90,000,000 bytes, more than 80,000,000" in refused(content, "cases.xlsx")


def test_a_sheet_is_not_read_whole_because_it_is_called_a_sheet_of_charts():
    with zipfile.ZipFile(io.BytesIO(PLAIN)) as archive:
        relations = archive.read("xl/_rels/workbook.xml.rels")
    assert b"relationships/worksheet" in relations
    relations = relations.replace(b"relationships/worksheet", b"relationships/chartsheet")
    content = changed(PLAIN, {SHEET: b" " * 40_000_000, "xl/_rels/workbook.xml.rels": relations})
    assert "would unpack to 40,000,000 bytes, more than 30,000,000" in refused(content, "cases.xlsx")


@pytest.mark.parametrize("kind", [b"image/png", b"application/vnd.openxmlformats-officedocument.x.worksheet+xml"])
def test_a_part_that_is_read_by_its_name_is_measured_whatever_it_says_it_is(kind):
    types = b'<Types><Override PartName="/xl/styles.xml" ContentType="%s"/></Types>' % kind
    content = changed(PLAIN, {"xl/styles.xml": b" " * 40_000_000, "[Content_Types].xml": types})
    assert "styles.xml would unpack to 40,000,000 bytes" in refused(content, "cases.xlsx")


@pytest.mark.parametrize(
    "never_closed",
    [b'<mergeCell ' * 90_000, b"<c " * 300_000, b'<c r="A1" vm="' * 70_000, b'<c r="A1"><f>' * 70_000,
     b'<c r="A1" r="A1"' * 60_000, b'<c r="A1" t="str"><f>' + b"DISPIMG" * 140_000],
)  # fmt: skip
def test_tags_that_are_never_closed_are_passed_over_at_once(never_closed):
    sheet = never_closed + b' vm="1" DISPIMG("'
    parts = {SHEET: sheet, "xl/metadata.xml": b"<a/>", "xl/cellimages.xml": b"<a/>"}
    started = time.monotonic()
    assert sheets_parts(Source("x.xlsx", changed(PLAIN, parts)))
    assert time.monotonic() - started < 3


def test_a_drawing_that_is_a_bomb_or_leads_outside_costs_only_its_pictures():
    relations = (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
        b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/drawing" Target="%s"/></Relationships>'
    )
    for target, drawing in (
        (b"../drawings/drawing1.xml", ENTITIES),
        (b"../../../../etc/passwd", b"x"),
        (b"/etc/passwd", b"x"),
    ):
        content = changed(
            PLAIN, {"xl/worksheets/_rels/sheet1.xml.rels": relations % target, "xl/drawings/drawing1.xml": drawing}
        )
        assert [row for _n, row in open_table(Source("x.xlsx", content)).rows()] == [{"prompt": "p"}]


def test_formulas_in_every_cell_without_results_are_told_apart_from_an_empty_sheet():
    formulas = book_of(("Cases", [["prompt", "score"], ['="a"&"b"', "=1+1"], ['="c"', "=2+2"]]))
    assert "hold formulas without results; open it in Excel, save it" in refused(content_of(formulas), "cases.xlsx")
    assert "has a header and no rows" in refused(HOSTILE["a header alone"], "cases.xlsx")


def test_formulas_in_a_csv_are_texts():
    report = run_import("f", proposals_for([Source("f.csv", b"case_id,prompt\na,\"=cmd|' /C calc'!A0\"\n")])).report
    assert report["cases"]["new"] == 1
    assert case("a", "f").prompt == "=cmd|' /C calc'!A0"


def test_duplicate_ids_in_one_file_are_rejected_with_both_rows_and_the_rest_stays():
    text = "case_id,prompt\n" + "".join(f"c{n % 50},prompt {n}\n" for n in range(200))
    report = run_import("d", proposals_for([Source("d.csv", text.encode())])).report
    assert (report["cases"]["new"], report["cases"]["rejected"]) == (50, 150)
    assert report["problems"][0] == {"row": 51, "column": "case_id", "problem": "c0 stands in row 1 already"}
    assert case("c0", "d").prompt == "prompt 0"


def test_names_of_ten_thousand_characters_are_told_shortly():
    name = "n" * 10_000 + ".png"
    report = run_import("n", proposals_for([Source(name + ".csv", f"prompt,result_image\np,{name}\n".encode())])).report
    assert len(report["problems"][0]["problem"]) < 400
    assert "no picture has a name of 10,004 characters" in report["problems"][0]["problem"]
    assert len(refused(b"", name)) < 200
    ids = run_import("i", proposals_for([Source("i.csv", f"case_id,prompt\n{'i' * 10_000},p\n".encode())])).report
    assert ids["problems"][0]["problem"] == "the id has 10,000 characters, more than 500"


def test_a_wrong_ending_does_not_matter():
    for content, name in (
        (PLAIN, "cases.csv"),
        (b"prompt\np\n", "cases.xlsx"),
        (b'[{"prompt": "p"}]', "cases.parquet"),
    ):
        assert [row for _n, row in open_table(Source(name, content)).rows()] == [{"prompt": "p"}]


def test_damage_anywhere_is_read_or_answered_in_a_sentence():
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"prompt": ["a", "b"] * 20}), buffer)
    dice = random.Random(3)
    for whole in (buffer.getvalue(), PLAIN, json.dumps([{"prompt": "é"}] * 3).encode("utf-16")):
        for _ in range(40):
            damaged = bytearray(whole)
            for _ in range(dice.randint(1, 4)):
                damaged[dice.randrange(4, len(damaged))] = dice.randrange(256)
            try:
                list(open_table(Source("x", bytes(damaged))).rows())
            except TableUnreadable as error:
                assert len(str(error)) < 500


def test_an_import_that_fails_half_way_leaves_nothing():
    text = "case_id,prompt\n" + "".join(f"c{n},p\n" for n in range(5_000)) + 'c,"' + "x" * 2_000_000 + '"\n'
    assert "has more than 1,000,000 characters" in refused(text.encode())


MEASURED = """
import resource, sys
from pathlib import Path
from data.exchange.gathering import proposals_for
from data.exchange.importing import run_import
from data.exchange.reading import Source
from tests.memory import peak_megabytes
resource.setrlimit(resource.RLIMIT_AS, (4_000_000_000, 4_000_000_000))
try:
    run_import("big", proposals_for([Source.of_path(Path(sys.argv[1]))]))
    print("taken")
except ValueError as error:
    print(error)
print(round(peak_megabytes()))
"""


def measured(path) -> tuple[str, int]:
    """What is said of a file, and the peak megabytes of a process of its own that was given it."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=110,
        check=True,
    )
    said, megabytes = done.stdout.strip().rsplit("\n", 1)
    return said, int(megabytes)


def test_a_sheet_of_a_million_empty_rows_costs_nothing(tmp_path):
    made = openpyxl.Workbook()
    made.active.append(["prompt"])
    made.active.append(["p"])
    made.active.cell(1_000_000, 1, "q")
    made.save(tmp_path / "long.xlsx")
    said, megabytes = measured(tmp_path / "long.xlsx")
    assert (said, megabytes < 500) == ("taken", True)


def test_a_sheet_of_a_million_rows_is_refused_with_a_sentence_and_little_memory(tmp_path):
    start = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    row = b'<row><c t="inlineStr"><is><t>prompt</t></is></c></row>'
    with (
        zipfile.ZipFile(tmp_path / "million.xlsx", "w", zipfile.ZIP_DEFLATED) as new,
        zipfile.ZipFile(io.BytesIO(PLAIN)) as old,
    ):
        for name in old.namelist():
            new.writestr(
                name, start + row * 1_000_000 + b"</sheetData></worksheet>" if name == SHEET else old.read(name)
            )
    said, megabytes = measured(tmp_path / "million.xlsx")
    assert said == "million.xlsx, sheet Cases has more than 500,000 rows; split it into several files."
    assert megabytes < 500


def test_a_cell_of_fifty_megabytes_is_refused_with_a_sentence_and_little_memory(tmp_path):
    (tmp_path / "cell.csv").write_bytes(b"prompt,x\n" + b'"' + b"words and words, " * 3_200_000 + b'",1\n')
    said, megabytes = measured(tmp_path / "cell.csv")
    assert "cell.csv" in said and "more than" in said
    assert megabytes < 500
