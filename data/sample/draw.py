"""Draw every picture of the catalogue again: `python -m data.sample.draw`.

Writes pictures/<name>.png next to this file, over what is there. The app only ever loads the files.
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from .catalogue import PICTURES, Picture
from .scenes import render

FOLDER = Path(__file__).parent / "pictures"


def finished(picture: Picture) -> Image.Image:
    """The picture as its catalogue entry describes it: the scene, then its faults one after the other."""
    image = render(picture.scene)
    for fault in picture.faults:
        image = fault(image)
    return image


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, picture in PICTURES.items():
        finished(picture).save(FOLDER / f"{name}.png", optimize=True)
    print(f"{len(PICTURES)} pictures written to {FOLDER}")


if __name__ == "__main__":
    main()
