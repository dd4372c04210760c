"""The four solids, each at size 1 and centred on the origin: where a ray enters one and which way it faces.

Points and directions are float32 arrays of shape (3, n), so that each coordinate is one contiguous row.
"""

from __future__ import annotations

import math

import numpy as np

CUBE_HALF = 0.82
CYLINDER_RADIUS, CYLINDER_HALF = 0.74, 0.9
CONE_RADIUS, CONE_BASE, CONE_TOP = 0.92, -0.85, 1.15
CENTRE_HEIGHT = {"sphere": 1.0, "cube": CUBE_HALF, "cylinder": CYLINDER_HALF, "cone": -CONE_BASE}
REACH = {"sphere": 1.0, "cube": 1.43, "cylinder": 1.17, "cone": 1.26}  # radius of a ball that holds it
NEAR = 1e-3  # a ray ignores what is closer than this, so that a surface does not shadow itself


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a * b).sum(axis=0)


def unit(v: np.ndarray) -> np.ndarray:
    return v / np.sqrt(dot(v, v))


def smooth(low: float, high: float, value: np.ndarray) -> np.ndarray:
    """0 below low, 1 above high, an S-curve in between."""
    t = np.clip((value - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def turned(v: np.ndarray, degrees: float) -> np.ndarray:
    """The vectors (3, n) turned about the vertical axis."""
    if degrees == 0:
        return v
    c, s = np.float32(math.cos(math.radians(degrees))), np.float32(math.sin(math.radians(degrees)))
    return np.stack([c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]])


def between_roots(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two t with a t² + 2 b t + c = 0, for a > 0; (inf, -inf) where there are none."""
    inside = b * b - a * c
    root = np.sqrt(np.maximum(inside, 0))
    return np.where(inside > 0, (-b - root) / a, np.inf), np.where(inside > 0, (-b + root) / a, -np.inf)


def between_planes(o: np.ndarray, d: np.ndarray, half: float) -> tuple[np.ndarray, np.ndarray]:
    """Where a ray enters and leaves the slab |coordinate| <= half, along one axis."""
    safe = np.where(np.abs(d) < 1e-7, np.float32(1e-7), d)
    first, second = (-half - o) / safe, (half - o) / safe
    return np.minimum(first, second), np.maximum(first, second)


def entry(kind: str, o: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Distance t (n,) at which the rays o + t d enter the solid of size 1; inf where they miss it."""
    if kind == "cone":
        return cone_entry(o, d)
    if kind == "sphere":
        t_in, t_out = between_roots(dot(d, d), dot(o, d), dot(o, o) - 1)
    elif kind == "cube":
        slabs = [between_planes(o[axis], d[axis], CUBE_HALF) for axis in range(3)]
        t_in = np.maximum.reduce([slab[0] for slab in slabs])
        t_out = np.minimum.reduce([slab[1] for slab in slabs])
    elif kind == "cylinder":
        a = np.maximum(dot(d[:2], d[:2]), 1e-9)
        side = between_roots(a, dot(o[:2], d[:2]), dot(o[:2], o[:2]) - CYLINDER_RADIUS**2)
        ends = between_planes(o[2], d[2], CYLINDER_HALF)
        t_in, t_out = np.maximum(side[0], ends[0]), np.minimum(side[1], ends[1])
    else:
        raise ValueError(f"unknown kind of solid: {kind!r}")
    return np.where((t_in < t_out) & (t_in > NEAR), t_in, np.inf)


def cone_entry(o: np.ndarray, d: np.ndarray) -> np.ndarray:
    """As `entry`: of the crossings of the slanted side and the base, the nearest that is on the cone."""
    slope = (CONE_RADIUS / (CONE_TOP - CONE_BASE)) ** 2
    below = CONE_TOP - o[2]
    a = dot(d[:2], d[:2]) - slope * d[2] ** 2
    a = np.where(np.abs(a) < 1e-9, np.float32(1e-9), a)
    b = dot(o[:2], d[:2]) + slope * below * d[2]
    inside = b * b - a * (dot(o[:2], o[:2]) - slope * below**2)
    root = np.sqrt(np.maximum(inside, 0))
    best = np.full(o.shape[1], np.inf, np.float32)
    for t in ((-b - root) / a, (-b + root) / a):
        z = o[2] + t * d[2]
        on_side = (inside > 0) & (t > NEAR) & (z >= CONE_BASE) & (z <= CONE_TOP)
        best = np.where(on_side & (t < best), t, best)
    t = (CONE_BASE - o[2]) / np.where(np.abs(d[2]) < 1e-7, np.float32(1e-7), d[2])
    at = o[:2] + t * d[:2]
    return np.where((t > NEAR) & (dot(at, at) <= CONE_RADIUS**2) & (t < best), t, best)


def outward(kind: str, p: np.ndarray) -> np.ndarray:
    """Unit normals (3, n) at points on the solid of size 1; near an edge they lean over, like a bevel."""
    if kind == "sphere":
        return unit(p)
    if kind == "cube":
        return unit(np.sign(p) * smooth(CUBE_HALF - 0.07, CUBE_HALF, np.abs(p)))
    radius = np.sqrt(dot(p[:2], p[:2])) + 1e-6
    if kind == "cylinder":
        side = smooth(CYLINDER_RADIUS - 0.07, CYLINDER_RADIUS, radius)
        end = np.sign(p[2]) * smooth(CYLINDER_HALF - 0.07, CYLINDER_HALF, np.abs(p[2]))
        return unit(np.stack([p[0] / radius * side, p[1] / radius * side, end + 1e-6]))
    rise = np.full_like(radius, CONE_RADIUS / (CONE_TOP - CONE_BASE))
    rise -= 1.6 * (1 - smooth(0.0, 0.07, p[2] - CONE_BASE)) * rise
    return unit(np.stack([p[0] / radius, p[1] / radius, rise]))
