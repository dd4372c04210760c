"""Watching agreement over time, within one segment: the same judge model, prompt, threshold and guideline."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from scipy.stats import binom

MEMORY = 0.2  # what the newest window weighs
LIMIT = 2.7  # standard deviations: a false alarm about every 229 windows of 50 labels


def p_chart_limits(p0: float, n: int, alpha: float = 0.0027) -> tuple[int, int]:
    """The smallest and largest number right among n that is no alarm when the true share is p0 (Shewhart 1931).

    Exact binomial quantiles at alpha / 2 on each side, the chance of 3 standard deviations.
    """
    return int(binom.ppf(alpha / 2, n, p0)), int(binom.ppf(1 - alpha / 2, n, p0))


@dataclass(frozen=True)
class Window:
    """A window's smoothed share 0-1, its control limits, and whether it lies outside them.

    An alarm opens a review of the window; it is no result.
    """

    ewma: float
    lo: float
    hi: float
    signal: bool


def ewma(
    series: Iterable[tuple[int, int]], p0: float, deff: float = 1.0, memory: float = MEMORY, limit: float = LIMIT
) -> list[Window]:
    """The exponentially weighted share over windows of labels (Roberts 1959), oldest first.

    series: (right, labels) of each window, randomly drawn blind labels only, 50 or more a window. p0: the baseline share,
    from at least 300 labels. deff: the segment's design effect where cases are clustered. A window without labels
    carries the one before on.
    """
    smoothed, variance, windows = p0, 0.0, []
    for right, labels in series:
        if labels:
            smoothed = memory * right / labels + (1 - memory) * smoothed
            variance = memory**2 * p0 * (1 - p0) * deff / labels + (1 - memory) ** 2 * variance
        half = limit * math.sqrt(variance)
        windows.append(Window(smoothed, max(0.0, p0 - half), min(1.0, p0 + half), abs(smoothed - p0) > half))
    return windows
