"""Files of every format are read into the same rows, and what they hold comes through unharmed."""

from __future__ import annotations

import csv
import io
import json
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
        ("a,b\n'=1+1,'plain\n", [{"a": "=1+1", "b": "'plain"}]),
        ("a,b\n1\n", [{"a": "1", "b": ""}]),
        ("a,b\n1,2,3\n", [{"a": "1", "b": "2", SURPLUS: "3"}]),
    ],
)
def test_what_spreadsheets_do_to_csv(content, wanted):
    assert rows(content) == wanted


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


def test_a_cell_merged_downwards_stands_in_each_of_its_rows():
    made = book(
        ["prompt", "result_image"], ["a red square", "a.png"], [None, "b.png"], ["x", "c.png"], merged=("A2:A3",)
    )
    assert [row["prompt"] for row in rows(saved(made), "x.xlsx")] == ["a red square", "a red square", "x"]


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
