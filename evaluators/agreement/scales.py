"""Scales without ends, on which intervals are symmetric: Fisher's z for -1..1 and the logit for 0..1."""

from __future__ import annotations

import math


def on_fisher(centre: float, half: float) -> tuple[float, float]:
    """The limits in -1..1 of centre -+ half, taken on Fisher's z scale (Fisher 1915); centre strictly inside -1..1."""
    z, half = math.atanh(centre), half / (1 - centre**2)
    return math.tanh(z - half), math.tanh(z + half)


def on_logit(centre: float, half: float) -> tuple[float, float]:
    """The limits in 0..1 of centre -+ half, taken on the logit scale; centre strictly inside 0..1."""
    at, half = logit(centre), half / (centre * (1 - centre))
    return expit(at - half), expit(at + half)


def log(x: float) -> float:
    """The natural logarithm, of 0 -inf."""
    return math.log(x) if x > 0 else -math.inf


def logit(p: float) -> float:
    """log(p / (1 - p)), of 0 -inf and of 1 inf."""
    return log(p) - log(1 - p)


def expit(x: float) -> float:
    """The inverse of logit, without overflow."""
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    odds = math.exp(x)
    return odds / (1 + odds)
