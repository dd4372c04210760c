"""A judge behind any OpenAI-compatible chat-completions endpoint."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence

import openai

from evaluators.errors import JudgeDown, JudgeFailed
from evaluators.judges.messages import Messages
from evaluators.judges.pacing import LONGEST_RETRY_AFTER, Pace, retry_after, standing_still
from evaluators.judges.question import FILTERED, Question, Reply
from evaluators.judges.settings import EndpointSettings

#: How a reply is constrained, strongest first; which one an endpoint can do is found out once.
MODES = ("json_schema", "json_object", "text")
_UNSUITABLE = (400, 404, 415, 422, 501)  # what endpoints answer to a response_format that they do not know
#: Seconds without any answer after which an endpoint that has used up a question's tries is down, and a case is not
#: to blame; and after which nobody tries on.
_SILENT, _DOWN = 60.0, 300.0
#: Questions in a row that may fail in such a silence before it is the endpoint's.
_BAD_LUCK = 2
#: What a provider says, with status 429, when the money is gone: no waiting helps.
_NO_MONEY = ("insufficient_quota", "billing_hard_limit_reached", "Arrearage")

log = logging.getLogger(__name__)


class EndpointJudge:
    """Asks an endpoint: one client, as fast as its `pace` allows, pictures prepared once and off the event loop."""

    def __init__(self, settings: EndpointSettings):
        """:raises JudgeFailed: if the settings cannot work, e.g. the key's variable is not set."""
        problem = settings.problem()
        if problem:
            raise JudgeFailed(problem)
        self.settings = settings
        self.identity = settings.identity
        self.mode = settings.mode
        self.pace = Pace(settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute)
        # The client's own retries know nothing of the other requests in flight; ours do, so it gets none.
        self._client = openai.AsyncOpenAI(
            base_url=settings.url, api_key=settings.key, timeout=settings.timeout, max_retries=0
        )
        self._messages = Messages(settings.image_side, settings.image_format, kept=64 + 4 * settings.concurrency)
        self._finding_mode = asyncio.Lock()
        self._given_up = 0

    async def ask(self, question: Question) -> Reply:
        """The endpoint's reply; see `Judge.ask`.

        :raises JudgeDown: if the endpoint has not answered anything for long.
        :raises CaseUnfit: if a picture of the question cannot be sent.
        """
        messages = await self._messages.of(question)
        if not self.mode:
            with standing_still():
                await self._finding_mode.acquire()
            try:
                if not self.mode:
                    return await self._find_mode(messages, question, MODES)
            finally:
                self._finding_mode.release()
        mode = self.mode
        try:
            return await self._call(messages, question, mode)
        except JudgeFailed as error:
            if error.status not in _UNSUITABLE or mode == MODES[-1]:
                raise
            # What it could do once it may not do any more: try the weaker forms.
            return await self._find_mode(messages, question, MODES[MODES.index(mode) + 1 :])

    async def request(self, question: Question) -> dict:
        """The call's arguments for a question in the mode known so far, as `ask` sends them."""
        return self._body(await self._messages.of(question), question, self.mode or MODES[0])

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _body(self, messages: list[dict], question: Question, mode: str) -> dict:
        """Arguments of the client's `create`. Messages and schema go as extra body: as arguments the client takes them
        apart and puts them together again, a third of all the CPU that a call needs."""
        parameters = dict(self.settings.parameters)
        extra = {"messages": messages, **_response_format(question.schema, mode), **parameters.pop("extra_body", {})}
        return {"model": self.settings.model, "messages": [], **parameters, "extra_body": extra}

    async def _find_mode(self, messages: list[dict], question: Question, modes: Sequence[str]) -> Reply:
        """Try the modes strongest first and remember the first that is not turned down as a bad request."""
        first, *weaker = modes
        try:
            reply = await self._call(messages, question, first)
        except JudgeFailed as error:
            if error.status not in _UNSUITABLE or not weaker:
                raise
            try:
                return await self._find_mode(messages, question, weaker)
            except JudgeFailed:
                raise error from None  # it is not the form of the reply: tell what was wrong with the first request
        self.mode = first
        return reply

    async def _call(self, messages: list[dict], question: Question, mode: str) -> Reply:
        """One reply, however many tries it takes."""
        body, attempt = self._body(messages, question, mode), 1
        while True:
            try:
                return await self._try(body, mode, attempt)
            except _Passing as problem:
                self._give_up_if_hopeless(problem, attempt)
                log.warning(
                    "%s: %s; try %d of %d in %.1f s",
                    question.aspect, problem, attempt + 1, self.settings.attempts, problem.wait,
                )  # fmt: skip
                await asyncio.sleep(problem.wait)
                attempt += 1

    def _give_up_if_hopeless(self, problem: _Passing, attempt: int) -> None:
        """:raises JudgeFailed: if trying once more makes no sense."""
        silent, told = self.pace.silent_seconds, str(problem)
        is_last = attempt >= self.settings.attempts
        if problem.wait > LONGEST_RETRY_AFTER:
            raise JudgeDown(f"{told}; it asks to come back in {problem.wait:,.0f} s", problem.status) from problem
        if silent >= (_SILENT if is_last else _DOWN):
            # Somebody who answers slowly or with errors may do so because of this very question: that one fails, and
            # only when others fare no better the endpoint is to blame.
            self._given_up += 1
            if problem.is_unreachable or self._given_up > _BAD_LUCK:
                raise JudgeDown(f"{told}; it has not answered for {silent:.0f} s", problem.status) from problem
            raise JudgeFailed(told, problem.status) from problem
        if is_last:
            raise JudgeFailed(told, problem.status) from problem

    async def _try(self, body: Mapping[str, object], mode: str, attempt: int) -> Reply:
        async with self.pace.turn() as began:
            started = time.perf_counter()
            try:
                response = await self._client.chat.completions.with_raw_response.create(**body)
                reply = self._reply(response.parse(), mode, time.perf_counter() - started, response)
            except openai.APIStatusError as error:
                if _is_content_filter(error):
                    self.pace.answered(None)
                    return Reply("", finish_reason=FILTERED, mode=mode, seconds=time.perf_counter() - started)
                raise self._refused(error, began, attempt) from error
            except openai.APITimeoutError as error:
                wait = self.pace.failed("timeout", began, attempt)
                raise _Passing(f"{self._url} did not answer within {self.settings.timeout:g} s", None, wait) from error
            except openai.APIConnectionError as error:
                wait = self.pace.failed("unreachable", began, attempt)
                told = f"{self._url} cannot be reached: {self._cause(error)}"
                raise _Passing(told, None, wait, is_unreachable=True) from error
            except openai.OpenAIError as error:
                raise JudgeFailed(f"{self._url}: {self.settings.redacted(str(error))}") from error
            except (ValueError, TypeError) as error:  # a 200 that is not JSON, or a parameter the client does not take
                told = self.settings.redacted(f"{self._url}: {type(error).__name__}: {error}")
                raise JudgeFailed(told) from error
            known = None not in (reply.input_tokens, reply.output_tokens)
            self.pace.answered(reply.input_tokens + reply.output_tokens if known else None)
            self._given_up = 0
            return reply

    def _refused(self, error: openai.APIStatusError, began: float, attempt: int) -> Exception:
        """What an error status means: to be tried again, down, or final."""
        status = error.status_code
        told = f"{self._url} answered {status}: {self.settings.redacted(_message(error))}"
        if getattr(error, "code", None) in _NO_MONEY or getattr(error, "type", None) in _NO_MONEY:
            return JudgeDown(told, status)
        if not (status in (408, 409, 429) or status >= 500) or error.response.headers.get("x-should-retry") == "false":
            self.pace.answered(None)
            return JudgeFailed(told, status)
        wait = self.pace.failed(str(status), began, attempt, retry_after(error.response.headers))
        return _Passing(told, status, wait)

    def _reply(self, completion: object, mode: str, seconds: float, response: object) -> Reply:
        """The reply in a completion. Endpoints differ, and the client does not check what they send."""
        choices = getattr(completion, "choices", None)
        choice = choices[0] if isinstance(choices, list) and choices else None
        message, usage = getattr(choice, "message", None), getattr(completion, "usage", None)
        if not hasattr(message, "content"):
            self.pace.answered(None)
            raise JudgeFailed(f"{self._url} answered without a message")
        refusal = _text_or_none(getattr(message, "refusal", None))
        return Reply(
            text=self.settings.redacted(_content_text(message.content)),
            finish_reason=_text_or_none(choice.finish_reason),
            refusal=refusal and self.settings.redacted(refusal),
            input_tokens=_count(getattr(usage, "prompt_tokens", None)),
            output_tokens=_count(getattr(usage, "completion_tokens", None)),
            image_tokens=_count(getattr(getattr(usage, "prompt_tokens_details", None), "image_tokens", None)),
            sent_bytes=int(response.http_request.headers.get("content-length", 0)) or None,
            model=self.settings.redacted(_text_or_none(getattr(completion, "model", None)) or ""),
            mode=mode,
            seconds=seconds,
        )

    def _cause(self, error: openai.APIConnectionError) -> str:
        return self.settings.redacted(str(error.__cause__ or error))

    @property
    def _url(self) -> str:
        return self.settings.url


class _Passing(Exception):  # noqa: N818 - it says what kind of problem it is
    """Something that may be over in `wait` seconds; `status` is its HTTP status if there was one."""

    def __init__(self, message: str, status: int | None, wait: float, is_unreachable: bool = False):
        super().__init__(message)
        self.status, self.wait, self.is_unreachable = status, wait, is_unreachable


def _response_format(schema: Mapping[str, object], mode: str) -> dict:
    if mode == "json_schema":
        wrapped = {"name": "verdict", "strict": True, "schema": dict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": wrapped}}
    return {"response_format": {"type": "json_object"}} if mode == "json_object" else {}


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
