"""Draw the one picture that is not made of the four solids: a steaming cup of coffee and a croissant on a table.

Camera, lamp and units are those of `scenes.py`. The things are described by their distance: `parts` says for any
point how far away the surface of each is (never too much), and a ray walks on by the least of these until it
arrives. The steam is laid over the finished picture. Nothing is left to chance.
"""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageFilter

from .scenes import CAMERA, FROM_ABOVE, FROM_LAMP, SIZE, Studio, lamp_directions, linear, painted
from .solids import dot, smooth, turned, unit

LIGHT = Studio(lamp_azimuth=-66.0, lamp_height=46.0)
WARMTH = np.array([[1.1], [1.03], [0.95]], np.float32)
WALL_LOW, WALL_HIGH = linear("#86a09c"), linear("#36494d")
OAK, WALNUT = linear("#b57f4b"), linear("#7d4e2a")
CHINA, COFFEE, CREMA = linear("#f1ece2"), linear("#2a1409"), linear("#8a5426")
BAKED, GOLDEN = linear("#9c5317"), linear("#f0b65c")
TABLE_END = 4.6  # y of the far edge of the table
FAR = 30.0

CUP = np.array([-1.15, 0.55, 0.0], np.float32)[:, None]
CUP_BASE, CUP_RIM, CUP_FOOT, CUP_FLARE, CHINA_HALF = 0.12, 1.36, 0.46, 0.3, 0.042
COFFEE_LEVEL, COFFEE_RADIUS = 1.2, 0.7
PLATE = np.array([1.2, -0.55, 0.0], np.float32)[:, None]
CROISSANT = np.array([1.2, -0.3, 0.33], np.float32)[:, None]
ARC, ARC_SPAN, BELLY, TURN = 0.7, 1.8, 0.43, 14.0  # radius and half angle of the crescent, its thickness, degrees
TABLE, SAUCER, DISH, CROCKERY, DRINK, PASTRY = range(6)


def disc(p: np.ndarray, middle: np.ndarray, radius: float) -> np.ndarray:
    """Distance to a plate that rises towards its rim."""
    q = p - middle
    across = np.sqrt(q[0] ** 2 + q[1] ** 2)
    height = 0.05 + 0.11 * smooth(0.5 * radius, radius, across)
    return 0.8 * (np.sqrt(np.maximum(across - radius + 0.04, 0) ** 2 + (q[2] - height) ** 2) - 0.04)


def cup(p: np.ndarray) -> np.ndarray:
    """Distance to the china of the cup: a wall that flares towards the rim, a bottom, and a handle on the left."""
    q = p - CUP
    across = np.sqrt(q[0] ** 2 + q[1] ** 2)
    share = np.clip((q[2] - CUP_BASE) / (CUP_RIM - CUP_BASE), 0, 1)
    radius = CUP_FOOT + CUP_FLARE * np.sqrt(share)
    beyond = np.maximum(np.maximum(q[2] - CUP_RIM, CUP_BASE - q[2]), 0)
    wall = 0.8 * (np.sqrt((across - radius) ** 2 + beyond**2) - CHINA_HALF)
    bottom = np.sqrt(np.maximum(across - CUP_FOOT, 0) ** 2 + (q[2] - CUP_BASE) ** 2) - CHINA_HALF
    # The handle is a ring that stands upright; what of it is inside the cup is cut away.
    h = turned(q, -24) - np.array([-0.76, 0, 0.82], np.float32)[:, None]
    ring = np.sqrt((np.sqrt(h[0] ** 2 + (0.85 * h[2]) ** 2) - 0.31) ** 2 + (0.8 * h[1]) ** 2) - 0.07
    return np.minimum(np.minimum(wall, bottom), 0.8 * np.maximum(ring, radius - across))


def coffee(p: np.ndarray) -> np.ndarray:
    """Distance to the coffee: a thin disc that just reaches the wall of the cup."""
    q = p - CUP
    across = np.sqrt(q[0] ** 2 + q[1] ** 2)
    return np.sqrt(np.maximum(across - COFFEE_RADIUS, 0) ** 2 + (q[2] - COFFEE_LEVEL) ** 2) - 0.01


def along_crescent(p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A point as the croissant sees it: -1 to 1 from tip to tip, distance from the arc, and layer of dough.

    The layer counts from the middle outwards; its fraction says where between two edges of the dough the point is.
    """
    q = turned(p - CROISSANT, -TURN)
    angle = np.arctan2(q[0], -q[1])  # the middle faces the viewer, the tips point away
    share = np.clip(angle / ARC_SPAN, -1, 1)
    x, y = ARC * np.sin(share * ARC_SPAN), -ARC * np.cos(share * ARC_SPAN)
    off = np.sqrt((q[0] - x) ** 2 + (q[1] - y) ** 2 + (1.1 * q[2]) ** 2)
    slant = np.clip(q[2] / BELLY, -1, 1)
    return share, off, 4.2 * np.abs(share + 0.06 * slant) + 0.5


def croissant(p: np.ndarray) -> np.ndarray:
    """Distance to the croissant: a crescent that tapers to its tips in steps, one at the edge of each layer."""
    share, off, layer = along_crescent(p)
    step = layer - np.floor(layer)
    taper = 1 - 0.74 * ((np.floor(layer) + 0.35 * step) / 4.7) ** 1.35
    edge = 0.05 * smooth(0.86, 1.0, step) + 0.035 * (1 - smooth(0.0, 0.12, step))
    return 0.6 * (off - BELLY * (taper - edge) * (1 - 0.15 * smooth(0.94, 1, np.abs(share))))


def parts(p: np.ndarray) -> np.ndarray:
    """Distance to each thing, shape (6, n), in the order of the constants TABLE to PASTRY."""
    table = np.maximum(p[2], p[1] - TABLE_END)
    return np.stack([table, disc(p, CUP, 1.12), disc(p, PLATE, 1.32), cup(p), coffee(p), croissant(p)])


def walk(origin: np.ndarray, directions: np.ndarray, steps: int) -> np.ndarray:
    """How far each ray goes until it meets something, shape (n,); more than FAR where it meets nothing."""
    gone, on = np.zeros(directions.shape[1], np.float32), np.arange(directions.shape[1])
    for _ in range(steps):
        left = parts(origin[:, on] + gone[on] * directions[:, on]).min(axis=0)
        gone[on] += left
        on = on[(left > 1.5e-3) & (gone[on] < FAR)]
        if not on.size:
            break
    return gone


def facing(p: np.ndarray) -> np.ndarray:
    """Unit normals (3, n) of what is nearest to each point."""
    corners = np.array([[1, -1, -1], [-1, -1, 1], [-1, 1, -1], [1, 1, 1]], np.float32)[:, :, None]
    return unit(sum(corner * parts(p + 3e-3 * corner).min(axis=0) for corner in corners))


def lamp_share(p: np.ndarray, lamp: np.ndarray) -> np.ndarray:
    """How much of the lamp each point sees, 0 to 1: less, the closer something comes to the line towards it."""
    share, gone = np.ones(p.shape[1], np.float32), np.full(p.shape[1], 0.03, np.float32)
    for _ in range(36):
        left = parts(p + gone * lamp).min(axis=0)
        share = np.minimum(share, np.clip(0.5 + 0.5 * left / (0.13 * gone), 0, 1))
        gone += np.clip(np.abs(left), 0.03, 0.3)
    return share * share * (3 - 2 * share)


def openness(p: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """How much of the open sky each point sees, 0 to 1, from how soon something else is near above it."""
    cover = np.zeros(p.shape[1], np.float32)
    for reach, weight in ((0.08, 0.8), (0.2, 0.55), (0.42, 0.4), (0.8, 0.3)):
        cover += weight * np.clip(1 - parts(p + reach * normals).min(axis=0) / reach, 0, 1)
    return np.clip(1 - 0.62 * cover, 0.12, 1)


def grain(x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Smooth noise, 0 to 1, with one random value at every whole x and y."""
    lattice = np.random.default_rng(seed).random((64, 64)).astype(np.float32)
    column, row = np.floor(x).astype(int), np.floor(y).astype(int)
    u, v = smooth(0, 1, x - column), smooth(0, 1, y - row)
    near = lattice[row % 64, column % 64] * (1 - u) + lattice[row % 64, (column + 1) % 64] * u
    far = lattice[(row + 1) % 64, column % 64] * (1 - u) + lattice[(row + 1) % 64, (column + 1) % 64] * u
    return near * (1 - v) + far * v


def wood(p: np.ndarray) -> np.ndarray:
    """Colour of the table, shape (3, n): boards from left to right, each with its own tone and grain."""
    board = np.floor(p[1] / 1.15 + 0.42)
    within = p[1] / 1.15 + 0.42 - board
    shift = 7.3 * board
    bend = p[1] + 0.22 * grain(0.5 * p[0] + shift, 1.3 * p[1], 1)
    rings = 0.5 + 0.5 * np.sin(24 * bend + 5 * grain(0.35 * p[0] + shift, 3 * p[1], 2))
    fibre = grain(1.6 * p[0] + shift, 42 * p[1], 3)
    dark = 0.16 + 0.3 * rings * grain(0.6 * p[0] + shift, 2 * p[1], 4) + 0.26 * fibre + 0.2 * np.sin(2.4 * board)
    gap = 1 - 0.7 * (1 - smooth(0.0, 0.022, np.minimum(within, 1 - within)))
    return (OAK + (WALNUT - OAK) * np.clip(dark, 0, 1)) * gap


def colours(p: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Colour of the surface at each point, linear RGB (3, n)."""
    across = np.sqrt(((p - CUP)[:2] ** 2).sum(axis=0))
    drink = COFFEE + (CREMA - COFFEE) * (0.75 * smooth(0.56, 0.7, across) + 0.25 * grain(7 * p[0], 7 * p[1], 5) ** 3)
    _share, _off, layer = along_crescent(p)
    step = layer - np.floor(layer)
    crust = smooth(0.02, 0.3, step) * (1 - 0.75 * smooth(0.7, 1.0, step)) * smooth(0.1, 0.6, p[2])
    crust = crust * (0.75 + 0.25 * grain(26 * p[0], 26 * p[1] + 9 * p[2], 6))
    pastry = GOLDEN + (BAKED - GOLDEN) * np.clip(crust, 0, 1)
    china = np.broadcast_to(CHINA, p.shape)
    return np.select([owner == TABLE, owner == DRINK, owner == PASTRY], [wood(p), drink, pastry], china)


def wall(directions: np.ndarray) -> np.ndarray:
    """The room behind the table, out of focus: darker upwards, brighter towards the lamp."""
    glow = np.exp(-(((directions[0] + 0.34) / 0.2) ** 2) - ((directions[2] + 0.16) / 0.12) ** 2)
    picture = WALL_LOW + (WALL_HIGH - WALL_LOW) * smooth(-0.31, -0.1, directions[2])
    return picture * (0.8 + 0.55 * glow)


def cast(directions: np.ndarray, phase: float) -> np.ndarray:
    """Linear RGB (3, n) seen from the camera along unit directions (3, n)."""
    picture = wall(directions)
    distance = walk(np.broadcast_to(CAMERA[:, None], directions.shape), directions, 110)
    seen = np.flatnonzero(distance < FAR)
    directions = directions[:, seen]
    points = CAMERA[:, None] + distance[seen] * directions
    owner, normals = parts(points).argmin(axis=0), facing(points)
    lamp = lamp_directions(LIGHT, phase)[:, :1]
    share, sky = lamp_share(points + 6e-3 * normals, lamp), openness(points, normals)
    surface, up = colours(points, owner), 0.5 + 0.5 * normals[2]
    ambient = sky * (up * FROM_ABOVE + (1 - up) * 0.4 * OAK) * WARMTH
    lit = surface * (ambient + np.maximum(dot(normals, lamp), 0) * share * FROM_LAMP * WARMTH)
    gleam = dot(directions - 2 * dot(directions, normals) * normals, lamp)
    shine = np.array([0.10, 0.5, 0.5, 0.5, 0.35, 0.10], np.float32)[owner]
    blur = np.array([0.75, 0.96, 0.96, 0.96, 0.97, 0.8], np.float32)[owner]
    lit = lit + shine * share * smooth(blur, 1.0, gleam)
    rim = np.maximum(1 + dot(directions, normals), 0) ** 4
    picture[:, seen] = lit + 0.5 * shine * rim * sky * WALL_LOW
    return picture


def steam(size: int) -> Image.Image:
    """How much steam there is in each pixel, 0 to 255: three wisps that rise from the cup, widen and fade."""
    amount = np.zeros((size, size), np.float32)
    row, column = np.mgrid[0:size, 0:size].astype(np.float32) / size
    for foot, sway, top, phase in ((0.265, 0.030, 0.05, 0.4), (0.308, 0.040, -0.06, 2.2), (0.35, 0.028, 0.07, 4.1)):
        risen = np.clip((0.395 - row) / (0.395 - top), 0, 1)
        middle = foot + sway * risen**0.6 * np.sin(8.5 * risen**0.8 + phase) * 1.3 + 0.025 * risen
        width = 0.009 + 0.024 * risen
        body = np.exp(-(((column - middle) / width) ** 2)) + 0.5 * np.exp(-(((column - middle) / (2.6 * width)) ** 2))
        amount += body * smooth(0.0, 0.2, risen) * (1 - risen) ** 0.8
    return Image.fromarray(np.round(255 * np.clip(0.5 * amount, 0, 0.75)).astype(np.uint8), "L")


def coffee_and_croissant(size: int = SIZE) -> Image.Image:
    """The finished picture, size x size pixels."""
    picture = painted(cast, size)
    veil = steam(size).filter(ImageFilter.GaussianBlur(size / 170))
    return Image.composite(Image.new("RGB", picture.size, "#f6f1ea"), picture, veil)
