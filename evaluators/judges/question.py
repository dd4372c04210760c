"""One question to a judge and one reply from it, as values; and the key under which a reply may be reused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from evaluators.case import Part

#: The finish reason of a reply that the provider's content filter stopped; it may come without token counts.
FILTERED = "content_filter"


@dataclass(frozen=True)
class Question:
    """What is asked: a system text, then texts and images in order, and the JSON schema the reply should have.

    metric and aspect say what it is for (`text_to_image`, `SC`); prompt_version is the hash of the prompt texts.
    retry_of is the unreadable reply and what was wrong with it, when this asks once more. frames is how many frames of
    a video in `content` are shown.
    """

    metric: str
    aspect: str
    prompt_version: str
    system: str
    content: tuple[Part, ...]
    schema: Mapping[str, object]
    retry_of: tuple[str, str] | None = None
    frames: int = 0

    @property
    def images(self) -> tuple[Part, ...]:
        return tuple(part for part in self.content if part.kind == "image")


@dataclass(frozen=True)
class Reply:
    """What came back. Token counts are None when the endpoint did not report them (unknown is not 0).

    image_tokens: those of the input tokens that are pictures. sent_bytes: size of the request. cached: it was paid for
    before. reply_id: its row in the store, if it has one. seconds: time the call took.
    """

    text: str
    finish_reason: str | None = "stop"
    refusal: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    image_tokens: int | None = None
    sent_bytes: int | None = None
    model: str = ""
    mode: str = ""
    seconds: float = 0.0
    cached: bool = False
    reply_id: int | None = None


@dataclass(frozen=True)
class Exchange:
    """A question with its reply, kept with the verdict that it led to."""

    aspect: str
    attempt: int
    question: Question
    reply: Reply


class Judge(Protocol):
    """Whatever answers questions. `identity` holds all of it that could change a reply."""

    @property
    def identity(self) -> Mapping[str, object]: ...

    async def ask(self, question: Question) -> Reply:
        """The reply to a question.

        :raises JudgeFailed: if the provider answered with an error or not at all.
        """
        ...


def question_key(question: Question, identity: Mapping[str, object]) -> str:
    """SHA-256 over everything that could change the reply: metric and prompt version, model, endpoint, parameters,
    texts, schema, and the images by their content."""
    facts = {
        "metric": question.metric,
        "aspect": question.aspect,
        "prompt_version": question.prompt_version,
        "judge": dict(identity),
        "system": question.system,
        "content": [[part.kind, part.text if part.kind == "text" else part.sha256] for part in question.content],
        "schema": question.schema,
        "retry_of": question.retry_of,
        "frames": question.frames,
    }
    canonical = json.dumps(facts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
