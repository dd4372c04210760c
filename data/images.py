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
_NAME = re.compile(r"[0-9a-f]{64}")


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
    """What picture these bytes are; nothing is written.

    :raises NotAPicture: if the bytes are no picture of a known format, are broken, or are too large.
    """
    if len(content) > MAX_BYTES:
        raise NotAPicture(f"{name} has {len(content):,} bytes, more than {MAX_BYTES:,}")
    digest, video = hashlib.sha256(content).hexdigest(), container_of(content[:16])
    if video:
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit is checked below
            with Image.open(io.BytesIO(content), formats=list(FORMATS)) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise NotAPicture(f"{name} has {image.width} x {image.height} pixels, more than {MAX_PIXELS:,}")
                image.load()
                return image.format, image.size
    except UnidentifiedImageError as error:
        known = ", ".join([*FORMATS, *map(str.upper, VIDEO_FORMATS)])
        raise NotAPicture(f"{name} is not a picture or video of a known format ({known})") from error
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
