"""Finding JSON objects in a text that a model wrote. Linear in the text's length, whatever the text."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import json_repair

from evaluators.errors import UnreadableReply

#: Characters of an answer (thinking taken off) that are read; a reply is a few hundred.
MAX_READ = 20_000
#: Opening braces that are tried; more is not a reply but an attack.
_MAX_TRIES = 20

_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*$", re.MULTILINE)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}"]', re.DOTALL)
_ONE_NUMBER = r"[\"'“”]?\s*[-+]?\d+(?:\.\d+)?(?:\s*/\s*\d+|\s*分)?\s*[\"'“”]?"
_COMPLETE = rf"(?:\[\s*{_ONE_NUMBER}(?:\s*,\s*{_ONE_NUMBER})*\s*,?\s*\]|{_ONE_NUMBER})\s*(?=[,}}\n\"'“]|$)"


@dataclass(frozen=True)
class FoundObject:
    """An object, the text it was read from, and whether that text had to be repaired."""

    value: dict
    text: str
    repaired: bool

    def written(self, key: str) -> bool:
        """Whether `key` stands in the text with a complete number or list of numbers behind it, and only one."""
        name, text = re.escape(key).replace("_", r"[\s_-]?"), unicodedata.normalize("NFKC", self.text)
        there = re.findall(rf"[\"'“”]?{name}[\"'“”]?\s*[:=]\s*", text, re.IGNORECASE)
        complete = re.findall(rf"[\"'“”]?{name}[\"'“”]?\s*[:=]\s*{_COMPLETE}", text, re.IGNORECASE)
        return len(there) == len(complete) == 1


def found_objects(text: str) -> Iterator[FoundObject]:
    """The JSON objects of a text, strictly parsed ones first; repaired ones only if none is strict.

    :raises UnreadableReply: if one has a key twice with different values, or the text is too long to be a reply.
    """
    whole = _strict(text.strip())
    if isinstance(whole, dict):
        yield FoundObject(whole, text, False)
        return
    bare = bare_text(text)
    chunks = _balanced(bare)
    strict = [FoundObject(value, chunk, False) for chunk in chunks if isinstance(value := _strict(chunk), dict)]
    yield from strict
    if not strict:
        for chunk in chunks or _unclosed(bare):
            value = _repaired(chunk)
            if isinstance(value, dict) and value:
                yield FoundObject(value, chunk, True)
            for inner in _balanced(chunk[1:]):
                if isinstance(value := _strict(inner), dict):
                    yield FoundObject(value, inner, False)


def bare_text(text: str) -> str:
    """The answer without what the model thought before it and without code fences.

    :raises UnreadableReply: if what is left is longer than MAX_READ characters.
    """
    bare = _FENCE.sub("", _without_thinking(text)).strip()
    if len(bare) > MAX_READ:
        raise UnreadableReply(f"the reply has {len(bare)} characters, more than {MAX_READ}")
    return bare


def plain_key(key: str) -> str:
    """A key without case and separators, to compare it."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", key).casefold())


def _without_thinking(text: str) -> str:
    """`<think>` blocks taken out. A chat template may have swallowed the opening tag, or a cut-off the closing one."""
    lowered, kept, position = text.lower(), [], 0
    while (start := lowered.find("<think>", position)) != -1:
        end = lowered.find("</think>", start)
        kept.append(text[position:start])
        if end == -1:
            position = len(text)
            break
        position = end + len("</think>")
    rest = "".join(kept) + text[position:]
    swallowed = rest.lower().rfind("</think>")
    return rest if swallowed == -1 else rest[swallowed + len("</think>") :]


def _strict(chunk: str) -> object:
    """The value of a strict JSON text, None if it is none."""
    try:
        return json.loads(chunk, parse_constant=_refuse_constant, object_pairs_hook=_without_contradiction)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _without_contradiction(pairs: list[tuple[str, object]]) -> dict:
    found = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise UnreadableReply(f"{key!r} stands in the reply twice, with different values")
        found[key] = value
    return found


def _repaired(chunk: str) -> object:
    """The value of a text that is nearly JSON; a comma inside a string survives, since strict parsing came first."""
    if '"' not in chunk:  # full-width signs and Chinese quotes stand for JSON's own
        chunk = unicodedata.normalize("NFKC", chunk).translate(str.maketrans("“”", '""'))
    try:
        return json_repair.loads(chunk)
    except (ValueError, RecursionError):
        return None


def _balanced(text: str) -> list[str]:
    """The outermost balanced `{…}` chunks, braces inside JSON strings not counted.

    A brace in prose that never closes must not hide the object after it, so the next opening brace is tried then.
    """
    chunks, start, tries = [], text.find("{"), 0
    while start != -1 and tries < _MAX_TRIES:
        tries += 1
        end = _closing(text, start)
        if end is not None:
            chunks.append(text[start : end + 1])
        start = text.find("{", start + 1 if end is None else end + 1)
    return chunks


def _closing(text: str, start: int) -> int | None:
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if token[0] == "{":
            depth += 1
        elif token[0] == "}":
            depth -= 1
            if depth == 0:
                return token.start()
        elif token[0] == '"':
            return None  # a string that never ends
    return None


def _unclosed(text: str) -> list[str]:
    return [text[text.index("{") :]] if "{" in text else []
