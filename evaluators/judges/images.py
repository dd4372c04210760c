"""Preparing a picture for a judge: upright, flattened, shrunk, encoded. The original is never touched."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Literal

from PIL import Image, ImageOps, UnidentifiedImageError

from evaluators.errors import CaseUnfit

#: More pixels than this are refused before decoding (a decompression bomb, not a picture).
MAX_PIXELS = 40_000_000
#: Pictures decoded at once in a process: each may need some hundred megabytes for a moment.
_DECODING = threading.Semaphore(2)
MEDIA_TYPES = {"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp"}


def open_upright(path: str | Path, content: bytes | None = None) -> Image.Image:
    """The first frame of a picture as 8-bit RGB, turned upright by its EXIF orientation, flattened on white.

    content: the file's bytes, if they have been read already.

    :raises CaseUnfit: if it is not a picture, is broken, or has more than MAX_PIXELS pixels.
    """
    name = Path(path).name
    try:
        with _DECODING, Image.open(path if content is None else io.BytesIO(content)) as image:
            if image.width * image.height > MAX_PIXELS:
                raise CaseUnfit(f"{name} has {image.width} x {image.height} pixels, more than {MAX_PIXELS:,}")
            image.load()
            ImageOps.exif_transpose(image, in_place=True)
            return flattened(image)
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise CaseUnfit(f"{name} cannot be read as a picture: {error}") from error


def flattened(image: Image.Image) -> Image.Image:
    """Any mode as RGB: 16-bit and float are scaled to 8 bits, transparency lies on white."""
    if image.mode.startswith(("I", "F")):
        _low, high = image.getextrema()
        top = 65535 if image.mode.startswith("I;16") or (image.mode == "I" and high > 255) else max(high, 1)
        image = image.convert("F").point(lambda value: value * (255.0 / top)).convert("L")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        rgba = image.convert("RGBA")
        image = Image.new("RGBA", rgba.size, "white")
        image.alpha_composite(rgba)
    return image if image.mode == "RGB" else image.convert("RGB")


def shrunk(image: Image.Image, longest_side: int) -> Image.Image:
    """The picture with its longest side at most `longest_side` pixels; never enlarged."""
    if max(image.size) <= longest_side:
        return image
    scale = longest_side / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Image.Resampling.LANCZOS)


def prepared(
    path: str | Path,
    longest_side: int = 1024,
    format: Literal["jpeg", "png", "webp"] = "jpeg",
    content: bytes | None = None,
) -> bytes:
    """The encoded bytes that a judge gets; content: the file's bytes, if they have been read already.

    :raises CaseUnfit: as `open_upright`.
    """
    return encoded(shrunk(open_upright(path, content), longest_side), format)


def encoded(image: Image.Image, format: str) -> bytes:
    """An RGB picture as JPEG, PNG or WebP bytes."""
    buffer = io.BytesIO()
    quality = {} if format == "png" else {"quality": 92}
    if format == "jpeg":
        quality["subsampling"] = 0  # full colour resolution: fine red on blue is what judges are asked about
    image.save(buffer, format, **quality)
    return buffer.getvalue()
