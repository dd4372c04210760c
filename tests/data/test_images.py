"""Originals are kept by their content, as they are; what is not a picture is turned away with a sentence."""

from __future__ import annotations

import hashlib
import io

import pytest
from PIL import Image

from data import images
from data.images import NotAPicture, keep, kept_part, original_path, smaller_path
from evaluators.errors import CaseUnfit
from tests.conftest import png


def encoded(form: str, size: tuple[int, int] = (8, 8), mode: str = "RGB") -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, size).save(buffer, form)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("form", "extension"),
    [("PNG", "png"), ("JPEG", "jpg"), ("WEBP", "webp"), ("GIF", "gif"), ("BMP", "bmp"), ("TIFF", "tif")],
)
def test_every_known_format_is_kept_byte_for_byte_under_its_hash(form, extension, home):
    content = encoded(form, (30, 20))
    picture = keep(content, "whatever.dat")
    digest = hashlib.sha256(content).hexdigest()
    assert (picture.sha256, picture.extension, picture.width, picture.height, picture.bytes) == (
        digest, extension, 30, 20, len(content),
    )  # fmt: skip
    assert (home / "images" / digest[:2] / f"{digest}.{extension}").read_bytes() == content


def test_the_same_bytes_are_kept_once_whatever_their_name(home):
    assert keep(png("red"), "a.png") == keep(png("red"), "b.png")
    assert len(list((home / "images").rglob("*.png"))) == 1
    assert not [file for file in (home / "images").rglob("*") if file.name.startswith(".")]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16", "CMYK"])
def test_unusual_kinds_of_pixels_are_kept_and_shown(mode):
    picture = keep(encoded("TIFF" if mode == "CMYK" else "PNG", mode=mode), "x")
    assert Image.open(smaller_path(picture.sha256, picture.extension, "thumb")).mode == "RGB"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "note.png is an empty file, not a picture or video of a known format"),
        (b"hello", "note.png is not a picture or video of a known format"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "note.png is an SVG drawing, not a picture or video"),
        (png("red", (300, 300))[:200], "note.png is a broken picture"),
        (encoded("ICO"), "note.png is not a picture or video of a known format"),
    ],
)
def test_what_is_not_a_picture_is_turned_away_by_name(content, problem, home):
    with pytest.raises(NotAPicture, match=problem):
        keep(content, "note.png")
    assert not (home / "images").exists()


def test_a_file_that_is_too_large_is_turned_away(monkeypatch):
    monkeypatch.setattr(images, "MAX_BYTES", 50)
    with pytest.raises(NotAPicture, match="more than 50"):
        keep(png(), "huge.png")


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow grumbles about damaged TIFF tags
def test_damaged_files_are_either_kept_or_turned_away_and_never_a_traceback():
    for form in ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"):
        whole = encoded(form, (16, 16))
        for at in range(0, len(whole), max(1, len(whole) // 60)):
            damaged = whole[:at] + bytes([whole[at] ^ 0x5A]) + whole[at + 1 :]
            for content in (damaged, whole[:at]):
                try:
                    picture = keep(content, "x")
                    smaller_path(picture.sha256, picture.extension, "thumb")
                except (NotAPicture, CaseUnfit):
                    continue


def test_the_copies_for_screens_are_smaller_and_the_original_stays(home):
    content = png("red", (2000, 1000))
    picture = keep(content, "wide.png")
    assert Image.open(smaller_path(picture.sha256, "png", "thumb")).size == (320, 160)
    assert Image.open(smaller_path(picture.sha256, "png", "screen")).size == (1600, 800)
    assert original_path(picture.sha256, "png").read_bytes() == content
    assert not (home / "images").joinpath("thumbs").exists()


def test_a_copy_of_a_missing_original_says_what_is_missing():
    picture = keep(png(), "x.png")
    original_path(picture.sha256, "png").unlink()
    with pytest.raises(CaseUnfit, match="is missing from the workspace"):
        smaller_path(picture.sha256, "png", "thumb")


@pytest.mark.parametrize("name", ["../../etc/passwd", "a" * 63, "A" * 64, "a" * 64 + "\n", ""])
def test_nothing_but_a_hash_names_a_file(name):
    with pytest.raises(ValueError):
        original_path(name, "png")
    with pytest.raises(ValueError):
        original_path("a" * 64, "../png")


def test_a_part_knows_where_its_picture_came_from():
    picture = keep(png(), "a.png")
    part = kept_part(picture, "shoes/a.png")
    assert (part.kind, part.source, part.sha256, part.path.exists()) == ("image", "shoes/a.png", picture.sha256, True)
