"""Reading what a judge replied, as a careful person would: never guessing a value.

Order of attempts (the first that finds an answer wins): strict JSON; the first balanced JSON object, after removing
`<think>` blocks and code fences; the same repaired; then the metric's own text forms (`score_texts`). Whatever was
found is checked: as many numbers as asked, each finite, each in range, each one standing in the text.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.errors import UnreadableReply
from evaluators.json_texts import FoundObject, bare_text, found_objects, plain_key
from evaluators.score_texts import number_of, numbers_in, scores_in_prose

SCORE_KEYS = ("score", "scores", "rating", "ratings", "分数", "评分")
REASON_KEYS = ("reasoning", "reason", "rationale", "explanation", "理由", "推理")

#: Leading words that answer a yes/no question.
YES_WORDS = frozenset({"yes", "true", "是"})
NO_WORDS = frozenset({"no", "false", "否"})
_BOTH_ANSWERS = re.compile(r"\s*(?:[|/\\]|or\b|或|否|不)")

_PICTURE = r"(?:images?|pictures?|photos?|photographs?)\b(?! of\b)"
_GIVEN = r"(?:provided|attached|included|supplied|uploaded|shared|visible|available|present|given)\b(?! an?\b| the\b)"
_CANNOT = r"(?:can ?not|can'?t|could ?n[o']t|unable to|not able to|do(?:es)? not|don'?t|did not|didn'?t)"
_SEE = r"(?:see|view|access|open|receive|have(?: any)? access to|have|find)"
_NO_IMAGE = re.compile(
    rf"(?:^|[.!?;,]\s*|\b(?:i|we|i'm|i am|but|since|because|as)\s+){_CANNOT} {_SEE} (?:an?|any|the|your|it|to)?\s*"
    rf"(?:\w+ )?{_PICTURE}(?!\s+(?:on|above|below|behind|hanging))"
    rf"|\bno (?:\w+ )?{_PICTURE}(?: (?:was|were|is|are|has been|have been))?"
    rf"(?: (?:actually )?{_GIVEN}|\s+(?:for me )?to (?:evaluate|assess|judge|look at|score|review)|\s*[.!]?\s*$)"
    rf"|\b{_PICTURE} (?:(?:was|were|is|are)(?: not|n't)|(?:has|have)(?: not|n't) been) (?:actually )?{_GIVEN}"
    rf"|\bwithout (?:an?|any|the|seeing the) (?:\w+ )?{_PICTURE}(?=\s*(?:[,.;!]|$|i\b|to\b))"
    r"|(?:没有|未|并未|没)(?:能)?(?:提供|附上|收到|看到|上传)[^。，,]{0,6}(?:图|照片)"
    r"|(?:图片|图像|照片|图)(?:并)?(?:没有|未|没)(?:被)?(?:提供|附上|上传)"
    r"|(?:看不到|无法看到|无法查看|无法访问)[^。，,]{0,6}(?:图|照片)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ScoreReply:
    """Sub-scores in the order asked, the judge's reasoning, and flags raised on the way."""

    scores: tuple[float, ...]
    reasoning: str
    flags: tuple[str, ...] = ()


def read_scores(text: str, names: Sequence[str], low: float = 0.0, high: float = 10.0) -> ScoreReply:
    """The sub-scores named by `names`, each in [low, high], from a judge's reply.

    Never clamps, never fills in, never rescales. A bare number counts as a list of one.

    :raises UnreadableReply: if the text holds no such list, with a sentence that can be sent back to the judge.
    """
    found = _structured_scores(text, names, high)
    values, reasoning = found or (scores_in_prose(bare_text(text), names, high), "")
    if values is None:
        raise UnreadableReply(f"no scores were found; {_wanted(names, low, high)}")
    if len(values) != len(names):
        raise UnreadableReply(f"found {len(values)} score(s), {_wanted(names, low, high)}")
    for name, value in zip(names, values, strict=True):
        if value is None or not math.isfinite(value):
            raise UnreadableReply(f"{name} is not a number; {_wanted(names, low, high)}")
        if not low <= value <= high:
            raise UnreadableReply(f"{name} is {value:g}, outside {low:g}-{high:g}")
        if value not in numbers_in(text):
            raise UnreadableReply(f"{name} does not stand in the reply as a number")
    values = tuple(float(value) for value in values)
    return ScoreReply(values, reasoning, (*scale_flags(values, high), *image_flags(reasoning)))


def scale_flags(values: Sequence[float], high: float) -> tuple[str, ...]:
    """`suspect_scale` when a 0-10 scale was asked for and all values are at most 1, and not all are integers."""
    if high > 1 and values and all(v <= 1 for v in values) and not all(v == int(v) for v in values):
        return ("suspect_scale",)
    return ()


def image_flags(reasoning: str) -> tuple[str, ...]:
    """`says_no_image` when the reasoning says that no image was provided or seen."""
    return ("says_no_image",) if _NO_IMAGE.search(reasoning.replace("’", "'")) else ()


def read_yes_no(word: object) -> bool | None:
    """True for yes, False for no, None for anything else ("not sure", "yes|no", ""): that is *missing*, never a match.

    Case, markdown and punctuation around the leading word do not matter; yes, no, true, false, 是, 否 count.
    """
    if isinstance(word, bool):
        return word
    if not isinstance(word, str):
        return None
    text = unicodedata.normalize("NFKC", word).casefold().strip().strip("*_`~\"'“”‘’。.!,:;()[]# \t\n")
    leading = re.match(r"[a-z]+|[\u4e00-\u9fff]", text)
    if leading is None or _BOTH_ANSWERS.match(text, leading.end()):
        return None
    if leading.group() in YES_WORDS:
        return True
    return False if leading.group() in NO_WORDS else None


def read_object(text: str) -> dict:
    """The JSON object of a reply: strict, else the first balanced one, else repaired.

    :raises UnreadableReply: if there is none.
    """
    for found in found_objects(text):
        return found.value
    raise UnreadableReply("no JSON object was found in the reply")


def field(found: dict, keys: Sequence[str]) -> object:
    """The first of `keys` that the object has, compared without case or separators; None if it has none."""
    plain = {plain_key(key): value for key, value in found.items() if isinstance(key, str)}
    return next((plain[plain_key(key)] for key in keys if plain_key(key) in plain), None)


def whole_number(value: object) -> int | None:
    """An id or a place in a list: a whole number, or a text of at most nine digits; None for anything else."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def reasoning_of(found: dict) -> str:
    """The reasoning text of a reply object, or an empty string."""
    value = field(found, REASON_KEYS)
    return value if isinstance(value, str) else ""


def _structured_scores(text: str, names: Sequence[str], high: float) -> tuple[list[float | None], str] | None:
    """The values under a score key, or under the sub-scores' own names, of the first object that has them."""
    for found in found_objects(text):
        score = field(found.value, SCORE_KEYS)
        if score is None and all(field(found.value, [name]) is not None for name in names):
            score = found.value
        if isinstance(score, dict):
            values, keys = [field(score, [name]) for name in names], names
        else:
            values, keys = score if isinstance(score, list) else [score], SCORE_KEYS
        if score is None or (isinstance(score, str) and number_of(score, high) is None):
            continue
        if not _stands_there(found, keys, isinstance(score, dict)):
            raise UnreadableReply("the scores are not written out in full")
        return [number_of(value, high) for value in values], reasoning_of(found.value)
    return None


def _stands_there(found: FoundObject, keys: Sequence[str], each: bool) -> bool:
    """Whether a repaired object's values are written in its text in full: repair must not complete or choose them."""
    if not found.repaired:
        return True
    written = [found.written(key) for key in keys]
    return all(written) if each else any(written)


def _wanted(names: Sequence[str], low: float, high: float) -> str:
    return f"{len(names)} were asked for ({', '.join(names)}), each from {low:g} to {high:g}"
