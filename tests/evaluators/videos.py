"""Small videos made in the test: each frame one colour."""

from __future__ import annotations

import io
from collections.abc import Sequence
from fractions import Fraction

import av
import numpy
from PIL import Image

#: Container, codec and file ending of the forms that are taken in.
FORMS = {
    "mp4": ("mp4", "mpeg4"),
    "h264.mp4": ("mp4", "libx264"),
    "webm": ("webm", "libvpx"),
    "mov": ("mov", "mpeg4"),
}


def greys(count: int) -> list[tuple[int, int, int]]:
    """That many greys from dark to light, far enough apart to tell frames by."""
    return [(level, level, level) for level in (20 + round(i * 200 / max(count - 1, 1)) for i in range(count))]


def video(colours: Sequence[tuple[int, int, int]], form: str = "mp4", rate: int = 10, size: int = 64) -> bytes:
    """The bytes of a video that shows these colours, one a frame."""
    container_format, codec = FORMS[form]
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=container_format) as container:
        stream = container.add_stream(codec, rate=rate)
        stream.width = stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.time_base = Fraction(1, rate)
        for number, colour in enumerate(colours):
            pixels = numpy.full((size, size, 3), colour, numpy.uint8)
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return buffer.getvalue()


def gif(colours: Sequence[tuple[int, int, int]], milliseconds: int = 100) -> bytes:
    """The bytes of an animated GIF."""
    first, *others = [Image.new("RGB", (64, 64), colour) for colour in colours]
    buffer = io.BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=others, duration=milliseconds, loop=0)
    return buffer.getvalue()


def sound() -> bytes:
    """The bytes of an MP4 without any picture."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("aac", rate=44_100)
        frame = av.AudioFrame.from_ndarray(numpy.zeros((1, 4096), numpy.float32), format="fltp", layout="mono")
        frame.sample_rate, frame.pts = 44_100, 0
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return buffer.getvalue()


def level_of(content: bytes) -> int:
    """How light the middle of a picture is, 0-255."""
    with Image.open(io.BytesIO(content)) as image:
        return image.convert("L").getpixel((image.width // 2, image.height // 2))
