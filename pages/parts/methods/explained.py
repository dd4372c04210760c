"""What an explanation is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Explained:
    """One figure or idea in plain words. anchor: its name in the address. text: markdown. codes: what is said of each
    reason and warning that has to do with it, by its key in REASON_WORDS and WARNING_WORDS."""

    anchor: str
    title: str
    text: str
    codes: dict[str, str]
