"""Deliberate faults: small functions that spoil a finished picture in a way image models are known for.

Each takes an RGB picture and gives back a new one. Places are in pixels from the top left corner; a box is
(left, top, right, bottom). What needs chance takes a seed, so the same call always gives the same picture.
"""

from __future__ import annotations

import math

import numpy as np
from PIL import Image

Box = tuple[int, int, int, int]


def oval(box: Box) -> np.ndarray:
    """A soft mask (height, width, 1): 1 in the middle of the box, 0 at its edge, so that no seam shows."""
    left, top, right, bottom = box
    y = np.linspace(-1, 1, bottom - top)[:, None]
    x = np.linspace(-1, 1, right - left)[None, :]
    return np.clip(1.6 * (1 - np.hypot(x, y)), 0, 1)[:, :, None]


def blend(picture: Image.Image, box: Box, changed: np.ndarray, share: np.ndarray | float) -> Image.Image:
    """Lay the changed pixels (height, width, 3; 0 to 255) over the box; share 0 keeps what was there."""
    left, top, right, bottom = box
    pixels = np.asarray(picture).astype(np.float32)
    part = pixels[top:bottom, left:right]
    pixels[top:bottom, left:right] = part + (changed - part) * share
    return Image.fromarray(np.clip(np.round(pixels), 0, 255).astype(np.uint8), "RGB")


def tear(picture: Image.Image, top: int, height: int, shift: int) -> Image.Image:
    """Move a strip of rows sideways by `shift` pixels (positive: to the right)."""
    pixels = np.asarray(picture).copy()
    pixels[top : top + height] = np.roll(pixels[top : top + height], shift, axis=1)
    return Image.fromarray(pixels, "RGB")


def melt(picture: Image.Image, box: Box, depth: float, seed: int) -> Image.Image:
    """Let what is in the box run down like wax: each column is pulled down by up to `depth` pixels."""
    left, top, right, bottom = box
    rng = np.random.default_rng(seed)
    x = np.arange(right - left)
    waves = sum(np.sin(x / rng.uniform(4, 22) + rng.uniform(0, 2 * math.pi)) for _ in range(4))
    pull = depth * (0.55 + 0.45 * waves / 4)
    mask = oval(box)[:, :, 0]
    row, column = np.mgrid[top:bottom, left:right]
    source_row = np.clip(np.round(row - pull[None, :] * mask), 0, picture.height - 1).astype(int)
    sideways = 0.3 * depth * mask * np.sin(row / 9)
    source_column = np.clip(np.round(column + sideways), 0, picture.width - 1).astype(int)
    return blend(picture, box, np.asarray(picture)[source_row, source_column].astype(np.float32), 1.0)


def speckle(picture: Image.Image, box: Box, strength: float, seed: int) -> Image.Image:
    """Add coloured noise in the box; strength is its standard deviation in grey levels (8 to 80)."""
    left, top, right, bottom = box
    noise = np.random.default_rng(seed).normal(0, strength, (bottom - top, right - left, 3))
    part = np.asarray(picture)[top:bottom, left:right].astype(np.float32)
    return blend(picture, box, part + noise, oval(box))


def ghost(picture: Image.Image, box: Box, shift: tuple[int, int], strength: float) -> Image.Image:
    """Show what is in the box a second time, moved by shift (right, down) and faint (strength 0 to 1)."""
    left, top, right, bottom = box
    moved = np.roll(np.asarray(picture), (shift[1], shift[0]), axis=(0, 1))[top:bottom, left:right]
    return blend(picture, box, moved.astype(np.float32), strength * oval(box))


def blocks(picture: Image.Image, box: Box, block: int) -> Image.Image:
    """Replace the box by flat squares of `block` pixels, as after far too much compression."""
    left, top, right, bottom = box
    part = picture.crop(box)
    small = part.resize((max(1, (right - left) // block), max(1, (bottom - top) // block)), Image.Resampling.BOX)
    coarse = small.resize(part.size, Image.Resampling.NEAREST)
    return blend(picture, box, np.asarray(coarse).astype(np.float32), 0.92)
