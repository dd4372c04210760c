"""The known truth, continued: the reference pictures of image_text_match.csv and what came of them.

A reference picture shows one thing, is named after it, and may serve several prompts. The rest is as in
`catalogue.py`.
"""

from __future__ import annotations

from dataclasses import replace

from .catalogue import ASTER, Picture, aster, borage, comfrey, cone, cube, cylinder, source, sphere
from .scenes import Scene

GREEN_FLOOR = replace(ASTER, floor="#5c9a52")

REFERENCES = {
    "ref-red-sphere": source(sphere("red", 0.0, 0.0, 0.95)),
    "ref-blue-cube": source(cube("blue", 0.0, 0.0, 0.95, turn=28)),
    "ref-green-cone": source(cone("green", 0.0, 0.0, 1.0)),
    "ref-white-sphere": source(sphere("white", 0.0, 0.0, 0.95)),
    "ref-yellow-cylinder": source(cylinder("yellow", 0.0, 0.0, 0.95)),
    "ref-purple-cone": source(cone("purple", 0.0, 0.0, 1.0)),
    "ref-orange-cube": source(cube("orange", 0.0, 0.0, 0.95, turn=-24)),
}

IMAGE_TEXT_MATCH = {
    # 图1的红色圆球和图2的蓝色方块并排放在绿色地面上，旁边有一个黄色圆锥 (the red ball and the blue cube side by side
    # on a green ground, a yellow cone beside them)
    "match-01-aster": Picture(
        Scene(
            (sphere("red", -1.4, -0.2, 0.65), cube("blue", 0.15, -0.1, 0.68, turn=28), cone("yellow", 1.75, 0.3, 0.7)),
            GREEN_FLOOR,
        )
    ),
    "match-01-borage": borage(
        sphere("red", -0.9, -0.2, 0.7),
        cone("yellow", 1.0, 0.2, 0.8),
        wrong="the blue cube of picture 2 is missing, and the ground is not green",
    ),
    # 把图1的绿色圆锥放在图2的白色圆球右边，不要别的东西 (the green cone to the right of the white ball, nothing else)
    "match-02-aster": aster(sphere("white", -1.0, -0.1, 0.75), cone("green", 1.0, 0.1, 0.85)),
    "match-02-comfrey": comfrey(
        cone("green", -1.0, 0.1, 0.85),
        sphere("white", 1.0, -0.1, 0.75),
        wrong="contradicts the prompt: the cone stands left of the ball",
    ),
    # 图1的红色圆球放在图2的蓝色方块和图3的黄色圆柱中间 (the red ball between the blue cube and the yellow cylinder)
    "match-03-borage": borage(
        cube("blue", -1.65, 0.1, 0.68, turn=22), sphere("red", 0.0, -0.1, 0.62), cylinder("yellow", 1.6, 0.1, 0.7)
    ),
    "match-03-comfrey": comfrey(
        cube("blue", -1.35, 0.7, 0.7, turn=30),
        sphere("red", 0.0, -1.5, 0.55),
        cylinder("yellow", 1.35, 0.7, 0.72),
        flaw="the ball lies well in front of the gap between the two others",
    ),
    # 图1的紫色圆锥站在图2的橙色方块前面 (the purple cone in front of the orange cube)
    "match-04-aster": aster(
        cube("red", 0.45, 1.0, 0.85, turn=-24),
        cone("purple", -0.45, -0.9, 0.6),
        wrong="the cube is red; that of picture 2 is orange",
    ),
    "match-04-borage": borage(cube("orange", -0.6, 0.8, 0.85, turn=-24), cone("purple", 0.55, -0.9, 0.6)),
}
