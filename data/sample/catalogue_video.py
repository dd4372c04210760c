"""The known truth, continued: the short videos of gecko_video.csv, each a function of time.

`Clip.scene` takes the time as a share of the video, 0 at its first frame and 1 at its last. The rest is as in
`catalogue.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .catalogue import ASTER, BORAGE, COMFREY, cone, cube, cylinder, sphere
from .scenes import Scene, Shape

FRAMES, RATE, SIZE = 26, 12, 320  # frames of a video, frames per second, width and height in pixels


@dataclass(frozen=True)
class Clip:
    """The scene at every moment, and the truth in words."""

    scene: Callable[[float], Scene]
    wrong: str = ""
    flaw: str = ""


def between(start: float, end: float, time: float) -> float:
    """From start to end, gently set in motion and gently stopped."""
    return start + (end - start) * (time * time * (3 - 2 * time) * 0.5 + time * 0.5)


def rolling(x: float, y: float, size: float) -> Shape:
    """A red ball with a white band, turned as far as a ball turns that has rolled from the middle to x."""
    return sphere("red", x, y, size, rolled=math.degrees(x / size))


def bounce(time: float, times: int, height: float) -> float:
    """How high a ball is that leaves the floor `times` times and is thrown up to `height`."""
    phase = (time * times) % 1
    return height * 4 * phase * (1 - phase)


BLUE_CUBE = cube("blue", 0.2, 1.2, 0.8, turn=28)

GECKO_VIDEO = {
    # a red ball rolls from left to right past a blue cube
    "video-01-aster": Clip(
        lambda time: Scene((BLUE_CUBE, rolling(between(-1.75, 1.75, time), -0.9, 0.5)), ASTER),
    ),
    "video-01-borage": Clip(
        lambda time: Scene((BLUE_CUBE, rolling(between(1.75, -1.75, time), -0.9, 0.5)), BORAGE),
        wrong="the ball rolls from right to left",
    ),
    # a green cone slides closer
    "video-02-comfrey": Clip(
        lambda time: Scene((cone("green", between(0.9, -0.2, time), between(3.4, -1.9, time), 0.7),), COMFREY),
    ),
    # a white ball bounces between two orange cylinders
    "video-03-aster": Clip(
        lambda time: Scene(
            (
                cylinder("orange", -1.7, -0.2, 0.6),
                sphere("white", -0.55, 0.0, 0.42, lift=bounce(time, 2, 1.0)),
                cylinder("orange", 0.6, -0.2, 0.6),
                cylinder("orange", 1.75, -0.2, 0.6),
            ),
            ASTER,
        ),
        wrong="three cylinders, not two",
    ),
}
