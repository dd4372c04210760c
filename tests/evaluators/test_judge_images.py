"""What a judge gets to see of a picture, whatever kind of file it is."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image

from evaluators.errors import CaseUnfit
from evaluators.judges.images import MAX_PIXELS, prepared


def seen(path, side: int = 1024) -> Image.Image:
    """The picture as the judge sees it, losslessly; the file must be as before."""
    before = path.read_bytes()
    image = Image.open(io.BytesIO(prepared(path, side, "png")))
    image.load()
    assert path.read_bytes() == before
    return image


@pytest.fixture
def saved(tmp_path):
    def save(image: Image.Image, name: str, **options):
        path = tmp_path / name
        image.save(path, **options)
        return path

    return save


def test_a_rotated_photo_stands_upright(saved):
    photo = Image.new("RGB", (40, 20), "white")
    photo.paste("red", (0, 0, 20, 20))  # the left half; turned by 90° it is the top half
    exif = Image.Exif()
    exif[0x0112] = 6
    image = seen(saved(photo, "phone.jpg", exif=exif, quality=100, subsampling=0))
    assert image.size == (20, 40)
    assert image.getpixel((10, 5))[1] < 60 < 200 < image.getpixel((10, 35))[1]


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparency_lies_on_white(mode, saved):
    clear = Image.new(mode, (4, 4), (0,) * (len(mode)))
    assert seen(saved(clear, "clear.png")).getpixel((1, 1)) == (255, 255, 255)


def test_a_palette_with_transparency_lies_on_white(saved):
    image = Image.new("P", (4, 4), 0)
    image.putpalette([0, 0, 0, 255, 0, 0])
    image.putpixel((0, 0), 1)
    found = seen(saved(image, "palette.png", transparency=0))
    assert (found.getpixel((0, 0)), found.getpixel((3, 3))) == ((255, 0, 0), (255, 255, 255))


def test_cmyk_is_seen_in_its_colours(saved):
    found = seen(saved(Image.new("CMYK", (8, 8), (0, 255, 255, 0)), "print.jpg", quality=95)).getpixel((4, 4))
    assert found[0] > 200 and max(found[1:]) < 60


@pytest.mark.parametrize(("value", "shade"), [(0, 0), (32768, 127), (65535, 255)])
def test_16_bit_grey_keeps_its_brightness(value, shade, saved):
    found = seen(saved(Image.new("I;16", (4, 4), value), "deep.png")).getpixel((1, 1))
    assert found[0] == found[1] == found[2]
    assert abs(found[0] - shade) <= 1


def test_of_an_animation_the_first_frame_is_seen(saved):
    frames = [Image.new("RGB", (6, 6), color) for color in ("red", "blue")]
    path = saved(frames[0], "moving.gif", save_all=True, append_images=frames[1:])
    assert seen(path).getpixel((3, 3)) == (255, 0, 0)


def test_one_pixel_is_a_picture(saved):
    assert seen(saved(Image.new("1", (1, 1), 1), "dot.png")).size == (1, 1)


@pytest.mark.parametrize(
    ("size", "shown"), [((200, 100), (100, 50)), ((100, 200), (50, 100)), ((3000, 1), (100, 1)), ((60, 50), (60, 50))]
)
def test_a_large_picture_is_shrunk_and_a_small_one_is_never_enlarged(size, shown, saved):
    assert seen(saved(Image.new("RGB", size), "any.png"), side=100).size == shown


@pytest.mark.parametrize(("form", "kind"), [("jpeg", "JPEG"), ("png", "PNG"), ("webp", "WEBP")])
def test_it_is_sent_in_the_format_that_the_judge_wants(form, kind, picture):
    assert Image.open(io.BytesIO(prepared(picture("red"), 64, form))).format == kind


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_header_that_claims_too_many_pixels_is_refused_before_decoding(tmp_path):
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    for side in (12_000, 100_000):
        assert side * side > MAX_PIXELS
        header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
        path = tmp_path / "bomb.png"
        path.write_bytes(
            b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
        )
        with pytest.raises(CaseUnfit, match=r"bomb\.png"):
            prepared(path)


@pytest.mark.parametrize("content", [b"", b"just text", b"\x89PNG\r\n\x1a\n", b"GIF89a"])
def test_a_file_that_only_calls_itself_a_picture_is_said_not_to_be_one(content, tmp_path):
    path = tmp_path / "note.png"
    path.write_bytes(content)
    with pytest.raises(CaseUnfit, match=r"note\.png cannot be read as a picture"):
        prepared(path)


def test_half_a_picture_is_said_to_be_broken(tmp_path, picture):
    whole = picture("red", size=(200, 200)).read_bytes()
    path = tmp_path / "half.png"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CaseUnfit, match=r"half\.png cannot be read"):
        prepared(path)
