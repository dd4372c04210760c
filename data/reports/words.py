"""Figures in words."""

from __future__ import annotations

from evaluators.agreement import REASON_WORDS, Estimate


def percent(estimate: Estimate) -> str:
    """84.3 % [79.1-88.5], or why there is no figure."""
    if estimate.value is None:
        return f"an undefined share ({REASON_WORDS[estimate.reason]})"
    if estimate.lo is None:
        return f"{100 * estimate.value:.1f} % (no interval: {REASON_WORDS[estimate.reason]})"
    return f"{100 * estimate.value:.1f} % [{100 * estimate.lo:.1f}–{100 * estimate.hi:.1f}]"


def number(estimate: Estimate) -> str:
    """0.58 [0.41-0.71], or why there is no figure."""
    if estimate.value is None:
        return f"undefined ({REASON_WORDS[estimate.reason]})"
    if estimate.lo is None:
        return f"{estimate.value:.2f} (no interval: {REASON_WORDS[estimate.reason]})"
    return f"{estimate.value:.2f} [{estimate.lo:.2f}–{estimate.hi:.2f}]"
