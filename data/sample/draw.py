"""Draw the pictures and videos of the catalogue again: `python -m data.sample.draw`, or only those that are named.

Writes pictures/<name>.png and pictures/<name>.webm next to this file, over what is there. The app only ever loads
the files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import av
from PIL import Image

from . import catalogue_video
from .catalogue import PICTURES, Picture
from .catalogue_match import IMAGE_TEXT_MATCH, REFERENCES
from .catalogue_video import GECKO_VIDEO, Clip
from .scenes import render
from .still_life import coffee_and_croissant

FOLDER = Path(__file__).parent / "pictures"


def finished(picture: Picture) -> Image.Image:
    """The picture as its catalogue entry describes it: the scene, then its faults one after the other."""
    image = render(picture.scene)
    for fault in picture.faults:
        image = fault(image)
    return image


def frames(clip: Clip) -> list[Image.Image]:
    """The frames of a video, in order."""
    last, size = catalogue_video.FRAMES - 1, catalogue_video.SIZE
    return [render(clip.scene(number / last), size) for number in range(last + 1)]


def write_picture(name: str, image: Image.Image) -> None:
    image.save(FOLDER / f"{name}.png", optimize=True)


def write_video(name: str, images: list[Image.Image]) -> None:
    """Write a WebM file (VP9), which every browser plays; one thread and no dates, so that it comes out the same."""
    with av.open(FOLDER / f"{name}.webm", "w", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream("libvpx-vp9", rate=catalogue_video.RATE, options={"crf": "24", "b": "0"})
        stream.width, stream.height = images[0].size
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_count = 1
        stream.codec_context.flags |= av.codec.context.Flags.bitexact
        for image in images:
            container.mux(stream.encode(av.VideoFrame.from_image(image)))
        container.mux(stream.encode(None))


def everything() -> dict[str, Callable[[], None]]:
    """What draws it, by the name of each picture and video."""
    pictures = PICTURES | REFERENCES | IMAGE_TEXT_MATCH
    drawn = {name: lambda name=name: write_picture(name, finished(pictures[name])) for name in pictures}
    drawn["coffee-aster"] = lambda: write_picture("coffee-aster", coffee_and_croissant())
    return drawn | {name: lambda name=name: write_video(name, frames(GECKO_VIDEO[name])) for name in GECKO_VIDEO}


def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    known = everything()
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"not in the catalogue: {', '.join(unknown)}")
    for name in names or known:
        known[name]()
    print(f"{len(names or known)} files written to {FOLDER}")


if __name__ == "__main__":
    main(sys.argv[1:])
