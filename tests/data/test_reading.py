"""Files of every format are read into the same rows, and what they hold comes through unharmed."""

from __future__ import annotations

import csv
import io
import json
import time
import zipfile

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.drawing.image import Image

from data.exchange.reading import SURPLUS, EmbeddedPictures, Source, Table, TableUnreadable, open_table
from data.exchange.reading.delimited import DELIMITERS, sniffed
from data.exchange.reading.table import unique
from tests.conftest import png


def table(content: bytes | str, name: str = "cases.csv", sheet: str | None = None) -> Table:
    return open_table(Source(name, content.encode() if isinstance(content, str) else content), sheet)


def rows(content: bytes | str, name: str = "cases.csv", sheet: str | None = None) -> list[dict[str, str]]:
    return [row for _number, row in table(content, name, sheet).rows()]


def book(*lines: list, title: str = "Cases", merged: tuple[str, ...] = ()) -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    made.active.title = title
    for line in lines:
        made.active.append(line)
    for area in merged:
        made.active.merge_cells(area)
    return made


def saved(made: openpyxl.Workbook) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


# --- delimited text ----------------------------------------------------------------------------------------------------

CELL = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12).filter(
    lambda cell: not cell.startswith("'")
)
CHINESE = st.text("红蓝色的方块图片在桌子上一个不要改可用", max_size=12)


@given(
    cells=st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=5),
    delimiter=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
@settings(max_examples=60, deadline=None)
def test_a_written_table_is_read_back(cells, delimiter, encoding):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([("first", "second", "third"), *cells])
    assert [tuple(row.values()) for row in rows(buffer.getvalue().encode(encoding))] == cells


@given(cells=st.lists(st.tuples(CHINESE, CHINESE), min_size=2, max_size=5))
@settings(max_examples=40, deadline=None)
def test_chinese_from_excel_is_read_in_gb18030_and_utf16_without_its_mark(cells):
    text = "编号,提示词\r\n" + "".join(f"{a},{b}\r\n" for a, b in cells)
    wanted = [{"编号": a, "提示词": b} for a, b in cells]
    assert rows(text.encode("gb18030")) == wanted
    assert rows(text.encode("utf-16-le")) == rows(text.encode("utf-16-be")) == wanted


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_the_sign_between_the_cells_is_found(delimiter):
    lines = [delimiter.join(cells) + "\n" for cells in (("id", "prompt"), ("1", "a cat. It sits"), ("2", "a dog"))]
    assert sniffed(lines) == delimiter


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("sep=;\nprompt;score\na,b;1\n", [{"prompt": "a,b", "score": "1"}]),
        ("prompt\na, b, and c\nd\n", [{"prompt": "a, b, and c"}, {"prompt": "d"}]),
        ("a;b\n1,5;2,5\n3,5;4\n", [{"a": "1,5", "b": "2,5"}, {"a": "3,5", "b": "4"}]),
        ("a,a\n1,2\n", [{"a": "1", "a (2)": "2"}]),
        ("a,a (2),a,a\n1,2,3,4\n", [{"a": "1", "a (2)": "2", "a (3)": "3", "a (4)": "4"}]),
        ("prompt,'@ann,'plain\np,q,r\n", [{"prompt": "p", "@ann": "q", "'plain": "r"}]),
        ("a,b\n'=1+1,'plain\n", [{"a": "=1+1", "b": "'plain"}]),
        ("a,b\n1\n", [{"a": "1", "b": ""}]),
        ("a,b\n1,2,3\n", [{"a": "1", "b": "2", SURPLUS: "3"}]),
    ],
)
def test_what_spreadsheets_do_to_csv(content, wanted):
    assert rows(content) == wanted


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('a,b\n1,2\n3,"never\n4,5\n6,7\n', 3),
        ('a,b\r\n"1\r\n1","never\r\n4,5', 3),
        ('a,b\n1,"', 2),
        ('a,"b\n1,2\n', 1),
        ('sep=;\na;b\n1;"\n', 3),
    ],
)
def test_a_quote_that_is_never_closed_is_told_with_its_line(content, line):
    with pytest.raises(TableUnreadable, match=f"a quote in line {line} begins a cell and is never closed"):
        rows(content)


def test_quotes_inside_of_cells_and_a_last_line_without_an_end_are_read():
    assert rows('a,b\n5" nail,"x"y\n"1\n2","last"') == [{"a": '5" nail', "b": "xy"}, {"a": "1\n2", "b": "last"}]


@pytest.mark.parametrize("encoding", ["latin-1", "shift_jis", "big5"])
def test_other_encodings_do_not_come_in_as_nonsense(encoding):
    text = {"latin-1": "schön, très joli", "shift_jis": "赤い四角と青い丸", "big5": "紅色的方塊與圓圈"}[encoding]
    with pytest.raises(
        TableUnreadable, match=r"cases\.csv is not text in UTF-8, UTF-16 or GB18030; save it as CSV UTF-8\."
    ):
        table(f"prompt\n{text}\n".encode(encoding))


# --- Excel -------------------------------------------------------------------------------------------------------------


def test_a_title_and_a_merged_header_give_plain_columns():
    made = book(
        ["Evaluation of October"], ["prompt", "GPT-4o", None, "人工"], [None, "score", "reason", "label"],
        ["a red square", 0.5, "fine", "可用"], merged=("B2:C2", "A2:A3"),
    )  # fmt: skip
    assert rows(saved(made), "x.xlsx") == [
        {"prompt": "a red square", "GPT-4o.score": "0.5", "GPT-4o.reason": "fine", "人工.label": "可用"}
    ]


@pytest.mark.parametrize("merged", [(), ("A1:B1",)])
def test_a_title_of_two_cells_is_not_taken_for_the_header(merged):
    made = book(["Evaluation", None, "October"], ["prompt", "result_image", "odd"], ["p", "a.png", "x"], merged=merged)
    assert rows(saved(made), "x.xlsx") == [{"prompt": "p", "result_image": "a.png", "odd": "x"}]


def test_a_header_of_unknown_names_is_kept_and_so_are_groups_of_known_ones():
    assert rows(saved(book(["colour", "size"], ["red", "9"])), "x.xlsx") == [{"colour": "red", "size": "9"}]
    made = book(["Nr", "GPT-4o", None], [None, "score", "reason"], ["7", 0.5, "fine"], merged=("B1:C1", "A1:A2"))
    assert rows(saved(made), "x.xlsx") == [{"Nr": "7", "GPT-4o.score": "0.5", "GPT-4o.reason": "fine"}]


def test_cells_under_no_name_are_told():
    read = table("prompt,,score,\np,note,1,\nq,,,\n")
    assert read.notes == ("cases.csv: column 2 has no name and is not read; give it one in the header.",)
    assert read.columns == ("prompt", "score")


@given(st.lists(st.sampled_from(["a", "a (2)", "a (3)", "a (2) (2)", "b", ""]), max_size=9))
def test_names_of_columns_are_made_unique(names):
    made = unique(names)
    named = [name for name in made if name]
    assert len(set(named)) == len(named) and [bool(name) for name in made] == [bool(name) for name in names]
    assert all(one.startswith(name) for one, name in zip(made, names, strict=True))


def test_a_cell_merged_downwards_stands_in_each_of_its_rows():
    made = book(
        ["prompt", "result_image"], ["a red square", "a.png"], [None, "b.png"], ["x", "c.png"], merged=("A2:A3",)
    )
    assert [row["prompt"] for row in rows(saved(made), "x.xlsx")] == ["a red square", "a red square", "x"]


def test_a_cell_merged_beside_the_table_or_to_the_sheet_s_end_costs_nothing():
    made = book(
        ["prompt", "result_image"], ["a red square", "a.png", None, "beside"], [None, "b.png"], [], ["x", "c.png"],
        merged=("A2:A4",),
    )  # fmt: skip
    made.active.cell(60, 2).number_format = "0.0"  # a row of the sheet that holds nothing
    first, more = b'<mergeCell ref="A2:A4"', b'<mergeCell ref="D2:D1048576"/><mergeCell ref="B5:B1048576"/>'
    content = _with_parts(saved(made), {}, first, more + first)
    started = time.monotonic()
    read = table(content, "x.xlsx")
    assert [(number, row["prompt"], row["result_image"]) for number, row in read.rows()] == [
        (1, "a red square", "a.png"), (2, "a red square", "b.png"), (4, "x", "c.png"),
    ]  # fmt: skip
    assert time.monotonic() - started < 2


def test_sheets_that_are_not_read_are_named():
    made = book(["prompt"], ["p"])
    for title in ("用例", "人工"):
        made.create_sheet(title).append(["prompt"])
    content = saved(made)
    assert table(content, "x.xlsx").notes == (
        "x.xlsx: only the sheet Cases is read; choose another one with --sheet: 用例, 人工.",
    )
    assert table(content, "x.xlsx", "人工").notes == table(saved(book(["prompt"], ["p"])), "x.xlsx").notes == ()


def test_the_sheet_with_known_columns_is_taken_unless_another_is_named():
    made = book(["colour"], ["red"], title="Colours")
    for line in (["case_id", "prompt"], ["a", "p"]):
        made.create_sheet("Cases") if "Cases" not in made.sheetnames else None
        made["Cases"].append(line)
    content = saved(made)
    found = table(content, "x.xlsx")
    assert (found.sheet, found.sheets, found.columns) == ("Cases", ("Colours", "Cases"), ("case_id", "prompt"))
    assert rows(content, "x.xlsx", "Colours") == [{"colour": "red"}]
    with pytest.raises(TableUnreadable, match="has no sheet 'Nope'; there are: Colours, Cases"):
        table(content, "x.xlsx", "Nope")


def test_pictures_that_float_over_cells_are_the_cells_of_their_upper_left_corner():
    made = book(["prompt", "result"], ["red", None], ["blue", None])
    for cell, color in (("B2", "red"), ("B3", "blue")):
        made.active.add_image(Image(io.BytesIO(png(color))), cell)
    found = [row["result"] for row in rows(saved(made), "x.xlsx")]
    assert all(isinstance(cell, EmbeddedPictures) for cell in found)
    assert [cell.readers[str(cell)]() for cell in found] == [png("red"), png("blue")]


class Counted(Source):
    """A source that counts how often it is opened."""

    opened = 0

    def open(self):
        Counted.opened += 1
        return super().open()


def test_all_pictures_of_a_workbook_are_read_through_one_open_zip():
    made = book(["prompt", "picture"], *([f"p{i}", None] for i in range(20)))
    for i in range(20):
        made.active.add_image(Image(io.BytesIO(png((i, 0, 0)))), f"B{i + 2}")
    cells = [row["picture"] for _n, row in open_table(Counted("x.xlsx", saved(made))).rows()]
    before = Counted.opened
    contents = [read() for cell in cells for read in cell.readers.values()]
    assert len(set(contents)) == 20 and Counted.opened == before + 1


def _with_parts(content: bytes, parts: dict[str, bytes], cell: bytes, by: bytes) -> bytes:
    """A workbook with further members, and one cell of its sheet written otherwise."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            member = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                assert cell in member
                member = member.replace(cell, by)
            new.writestr(name, member)
        for name, member in parts.items():
            new.writestr(name, member)
    return buffer.getvalue()


RELATIONS = (
    b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    b'<Relationship Id="rId1" Type="image" Target="%s"/></Relationships>'
)
CELL_B2 = b'<c r="B2" t="inlineStr"><is><t>HERE</t></is></c>'


def test_a_picture_that_newer_excel_placed_in_a_cell_is_found():
    main = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    r = b'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    parts = {
        "xl/metadata.xml": b'<metadata %s><futureMetadata name="XLRICHVALUE" count="1"><bk><extLst><ext><xlrd:rvb '
        b'xmlns:xlrd="x" i="0"/></ext></extLst></bk></futureMetadata><valueMetadata count="1"><bk><rc t="1" v="0"/></bk>'
        b"</valueMetadata></metadata>" % main,
        "xl/richData/rdrichvalue.xml": b'<rvData xmlns="y" count="1"><rv s="0"><v>0</v><v>5</v></rv></rvData>',
        "xl/richData/richValueRel.xml": b'<richValueRels xmlns="z" %s><rel r:id="rId1"/></richValueRels>' % r,
        "xl/richData/_rels/richValueRel.xml.rels": RELATIONS % b"../media/image1.png",
        "xl/media/image1.png": png("red"),
    }
    content = _with_parts(
        saved(book(["prompt", "result"], ["p", "HERE"])), parts, CELL_B2, b'<c r="B2" t="e" vm="1"><v>#VALUE!</v></c>'
    )
    (row,) = rows(content, "x.xlsx")
    assert row["result"].readers[str(row["result"])]() == png("red")


def test_a_picture_that_wps_placed_in_a_cell_is_found():
    parts = {
        "xl/cellimages.xml": b'<etc:cellImages xmlns:etc="e" xmlns:xdr="d" xmlns:a="a" xmlns:r="http://r"><etc:cellImage><xdr:pic>'
        b'<xdr:nvPicPr><xdr:cNvPr id="2" name="ID_ABC"/></xdr:nvPicPr><xdr:blipFill><a:blip r:embed="rId1"/></xdr:blipFill>'
        b"</xdr:pic></etc:cellImage></etc:cellImages>",
        "xl/_rels/cellimages.xml.rels": RELATIONS % b"media/image1.png",
        "xl/media/image1.png": png("blue"),
    }
    formula = b'<c r="B2" t="str"><f>_xlfn.DISPIMG("ID_ABC",1)</f><v>=DISPIMG("ID_ABC",1)</v></c>'
    content = _with_parts(saved(book(["prompt", "result"], ["p", "HERE"])), parts, CELL_B2, formula)
    (row,) = rows(content, "x.xlsx")
    assert row["result"].readers[str(row["result"])]() == png("blue")


# --- JSON, JSONL, Parquet ----------------------------------------------------------------------------------------------

OBJECTS = [
    {"prompt": "a", "facts": {"model": "m", "seed": 1}, "tags": ["x", "y"]},
    {"prompt": "b", "score": 0.5, "ok": True},
]
FLAT = [
    {"prompt": "a", "facts.model": "m", "facts.seed": "1", "tags": '["x", "y"]'},
    {"prompt": "b", "score": "0.5", "ok": "true"},
]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(OBJECTS),
        json.dumps(OBJECTS, indent=2),
        json.dumps({"version": 1, "meta": {"by": "x"}, "results": OBJECTS}),
        "\n".join(map(json.dumps, OBJECTS)),
        "\n\n" + "\r\n".join(map(json.dumps, OBJECTS)) + "\n",
    ],
    ids=["list", "indented", "list inside", "JSONL", "JSONL from Windows"],
)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_json_is_read_whatever_its_form_and_the_file_s_ending(content, encoding):
    assert rows(content.encode(encoding), "cases.csv") == FLAT
    assert set(table(content, "x").columns) == {column for row in FLAT for column in row}


JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    objects=st.lists(
        st.dictionaries(st.text(min_size=1, max_size=6), JSON_VALUE, min_size=1, max_size=4), min_size=1, max_size=4
    )
)
@settings(max_examples=80, deadline=None)
def test_any_json_is_rows_of_texts_or_a_sentence(objects):
    for content in (json.dumps(objects), "\n".join(map(json.dumps, objects))):
        try:
            found = rows(content, "x.json")
        except TableUnreadable as error:
            assert str(error).startswith("x.json")
            continue
        assert all(isinstance(cell, str) for row in found for cell in row.values())


def test_parquet_with_pictures_as_data_sets_have_them():
    made = pyarrow.table({
        "prompt": ["a", "b"], "score": [0.5, None], "facts": [{"model": "m"}, {"model": "n"}],
        "image": [{"bytes": png("red"), "path": "red.png"}, {"bytes": png("blue"), "path": None}],
    })  # fmt: skip
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(made, buffer)
    found = rows(buffer.getvalue(), "cases.parquet")
    assert [(row["prompt"], row["score"], row["facts.model"]) for row in found] == [("a", "0.5", "m"), ("b", "", "n")]
    assert found[0]["image"].startswith("red-") and found[1]["image"].startswith("embedded-")
    assert [row["image"].readers[str(row["image"])]() for row in found] == [png("red"), png("blue")]
