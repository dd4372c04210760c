"""Asking a judge until there is something readable: once, and once more with what was wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from evaluators.errors import RefusedReply, UnreadableReply
from evaluators.judges.question import FILTERED, Exchange, Judge, Question, Reply

Answer = TypeVar("Answer")


async def ask_readably(
    judge: Judge, question: Question, read: Callable[[str], Answer], exchanges: list[Exchange]
) -> Answer:
    """What `read` makes of the judge's reply; every exchange is appended to `exchanges` as it happens.

    :raises RefusedReply: if the judge declined.
    :raises UnreadableReply: if two replies in a row could not be read.
    :raises JudgeFailed: if the judge could not be reached.
    """
    reply = await judge.ask(question)
    exchanges.append(Exchange(question.aspect, 1, question, reply))
    try:
        return read(_text(reply))
    except UnreadableReply as problem:
        question = replace(question, retry_of=(reply.text, str(problem)))
    reply = await judge.ask(question)
    exchanges.append(Exchange(question.aspect, 2, question, reply))
    try:
        return read(_text(reply))
    except UnreadableReply as problem:
        raise UnreadableReply(f"{question.aspect}: {problem} (asked twice)") from problem


def _text(reply: Reply) -> str:
    """The text to read.

    :raises RefusedReply: on a refusal, a content filter, or nothing at all.
    :raises UnreadableReply: when the reply was cut off before any text.
    """
    if reply.refusal:
        raise RefusedReply(f"the judge refused: {reply.refusal}")
    if reply.finish_reason == FILTERED:
        raise RefusedReply("the provider's content filter stopped the reply")
    if reply.finish_reason == "length":
        raise UnreadableReply(_cut_off(reply))
    if not reply.text.strip():
        raise RefusedReply("the judge's reply was empty")
    return reply.text


def _cut_off(reply: Reply) -> str:
    tokens = "an unknown number of" if reply.output_tokens is None else str(reply.output_tokens)
    return f"the reply was cut off at {tokens} tokens"
