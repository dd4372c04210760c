"""The known truth: what every picture of the sample workspace shows, and what is wrong with it.

A key is the name of a file in pictures/ without its ending. Each generator has its own studio, so that its
pictures have a look of their own. Left and right are the viewer's. `wrong` says why a picture should not be
used (empty: it does what the prompt asks); `flaw` names a slight defect about which people may disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PIL import Image

from .artefacts import blocks, ghost, melt, speckle, tear
from .scenes import Scene, Shape, Studio

Fault = Callable[[Image.Image], Image.Image]


@dataclass(frozen=True)
class Picture:
    """A scene, the faults applied to it in order, and the truth in words."""

    scene: Scene
    faults: tuple[Fault, ...] = ()
    wrong: str = ""
    flaw: str = ""


ASTER = Studio(floor="#c2b4a3", horizon="#e9ddcd", sky="#c9a58c")
BORAGE = Studio(floor="#9fb0c0", horizon="#d5dfe8", sky="#6f93bd", lamp_azimuth=58.0, lamp_height=46.0)
COMFREY = Studio(floor="#a9b5a4", horizon="#dbe2d4", sky="#8fae9c", lamp_azimuth=-48.0, lamp_height=52.0)
PLAIN = Studio()  # the pictures that are handed to the generators for editing
BLUE_FLOOR = Studio(floor="#3f6fd0", horizon="#dcd9d4", sky="#9fb4c8")
BLUE_ROOM = Studio(floor="#3f6fd0", horizon="#8fb0ee", sky="#3d68c4")

# Shape in short: colour, x (right), y (away from the viewer), size, then turn= and lift= where needed.
sphere, cube = partial(Shape, "sphere"), partial(Shape, "cube")
cylinder, cone = partial(Shape, "cylinder"), partial(Shape, "cone")


def aster(*shapes: Shape, faults: tuple[Fault, ...] = (), wrong: str = "", flaw: str = "") -> Picture:
    return Picture(Scene(shapes, ASTER), faults, wrong, flaw)


def borage(*shapes: Shape, faults: tuple[Fault, ...] = (), wrong: str = "", flaw: str = "") -> Picture:
    return Picture(Scene(shapes, BORAGE), faults, wrong, flaw)


def comfrey(*shapes: Shape, faults: tuple[Fault, ...] = (), wrong: str = "", flaw: str = "") -> Picture:
    return Picture(Scene(shapes, COMFREY), faults, wrong, flaw)


TEXT_TO_IMAGE = {
    # two red spheres left of a blue cube
    "t2i-01-aster": aster(
        sphere("red", -1.7, -0.5, 0.55), sphere("red", -0.4, 0.3, 0.6), cube("blue", 1.4, 0.1, 0.75, turn=28)
    ),
    "t2i-01-borage": borage(
        cube("blue", -1.5, 0.2, 0.75, turn=-20),
        sphere("red", 0.4, 0.2, 0.55),
        sphere("red", 1.6, -0.6, 0.55),
        wrong="mirrored: the spheres are right of the cube",
    ),
    "t2i-01-comfrey": comfrey(
        sphere("red", -1.5, -0.2, 0.65),
        sphere("red", 0.2, 1.0, 0.6),
        cube("blue", 1.25, -0.3, 0.8, turn=35),
        flaw="the cube hides the edge of one sphere",
    ),
    # a green cone behind a yellow cylinder
    "t2i-02-aster": aster(cone("green", 0.6, 1.7, 0.95), cylinder("yellow", -0.3, -0.7, 0.62)),
    "t2i-02-borage": borage(
        cylinder("yellow", 0.5, -0.8, 0.6),
        cone("green", -0.5, 1.5, 0.95),
        faults=(partial(ghost, box=(150, 60, 300, 290), shift=(10, -2), strength=0.34),),
        flaw="a faint double edge along the cone",
    ),
    "t2i-02-comfrey": comfrey(
        cylinder("yellow", -0.6, 1.5, 0.85),
        cone("green", 0.5, -0.8, 0.7),
        wrong="the cone stands in front of the cylinder",
    ),
    # three small purple spheres in a row
    "t2i-03-aster": aster(
        *(sphere("purple", x, -0.2, 0.38) for x in (-1.65, -0.55, 0.55, 1.65)),
        wrong="four spheres, not three",
    ),
    "t2i-03-borage": borage(*(sphere("purple", x, 0.0, 0.36) for x in (-1.1, 0.0, 1.1))),
    "t2i-03-comfrey": comfrey(
        sphere("purple", -1.2, -0.7, 0.4), sphere("purple", 0.0, -0.1, 0.4), sphere("purple", 1.2, 0.5, 0.4)
    ),
    # a large orange cube between two teal cylinders
    "t2i-04-aster": aster(
        cylinder("teal", -1.9, -0.1, 0.55),
        cube("orange", 0.0, 0.3, 1.0, turn=18),
        cylinder("teal", 1.9, -0.1, 0.55),
    ),
    "t2i-04-borage": borage(
        cylinder("teal", -1.7, 0.0, 0.68),
        cube("orange", 0.0, 0.1, 0.7, turn=-30),
        cylinder("teal", 1.7, 0.0, 0.68),
        flaw="the cube is hardly larger than the cylinders",
    ),
    "t2i-04-comfrey": comfrey(
        cylinder("teal", -1.6, -0.2, 0.6),
        cube("orange", 0.6, 0.3, 1.0, turn=32),
        wrong="one cylinder is missing",
    ),
    # four cones, each a different colour
    "t2i-05-aster": aster(
        cone("red", -1.9, -0.2, 0.55),
        cone("yellow", -0.65, 0.4, 0.6),
        cone("green", 0.65, -0.2, 0.55),
        cone("blue", 1.9, 0.4, 0.6),
    ),
    "t2i-05-borage": borage(
        cone("red", -1.85, -0.3, 0.55),
        cone("orange", -0.6, 0.3, 0.6),
        cone("red", 0.65, -0.4, 0.55),
        cone("purple", 1.85, 0.3, 0.6),
        wrong="two of the cones are the same red",
    ),
    "t2i-05-comfrey": comfrey(
        cone("pink", -1.4, -0.7, 0.55),
        cone("teal", -0.9, 1.0, 0.65),
        cone("orange", 0.6, -0.9, 0.55),
        cone("blue", 1.3, 0.8, 0.65),
    ),
    # a red cube in front of a green sphere
    "t2i-06-aster": aster(cube("red", -0.4, -0.9, 0.55, turn=24), sphere("green", 0.5, 1.3, 0.95)),
    "t2i-06-borage": borage(
        cube("red", 0.4, -0.8, 0.58, turn=-18),
        sphere("green", -0.5, 1.3, 0.95),
        faults=(partial(tear, top=204, height=9, shift=15),),
        wrong="a thin torn strip runs across the sphere",
    ),
    "t2i-06-comfrey": comfrey(cube("red", 0.1, -0.9, 0.62, turn=38), sphere("green", 0.35, 1.2, 0.9)),
    # five blue cubes
    "t2i-07-aster": aster(
        cube("blue", -1.7, -0.5, 0.45, turn=12),
        cube("blue", -0.9, 1.0, 0.5, turn=40),
        cube("blue", 0.0, -0.7, 0.45, turn=-15),
        cube("blue", 0.9, 1.0, 0.5, turn=20),
        cube("blue", 1.7, -0.4, 0.45, turn=33),
    ),
    "t2i-07-borage": borage(
        *(cube("blue", x, 0.1, 0.4, turn=t) for x, t in ((-2.0, 10), (-1.0, 25), (0, -12), (1.0, 35), (2.0, 5)))
    ),
    "t2i-07-comfrey": comfrey(
        cube("blue", -1.6, -0.6, 0.45, turn=15),
        cube("blue", -1.3, 1.1, 0.5, turn=35),
        cube("blue", 0.0, -0.8, 0.45, turn=-22),
        cube("blue", 0.1, 1.3, 0.5, turn=8),
        cube("blue", 1.6, -0.5, 0.45, turn=40),
        cube("blue", 1.5, 1.0, 0.5, turn=-10),
        wrong="six cubes, not five",
    ),
    # a yellow sphere to the right of a purple cone
    "t2i-08-aster": aster(
        sphere("yellow", -1.1, -0.1, 0.7),
        cone("purple", 1.1, 0.2, 0.85),
        wrong="mirrored: the sphere is left of the cone",
    ),
    "t2i-08-borage": borage(cone("purple", -1.2, 0.3, 0.9), sphere("yellow", 1.0, -0.2, 0.7)),
    "t2i-08-comfrey": comfrey(
        cone("purple", -1.0, 0.0, 0.85),
        sphere("yellow", 1.2, 0.2, 0.75),
        faults=(partial(speckle, box=(300, 190, 380, 270), strength=38, seed=8),),
        flaw="a grainy spot on the sphere",
    ),
    # one large white sphere and two small black spheres
    "t2i-09-aster": aster(
        sphere("white", 0.1, 0.5, 1.05), sphere("black", -1.6, -0.6, 0.4), sphere("black", 1.7, -0.5, 0.4)
    ),
    "t2i-09-borage": borage(
        sphere("white", -0.5, 0.6, 1.05),
        sphere("black", 1.2, 0.1, 0.42),
        sphere("black", 0.9, -1.1, 0.4),
        faults=(partial(melt, box=(120, 170, 310, 360), depth=46, seed=9),),
        wrong="the white sphere melts and runs down",
    ),
    "t2i-09-comfrey": comfrey(
        sphere("white", 0.7, 0.4, 1.05), sphere("black", -1.6, 0.3, 0.4), sphere("black", -0.9, -0.9, 0.4)
    ),
    # a pink cylinder and an orange sphere, no cubes
    "t2i-10-aster": aster(cylinder("pink", -1.0, 0.1, 0.8), sphere("orange", 1.0, -0.2, 0.75)),
    "t2i-10-borage": borage(cylinder("pink", 1.1, 0.2, 0.8), sphere("orange", -0.8, -0.3, 0.7)),
    "t2i-10-comfrey": comfrey(
        cylinder("pink", -1.5, 0.0, 0.75),
        sphere("orange", 0.0, -0.6, 0.6),
        cube("teal", 1.5, 0.5, 0.6, turn=25),
        wrong="there is a cube, which the prompt rules out",
    ),
    # 两个红色球体在蓝色立方体的左边 (as 01, in Chinese)
    "t2i-11-aster": aster(
        sphere("red", -1.8, 0.1, 0.5), sphere("red", -0.6, -0.4, 0.5), cube("blue", 1.1, 0.2, 0.8, turn=-25)
    ),
    "t2i-11-borage": borage(
        sphere("red", -1.7, 0.0, 0.55),
        sphere("red", -0.3, -0.2, 0.55, lift=0.3),
        cube("blue", 1.4, 0.1, 0.7, turn=20),
        flaw="one sphere hangs a little above the floor",
    ),
    "t2i-11-comfrey": comfrey(
        sphere("red", -1.6, -0.5, 0.55),
        sphere("red", -0.5, 0.5, 0.55),
        cube("green", 1.2, 0.0, 0.8, turn=30),
        wrong="the cube is green, not blue",
    ),
    # 三个黄色圆锥体和一个绿色圆柱体 (three yellow cones and one green cylinder)
    "t2i-12-aster": aster(
        cone("yellow", -1.5, -0.3, 0.65),
        cone("yellow", 0.1, 0.7, 0.7),
        cylinder("green", 1.5, -0.2, 0.65),
        wrong="two cones, not three",
    ),
    "t2i-12-borage": borage(
        cylinder("green", -1.7, 0.3, 0.7),
        cone("yellow", -0.4, -0.6, 0.55),
        cone("yellow", 0.7, 0.7, 0.65),
        cone("yellow", 1.8, -0.4, 0.55),
    ),
    "t2i-12-comfrey": comfrey(
        cone("yellow", -1.9, 0.0, 0.55),
        cone("yellow", -0.7, 0.6, 0.6),
        cone("yellow", 0.4, -0.6, 0.55),
        cylinder("green", 1.6, 0.4, 0.7),
    ),
}


def source(*shapes: Shape) -> Picture:
    return Picture(Scene(shapes, PLAIN))


def edit(
    *shapes: Shape, studio: Studio = PLAIN, faults: tuple[Fault, ...] = (), wrong: str = "", flaw: str = ""
) -> Picture:
    return Picture(Scene(shapes, studio), faults, wrong, flaw)


# What stays the same between a source and its edits is named once, so that nothing moves by accident.
BALL_AND_DRUM = (sphere("blue", -1.6, -0.3, 0.6), cylinder("yellow", 1.6, -0.2, 0.65))
CUBE_AND_BIG_BALL = (cube("teal", -1.3, 0.3, 0.75, turn=22), sphere("orange", 1.2, 0.8, 0.85))
PAIR = (sphere("purple", -1.4, 0.2, 0.7), cube("green", 0.0, -0.4, 0.6, turn=30))
TRIO = (
    cone("red", -1.5, 0.1, 0.75),
    sphere("white", 0.1, -0.5, 0.6),
    cube("yellow", 1.5, 0.4, 0.7, turn=-20),
)
CONE_AND_CUBE = (cone("orange", -1.5, 0.0, 0.75), cube("blue", 0.0, 0.7, 0.7, turn=15))
BALL_AND_CONE = (sphere("pink", -0.1, -0.5, 0.6), cone("green", 0.3, 1.4, 0.8))
BLOCK = cube("black", 0.0, 0.4, 0.7, turn=28)

IMAGE_EDITING = {
    # make the cube green
    "edit-01-source": source(*BALL_AND_DRUM, cube("red", 0.1, 0.5, 0.75, turn=28)),
    "edit-01-aster": edit(*BALL_AND_DRUM, cube("green", 0.1, 0.5, 0.75, turn=28)),
    "edit-01-borage": edit(
        *BALL_AND_DRUM, cube("red", 0.1, 0.5, 0.75, turn=28), wrong="not done: the cube is still red"
    ),
    # remove the small sphere
    "edit-02-source": source(*CUBE_AND_BIG_BALL, sphere("red", 0.0, -0.9, 0.38)),
    "edit-02-aster": edit(
        cube("pink", -1.3, 0.3, 0.75, turn=22),
        CUBE_AND_BIG_BALL[1],
        wrong="over-edited: the cube has turned pink as well",
    ),
    "edit-02-comfrey": edit(*CUBE_AND_BIG_BALL),
    # add a yellow cone on the right
    "edit-03-source": source(*PAIR),
    "edit-03-borage": edit(*PAIR, cone("yellow", 1.6, 0.1, 0.75)),
    "edit-03-comfrey": edit(cone("yellow", -2.0, -0.9, 0.5), *PAIR, wrong="the cone has been added on the left"),
    # turn the ground blue
    "edit-04-source": source(*TRIO),
    "edit-04-aster": edit(*TRIO, studio=BLUE_FLOOR),
    "edit-04-borage": edit(
        *TRIO, studio=BLUE_ROOM, wrong="over-edited: the backdrop has turned blue along with the ground"
    ),
    # replace the cylinder with a purple sphere
    "edit-05-source": source(*CONE_AND_CUBE, cylinder("green", 1.5, -0.3, 0.65)),
    "edit-05-aster": edit(
        *CONE_AND_CUBE,
        sphere("purple", 1.5, -0.3, 0.65),
        faults=(partial(ghost, box=(340, 180, 480, 350), shift=(10, 0), strength=0.35),),
        flaw="a faint second outline around the new sphere",
    ),
    "edit-05-comfrey": edit(*CONE_AND_CUBE, sphere("purple", 1.5, -0.3, 0.65)),
    # move the teal cylinder to the left side
    "edit-06-source": source(*BALL_AND_CONE, cylinder("teal", 1.7, 0.0, 0.65)),
    "edit-06-borage": edit(
        *BALL_AND_CONE,
        cylinder("teal", 1.7, 0.0, 0.65),
        cylinder("teal", -1.7, 0.0, 0.65),
        wrong="copied, not moved: a cylinder still stands on the right",
    ),
    "edit-06-comfrey": edit(*BALL_AND_CONE, cylinder("teal", -1.7, 0.0, 0.65)),
    # make both spheres bigger
    "edit-07-source": source(sphere("red", -1.5, -0.2, 0.42), BLOCK, sphere("yellow", 1.5, -0.2, 0.42)),
    "edit-07-aster": edit(
        sphere("red", -1.5, -0.2, 0.68),
        BLOCK,
        sphere("yellow", 1.5, -0.2, 0.68),
        faults=(partial(blocks, box=(324, 196, 484, 356), block=16),),
        wrong="the right sphere has broken up into blocks",
    ),
    "edit-07-borage": edit(sphere("red", -1.5, -0.2, 0.68), BLOCK, sphere("yellow", 1.5, -0.2, 0.68)),
}

PICTURES = TEXT_TO_IMAGE | IMAGE_EDITING
