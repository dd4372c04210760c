"""One link: its bytes, or a sentence why there are none. Sizes and times are limited; each redirect is a new link."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import BinaryIO

import httpcore2
import httpx2

from data.images import shown_name
from data.links.network import AddressRefused

#: The most bytes that a link may give, the most redirects, and the most seconds that one try may take in all.
MAX_BYTES, MAX_REDIRECTS, MAX_SECONDS = 30_000_000, 5, 60.0
#: Seconds for a connection, and between two pieces of an answer.
_TIMES = {"connect": 10.0, "read": 20.0, "write": 10.0, "pool": 600.0}
_HEADERS = [
    ("Accept", "image/*,video/*;q=0.9,*/*;q=0.1"),
    ("Accept-Encoding", "identity"),
    ("User-Agent", "second-look"),
]
_REDIRECTS = (301, 302, 303, 307, 308)
#: Seconds to wait before a link is tried again that failed for a passing reason.
PAUSES = (1.0, 4.0)
_PASSING_STATUS = (408, 425, 429, 500, 502, 503, 504)


class NotFetched(Exception):  # noqa: N818 - it names what happened to the link
    """The link gave nothing; the text says why. passing: another try may do better. unreachable: its host gave no answer
    at all."""

    def __init__(self, words: str, passing: bool = False, unreachable: bool = False):
        super().__init__(words)
        self.passing, self.unreachable = passing, unreachable


async def fetch(link: str, pool: httpcore2.AsyncConnectionPool, file: BinaryIO, max_bytes: int = MAX_BYTES) -> None:
    """Write the bytes behind a link to a file; tried again when it failed for a passing reason.

    :raises NotFetched: if there are none.
    """
    for pause in (*PAUSES, None):
        try:
            async with asyncio.timeout(MAX_SECONDS):
                return await _followed(link, pool, file, max_bytes)
        except TimeoutError:
            failure = NotFetched(
                f"{shown_name(link)} took longer than {MAX_SECONDS:.0f} seconds", passing=True, unreachable=True
            )
        except NotFetched as error:
            failure = error
        if not failure.passing or pause is None:
            raise failure
        await asyncio.sleep(pause)
    raise AssertionError("unreachable")


async def _followed(link: str, pool: httpcore2.AsyncConnectionPool, file: BinaryIO, max_bytes: int) -> None:
    """The bytes behind a link and its redirects."""
    name, at = shown_name(link), _address(link, link)
    for _ in range(MAX_REDIRECTS + 1):
        target = await _asked(name, at, pool, file, max_bytes)
        if target is None:
            return
        at = _address(name, target, at)
    raise NotFetched(f"{name} redirects more than {MAX_REDIRECTS} times")


def _address(link: str, target: str, base: httpx2.URL | None = None) -> httpx2.URL:
    """The address to ask."""
    try:
        found = base.join(target) if base else httpx2.URL(target)
    except (httpx2.InvalidURL, ValueError) as error:
        raise NotFetched(f"{shown_name(link)} is not a link that can be read: {error}") from error
    if found.scheme not in ("http", "https") or not found.host:
        raise NotFetched(f"{shown_name(link)} leads to {shown_name(str(found))}, which is no http or https link")
    return found


async def _asked(
    name: str, at: httpx2.URL, pool: httpcore2.AsyncConnectionPool, file: BinaryIO, max_bytes: int
) -> str | None:
    """Where an address redirects to; None when it gave something, which is in the file then."""
    target = httpcore2.URL(scheme=at.raw_scheme, host=at.raw_host, port=at.port, target=at.raw_path)
    headers = [("Host", at.netloc.decode("ascii")), *_HEADERS]
    try:
        async with pool.stream("GET", target, headers=headers, extensions={"timeout": _TIMES}) as answer:
            told = {key.lower(): value.decode("latin-1") for key, value in answer.headers}
            if answer.status in _REDIRECTS and told.get(b"location"):
                return told[b"location"]
            if answer.status != 200:
                raise NotFetched(f"{name} answered {_status_words(answer.status)}", answer.status in _PASSING_STATUS)
            await _write_body(name, answer, told.get(b"content-length", ""), file, max_bytes)
            return None
    except AddressRefused as error:
        raise NotFetched(f"{name} is not fetched: {error}") from error
    except (httpcore2.TimeoutException, TimeoutError) as error:
        raise NotFetched(f"{name} did not answer in time", passing=True, unreachable=True) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol, OSError) as error:
        raise NotFetched(f"{name} could not be reached: {_reason(error)}", passing=True, unreachable=True) from error


async def _write_body(name: str, answer: httpcore2.Response, declared: str, file: BinaryIO, max_bytes: int) -> None:
    too_many = NotFetched(f"{name} has more than {max_bytes:,} bytes")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise too_many
    file.seek(0)
    file.truncate()
    async for piece in answer.aiter_stream():
        file.write(piece)
        if file.tell() > max_bytes:
            raise too_many


def _status_words(status: int) -> str:
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return str(status)


def _reason(error: Exception) -> str:
    """What broke, without a traceback's nesting."""
    cause = error
    while isinstance(cause, ExceptionGroup):
        cause = cause.exceptions[0]
    return str(cause) or type(cause).__name__
