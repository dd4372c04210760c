"""A judge behind any OpenAI-compatible chat-completions endpoint."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import ipaddress
import os
import re
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import urlsplit

import openai

from evaluators.case import Part
from evaluators.errors import CaseUnfit, JudgeFailed
from evaluators.judges.images import MEDIA_TYPES, prepared
from evaluators.judges.question import Question, Reply
from evaluators.judges.video import prepared_frames

#: How a reply is constrained, strongest first; which one an endpoint can do is found out once.
MODES = ("json_schema", "json_object", "text")
OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
_PREPARED_KEPT = 64
#: Raised when pictures are prepared or questions are put together in another way: replies before it are not reused.
_FORM = 1
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET = re.compile(r"key|token|secret|password|authorization|header|cookie|query", re.IGNORECASE)
_NO_SECRET = re.compile(r"max_\w*tokens|\w*_tokens|logit\w*|top_\w*")
_UNSUITABLE = (400, 404, 415, 422, 501)  # what endpoints answer to a response_format that they do not know


@dataclass(frozen=True)
class EndpointSettings:
    """Where a judge lives and how it is asked.

    base_url: empty means OPENAI_BASE_URL, else OpenAI. key_variable: the environment variable that holds the key.
    parameters: passed to the chat-completions call as they are (temperature, seed, max_tokens, extra_body, …).
    image_side: longest side of a picture in pixels. concurrency: requests in flight at once.
    attempts: tries per question on 408, 409, 429, 5xx and broken connections (Retry-After honoured).
    timeout: seconds per call. mode: one of MODES, or empty if it is not known yet.
    """

    model: str
    base_url: str = ""
    key_variable: str = DEFAULT_KEY_VARIABLE
    parameters: Mapping[str, object] = field(default_factory=lambda: {"temperature": 0, "seed": 7, "max_tokens": 1500})
    image_side: int = 1024
    image_format: Literal["jpeg", "png", "webp"] = "jpeg"
    concurrency: int = 8
    attempts: int = 5
    timeout: float = 120.0
    mode: str = ""

    @property
    def url(self) -> str:
        """The base URL in force."""
        return (self.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL).rstrip("/")

    @property
    def identity(self) -> dict[str, object]:
        """All of a judge that could change a reply; see `question_key`."""
        return {
            "model": self.model,
            "endpoint": self.url,
            "parameters": dict(self.parameters),
            "image_side": self.image_side,
            "image_format": self.image_format,
            "form": _FORM,
        }

    def unfit_to_save(self) -> str | None:
        """Why these settings must not be kept, in a sentence: a secret among them, or nothing that could ever work."""
        if self.key_variable and not _VARIABLE.fullmatch(self.key_variable):
            return "The key's variable is named by letters, digits and underscores; put the key itself into the environment."
        secret = _secret_in(self.parameters)
        if secret:
            return f"The parameter {secret!r} may hold a key; name its environment variable instead."
        if not self.base_url:
            return None
        try:
            parts = urlsplit(self.base_url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # a broken IPv6 address, or a port that is no number
            usable = False
        if not usable:
            return f"The base URL {self.base_url!r} is not an http or https address."
        if parts.username or parts.password or parts.query:
            return "The base URL holds a name, a password or a query; put the key into an environment variable instead."
        return None

    def problem(self) -> str | None:
        """Why this judge cannot be asked at all, in a sentence; None if nothing is known against it."""
        wrong = replace(self, base_url=self.url).unfit_to_save()
        if wrong:
            return wrong
        if not self.model:
            return "No model is named."
        if self._key() is None:
            return f"The environment variable {self.key_variable} is not set, so there is no key for {urlsplit(self.url).hostname}."
        return None

    def _key(self) -> str | None:
        """The key; a local server or an endpoint given by hand needs none under the default variable."""
        key = os.environ.get(self.key_variable, "").strip() if self.key_variable else ""
        if key or not self.key_variable:
            return key or "none"
        if _is_loopback(self.url) or (self.key_variable == DEFAULT_KEY_VARIABLE and self.url != OPENAI_URL):
            return "none"
        return None


class EndpointJudge:
    """Asks an endpoint. One client, one limit on requests in flight, pictures prepared once and off the event loop."""

    def __init__(self, settings: EndpointSettings):
        """:raises JudgeFailed: if the settings cannot work, e.g. the key's variable is not set."""
        problem = settings.problem()
        if problem:
            raise JudgeFailed(problem)
        self.settings = settings
        self.identity = settings.identity
        self.mode = settings.mode
        self._key = settings._key()
        self._client = openai.AsyncOpenAI(
            base_url=settings.url, api_key=self._key, timeout=settings.timeout, max_retries=settings.attempts - 1
        )
        self._in_flight = asyncio.Semaphore(settings.concurrency)
        self._finding_mode = asyncio.Lock()
        self._prepared: OrderedDict[str, asyncio.Task[list[dict]]] = OrderedDict()

    async def ask(self, question: Question) -> Reply:
        """The endpoint's reply; see `Judge.ask`."""
        messages = await self._messages(question)
        if not self.mode:
            async with self._finding_mode:
                if not self.mode:
                    return await self._find_mode(messages, question.schema, MODES)
        mode = self.mode
        try:
            return await self._call(messages, question.schema, mode)
        except JudgeFailed as error:
            if error.status not in _UNSUITABLE or mode == MODES[-1]:
                raise
            # What it could do once it may not do any more: try the weaker forms.
            return await self._find_mode(messages, question.schema, MODES[MODES.index(mode) + 1 :])

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _find_mode(self, messages: list[dict], schema: Mapping[str, object], modes: Sequence[str]) -> Reply:
        """Try the modes strongest first and remember the first that is not turned down as a bad request."""
        first, *weaker = modes
        try:
            reply = await self._call(messages, schema, first)
        except JudgeFailed as error:
            if error.status not in _UNSUITABLE or not weaker:
                raise
            try:
                return await self._find_mode(messages, schema, weaker)
            except JudgeFailed:
                raise error from None  # it is not the form of the reply: tell what was wrong with the first request
        self.mode = first
        return reply

    async def _call(self, messages: list[dict], schema: Mapping[str, object], mode: str) -> Reply:
        async with self._in_flight:
            started = time.perf_counter()
            try:
                completion = await self._client.chat.completions.create(
                    model=self.settings.model,
                    messages=messages,
                    **_response_format(schema, mode),
                    **self.settings.parameters,
                )
            except openai.APIStatusError as error:
                if _is_content_filter(error):
                    return Reply("", finish_reason="content_filter", mode=mode, seconds=time.perf_counter() - started)
                message = f"{self.settings.url} answered {error.status_code}: {self._redacted(_message(error))}"
                raise JudgeFailed(message, error.status_code) from error
            except openai.APITimeoutError as error:
                raise JudgeFailed(f"{self.settings.url} did not answer within {self.settings.timeout:g} s") from error
            except openai.APIConnectionError as error:
                cause = self._redacted(str(error.__cause__ or error))
                raise JudgeFailed(f"{self.settings.url} cannot be reached: {cause}") from error
            except openai.OpenAIError as error:
                raise JudgeFailed(f"{self.settings.url}: {self._redacted(str(error))}") from error
            except (ValueError, TypeError) as error:  # a 200 that is not JSON, or a parameter the client does not take
                raise JudgeFailed(
                    f"{self.settings.url}: {type(error).__name__}: {self._redacted(str(error))}"
                ) from error
            return self._reply(completion, mode, time.perf_counter() - started)

    def _reply(self, completion: object, mode: str, seconds: float) -> Reply:
        """The reply in a completion. Endpoints differ, and the client does not check what they send."""
        choices = getattr(completion, "choices", None)
        choice = choices[0] if isinstance(choices, list) and choices else None
        message, usage = getattr(choice, "message", None), getattr(completion, "usage", None)
        if not hasattr(message, "content"):
            raise JudgeFailed(f"{self.settings.url} answered without a message")
        return Reply(
            text=_content_text(message.content),
            finish_reason=_text_or_none(choice.finish_reason),
            refusal=_text_or_none(getattr(message, "refusal", None)),
            input_tokens=_count(getattr(usage, "prompt_tokens", None)),
            output_tokens=_count(getattr(usage, "completion_tokens", None)),
            model=_text_or_none(getattr(completion, "model", None)) or "",
            mode=mode,
            seconds=seconds,
        )

    async def _messages(self, question: Question) -> list[dict]:
        content = [entry for part in question.content for entry in await self._content(part, question.frames)]
        messages = [{"role": "system", "content": question.system}, {"role": "user", "content": content}]
        if question.retry_of:
            text, problem = question.retry_of
            messages += [
                {"role": "assistant", "content": _sendable(text) or "(empty)"},
                {
                    "role": "user",
                    "content": f"That reply could not be read: {problem}. Answer again, with the JSON object only.",
                },
            ]
        return messages

    async def _content(self, part: Part, frames: int) -> list[dict]:
        """A part as the protocol has it. The few last pictures are kept: a case's calls share one preparation."""
        if part.kind == "text":
            return [{"type": "text", "text": _sendable(part.text)}]
        if part.path is None:
            raise CaseUnfit(part.problem or f"{part.source or 'an image'} is missing")
        key = f"{part.sha256}/{frames}"
        if key not in self._prepared:
            self._prepared[key] = asyncio.ensure_future(asyncio.to_thread(self._encode, part, frames))
            while len(self._prepared) > _PREPARED_KEPT:
                self._prepared.popitem(last=False)
        return await self._prepared[key]

    def _encode(self, part: Part, frames: int) -> list[dict]:
        if part.sha256 and hashlib.sha256(part.path.read_bytes()).hexdigest() != part.sha256:
            raise CaseUnfit(f"{part.source or part.path.name}: its file has been changed since it was taken in")
        side, image_format = self.settings.image_side, self.settings.image_format
        if not frames:
            return [_image_entry(prepared(part.path, side, image_format), image_format)]
        entries = []
        for seconds, data in prepared_frames(part.path, frames, side, image_format):
            entries += [{"type": "text", "text": f"Frame at {seconds:.2f} s:"}, _image_entry(data, image_format)]
        return entries

    def _redacted(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key != "none" else text


def _image_entry(data: bytes, image_format: str) -> dict:
    url = f"data:{MEDIA_TYPES[image_format]};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def _response_format(schema: Mapping[str, object], mode: str) -> dict:
    if mode == "json_schema":
        wrapped = {"name": "verdict", "strict": True, "schema": dict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": wrapped}}
    return {"response_format": {"type": "json_object"}} if mode == "json_object" else {}


def _sendable(text: str) -> str:
    """A text as UTF-8 can carry it: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def _content_text(content: object) -> str:
    """The text of a message: a string, or a list of parts of which the text ones count."""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: object) -> int | None:
    """A token count; anything but a whole number is unknown."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _message(error: openai.APIStatusError) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    return str(body.get("message") or error.message)[:500]


def _is_content_filter(error: openai.APIStatusError) -> bool:
    return getattr(error, "code", None) in ("content_filter", "content_policy_violation")


def _secret_in(parameters: Mapping[str, object]) -> str | None:
    """The name of a parameter, at any depth, that looks as if its value were a secret."""
    for name, value in parameters.items():
        if _SECRET.search(name) and not _NO_SECRET.fullmatch(name):
            return name
        inner = _secret_in(value) if isinstance(value, Mapping) else None
        if inner:
            return inner
    return None


def _is_loopback(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
