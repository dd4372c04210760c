"""Watching a judge along the labels, within one segment: what is normal, and which window leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.agreement.monitoring import Window, ewma

#: Labels in a window, and in the baseline; where windows hold more labels, so does the baseline, in proportion.
WINDOW, BASELINE = 50, 300
_MOST_WINDOWS = 80  # with more the chart is a blur


@dataclass(frozen=True)
class Watched:
    """A segment's windows against its baseline.

    baseline: the share 0-1 of its first labels, None without enough of them; labels: how many those are; windows: what is
    known of each window of the segment, None for those that make the baseline, come before there is one, or are not full.
    """

    baseline: float | None
    labels: int
    windows: tuple[Window | None, ...]

    @property
    def alarms(self) -> tuple[int, ...]:
        """The places of the windows that left the limits, from 0."""
        return tuple(place for place, window in enumerate(self.windows) if window and window.signal)


def window_size(labels: int) -> int:
    """Labels in a window of a segment that has so many: 50, doubled until there are at most 80 windows.

    Only doubled, so that windows which were looked at stay where they are while labels come in.
    """
    size = WINDOW
    while labels > size * _MOST_WINDOWS:
        size *= 2
    return size


def baseline_windows(sizes: Sequence[int], least: int = BASELINE) -> int | None:
    """How many of the first windows hold `least` labels; None if all together do not."""
    held = 0
    for place, size in enumerate(sizes, 1):
        held += size
        if held >= least:
            return place
    return None


def watch(series: Sequence[tuple[int, int]], size: int = WINDOW, deff: float = 1.0) -> Watched:
    """The windows after the baseline on an exponentially weighted average (Roberts 1959; see ewma).

    series: (right, labels) of each window, oldest first; only the last may hold fewer than `size` and is not watched yet.
    deff: the segment's design effect. A baseline on which all labels are right, or none, would have limits without a width
    and cry at the first error: it is taken as if one label more had been right and one wrong (Laplace).

    The limits take the baseline for known. It is itself a sample, and so a steady judge is outside them in some of the 20
    windows after it in about 32 % of segments (simulated, shares of 80 to 95 %), not in the 9 % of a known baseline.
    """
    first = baseline_windows([labels for _right, labels in series], BASELINE * size // WINDOW)
    if first is None:
        return Watched(None, 0, (None,) * len(series))
    right, labels = (sum(column) for column in zip(*series[:first], strict=True))
    share = right / labels if 0 < right < labels else (right + 1) / (labels + 2)
    full = [window for window in series[first:] if window[1] >= size]
    watched = ewma(full, share, deff)
    left = len(series) - first - len(full)
    return Watched(share, labels, (*(None,) * first, *watched, *(None,) * left))
