"""Frames of a video, evenly spread, each with its time."""

from __future__ import annotations

from pathlib import Path

import av
from PIL import Image

from evaluators.errors import CaseUnfit
from evaluators.judges.images import MAX_PIXELS, encoded, flattened, open_upright, shrunk

#: Seconds of video beyond which nothing is looked at; generated clips last some seconds.
MAX_SECONDS = 600.0


def frames(path: str | Path, count: int) -> list[tuple[float, Image.Image]]:
    """`count` frames as (seconds, 8-bit RGB picture), the middles of `count` equal stretches of the video.

    A video with fewer frames gives each of them once.

    :raises CaseUnfit: if it is not a video, is broken or empty, is longer than MAX_SECONDS or larger than MAX_PIXELS.
    """
    name, container_format = Path(path).name, _container_format(path)
    if container_format is None:
        try:
            return [(0.0, open_upright(path))]  # a picture is a video of one frame
        except CaseUnfit as error:
            raise CaseUnfit(f"{name} cannot be read as a video: it is no MP4, MOV, WebM or GIF file") from error
    try:
        with av.open(str(path), format=container_format) as container:
            if not container.streams.video:
                raise CaseUnfit(f"{name} holds no video")
            times = [float(frame.time or 0.0) for frame in _decoded(container, name)]
        if not times:
            raise CaseUnfit(f"{name} holds no frame that can be read")
        wanted = {min(len(times) - 1, int((i + 0.5) * len(times) / count)) for i in range(count)}
        with av.open(str(path), format=container_format) as container:
            return [
                (times[number], flattened(frame.to_image()))
                for number, frame in enumerate(_decoded(container, name))
                if number in wanted
            ]
    except (av.FFmpegError, OSError, ValueError) as error:
        raise CaseUnfit(f"{name} cannot be read as a video: {error}") from error


def container_of(head: bytes) -> str | None:
    """The kind of video that a file with these first bytes is: `mp4`, `mov`, `webm`; None for anything else."""
    if head[4:8] == b"ftyp":
        return "mov" if head[8:12] == b"qt  " else "mp4"
    if head[4:8] in (b"moov", b"mdat", b"wide"):
        return "mov"
    return "webm" if head[:4] == b"\x1a\x45\xdf\xa3" else None


def _container_format(path: str | Path) -> str | None:
    """FFmpeg's name of the one format to read the file as. Left to guess, it would follow playlists to other files."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise CaseUnfit(f"{Path(path).name} cannot be read: {error.strerror}") from error
    if head[:4] == b"GIF8":
        return "gif"
    return {"mp4": "mov", "mov": "mov", "webm": "matroska"}.get(container_of(head) or "")


def prepared_frames(path: str | Path, count: int, longest_side: int, image_format: str) -> list[tuple[float, bytes]]:
    """(seconds, encoded bytes) of the frames that a judge gets.

    :raises CaseUnfit: as `frames`.
    """
    return [(seconds, encoded(shrunk(image, longest_side), image_format)) for seconds, image in frames(path, count)]


def _decoded(container: av.container.InputContainer, name: str):
    for frame in container.decode(video=0):
        if frame.width * frame.height > MAX_PIXELS:
            raise CaseUnfit(f"{name} has more than {MAX_PIXELS:,} pixels a frame")
        if (frame.time or 0.0) > MAX_SECONDS:
            raise CaseUnfit(f"{name} is longer than {MAX_SECONDS:.0f} seconds")
        yield frame
