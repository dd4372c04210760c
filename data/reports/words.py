"""Figures in words."""

from __future__ import annotations

from data.store import agreement as agreement_store
from data.store.agreement import Basis
from evaluators.agreement import REASON_WORDS, Estimate

ONLY_AUDITS = "Only audit labels so far: this view needs labels from the random order."


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


def many(n: int, thing: str, things: str = "") -> str:
    """1 prompt, 2 prompts. things: the word for several, where an s will not do."""
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"


def without_labels(basis: Basis, otherwise: str) -> str:
    """Why a view of randomly drawn labels is empty: there are none but audits', or else what is given."""
    return ONLY_AUDITS if agreement_store.has_audits(basis) else otherwise
