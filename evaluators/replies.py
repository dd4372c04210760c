"""Reading what a judge replied, as a careful person would: never guessing a value.

Order of attempts (the first that finds an answer wins): strict JSON; the first balanced JSON object after removing
`<think>` blocks and code fences; the same repaired; then the metric's own text forms (`score_texts`). Whatever was
found is checked: as many numbers as asked, each finite, each in range, each one standing in the text.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import json_repair

from evaluators.errors import UnreadableReply
from evaluators.score_texts import number_of, numbers_in, scores_in_prose

SCORE_KEYS = ("score", "scores", "rating", "ratings", "分数", "评分")
REASON_KEYS = ("reasoning", "reason", "rationale", "explanation", "理由", "推理")

_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*$", re.MULTILINE)
_NO_IMAGE = re.compile(
    r"\b(?:no|without (?:an?|any|the)|don'?t see (?:an?|any|the)|do not see (?:an?|any|the)|"
    r"(?:can ?not|can'?t|unable to) (?:see|view|access) (?:an?|any|the)?)\s*"
    r"(?:(?:actual|attached|provided|input|generated|result(?:ing)?)\s+)?(?:images?|pictures?)\b"
    r"(?=\s*(?:$|[.,;!]|was|were|is|are|has|have|provided|attached|included|supplied|given|to|you|so|and|here|visible))"
    r"|\b(?:images?|pictures?) (?:was|were|is|are|has|have) (?:not|n't) (?:been )?"
    r"(?:provided|attached|included|supplied|given|visible)"
    r"|(?:没有|未|并未)(?:提供|附上|收到|看到)[^。，,]{0,6}图"
    r"|(?:看不到|无法看到|无法查看)[^。，,]{0,6}图",
    re.IGNORECASE,
)

#: Leading words that answer a yes/no question.
YES_WORDS = frozenset({"yes", "true", "是"})
NO_WORDS = frozenset({"no", "false", "否"})


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
    if found is None:
        values, reasoning = scores_in_prose(_without_wrapping(text), names, high), ""
    else:
        values, reasoning = found
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
    if leading is None or re.match(r"\s*[|/\\]", text[leading.end() :]):
        return None
    if leading.group() in YES_WORDS:
        return True
    return False if leading.group() in NO_WORDS else None


def read_object(text: str) -> dict:
    """The JSON object of a reply: strict, else the first balanced one, else repaired.

    :raises UnreadableReply: if there is none.
    """
    for candidate in json_objects(text):
        return candidate
    raise UnreadableReply("no JSON object was found in the reply")


def json_objects(text: str) -> Iterator[dict]:
    """Every JSON object that stands in the text, strictly parsed ones first; repair only where none parses."""
    bare = _without_wrapping(text)
    strict = [value for chunk in _balanced(bare) if isinstance(value := _strict(chunk), dict)]
    yield from strict
    if not strict:
        for chunk in _balanced(bare) or _unclosed(bare):
            value = json_repair.loads(chunk)
            if isinstance(value, dict) and value:
                yield value


def field(found: dict, keys: Sequence[str]) -> object:
    """The first of `keys` that the object has, compared without case or separators; None if it has none."""
    plain = {_plain(key): value for key, value in found.items() if isinstance(key, str)}
    return next((plain[_plain(key)] for key in keys if _plain(key) in plain), None)


def reasoning_of(found: dict) -> str:
    """The reasoning text of a reply object, or an empty string."""
    value = field(found, REASON_KEYS)
    return value if isinstance(value, str) else ""


def _structured_scores(text: str, names: Sequence[str], high: float) -> tuple[list[float | None], str] | None:
    for found in json_objects(text):
        score = field(found, SCORE_KEYS)
        if score is None and all(field(found, [name]) is not None for name in names):
            score = found
        if isinstance(score, dict):
            score = [field(score, [name]) for name in names]
        if score is None or (isinstance(score, str) and number_of(score, high) is None):
            continue
        values = score if isinstance(score, list) else [score]
        return [number_of(value, high) for value in values], reasoning_of(found)
    return None


def _without_wrapping(text: str) -> str:
    return _FENCE.sub("", _THINKING.sub("", text)).strip()


def _strict(chunk: str) -> object:
    def refuse(constant: str):
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(chunk, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None


def _balanced(text: str) -> list[str]:
    """The outermost balanced `{…}` chunks, braces inside JSON strings not counted.

    A brace in prose that never closes must not hide the object after it, so each opening brace is tried in turn.
    """
    chunks, start = [], text.find("{")
    while start != -1:
        end = _closing(text, start)
        if end is None:
            start = text.find("{", start + 1)
        else:
            chunks.append(text[start : end + 1])
            start = text.find("{", end + 1)
    return chunks


def _closing(text: str, start: int) -> int | None:
    depth, in_string, escaped = 0, False, False
    for position in range(start, len(text)):
        character = text[position]
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return position
    return None


def _unclosed(text: str) -> list[str]:
    return [text[text.index("{") :]] if "{" in text else []


def _plain(key: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", key).casefold())


def _wanted(names: Sequence[str], low: float, high: float) -> str:
    return f"{len(names)} were asked for ({', '.join(names)}), each from {low:g} to {high:g}"
