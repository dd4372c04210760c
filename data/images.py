"""The picture files: originals by content hash, never changed, and smaller copies for the screens."""

from __future__ import annotations

import hashlib
import io
import os
import re
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from data.home import images_folder, thumbs_folder
from evaluators.case import Part
from evaluators.errors import CaseUnfit
from evaluators.judges.images import MAX_PIXELS, open_upright, shrunk

#: Picture formats that are taken in, with the extension of their files and their media type.
FORMATS = {
    "PNG": ("png", "image/png"),
    "JPEG": ("jpg", "image/jpeg"),
    "WEBP": ("webp", "image/webp"),
    "GIF": ("gif", "image/gif"),
    "BMP": ("bmp", "image/bmp"),
    "TIFF": ("tif", "image/tiff"),
}
MEDIA_TYPES = dict(FORMATS.values())
#: Formats that every browser shows as they are.
BROWSER_EXTENSIONS = frozenset({"png", "jpg", "webp", "gif"})
MAX_BYTES = 60_000_000
#: Longest sides in pixels of the smaller copies: for lists, and for a whole screen.
SIDES = {"thumb": 320, "screen": 1600}
_NAME = re.compile(r"[0-9a-f]{64}")


class NotAPicture(ValueError):  # noqa: N818 - it names what the file is
    """The bytes are not a picture that can be kept; the text says why."""


@dataclass(frozen=True)
class Picture:
    """A picture that is kept. width and height in pixels, as stored (not turned upright)."""

    sha256: str
    extension: str
    width: int
    height: int
    bytes: int


def examine(content: bytes, name: str) -> Picture:
    """What picture these bytes are; nothing is written.

    :raises NotAPicture: if the bytes are no picture of a known format, are broken, or are too large.
    """
    if len(content) > MAX_BYTES:
        raise NotAPicture(f"{name} has {len(content):,} bytes, more than {MAX_BYTES:,}")
    image_format, (width, height) = _checked(content, name)
    digest = hashlib.sha256(content).hexdigest()
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
    """The part of a case that shows a kept picture."""
    path = original_path(picture.sha256, picture.extension)
    return Part("image", path=path, sha256=picture.sha256, source=source)


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
        buffer = io.BytesIO()
        shrunk(open_upright(original), SIDES[size]).save(buffer, "JPEG", quality=90, subsampling=0)
        _write(path, buffer.getvalue())
    return path


def _checked(content: bytes, name: str) -> tuple[str, tuple[int, int]]:
    """Format and size of a picture whose first frame decodes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit is checked below
            with Image.open(io.BytesIO(content), formats=list(FORMATS)) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise NotAPicture(f"{name} has {image.width} x {image.height} pixels, more than {MAX_PIXELS:,}")
                image.load()
                return image.format, image.size
    except UnidentifiedImageError as error:
        known = ", ".join(FORMATS)
        raise NotAPicture(f"{name} is not a picture of a known format ({known})") from error
    except Image.DecompressionBombError as error:
        raise NotAPicture(f"{name} has more than {MAX_PIXELS:,} pixels") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        if isinstance(error, NotAPicture):
            raise
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
