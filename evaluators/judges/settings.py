"""Where a judge lives, how it is asked, how fast, and what it costs."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import urlsplit

OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
#: Raised when pictures are prepared or questions are put together in another way: replies before it are not reused.
_FORM = 1
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
#: Words in a parameter's name that say its value is a secret, or may carry one.
_SECRET_WORDS = frozenset(
    {"key", "keys", "apikey", "token", "accesstoken", "secret", "secrets", "password", "passwd", "passphrase"}
    | {
        "authorization",
        "auth",
        "bearer",
        "credential",
        "credentials",
        "cookie",
        "cookies",
        "header",
        "headers",
        "query",
    }
)


@dataclass(frozen=True)
class EndpointSettings:
    """Where a judge lives and how it is asked.

    base_url: empty means OPENAI_BASE_URL, else OpenAI. key_variable: the environment variable that holds the key.
    parameters: passed to the chat-completions call as they are (temperature, seed, max_tokens, extra_body, …).
    image_side: longest side of a picture in pixels. mode: how replies are constrained, one of `endpoint.MODES`, or
    empty if it is not known yet.

    Limits. concurrency: requests in flight at once. requests_per_minute, tokens_per_minute: None for no limit.
    attempts: tries per question on 408, 409, 429, 5xx and broken connections. timeout: seconds per call.
    case_timeout: seconds per case, not counting the time that it waits for its turn.

    Prices, per million tokens of `currency`; None is unknown, 0 is free. image_price is for the picture tokens that an
    endpoint reports apart from the others; None means that they cost as much as the rest of the input.
    """

    model: str
    base_url: str = ""
    key_variable: str = DEFAULT_KEY_VARIABLE
    parameters: Mapping[str, object] = field(default_factory=lambda: {"temperature": 0, "seed": 7, "max_tokens": 1500})
    image_side: int = 1024
    image_format: Literal["jpeg", "png", "webp"] = "jpeg"
    concurrency: int = 8
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    attempts: int = 10
    timeout: float = 120.0
    case_timeout: float = 900.0
    input_price: float | None = None
    output_price: float | None = None
    image_price: float | None = None
    currency: str = "USD"
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

    @property
    def key(self) -> str | None:
        """The key, or `none` where none is needed: a local server or an endpoint given by hand needs none under the
        default variable. None if it is needed and not there."""
        key = os.environ.get(self.key_variable, "").strip() if self.key_variable else ""
        if key or not self.key_variable:
            return key or "none"
        if is_loopback(self.url) or (self.key_variable == DEFAULT_KEY_VARIABLE and self.url != OPENAI_URL):
            return "none"
        return None

    def cost(
        self, input_tokens: int | None, output_tokens: int | None, image_tokens: int | None = None
    ) -> float | None:
        """What so many tokens cost, in `currency`; image_tokens are among the input tokens. None if it is unknown."""
        if None in (input_tokens, output_tokens, self.input_price, self.output_price):
            return None
        image_price = self.input_price if self.image_price is None else self.image_price
        images = min(image_tokens or 0, input_tokens)
        per_million = (input_tokens - images) * self.input_price + images * image_price
        return (per_million + output_tokens * self.output_price) / 1_000_000

    def redacted(self, text: str) -> str:
        """A text without the key, wherever it came from."""
        key = self.key
        return text.replace(key, "[key]") if key and key != "none" else text

    def unfit_to_save(self) -> str | None:
        """Why these settings must not be kept, in a sentence: a secret among them, or nothing that could ever work."""
        if self.key_variable and not _VARIABLE.fullmatch(self.key_variable):
            return (
                "The key's variable is named by capital letters, digits and underscores, like OPENAI_API_KEY; "
                "put the key itself into the environment."
            )
        wrong = self._wrong_number()
        if wrong:
            return wrong
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

    def _wrong_number(self) -> str | None:
        for name in ("concurrency", "attempts", "timeout", "case_timeout", "image_side"):
            if not getattr(self, name) > 0:
                return f"{name} is {getattr(self, name)}; it must be above 0."
        for name in ("requests_per_minute", "tokens_per_minute"):
            if getattr(self, name) is not None and not getattr(self, name) > 0:
                return f"{name} is {getattr(self, name)}; it must be above 0, or left out for no limit."
        for name in ("input_price", "output_price", "image_price"):
            if getattr(self, name) is not None and not 0 <= getattr(self, name) < float("inf"):
                return f"{name} is {getattr(self, name)}; it must be 0 or more, or left out if it is unknown."
        return None

    def problem(self) -> str | None:
        """Why this judge cannot be asked at all, in a sentence; None if nothing is known against it."""
        wrong = replace(self, base_url=self.url).unfit_to_save()
        if wrong:
            return wrong
        if not self.model:
            return "No model is named."
        if self.key is None:
            return f"The environment variable {self.key_variable} is not set, so there is no key for {urlsplit(self.url).hostname}."
        return None


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this very machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _secret_in(parameters: object) -> str | None:
    """The name of a parameter, at any depth, whose value may be a secret: a text or more under a telling name.

    Numbers and switches are no secrets, whatever they are called (`max_tokens`, `stop_token_ids`, `use_key_cache`).
    """
    if isinstance(parameters, list):
        return next(filter(None, map(_secret_in, parameters)), None)
    if not isinstance(parameters, Mapping):
        return None
    for name, value in parameters.items():
        words = {word.casefold() for word in _WORDS.findall(str(name))}
        if words & _SECRET_WORDS and _holds_text(value):
            return str(name)
        inner = _secret_in(value)
        if inner:
            return inner
    return None


def _holds_text(value: object) -> bool:
    """Whether a value is a text, or has one anywhere in it."""
    if isinstance(value, Mapping):
        return any(map(_holds_text, value.values()))
    return any(map(_holds_text, value)) if isinstance(value, list | tuple) else isinstance(value, str)
