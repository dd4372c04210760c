"""Pictures and zips that mean harm, or that were just saved wrongly: one clear sentence each, nothing kept, little memory."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from data.exchange import zips
from data.exchange.case_table import match
from data.exchange.pictures import Pictures, PicturesBeside, PicturesUnusable
from data.images import NotAPicture, examine, keep, shown_name, smaller_path
from tests.conftest import REPOSITORY, png


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def blank_png(width: int, height: int, *more: bytes) -> bytes:
    """A PNG of one bit a pixel, all black, without ever holding its pixels."""
    packer, line = zlib.compressobj(9), bytes(1 + (width + 7) // 8)
    packed = b"".join(packer.compress(line) for _ in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    data = (chunk(b"IHDR", header), *more, chunk(b"IDAT", packed), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(data)


def declared_png(width: int, height: int) -> bytes:
    """The header of a PNG and nothing else."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"")


def saved(image: Image.Image, form: str, **how) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **how)
    return buffer.getvalue()


def peak_megabytes(code: str, folder: Path) -> int:
    """The peak memory that a process takes for some code, above what its imports take."""
    program = (
        "import sys, zipfile\n"
        "from data.exchange.pictures import Pictures\n"
        "from data.images import NotAPicture, examine, keep\n"
        "from tests.memory import peak_megabytes\n"
        f"before = peak_megabytes()\n{code}\nprint(round(peak_megabytes() - before))\n"
    )
    here = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=here, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


# --- pictures ----------------------------------------------------------------------------------------------------------


def test_sixty_thousand_pixels_in_a_small_file_are_not_even_decoded(tmp_path, home):
    content = blank_png(60_000, 13_000)
    assert len(content) < 110_000
    (tmp_path / "bomb.png").write_bytes(content)
    refused = (
        "try: keep(open('bomb.png', 'rb').read(), 'bomb.png'); print('kept')\nexcept NotAPicture as error: print(error)"
    )
    assert peak_megabytes(refused, tmp_path) < 30
    with pytest.raises(NotAPicture, match=r"^bomb\.png has more than 40,000,000 pixels$"):
        keep(content, "bomb.png")
    assert not (home / "images").exists()


def test_the_largest_picture_takes_bounded_memory(tmp_path):
    (tmp_path / "large.png").write_bytes(png("red", (6320, 6320), "RGBA"))
    assert peak_megabytes("keep(open('large.png', 'rb').read(), 'large.png')", tmp_path) < 400


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            b"<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg'><script>x</script></svg>",
            "is an SVG drawing, not",
        ),
        (b"\xef\xbb\xbf<svg onload='x'/>", "is an SVG drawing, not a picture or video of a known format"),
        (b"<!DOCTYPE HTML><html>", "is a web page (HTML), not a picture or video of a known format"),
        (b"  <html><script>alert(1)</script>", "is a web page (HTML), not"),
        (b"%PDF-1.7", "is a PDF, not"),
        (b"PK\x03\x04rest", "is a zip file, not"),
        (b"\0\0\0\x1cftypheic\0\0\0\0", "is a HEIC or AVIF picture, not"),
        (b"\0\0\0\x1cftypmp42\0\0\0\0", "is a broken video"),
        (png("red", (300, 300))[:-40], "is a broken picture"),
        (saved(Image.effect_noise((300, 300), 50), "JPEG")[:3000], "is a broken picture"),
        (png()[:20], "is a broken picture"),
        (declared_png(2**31 - 1, 2**31 - 1), "has more than 40,000,000 pixels"),
        (b"", "is an empty file, not"),
    ],
)
def test_what_only_calls_itself_a_picture_is_told_for_what_it_is(content, told, home):
    with pytest.raises(NotAPicture) as refused:
        keep(content, "x.png")
    assert str(refused.value).startswith(f"x.png {told}") and "\n" not in str(refused.value)
    assert not (home / "images").exists()


@pytest.mark.parametrize(
    ("content", "extension", "size"),
    [
        (saved(Image.new("RGB", (8, 6)), "JPEG"), "jpg", (8, 6)),
        (saved(Image.new("CMYK", (8, 6)), "JPEG"), "jpg", (8, 6)),
        (saved(Image.new("I;16", (8, 6)), "PNG"), "png", (8, 6)),
        (saved(Image.new("F", (8, 6)), "TIFF"), "tif", (8, 6)),
        (saved(Image.new("P", (8, 6)), "GIF", save_all=True, append_images=[Image.new("P", (8, 6), 3)] * 9), "gif", (8, 6)),
        (saved(Image.new("RGB", (8, 6)), "WEBP", save_all=True, append_images=[Image.new("RGB", (8, 6), "red")]), "webp", (8, 6)),
        (saved(Image.new("RGB", (8, 6)), "PNG", save_all=True, append_images=[Image.new("RGB", (8, 6), "red")]), "png", (8, 6)),
    ],
)  # fmt: skip
def test_unusual_pictures_are_kept_by_what_they_are_and_shown(content, extension, size):
    picture = keep(content, "named.wrongly")
    assert (picture.extension, (picture.width, picture.height)) == (extension, size)
    assert Image.open(smaller_path(picture.sha256, picture.extension, "thumb")).size == size


def test_a_picture_that_lies_on_its_side_is_shown_upright():
    exif = Image.Exif()
    exif[0x0112] = 6
    picture = keep(saved(Image.new("RGB", (8, 4), "red"), "JPEG", exif=exif), "phone.jpg")
    assert Image.open(smaller_path(picture.sha256, "jpg", "thumb")).size == (4, 8)


def test_texts_that_blow_up_inside_a_png_take_no_memory(tmp_path):
    text = chunk(b"zTXt", b"comment\0\0" + zlib.compress(bytes(200_000_000), 9))
    (tmp_path / "text.png").write_bytes(blank_png(8, 8, text))
    refused = "try: examine(open('text.png', 'rb').read(), 'text.png')\nexcept NotAPicture as error: print(error)"
    assert peak_megabytes(refused, tmp_path) < 60


@given(st.text(max_size=10_000))
def test_a_name_is_shown_on_one_short_line(name):
    assert len(shown_name(name)) <= 121 and shown_name(name).isprintable()


def test_a_name_of_ten_thousand_characters_makes_a_short_sentence(tmp_path):
    name = "名" * 10_000 + ".png"
    for pictures in (Pictures.none(), PicturesBeside(tmp_path), Pictures.of_files({name: b"<svg/>"})):
        (problem,) = match([{"prompt": "p", "result_image": name}], pictures).problems
        assert len(problem.problem) < 400 and "名名…" in problem.problem
    with pytest.raises(LookupError):
        PicturesBeside(tmp_path).read("a\x00.png")


# --- zips --------------------------------------------------------------------------------------------------------------


def zipped(tmp_path: Path, members: dict[str, bytes], name: str = "pictures.zip") -> Path:
    path = tmp_path / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return path


def test_a_link_in_a_zip_is_left_out(tmp_path):
    link = zipfile.ZipInfo("passwd.png")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "links.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("red.png", png("red"))
    pictures = Pictures.at(tmp_path / "links.zip")
    assert pictures.names() == ["red.png"]
    assert pictures.notes == ["links.zip: passwd.png was left out: it is a link to another file."]
    with pytest.raises(LookupError, match=r"^passwd\.png is not read: it is a link to another file$"):
        pictures.read("passwd.png")


@pytest.mark.parametrize(
    "name", ["../a.png", "x/../../a.png", "/a.png", "C:\\a.png", "C:/a.png", "..\\a.png", "\\\\host\\a.png"]
)
def test_a_name_that_leads_out_of_the_zip_is_left_out(name, tmp_path):
    pictures = Pictures.at(zipped(tmp_path, {name: png()}))
    assert pictures.names() == []
    assert pictures.notes[0].endswith("was left out: it has a path that leads out of the zip.")


def test_archives_in_archives_are_left_out_with_one_sentence_for_all(tmp_path):
    inner = zipped(tmp_path, {"red.png": png()}).read_bytes()
    pictures = Pictures.at(zipped(tmp_path, {f"{n}.zip": inner for n in range(50)}, "nested.zip"))
    assert pictures.notes == [
        "nested.zip: 0.zip and 49 more was left out: it is an archive inside of the zip; unpack it first."
    ]


def test_a_name_that_is_there_twice_is_said(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.png", png("red"))
        archive.writestr("a.png", png("blue"))
    pictures = Pictures.at(tmp_path / "two.zip")
    assert pictures.read("a.png") == png("red")
    assert "is there twice; the first is used" in pictures.notes[0]


def renamed(path: Path, old: bytes, new: bytes) -> Path:
    """A zip with the raw bytes of a member's name changed, as another program would have written them."""
    path.write_bytes(path.read_bytes().replace(old, new))
    return path


@pytest.mark.parametrize("name", ["红色的鞋子.png", "图片（1）.png", "文件夹/测试，第二张.png"])
@pytest.mark.parametrize("encoding", ["gb18030", "utf-8"])
def test_chinese_names_are_read_however_they_were_zipped(name, encoding, tmp_path):
    raw = name.encode(encoding)
    path = renamed(zipped(tmp_path, {"n" * len(raw): png("red")}), b"n" * len(raw), raw)
    assert Pictures.at(path).names() == [name]
    assert Pictures.at(path).read(name.rpartition("/")[2]) == png("red")


def test_other_old_names_stay_what_they_were(tmp_path):
    raw = "café.png".encode("cp437")
    assert Pictures.at(renamed(zipped(tmp_path, {"n" * 8: png()}), b"n" * 8, raw)).names() == ["café.png"]


def test_a_bomb_is_turned_away_by_what_it_declares(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(11):
            archive.writestr(f"{n}.png", bytes(100_000_000))
    with pytest.raises(PicturesUnusable, match=r"^bomb\.zip would unpack to more than 1,000,000,000 bytes\.$"):
        Pictures.at(path)


def _declaring(content: bytes, size: int) -> bytes:
    """A zip whose members declare another size."""
    changed = bytearray(content)
    for sign, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = -1
        while (at := content.find(sign, at + 1)) != -1:
            changed[at + offset : at + offset + 4] = size.to_bytes(4, "little")
    return bytes(changed)


def test_a_bomb_that_declares_little_gives_little(tmp_path):
    path = zipped(tmp_path, {"a.png": bytes(300_000_000)})
    path.write_bytes(_declaring(path.read_bytes(), 1000))
    code = "try: Pictures.at(__import__('pathlib').Path('pictures.zip')).read('a.png')\nexcept LookupError as error: print(error)"
    assert peak_megabytes(code, tmp_path) < 20
    with pytest.raises(LookupError, match=r"^a\.png cannot be unpacked"):
        Pictures.at(path).read("a.png")


def test_a_member_that_is_too_large_is_not_unpacked_to_its_end(tmp_path):
    zipped(tmp_path, {"a.png": bytes(900_000_000)})
    code = "try: Pictures.at(__import__('pathlib').Path('pictures.zip')).read('a.png')\nexcept LookupError as error: print(error)"
    assert peak_megabytes(code, tmp_path) < 90
    with pytest.raises(LookupError, match=r"^a\.png unpacks to more than 60,000,000 bytes$"):
        Pictures.at(tmp_path / "pictures.zip").read("a.png")


def test_what_is_unpacked_is_counted_over_all_members(tmp_path, monkeypatch):
    """One stretch of packed bytes that a thousand members share: each is small, all together are not."""
    monkeypatch.setattr(zips, "FREE_BYTES", 5_000_000)
    pictures = Pictures.at(zipped(tmp_path, {f"{n}.png": bytes(1_000_000) for n in range(4)}))
    for _ in range(5):
        pictures.read("0.png")
    with pytest.raises(LookupError, match=r"was not unpacked: pictures\.zip unpacks to too many bytes for its size"):
        pictures.read("1.png")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"PK\x05\x06" + bytes(18) + b"x", b"hello"])
def test_what_is_no_zip_is_said_to_be_none(content, tmp_path):
    (tmp_path / "a.zip").write_bytes(content)
    try:
        assert Pictures.at(tmp_path / "a.zip").names() == []
    except PicturesUnusable as error:
        assert "a.zip" in str(error)


def test_a_large_file_in_a_folder_is_not_read_to_its_end(tmp_path):
    (tmp_path / "pictures").mkdir()
    with (tmp_path / "pictures" / "a.png").open("wb") as file:
        file.truncate(3_000_000_000)
    code = (
        "content = Pictures.at(__import__('pathlib').Path('pictures')).read('a.png')\n"
        "try: examine(content, 'a.png')\nexcept NotAPicture as error: print(error)"
    )
    assert peak_megabytes(code, tmp_path) < 90
    with pytest.raises(NotAPicture, match=r"^a\.png has more than 60,000,000 bytes$"):
        examine(Pictures.at(tmp_path / "pictures").read("a.png"), "a.png")
