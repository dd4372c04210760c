"""Draw a scene of simple solids on a lit studio floor: numpy and Pillow only, the same bytes every time.

World units are arbitrary; a solid of size 0.7 is about an eighth of the picture wide. The viewer looks along
+y and slightly down: x grows to the viewer's right, y grows away from the viewer ("behind"), z grows upwards
and the floor is z = 0. Points and directions are float32 arrays of shape (3, n), so that each coordinate is
one contiguous row. Light and colour are computed in linear RGB (0 to 1) and turned into sRGB at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from PIL import Image

from .solids import CENTRE_HEIGHT, REACH, dot, entry, outward, smooth, turned, unit

SIZE = 512  # width and height of a picture in pixels

COLOURS = {
    "red": "#d3221f",
    "orange": "#f07a12",
    "yellow": "#f5c916",
    "green": "#1f9a3e",
    "teal": "#12a3a0",
    "blue": "#1e55d0",
    "purple": "#7a2fb8",
    "pink": "#f07bb0",
    "white": "#f4f3ef",
    "black": "#1c1d20",
}

CAMERA = np.array([0.0, -9.4, 4.3], np.float32)
LOOK_AT = np.array([0.0, 0.1, 0.62], np.float32)
FIELD_OF_VIEW = 33.0  # degrees, across the whole picture
FROM_ABOVE = np.array([[0.36], [0.40], [0.46]], np.float32)  # light of the open sky, linear RGB
FROM_LAMP = np.array([[1.12], [1.05], [0.95]], np.float32)
BAND = 0.15  # half the width of a rolling sphere's band, in units of its radius
LAMP_SPREAD = 0.16  # radius of the lamp as seen from the floor, in units of its distance


@dataclass(frozen=True)
class Shape:
    """One solid.

    kind: "sphere", "cube", "cylinder" or "cone". colour: a name from COLOURS. x, y: where its centre stands
    on the floor (about -2.2 to 2.2, and -2 to 2.5). size: radius of a sphere, about half the height of the
    others (0.3 to 1.1). turn: degrees about the vertical axis, seen on cubes only. lift: gap below it, which
    is 0 for anything that stands on the floor. rolled: a sphere gets a white band and has rolled so many
    degrees to the right, which is how a video shows that it rolls.
    """

    kind: str
    colour: str
    x: float
    y: float
    size: float = 0.7
    turn: float = 0.0
    lift: float = 0.0
    rolled: float | None = None

    @property
    def centre(self) -> np.ndarray:
        return np.array([self.x, self.y, self.lift + CENTRE_HEIGHT[self.kind] * self.size], np.float32)

    @property
    def reach(self) -> float:
        return REACH[self.kind] * self.size


@dataclass(frozen=True)
class Studio:
    """Floor and backdrop colours (sRGB hex) and the lamp: azimuth 0 is behind the viewer, above 0 right."""

    floor: str = "#b9b6b2"
    horizon: str = "#dcd9d4"
    sky: str = "#9fb4c8"
    lamp_azimuth: float = -62.0
    lamp_height: float = 44.0


@dataclass(frozen=True)
class Scene:
    """The solids of a picture and the studio they stand in."""

    shapes: tuple[Shape, ...]
    studio: Studio = Studio()


def linear(hex_colour: str) -> np.ndarray:
    """'#rrggbb' in sRGB -> linear RGB, shape (3, 1), so that it broadcasts over points."""
    srgb = np.array([int(hex_colour[i : i + 2], 16) for i in (1, 3, 5)], np.float32)[:, None] / 255
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4).astype(np.float32)


def to_solid(shape: Shape, points: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rays in the world -> the same rays as the solid of size 1 sees them (t keeps its meaning)."""
    o = turned(points - shape.centre[:, None], -shape.turn) / np.float32(shape.size)
    return o, turned(directions, -shape.turn) / np.float32(shape.size)


def lamp_directions(studio: Studio, phase: float) -> np.ndarray:
    """Directions (3, 10) towards points spread over the lamp; the first one is its middle."""
    azimuth, height = math.radians(studio.lamp_azimuth), math.radians(studio.lamp_height)
    flat = math.cos(height)
    middle = np.array([math.sin(azimuth) * flat, -math.cos(azimuth) * flat, math.sin(height)], np.float32)
    across = unit(np.array([-middle[1], middle[0], 0.0], np.float32))
    along = np.cross(middle, across)
    # A sunflower spiral covers a disc evenly; the phase turns it so that the four passes do not coincide.
    k = np.arange(9)
    radius, angle = LAMP_SPREAD * np.sqrt((k + 0.5) / 9), k * 2.39996 + phase
    spread = np.outer(across, radius * np.cos(angle)) + np.outer(along, radius * np.sin(angle))
    return np.hstack([middle[:, None], unit(middle[:, None] + spread)]).astype(np.float32)


def lamp_share(shapes: tuple[Shape, ...], points: np.ndarray, lamp: np.ndarray) -> np.ndarray:
    """How much of the lamp each point sees, 0 (full shadow) to 1, shape (n,)."""
    blocked = np.zeros((lamp.shape[1] - 1, points.shape[1]), bool)
    for shape in shapes:
        # Most points are nowhere near this solid's shadow: test only those that are, to save time.
        offset = shape.centre[:, None] - points
        ahead = lamp[:, 0] @ offset
        aside = np.sqrt(np.maximum(dot(offset, offset) - ahead**2, 0))
        widest = shape.reach + 1.2 * LAMP_SPREAD * np.abs(ahead)
        near = np.flatnonzero((ahead > -shape.reach) & (aside < widest))
        for sample in range(lamp.shape[1] - 1):
            towards = np.broadcast_to(lamp[:, sample + 1 : sample + 2], (3, near.size))
            rays = to_solid(shape, points[:, near], towards)
            blocked[sample, near] |= np.isfinite(entry(shape.kind, *rays))
    return 1 - blocked.mean(axis=0, dtype=np.float32)


def openness(shapes: tuple[Shape, ...], points: np.ndarray, normals: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """How much of the open sky each point sees, 0 to 1: it gives the soft dark edge where things touch."""
    share = np.ones(points.shape[1], np.float32)
    for index, shape in enumerate(shapes):
        offset = shape.centre[:, None] - points
        distance = np.sqrt(dot(offset, offset))
        cover = np.maximum(dot(normals, offset), 0) / distance * np.minimum(shape.size / distance, 1) ** 2
        share *= np.where(owner == index, 1, 1 - 0.85 * np.clip(cover, 0, 1))
    return share


def cast(scene: Scene, directions: np.ndarray, phase: float) -> np.ndarray:
    """Linear RGB (3, n) seen from the camera along unit directions (3, n)."""
    count, studio = directions.shape[1], scene.studio
    eye = np.broadcast_to(CAMERA[:, None], directions.shape)
    nearest = np.where(directions[2] < -1e-4, -CAMERA[2] / np.minimum(directions[2], -1e-4), np.inf)
    owner = np.where(np.isfinite(nearest), -1, -2)  # -1 the floor, -2 the backdrop, else the solid's index
    for index, shape in enumerate(scene.shapes):
        t = entry(shape.kind, *to_solid(shape, eye, directions))
        owner, nearest = np.where(t < nearest, index, owner), np.minimum(t, nearest)

    horizon = linear(studio.horizon)
    picture = horizon + (linear(studio.sky) - horizon) * smooth(-0.30, -0.07, directions[2])
    seen = np.flatnonzero(owner > -2)
    directions, owner = directions[:, seen], owner[seen]
    points = CAMERA[:, None] + nearest[seen] * directions

    normals = np.zeros_like(points)
    normals[2] = 1
    colour = np.broadcast_to(linear(studio.floor), points.shape).copy()
    for index, shape in enumerate(scene.shapes):
        own = np.flatnonzero(owner == index)
        local, _ = to_solid(shape, points[:, own], directions[:, own])
        normals[:, own] = turned(outward(shape.kind, local), shape.turn)
        colour[:, own] = linear(COLOURS[shape.colour])
        if shape.rolled is not None:
            angle = np.float32(math.radians(shape.rolled))
            aside = np.abs(local[0] * np.cos(angle) - local[2] * np.sin(angle))
            colour[:, own] += (linear(COLOURS["white"]) - colour[:, own]) * (aside < BAND)

    lamp = lamp_directions(studio, phase)
    towards = lamp[:, :1]
    facing = np.maximum(dot(normals, towards), 0)
    share = lamp_share(scene.shapes, points + 2e-3 * normals, lamp)
    sky_share = openness(scene.shapes, points, normals, owner)
    # Light from above is cool and strong, light thrown back by the floor is weak and has the floor's colour.
    up = 0.5 + 0.5 * normals[2]
    ambient = sky_share * (up * FROM_ABOVE + (1 - up) * 0.35 * linear(studio.floor))
    key = facing * share * FROM_LAMP
    solid = owner >= 0
    mirrored = directions - 2 * dot(directions, normals) * normals
    gleam = dot(mirrored, towards)
    gloss = 0.55 * smooth(0.955, 0.985, gleam) + 0.16 * np.maximum(gleam, 0) ** 14
    rim = 0.22 * np.maximum(1 + dot(directions, normals), 0) ** 4 * sky_share
    lit = colour * (ambient + key) + solid * (gloss * share + rim * horizon)

    # The floor darkens away from the middle and then melts into the backdrop, so that no edge shows.
    away = np.sqrt(points[0] ** 2 + points[1] ** 2)
    lit = np.where(solid, lit, lit * (1.02 - 0.3 * smooth(1.5, 9.0, away)))
    haze = np.where(solid, 0, smooth(5.0, 17.0, points[1] + 0.25 * away))
    picture[:, seen] = lit + (picture[:, seen] - lit) * haze
    return picture.reshape(3, count)


def render(scene: Scene, size: int = SIZE) -> Image.Image:
    """Draw the scene: an RGB picture of size x size pixels."""
    return painted(partial(cast, scene), size)


def painted(seen: Callable[[np.ndarray, float], np.ndarray], size: int) -> Image.Image:
    """A square picture of what is seen: the mean of 2 x 2 rays in every pixel.

    seen: takes unit directions (3, n) from the camera and the phase of the lamp; gives linear RGB (3, n).
    """
    forward = unit(LOOK_AT - CAMERA)
    right = unit(np.cross(forward, np.array([0, 0, 1], np.float32)))
    upward = np.cross(right, forward)
    half = math.tan(math.radians(FIELD_OF_VIEW / 2))
    total = np.zeros((3, size * size), np.float32)
    for turn, (dx, dy) in enumerate([(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)]):
        row, column = np.mgrid[0:size, 0:size].reshape(2, -1).astype(np.float32)
        u, v = half * (2 * (column + dx) / size - 1), half * (1 - 2 * (row + dy) / size)
        rays = forward[:, None] + np.outer(right, u) + np.outer(upward, v)
        # Clip before taking the mean, or a bright highlight keeps jagged edges.
        total += np.clip(seen(unit(rays.astype(np.float32)), turn * math.pi / 8), 0, 1)
    mean = total / 4
    srgb = np.where(mean <= 0.0031308, mean * 12.92, 1.055 * np.maximum(mean, 1e-6) ** (1 / 2.4) - 0.055)
    return Image.fromarray(np.round(srgb * 255).astype(np.uint8).T.reshape(size, size, 3), "RGB")
