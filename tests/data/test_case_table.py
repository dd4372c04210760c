"""A table of cases comes in: every row is accounted for, and what is wrong is said with its row and column."""

from __future__ import annotations

import hashlib
import struct
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.exchange import case_table
from data.exchange.case_table import match, pair_prompts
from data.exchange.columns import join_list, split_list, texts
from data.exchange.picture_parts import PictureParts
from data.exchange.pictures import Pictures, PicturesUnusable
from data.exchange.tables import TableUnreadable, read_csv
from data.store import cases as case_store
from data.store.links import NOT_FETCHED
from evaluators.case import Part
from tests.conftest import png

TABLE = "case_id,prompt,result_image\na,a red square,red.png\nb,a blue square,blue.png\n"
FILES = {"red.png": png("red"), "blue.png": png("blue")}


def imported(table: str | bytes, files: dict[str, bytes] | None = None, dataset: str = "shoes") -> dict:
    """The report of an import of a table with pictures in memory."""
    content = table.encode() if isinstance(table, str) else table
    pictures = Pictures.of_files(FILES if files is None else files)
    return case_table.save(dataset, match(read_csv(content, "cases.csv"), pictures))


def case(external_id: str, dataset: str = "shoes"):
    case_id = case_store.find_case(dataset, external_id)
    return case_store.load_cases([case_id])[case_id]


def problems(report: dict) -> list[tuple]:
    return [(p["row"], p["column"], p["problem"]) for p in report["problems"]]


# --- reading -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        TABLE.encode(),
        TABLE.encode("utf-8-sig"),
        TABLE.encode("utf-16"),
        TABLE.replace("red square", "红色的方块").encode("gb18030"),
        TABLE.replace(",", ";").encode(),
        TABLE.replace(",", "\t").encode(),
        TABLE.replace("\n", "\r\n").encode("utf-8-sig"),
        TABLE.replace("case_id,", " case_id ,").encode(),
        TABLE.replace("\n", "\n\n").encode(),
        (TABLE + ",,\n , ,\n").encode(),
    ],
    ids=[
        "plain",
        "BOM",
        "UTF-16",
        "GB18030",
        "semicolons",
        "tabs",
        "Windows",
        "blanks in the header",
        "blank lines",
        "empty rows",
    ],
)
def test_a_table_is_read_however_a_spreadsheet_wrote_it(content):
    report = imported(content)
    assert (report["cases"], report["problems"]) == ({"new": 2, "changed": 0, "unchanged": 0, "rejected": 0}, [])
    assert case("b").prompt == "a blue square"


def test_chinese_quotes_and_line_breaks_in_cells_survive():
    imported('case_id,prompt\na,"把“立方体”变成绿色，\n不要改别的, 谢谢"\n')
    assert case("a").prompt == "把“立方体”变成绿色，\n不要改别的, 谢谢"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "has no header"),
        (b"name,age\nx,1\n", "has none of the known columns: case_id, prompt"),
        (b"case_id,prompt\n", "has a header and no rows"),
        (b"prompt,prompt\na,b\n", "has the column prompt more than once"),
        ("prompt\nschön\n".encode("latin-1"), "is not text in UTF-8, UTF-16 or GB18030"),
        (b"prompt\na\x00b\n", "holds NUL characters"),
        (b"prompt\n" + b"x" * 1_100_000 + b"\n", "cannot be read as CSV"),
    ],
)
def test_what_is_not_such_a_table_is_said_not_to_be_one(content, problem):
    with pytest.raises(TableUnreadable, match=problem):
        read_csv(content, "cases.csv")


def test_a_row_with_more_cells_than_columns_is_turned_away_and_the_others_stay():
    report = imported("case_id,prompt,\na,a red square,x,y\n,,,y\nb,a blue square,x\nc,a green square,,,,\n")
    assert (report["cases"]["new"], report["cases"]["rejected"]) == (2, 2)
    said = "the row has more cells than the header; put texts that hold commas into quotes"
    assert problems(report) == [(1, "", said), (2, "", said)]


def test_columns_that_are_not_read_are_listed():
    assert imported("prompt,colour,result_image\nx,red,red.png\n")["unread_columns"] == ["colour"]


# --- rows --------------------------------------------------------------------------------------------------------------


def test_importing_twice_changes_nothing():
    assert imported(TABLE)["cases"]["new"] == 2
    assert imported(TABLE)["cases"] == {"new": 0, "changed": 0, "unchanged": 2, "rejected": 0}
    nameless = "prompt,result_image\nx,red.png\nx,blue.png\n"
    assert imported(nameless)["cases"]["new"] == 2
    assert imported(nameless)["cases"]["unchanged"] == 2


def test_another_prompt_or_picture_under_a_known_id_is_a_change():
    imported(TABLE)
    report = imported(
        TABLE.replace("a red square", "a crimson square").replace("b,a blue square,blue", "b,a blue square,red")
    )
    assert report["cases"] == {"new": 0, "changed": 2, "unchanged": 0, "rejected": 0}


def test_an_id_that_stands_twice_is_rejected_the_second_time_with_both_rows():
    report = imported(TABLE + "a,another,red.png\n")
    assert report["cases"] == {"new": 2, "changed": 0, "unchanged": 0, "rejected": 1}
    assert problems(report) == [(3, "case_id", "a stands in row 1 already")]
    assert case("a").prompt == "a red square"


def test_the_same_row_twice_without_an_id_is_one_case():
    report = imported("prompt,result_image\nx,red.png\nx,red.png\n")
    assert (report["cases"]["new"], report["cases"]["rejected"]) == (1, 1)


def test_a_row_with_nothing_to_judge_is_rejected():
    report = imported("case_id,prompt,result_image,generator\na,,,Aster\nb,x,,\n")
    assert problems(report) == [(1, "prompt", "the row has neither a prompt nor a picture")]
    assert report["cases"] == {"new": 1, "changed": 0, "unchanged": 0, "rejected": 1}


def test_a_missing_or_broken_picture_is_a_problem_of_its_row_and_the_row_stays_a_case():
    files = {"red.png": b"not a picture", "half.png": png("red", (300, 300))[:200]}
    report = imported(
        "case_id,prompt,input_images,result_image\n"
        "a,x,,gone.png\nb,x,,red.png\nc,x,half.png,\nd,x,,https://example.com/x.png\n",
        files,
    )
    assert report["cases"]["new"] == 4
    assert problems(report)[0] == (1, "result_image", "no picture named gone.png is among the 2 given")
    assert problems(report)[1][:2] == (2, "result_image")
    assert "red.png is not a picture" in problems(report)[1][2]
    assert problems(report)[2][:2] == (3, "input_images")
    assert "half.png is a broken picture" in problems(report)[2][2]
    assert len(problems(report)) == 3  # a link is fetched later
    assert case("d").result_images[0].problem == NOT_FETCHED
    assert case("a").result_images[0].problem == "no picture named gone.png is among the 2 given"


def test_a_picture_that_arrives_later_changes_the_case():
    imported(TABLE, {})
    assert imported(TABLE)["cases"] == {"new": 0, "changed": 2, "unchanged": 0, "rejected": 0}


def test_a_picture_that_arrives_later_does_not_double_a_case_without_an_id():
    imported("prompt,result_image\nx,red.png\n", {})
    imported("prompt,result_image\nx,red.png\n")
    assert case_store.count_cases(case_store.CaseFilter(search="x")) == 1


# --- lists in cells ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell",
    [
        '["a.png", "b.png"]',
        '"a.png\nb.png"',
        '"a.png, b.png"',
        "a.png; b.png",
        "a.png；b.png",
        '"a.png，b.png"',
        "a.png;b.png;",
    ],
)
def test_several_input_images_stand_in_one_cell(cell):
    cell = cell if not cell.startswith("[") else '"' + cell.replace('"', '""') + '"'
    imported(f"case_id,prompt,input_images\nx,p,{cell}\n", {"a.png": png("red"), "b.png": png("blue")})
    assert [part.source for part in case("x").input_images] == ["a.png", "b.png"]


def test_texts_and_tags_are_lists_too():
    imported('case_id,prompt,expected_output,tags\nx,p,"[""one"", ""two""]","hands, text"\n')
    assert [part.text for part in case("x").expected] == ["one", "two"]
    assert case("x").tags == ("hands", "text")
    assert texts("a, b; c") == ["a, b; c"]


ENTRY = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).map(str.strip).filter(bool)


@given(entries=st.lists(ENTRY, max_size=4))
def test_a_list_that_is_written_is_read_back(entries):
    assert split_list(join_list(entries)) == entries


def test_half_an_emoji_in_a_json_cell_is_no_traceback():
    imported('case_id,prompt,tags\nx,p,"[""\\ud83d""]"\n')
    assert case("x").prompt == "p"


# --- where pictures come from ------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    def make(files: dict[str, bytes]):
        for name, content in files.items():
            path = tmp_path / "pictures" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return tmp_path / "pictures"

    return make


@pytest.fixture
def archive(tmp_path):
    def make(files: dict[str, bytes]):
        with zipfile.ZipFile(tmp_path / "pictures.zip", "w", zipfile.ZIP_DEFLATED) as made:
            for name, content in files.items():
                made.writestr(name, content)
        return tmp_path / "pictures.zip"

    return make


@pytest.mark.parametrize(
    "name", ["deep/red.png", "./deep/red.png", "deep\\red.png", "red.png", "RED.PNG", "Deep/Red.png"]
)
@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_a_picture_is_found_by_its_path_or_its_bare_name(name, kind, request):
    pictures = Pictures.at(request.getfixturevalue(kind)({"deep/red.png": png("red"), "blue.png": png("blue")}))
    assert pictures.read(name) == png("red")


def test_a_name_that_several_pictures_have_is_ambiguous_and_said_to_be():
    pictures = Pictures.of_files({"one/a.png": png("red"), "two/a.png": png("blue")})
    with pytest.raises(
        LookupError, match=r"a\.png could be 2 of the pictures \(one/a\.png, two/a\.png\); name its folder"
    ):
        pictures.read("a.png")
    assert pictures.read("two/a.png") == png("blue")


def test_a_picture_in_another_folder_is_not_taken_for_the_one_that_was_named():
    pictures = Pictures.of_files({"result/001.png": png("red")})
    with pytest.raises(LookupError):
        pictures.read("source/001.png")
    assert pictures.read("/home/me/pictures/result/001.png") == png("red")


def test_pictures_whose_names_differ_by_case_only_are_told_apart():
    pictures = Pictures.of_files({"Cat.png": png("red"), "cat.png": png("blue")})
    assert (pictures.read("Cat.png"), pictures.read("cat.png")) == (png("red"), png("blue"))


def test_an_accent_is_the_same_however_a_mac_writes_it():
    assert Pictures.of_files({"cafe\u0301.png": png("red")}).read("caf\u00e9.png") == png("red")


def test_names_that_climb_out_of_a_zip_are_left_out_and_nothing_is_written_there(archive, tmp_path):
    path = archive({"../../evil.png": png("red"), "/abs.png": png("blue"), "__MACOSX/._evil.png": b"x"})
    before = {file for file in tmp_path.rglob("*")}
    pictures = Pictures.at(path)
    report = case_table.save("zips", match([{"prompt": "x", "result_image": "evil.png"}], pictures))
    assert [p["problem"] for p in report["problems"]] == [
        "../../evil.png is not read: it has a path that leads out of the zip"
    ]
    assert pictures.names() == [] and len(pictures.notes) == 1
    made = {file.relative_to(tmp_path).parts[0] for file in set(tmp_path.rglob("*")) - before}
    assert made == {"home"}


def test_an_encrypted_member_is_a_problem_of_its_row(archive):
    path = archive({"red.png": png("red")})
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # set the flag "encrypted" in both headers
        content[content.index(signature) + offset] |= 1
    path.write_bytes(content)
    report = case_table.save("zips", match([{"prompt": "x", "result_image": "red.png"}], Pictures.at(path)))
    assert report["cases"]["new"] == 1
    assert "password" in report["problems"][0]["problem"]


def test_a_damaged_member_is_a_problem_of_its_row(archive):
    path = archive({"red.png": png("red", (50, 50)), "blue.png": png("blue")})
    content = bytearray(path.read_bytes())
    name_length = struct.unpack("<H", content[26:28])[0]
    for at in range(30 + name_length, 30 + name_length + 12):
        content[at] ^= 0xFF
    path.write_bytes(content)
    rows = [{"prompt": "x", "result_image": "red.png"}, {"prompt": "y", "result_image": "blue.png"}]
    report = case_table.save("zips", match(rows, Pictures.at(path)))
    assert [p["row"] for p in report["problems"]] == [1]


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 half"])
def test_what_is_neither_folder_nor_zip_is_said_to_be_neither(content, tmp_path):
    path = tmp_path / "pictures.zip"
    path.write_bytes(content)
    with pytest.raises(PicturesUnusable, match="neither a folder nor a zip"):
        Pictures.at(path)


def test_a_zip_with_a_damaged_list_of_files_is_said_to_be_broken(archive):
    path = archive({"red.png": png("red")})
    path.write_bytes(path.read_bytes().replace(b"PK\x01\x02", b"PK\xff\xff"))
    with pytest.raises(PicturesUnusable):
        Pictures.at(path)


# --- prompts and pictures without a table ------------------------------------------------------------------------------


def test_the_nth_prompt_goes_with_the_nth_picture_in_natural_order_and_nothing_is_dropped():
    assert pair_prompts(["one", "two"], ["img10.png", "img2.png", "img1.png"]) == [
        {"prompt": "one", "result_image": "img1.png"},
        {"prompt": "two", "result_image": "img2.png"},
        {"prompt": "", "result_image": "img10.png"},
    ]
    assert pair_prompts(["one"], []) == [{"prompt": "one", "result_image": ""}]


def test_any_file_name_can_be_ordered():
    assert len(pair_prompts([], ["1²3.png", "a1.png", "1a.png", "①.png", "１.png", ""])) == 6


# --- one picture for several names -------------------------------------------------------------------------------------


def found(files: list[str], names: list[str]) -> list[str]:
    """The file whose content each name got in the end, or nothing."""
    contents = {name: png((i, 0, 0)) for i, name in enumerate(files)}
    by_digest = {hashlib.sha256(content).hexdigest(): name for name, content in contents.items()}
    parts = PictureParts(Pictures.of_files(contents), keeping=False)
    for name in names:
        parts.part(name)
    told = [by_digest.get(parts.part(name).sha256 or "", "") for name in names]
    assert parts.counts["matched"] == sum(map(bool, told)) and set(parts.kept) == {
        digest for digest, name in by_digest.items() if name in told
    }
    return told


LINK_A, LINK_B = "https://x.test/a/1.png?sign=1", "https://x.test/b/1.png"


@pytest.mark.parametrize(
    ("files", "names", "wanted"),
    [
        (["1.png"], ["modelA/1.png"], ["1.png"]),
        (["1.png"], ["modelA/1.png", "modelB/1.png", "modelA/1.png"], ["", "", ""]),
        (["1.png"], ["modelA/1.png", "modelB/1.png", "modelC/1.png"], ["", "", ""]),
        (["1.png"], ["modelA/1.png", "MODELA\\1.png"], ["1.png", "1.png"]),
        (["1.png"], ["modelA/1.png", "1.png", LINK_A], ["", "1.png", ""]),
        (["1.png"], [LINK_A, LINK_B], ["", ""]),
        (["1.png"], [LINK_A, LINK_A.replace("=1", "=2")], ["1.png", "1.png"]),
        (["all/1.png"], [LINK_A], ["all/1.png"]),
        (["all/a/1.png"], [LINK_B, LINK_A], ["", "all/a/1.png"]),
        (["all/a/1.png", "all/b/1.png"], [LINK_A, LINK_B], ["all/a/1.png", "all/b/1.png"]),
        (["1.png", "b/1.png"], ["x/b/1.png", "x/c/1.png"], ["b/1.png", "1.png"]),
    ],
)  # fmt: skip
def test_a_picture_is_not_given_to_names_that_fit_it_by_their_ends_alone(files, names, wanted):
    assert found(files, names) == wanted


def test_a_name_that_lost_its_picture_says_so_and_a_link_stays_one():
    parts = PictureParts(Pictures.of_files({"1.png": png("red")}), keeping=False)
    for name in ("modelA/1.png", "modelB/1.png", LINK_A):
        parts.part(name)
    assert parts.part("modelA/1.png").problem == (
        "modelA/1.png is not taken to be 1.png: other names fit it as well; name its folder"
    )
    assert parts.part(LINK_A) == Part("image", source=LINK_A, problem=NOT_FETCHED)
    assert parts.counts == {"matched": 0, "missing": 2, "unreadable": 0, "links": 1}
