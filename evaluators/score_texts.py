"""Sub-scores written as plain text: `[6, 0]`, `7`, `naturalness 10 artifacts 0`, `score1: 8, score2: 6`.

A form is accepted only when every number in the text has its place in it. "10 and 9 for naturalness" when two
sub-scores were asked, "4/5" on a 0-10 scale, "3 tiered cake": a careful person finds no answer there, nor do we.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence

# A number that stands for itself: not part of a word (8k, 3d, score1) or of a longer number (1.2.3).
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w|\.\d)")
_FRACTION = re.compile(r"(?<![\w.])([-+]?\d+(?:\.\d+)?)\s*(?:/|out of|分之)\s*(\d+(?:\.\d+)?)(?!\w)")
_BRACKETED = re.compile(r"^\[([^\[\]]*)\]\s*+(?:,\s*)?(?=[a-z])")
_ONLY_NUMBERS = re.compile(
    r"^[\s\[\](),;&]*#(?:[\s\[\](),;&]|and)*(?:#(?:[\s\[\](),;&]|and)*)*(?:respectively\b[^#]*)?\.?$"
)
_CLAUSE_START = re.compile(r"\s*(?:for|based on)\b")
_CLAUSE_END = re.compile(r"(?:[,;]|\band)\s*$")


def number_of(value: object, high: float) -> float | None:
    """One score value: a number, or a text that is one ("8", "８", "8/10", "8分"). None if it is not.

    A fraction counts only when its denominator is the scale's top.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e300 else None
    if not isinstance(value, str):
        return None
    text = _plain(value).rstrip("分").strip()
    fraction = _FRACTION.fullmatch(text)
    if fraction:
        return float(fraction[1]) if float(fraction[2]) == high else None
    return float(text) if _NUMBER.fullmatch(text) else None


def numbers_in(text: str) -> frozenset[float]:
    """Every number written anywhere in the text, even inside words; full-width digits count as digits."""
    return frozenset(float(found) for found in re.findall(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?", _plain(text)))


def scores_in_prose(text: str, names: Sequence[str], high: float) -> list[float] | None:
    """The values of the sub-scores `names`, in that order, from a text without JSON; None if there is no sure answer."""
    text = _plain(text).casefold()
    listed = _BRACKETED.match(text)
    if listed and "[" not in text[listed.end() :]:
        text = listed[1]  # "[9, 8], scoring 9 because …": the list is the answer, the rest explains it
    text = _whole_fractions(text, high)
    if text is None:
        return None
    labels = [[name, name.replace("_", " "), f"score{i}"] for i, name in enumerate(names, 1)]
    text = _mark_labels(text, labels)
    values = [float(found) for found in _NUMBER.findall(text)]
    shape = _NUMBER.sub("#", text)
    if len(values) == len(names) and (_ONLY_NUMBERS.match(shape) or _clauses(shape)):
        return values
    return _labelled(shape, values, len(names))


def _clauses(shape: str) -> bool:
    """`# for the prompt, # for the first picture, and # for the second`: one clause a number, no label in it."""
    lead, *clauses = shape.split("#")
    return (
        len(clauses) > 1
        and not lead.strip()
        and "<" not in shape
        and all(_CLAUSE_START.match(clause) for clause in clauses)
        and all(_CLAUSE_END.search(clause) for clause in clauses[:-1])
    )


def _plain(text: str) -> str:
    """Full-width digits and punctuation as ASCII, Chinese commas and quotes too."""
    return unicodedata.normalize("NFKC", text).translate(str.maketrans("、。“”‘’", ",.\"\"''"))


def _whole_fractions(text: str, high: float) -> str | None:
    """`8/10` becomes `8` on a 0-10 scale; any other fraction spoils the text."""
    for found in _FRACTION.finditer(text):
        if float(found[2]) != high:
            return None
    return _FRACTION.sub(r"\1", text)


def _mark_labels(text: str, labels: list[list[str]]) -> str:
    """Replace each sub-score's name by `<a>`, `<b>`, …; a misspelt long word counts ("natuarlness")."""
    for index, spellings in enumerate(labels):
        mark = f"<{chr(97 + index)}>"
        for spelling in spellings:
            pattern = (
                re.escape(spelling).replace("score", r"score\s*")
                if spelling.startswith("score")
                else re.escape(spelling)
            )
            text = re.sub(rf"(?<![a-z0-9_]){pattern}(?![a-z0-9_])", mark, text)
    for word in sorted(set(re.findall(r"[a-z]{7,}", text)), key=len, reverse=True):
        for index, (name, *_rest) in enumerate(labels):
            if abs(len(word) - len(name)) <= 3 and difflib.SequenceMatcher(None, word, name).ratio() >= 0.85:
                text = re.sub(rf"(?<![a-z]){word}(?![a-z])", f"<{chr(97 + index)}>", text)
    return text


def _labelled(shape: str, values: list[float], count: int) -> list[float] | None:
    """Values by their labels. `shape` has `#` for each number and `<a>`, `<b>`, … for each label.

    Each label must occur once, in the order asked, and either every label sits beside one number or all labels
    come first and all numbers after. One number for "both"/"all" labels counts for each.
    """
    order = "".join(re.findall(r"#|<[a-z]>", shape)).replace("<", "").replace(">", "")
    letters = "".join(chr(97 + i) for i in range(count))
    if order.replace("#", "") != letters:
        return None
    if order == "#" + letters and count > 1 and re.search(r"#[^#<]*\b(?:both|all|each)\b", shape):
        return values * count
    if len(values) != count:
        return None
    grouped = order == letters + "#" * count
    paired = re.fullmatch("".join(f"(?:{letter}#|#{letter})" for letter in letters), order)
    return values if grouped or paired else None
