"""Tables as files: Excel and CSV come in as texts, and a judged table goes out as the file it was."""

from __future__ import annotations

import csv
import io
import random
import zipfile
from datetime import date, datetime

import openpyxl
import pytest
from openpyxl.styles import Font, PatternFill

from data.exchange import case_table
from data.exchange.pictures import Pictures
from data.exchange.tables import TableUnreadable, read_table, write_judged
from tests.conftest import png


def book(*sheets: tuple[str, list[list]]) -> openpyxl.Workbook:
    """A workbook of (name, lines) sheets."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, lines in sheets:
        sheet = made.create_sheet(name)
        for line in lines:
            sheet.append(line)
    return made


def content_of(workbook: openpyxl.Workbook) -> bytes:
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def xlsx(*lines: list) -> bytes:
    return content_of(book(("Cases", list(lines))))


def read(*lines: list) -> list[dict[str, str]]:
    return read_table(xlsx(*lines), "cases.xlsx")


# --- Excel in ----------------------------------------------------------------------------------------------------------


def test_an_excel_table_is_read_as_texts():
    assert read(["case_id", "prompt"], ["a", "红色的圆球\n第二行"], ["b", " padded "]) == [
        {"case_id": "a", "prompt": "红色的圆球\n第二行"}, {"case_id": "b", "prompt": " padded "},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (7, "7"),
        (3.0, "3"),
        (0.5, "0.5"),
        (12345678901, "12345678901"),
        (True, "True"),
        (None, ""),
        ("007", "007"),
        (date(2026, 3, 1), "2026-03-01T00:00:00"),
        (datetime(2026, 3, 1, 12, 30), "2026-03-01T12:30:00"),
        ("'=1+1", "=1+1"),
    ],
)
def test_whatever_a_cell_holds_is_read_as_a_text(cell, text):
    assert read(["case_id", "prompt"], [cell, "p"])[0]["case_id"] == text


def test_a_formula_without_a_stored_result_is_an_empty_cell_and_never_its_source():
    assert read(["case_id", "prompt"], ["a", "=1+1"]) == [{"case_id": "a", "prompt": ""}]


def test_the_first_sheet_with_a_known_header_is_read():
    content = content_of(
        book(("Notes", [["Please judge these"], ["thanks"]]), ("Empty", []), ("Cases", [["prompt"], ["p"]]),
             ("More", [["prompt"], ["q"]]))
    )  # fmt: skip
    assert read_table(content, "cases.xlsx") == [{"prompt": "p"}]


def test_empty_rows_keep_their_numbers_and_are_no_cases():
    rows = read(["prompt", "result_image"], ["p", "red.png"], [], [None, " "], ["q", "red.png"])
    assert len(rows) == 4
    matched = case_table.match(rows, Pictures.of_files({"red.png": png("red")}))
    assert [number for number, _case in matched.cases] == [1, 4]
    assert matched.problems == []


def test_merged_header_cells_and_short_or_long_rows_are_no_traceback():
    workbook = book(("Cases", [["case_id", "prompt", None, "result_image"], ["a", "p", "note", "red.png"], ["b"],
                               ["c", "q", None, "blue.png", "x", "y"]]))  # fmt: skip
    workbook["Cases"].merge_cells("B1:C1")
    assert [(row["case_id"], row["prompt"], row["result_image"]) for row in read_table(content_of(workbook), "x.xlsx")] == [
        ("a", "p", "red.png"), ("b", "", ""), ("c", "q", "blue.png"),
    ]  # fmt: skip


def test_a_table_of_coze_is_read_with_its_own_column_names(tmp_path):
    rows = read(["input_images", "user_prompt", "result_image"], ['["a.png", "b.png"]', "图1和图2", "c.png"])
    files = {"a.png": png("red"), "b.png": png("blue"), "c.png": png("green")}
    ((_row, case),) = case_table.match(rows, Pictures.of_files(files)).cases
    assert (case.prompt, [part.source for part in case.input_images], case.result_images[0].source) == (
        "图1和图2", ["a.png", "b.png"], "c.png",
    )  # fmt: skip


def test_a_prompt_column_wins_over_the_other_name_and_an_empty_one_does_not():
    rows = read(["user_prompt", "prompt"], ["theirs", "ours"], ["theirs", None])
    matched = case_table.match(rows, Pictures.none())
    assert [case.prompt for _row, case in matched.cases] == ["ours", "theirs"]


def test_rows_that_differ_in_what_is_expected_are_different_cases():
    rows = [
        {"prompt": "What is this?", "expected_output": text, "retrieval_context": "A ball."}
        for text in ("A ball.", "A cone.")
    ]
    matched = case_table.match(rows, Pictures.none())
    assert ([case.expected[0].text for _row, case in matched.cases], matched.problems) == (["A ball.", "A cone."], [])


# --- hostile files -----------------------------------------------------------------------------------------------------


def changed(content: bytes, changes: dict[str, bytes | None]) -> bytes:
    """A zip with some members replaced (None: left out)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in dict.fromkeys([*old.namelist(), *changes]):
            member = changes.get(name, b"" if name not in old.namelist() else old.read(name))
            if member is not None:
                new.writestr(name, member)
    return buffer.getvalue()


PLAIN = xlsx(["prompt"], ["p"])
SHEET = "xl/worksheets/sheet1.xml"


def _sheet(doctype: bytes, entity: bytes) -> bytes:
    """A sheet whose second cell is an entity."""
    cells = b"".join(
        b'<row r="%d"><c r="A%d" t="inlineStr"><is><t>%s</t></is></c></row>' % (row, row, text)
        for row, text in ((1, b"prompt"), (2, b"&" + entity + b";"))
    )
    main = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return b'<?xml version="1.0"?>%s<worksheet xmlns="%s"><sheetData>%s</sheetData></worksheet>' % (
        doctype,
        main,
        cells,
    )


ENTITIES = _sheet(
    b'<!DOCTYPE x [<!ENTITY a0 "%s">' % (b"ha" * 50)
    + b"".join(b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 10) for i in range(1, 9))
    + b"]>",
    b"a8",
)
OUTSIDE = _sheet(b'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>', b"f")


def _encrypted(content: bytes) -> bytes:
    damaged = bytearray(content)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := content.find(signature, at + 1)) != -1:
            damaged[at + offset] |= 1
    return bytes(damaged)


def _understated(content: bytes) -> bytes:
    """The sheet's stored checksum is wrong, as in a damaged download."""
    damaged = bytearray(content)
    at = content.rfind(b"PK\x01\x02", 0, content.rfind(SHEET.encode()))
    damaged[at + 16] ^= 0xFF
    return bytes(damaged)


HOSTILE = {
    "not a zip": b"PK\x03\x04 and then something else",
    "cut off": PLAIN[: len(PLAIN) // 2],
    "a zip of something else": changed(
        PLAIN, {name: None for name in zipfile.ZipFile(io.BytesIO(PLAIN)).namelist()} | {"a": b"b"}
    ),
    "no workbook": changed(PLAIN, {"xl/workbook.xml": None}),
    "no list of types": changed(PLAIN, {"[Content_Types].xml": None}),
    "no sheet": changed(PLAIN, {SHEET: None}),
    "an empty sheet": changed(PLAIN, {SHEET: b""}),
    "half a sheet": changed(PLAIN, {SHEET: zipfile.ZipFile(io.BytesIO(PLAIN)).read(SHEET)[:-60]}),
    "a sheet that is no XML": changed(PLAIN, {SHEET: b"\x00\x01\x02"}),
    "a workbook that is no XML": changed(PLAIN, {"xl/workbook.xml": b"<workbook"}),
    "relations that are none": changed(PLAIN, {"xl/_rels/workbook.xml.rels": b"<a/>"}),
    "an entity bomb in the sheet": changed(PLAIN, {SHEET: ENTITIES}),
    "an entity bomb in the workbook": changed(PLAIN, {"xl/workbook.xml": ENTITIES}),
    "a password": _encrypted(PLAIN),
    "a wrong checksum": _understated(PLAIN),
    "a row that is no number": changed(
        PLAIN, {SHEET: zipfile.ZipFile(io.BytesIO(PLAIN)).read(SHEET).replace(b'r="1"', b'r="x"')}
    ),
    "a string that is not there": changed(
        PLAIN,
        {
            SHEET: zipfile.ZipFile(io.BytesIO(PLAIN))
            .read(SHEET)
            .replace(b't="inlineStr"><is><t>p</t></is>', b't="s"><v>99</v>')
        },
    ),
    "no known column": xlsx(["name"], ["x"]),
    "nothing": content_of(book(("Cases", []))),
    "a header alone": xlsx(["prompt"]),
    "a column twice": xlsx(["prompt", "prompt"], ["a", "b"]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_cannot_be_read_is_answered_in_one_sentence(name):
    with pytest.raises(TableUnreadable) as told:
        read_table(HOSTILE[name], "cases.xlsx")
    assert str(told.value).startswith("cases.xlsx ")
    assert len(str(told.value)) < 400


def test_a_file_that_is_damaged_anywhere_is_read_or_answered_in_a_sentence():
    dice, told = random.Random(7), set()
    for _ in range(150):
        damaged = bytearray(PLAIN)
        for _ in range(dice.randint(1, 4)):
            damaged[dice.randrange(4, len(damaged))] = dice.randrange(256)
        try:
            read_table(bytes(damaged), "cases.xlsx")
        except Exception as error:
            told.add(type(error).__name__)
    assert told <= {"TableUnreadable"}


def test_an_outside_entity_never_brings_in_a_file():
    try:
        rows = read_table(changed(PLAIN, {SHEET: OUTSIDE}), "cases.xlsx")
    except TableUnreadable:
        return
    assert "root:" not in str(rows)


def test_a_zip_bomb_is_turned_away_by_its_declared_size_before_it_is_unpacked():
    content = changed(PLAIN, {"xl/media/bomb.bin": b"\0" * 30_000_000})
    damaged = bytearray(content)
    at = content.rfind(b"PK\x01\x02", 0, content.rfind(b"xl/media/bomb.bin"))
    damaged[at + 24 : at + 28] = (3_000_000_000).to_bytes(4, "little")
    with pytest.raises(
        TableUnreadable, match=r"cases\.xlsx would unpack to 3,0\d\d,\d{3},\d{3} bytes, more than 500,000,000\."
    ):
        read_table(bytes(damaged), "cases.xlsx")


def test_an_old_excel_file_is_said_not_to_be_readable():
    with pytest.raises(TableUnreadable, match=r"^cases\.xls "):
        read_table(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100, "cases.xls")


# --- a judged table out ------------------------------------------------------------------------------------------------


@pytest.fixture
def judged(tmp_path):
    """Write a judged file and open it: judged(source bytes, verdicts) gives the workbook."""

    def write(content: bytes, verdicts: dict, name: str = "cases.xlsx") -> openpyxl.Workbook:
        (tmp_path / name).write_bytes(content)
        write_judged(tmp_path / name, verdicts, tmp_path / "result.xlsx")
        return openpyxl.load_workbook(tmp_path / "result.xlsx")

    return write


def lines(sheet) -> list[list]:
    return [list(line) for line in sheet.iter_rows(values_only=True)]


def test_scores_and_reasonings_stand_in_their_rows(judged):
    found = judged(
        xlsx(["prompt", "note"], ["p", 1], [], ["q", 2.5]), {1: (1.0, "fine"), 3: (None, "skipped: no picture")}
    )
    assert lines(found["Cases"]) == [
        ["prompt", "note", "score", "reasoning"], ["p", 1, 1, "fine"], [None] * 4, ["q", 2.5, None, "skipped: no picture"],
    ]  # fmt: skip
    assert found["Cases"]["C2"].data_type == "n"


def test_columns_that_are_there_already_are_filled_where_they_are(judged):
    found = judged(
        xlsx(["reasoning", "score", "prompt"], ["old", 0, "p"], [None, None, "q"]),
        {1: (1.0, "new"), 2: (None, "failed: x")},
    )
    assert lines(found["Cases"])[1:] == [["new", 1, "p"], ["failed: x", None, "q"]]


def test_the_rest_of_the_workbook_stays_as_it_was(judged):
    workbook = book(("Notes", [["keep me", "=1+1"]]), ("Cases", [["prompt", "sum"], ["p", "=SUM(1,2)"]]))
    workbook["Cases"]["A1"].font = Font(bold=True, color="FF0000")
    workbook["Cases"]["A2"].fill = PatternFill("solid", fgColor="00FF00")
    workbook["Cases"].column_dimensions["A"].width = 42
    workbook["Notes"].sheet_state = "hidden"
    found = judged(content_of(workbook), {1: (0.0, "no")})
    assert found.sheetnames == ["Notes", "Cases"]
    assert lines(found["Notes"]) == [["keep me", "=1+1"]]
    assert (found["Notes"].sheet_state, found["Cases"].column_dimensions["A"].width) == ("hidden", 42)
    assert (found["Cases"]["A1"].font.bold, found["Cases"]["A1"].font.color.rgb) == (True, "00FF0000")
    assert found["Cases"]["A2"].fill.fgColor.rgb == "0000FF00"
    assert lines(found["Cases"])[1] == ["p", "=SUM(1,2)", 0, "no"]


@pytest.mark.parametrize("text", ["=1+1", '=HYPERLINK("http://x")', "+1", "-1", "@SUM(1)", "=cmd|' /C calc'!A0"])
def test_a_reasoning_that_looks_like_a_formula_stays_a_text(text, judged):
    cell = judged(xlsx(["prompt"], ["p"]), {1: (1.0, text)})["Cases"]["C2"]
    assert (cell.value, cell.data_type) == (text, "s")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x" * 40_000, "x" * 32_767),
        ("a\x00b\x07c\x1fd\te\nf", "abcd\te\nf"),
        ("红色 “引号” 🎈", "红色 “引号” 🎈"),
        ("<b>&amp;</b>", "<b>&amp;</b>"),
        ("", None),
    ],
)
def test_a_reasoning_is_kept_as_far_as_a_cell_can_hold_it(text, kept, judged):
    assert judged(xlsx(["prompt"], ["p"]), {1: (1.0, text)})["Cases"]["C2"].value == kept


@pytest.mark.parametrize("text", ["a\ufffeb", "a\uffffb"])
def test_signs_that_xml_cannot_hold_do_not_spoil_the_file(text, judged):
    assert judged(xlsx(["prompt"], ["p"]), {1: (1.0, text)})["Cases"]["C2"].value.startswith("a")


def test_a_merged_title_at_the_end_of_the_header_is_no_traceback(judged):
    workbook = book(("Cases", [["result_image", "prompt", None], ["red.png", "p", "note"]]))
    workbook["Cases"].merge_cells("B1:C1")
    line = lines(judged(content_of(workbook), {1: (1.0, "fine")})["Cases"])[1]
    assert line[:2] == ["red.png", "p"] and {1, "fine"} <= set(line)


def test_a_column_without_a_title_is_not_written_over(judged):
    found = judged(xlsx(["prompt"], ["p", "a note of mine"]), {1: (1.0, "fine")})
    assert "a note of mine" in lines(found["Cases"])[1]


def test_an_excel_file_with_a_header_below_a_title_is_said_not_to_be_a_table(tmp_path):
    with pytest.raises(TableUnreadable, match="has no sheet whose first row names one of"):
        read_table(xlsx(["My cases"], ["prompt"], ["p"]), "cases.xlsx")


def csv_rows(path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))


def test_a_csv_file_goes_out_as_csv_with_the_columns_added(tmp_path):
    source, output = tmp_path / "cases.csv", tmp_path / "result.csv"
    source.write_text("prompt;note\n红色;1\n蓝色;=1+1\n", encoding="utf-8")
    write_judged(source, {1: (1.0, "=fine"), 2: (None, "failed: 500")}, output)
    assert output.read_bytes().startswith(b"\xef\xbb\xbf")
    assert csv_rows(output) == [
        ["prompt", "note", "score", "reasoning"], ["红色", "1", "1", "'=fine"], ["蓝色", "'=1+1", "", "failed: 500"],
    ]  # fmt: skip
    assert read_table(output.read_bytes(), "result.csv")[1]["note"] == "=1+1"


def test_an_excel_file_goes_out_as_csv_and_a_csv_file_as_excel(tmp_path, judged):
    (tmp_path / "in.xlsx").write_bytes(xlsx(["prompt", "note"], ["p", 1]))
    write_judged(tmp_path / "in.xlsx", {1: (0.5, "half")}, tmp_path / "out.csv")
    assert csv_rows(tmp_path / "out.csv")[1] == ["p", "1", "0.5", "half"]
    found = judged("prompt,note\n红,1\n".encode(), {1: (0.5, "half")}, "in.csv")
    assert lines(found.active) == [["prompt", "note", "score", "reasoning"], ["红", "1", 0.5, "half"]]


@pytest.mark.parametrize("text", ["=1+1", "'=1+1"])
def test_a_text_of_a_csv_file_that_looks_like_a_formula_is_none_in_excel(text, judged):
    cell = judged(f"prompt\n{text}\n".encode(), {1: (1.0, "fine")}, "in.csv").active["A2"]
    assert (cell.value.lstrip("'"), cell.data_type) == ("=1+1", "s")


def test_a_control_character_in_a_csv_file_is_no_traceback(judged):
    assert judged(b"prompt\na\x0bb\n", {1: (1.0, "fine")}, "in.csv").active["B2"].value == 1


@pytest.mark.parametrize("score", [0.7483314773547882, 0.49999996, 1 / 3])
def test_a_score_is_written_in_full(score, tmp_path, judged):
    assert judged(xlsx(["prompt"], ["p"]), {1: (score, "")})["Cases"]["B2"].value == score
    (tmp_path / "in.csv").write_text("prompt\np\n")
    write_judged(tmp_path / "in.csv", {1: (score, "")}, tmp_path / "out.csv")
    assert float(csv_rows(tmp_path / "out.csv")[1][1]) == score


def test_a_file_may_be_written_over_itself(tmp_path):
    path = tmp_path / "cases.xlsx"
    path.write_bytes(xlsx(["prompt"], ["p"]))
    for score in (0.0, 1.0):
        write_judged(path, {1: (score, f"at {score:g}")}, path)
    assert lines(openpyxl.load_workbook(path)["Cases"]) == [["prompt", "score", "reasoning"], ["p", 1, "at 1"]]


def test_a_row_without_a_verdict_shows_no_score_of_an_earlier_run(tmp_path, judged):
    content = xlsx(["prompt", "score", "reasoning"], ["p", 1, "old"], ["q", 1, "old"])
    output = tmp_path / "out.csv"
    (tmp_path / "in.xlsx").write_bytes(content)
    write_judged(tmp_path / "in.xlsx", {1: (0.0, "new")}, output)
    assert csv_rows(output)[2] == ["q", "", ""]
    assert lines(judged(content, {1: (0.0, "new")})["Cases"])[2] == ["q", None, None]
