"""What kind of prompt a text is: how long, in which script."""

from __future__ import annotations

import re

#: Bands of length in characters: the most that a prompt of the band has (None: no limit), and its words.
LENGTHS: tuple[tuple[int | None, str], ...] = (
    (0, "no prompt"),
    (20, "up to 20 characters"),
    (60, "21 to 60 characters"),
    (150, "61 to 150 characters"),
    (None, "more than 150 characters"),
)

#: Scripts with their words, in the order in which they are shown.
SCRIPTS: dict[str, str] = {
    "cjk": "Chinese, Japanese or Korean script",
    "latin": "Latin script",
    "other": "another script",
    "none": "no letters",
}

# Unicode blocks: Hangul Jamo; radicals, kana, Bopomofo, Han; Hangul; Han of compatibility; half-width kana; Han beyond 16 bits.
_CJK = "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3031-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U000323af"  # noqa: E501
# With accents, extensions, and the full-width letters of Chinese keyboards.
_LATIN = "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a"
# One sign of the first, a word of the second, a word of what else is a letter.
_UNITS = re.compile(f"(?P<cjk>[{_CJK}])|(?P<latin>[{_LATIN}]+)|(?P<other>(?:(?![{_CJK}{_LATIN}])[^\\W\\d_])+)")


def length_band(prompt: str) -> str:
    """The words of the band that a prompt's number of characters (Unicode code points, spaces among them) falls into."""
    return next(words for most, words in LENGTHS if most is None or len(prompt) <= most)


def script(prompt: str) -> str:
    """The script that most of a prompt is written in, a key of SCRIPTS; it hints at the language and no more.

    A Chinese, Japanese or Korean sign counts as much as a word of another script; of scripts with the same count it is the
    one that comes first in the text.

    >>> script("一张写着 OPEN 的招牌"), script("a sign that says 你好"), script("дом у моря"), script("3 + 4")
    ('cjk', 'latin', 'other', 'none')
    """
    counts: dict[str, int] = {}
    for unit in _UNITS.finditer(prompt):
        counts[unit.lastgroup] = counts.get(unit.lastgroup, 0) + 1
    return max(counts, key=counts.get, default="none")
