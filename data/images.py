"""The picture files: originals by content hash, never changed, and smaller copies for the screens."""

from __future__ import annotations

import hashlib
import io
import os
import re
import tempfile
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from data.home import images_folder, thumbs_folder
from evaluators.case import Part
from evaluators.errors import CaseUnfit
from evaluators.judges.images import MAX_PIXELS, encoded, open_upright, shrunk
from evaluators.judges.video import container_of, frames

#: Picture formats that are taken in, with the extension of their files and their media type.
FORMATS = {
    "PNG": ("png", "image/png"),
    "JPEG": ("jpg", "image/jpeg"),
    "WEBP": ("webp", "image/webp"),
    "GIF": ("gif", "image/gif"),
    "BMP": ("bmp", "image/bmp"),
    "TIFF": ("tif", "image/tiff"),
}
VIDEO_FORMATS = {"mp4": "video/mp4", "webm": "video/webm", "mov": "video/quicktime"}
MEDIA_TYPES = dict(FORMATS.values()) | VIDEO_FORMATS
#: Formats that every browser shows as they are.
BROWSER_EXTENSIONS = frozenset({"png", "jpg", "webp", "gif", *VIDEO_FORMATS})
MAX_BYTES = 60_000_000
#: Longest sides in pixels of the smaller copies: for lists, and for a whole screen.
SIDES = {"thumb": 320, "screen": 1600}
#: Characters of a file's name that a sentence shows.
MAX_SHOWN_NAME = 120
_NAME = re.compile(r"[0-9a-f]{64}")
#: Pictures in the container of an MP4 video.
_STILL_BRANDS = (b"heic", b"heix", b"mif1", b"msf1", b"avif", b"avis")
#: Pictures decoded at once: each may need some hundred megabytes for a moment.
_DECODING = threading.Semaphore(2)


class NotAPicture(ValueError):  # noqa: N818 - it names what the file is
    """The bytes are no picture and no video that can be kept; the text says why."""


@dataclass(frozen=True)
class Picture:
    """A picture or video that is kept. width and height in pixels, as stored (not turned upright)."""

    sha256: str
    extension: str
    width: int
    height: int
    bytes: int


def examine(content: bytes, name: str) -> Picture:
    """What picture these bytes are, whatever the name says; nothing is written.

    :raises NotAPicture: if the bytes are no picture of a known format, are broken, or are too large.
    """
    name = shown_name(name)
    if len(content) > MAX_BYTES:
        raise NotAPicture(f"{name} has more than {MAX_BYTES:,} bytes")
    digest, video = hashlib.sha256(content).hexdigest(), container_of(content[:16])
    if video and content[8:12] not in _STILL_BRANDS:
        return Picture(digest, video, *_video_size(content, name), len(content))
    image_format, (width, height) = _checked(content, name)
    return Picture(digest, FORMATS[image_format][0], width, height, len(content))


def keep(content: bytes, name: str) -> Picture:
    """Keep a picture's bytes under their hash; keeping the same bytes again changes nothing.

    :raises NotAPicture: as `examine`.
    """
    picture = examine(content, name)
    path = original_path(picture.sha256, picture.extension)
    if not path.exists():
        _write(path, content)
    return picture


def kept_part(picture: Picture, source: str) -> Part:
    """The part of a case that shows a kept picture or video."""
    path = original_path(picture.sha256, picture.extension)
    kind = "video" if picture.extension in VIDEO_FORMATS else "image"
    return Part(kind, path=path, sha256=picture.sha256, source=source)


def original_path(sha256: str, extension: str) -> Path:
    """Where the original of that hash is kept.

    :raises ValueError: if it is not a hash.
    """
    if not _NAME.fullmatch(sha256) or extension not in MEDIA_TYPES:
        raise ValueError(f"not the name of a picture: {sha256}.{extension}")
    return images_folder() / sha256[:2] / f"{sha256}.{extension}"


def smaller_path(sha256: str, extension: str, size: str) -> Path:
    """A JPEG copy of at most SIDES[size] pixels, made when first asked for.

    :raises CaseUnfit: if the original is missing or broken.
    """
    path = thumbs_folder() / sha256[:2] / f"{sha256}-{SIDES[size]}.jpg"
    if not path.exists():
        original = original_path(sha256, extension)
        if not original.exists():
            raise CaseUnfit(f"the file {original.name} is missing from the workspace")
        image = frames(original, 1)[0][1] if extension in VIDEO_FORMATS else open_upright(original)
        _write(path, encoded(shrunk(image, SIDES[size]), "jpeg"))
    return path


def shown_name(name: str) -> str:
    """A file's name as a sentence can hold it: one line, and the middle of a long one left out."""
    plain = "".join(c if c.isprintable() else "?" for c in name)
    return plain if len(plain) <= MAX_SHOWN_NAME else f"{plain[: MAX_SHOWN_NAME // 2]}…{plain[-MAX_SHOWN_NAME // 3 :]}"


def _what_it_is(content: bytes) -> str:
    """What bytes are that are no picture, for a sentence; empty if that is not known."""
    start = content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not content:
        return "an empty file"
    if start.startswith((b"<svg", b"<?xml")) and b"<svg" in start:
        return "an SVG drawing"
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<script")):
        return "a web page (HTML)"
    known = {b"%pdf": "a PDF", b"pk\x03\x04": "a zip file", b"{": "a text", b"<": "a text"}
    if content[4:8] == b"ftyp" and content[8:12] in _STILL_BRANDS:
        return "a HEIC or AVIF picture"
    return next((words for sign, words in known.items() if start.startswith(sign)), "")


def _video_size(content: bytes, name: str) -> tuple[int, int]:
    """Width and height of a video that can be read to its end."""
    with tempfile.NamedTemporaryFile(suffix=f".{container_of(content[:16])}") as file:
        file.write(content)
        file.flush()
        try:
            return frames(file.name, 1)[0][1].size
        except CaseUnfit as error:
            raise NotAPicture(f"{name} is a broken video: {error}") from error


def _checked(content: bytes, name: str) -> tuple[str, tuple[int, int]]:
    """Format and size of a picture whose first frame decodes."""
    try:
        with _DECODING, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # our own limit is checked below, and damage is said in a sentence
            with Image.open(io.BytesIO(content), formats=list(FORMATS)) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise NotAPicture(f"{name} has {image.width} x {image.height} pixels, more than {MAX_PIXELS:,}")
                image.load()
                return image.format, image.size
    except UnidentifiedImageError as error:
        known = ", ".join([*FORMATS, *map(str.upper, VIDEO_FORMATS)])
        what = _what_it_is(content)
        told = f"{name} is {what}, " if what else f"{name} is "
        raise NotAPicture(f"{told}not a picture or video of a known format ({known})") from error
    except Image.DecompressionBombError as error:
        raise NotAPicture(f"{name} has more than {MAX_PIXELS:,} pixels") from error
    except NotAPicture:
        raise
    except Exception as error:  # over damaged bytes a decoder raises whatever it stumbles on
        raise NotAPicture(f"{name} is a broken picture: {error}") from error


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all: a reader never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
