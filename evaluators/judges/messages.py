"""A question as the chat-completions protocol has it. Pictures are prepared once, in threads of their own."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections import OrderedDict

from evaluators.case import Part
from evaluators.errors import CaseUnfit
from evaluators.judges.images import MEDIA_TYPES, prepared
from evaluators.judges.question import Question
from evaluators.judges.video import prepared_frames

#: Bytes of prepared pictures that are kept for the next call of their case.
_KEPT_BYTES = 128_000_000


class Messages:
    """Puts questions together. kept: how many prepared pictures are kept, so that a case's calls share them."""

    def __init__(self, image_side: int, image_format: str, kept: int):
        self._side, self._format, self._kept = image_side, image_format, kept
        self._prepared: OrderedDict[str, asyncio.Task[list[dict]]] = OrderedDict()

    async def of(self, question: Question) -> list[dict]:
        """The messages of a question.

        :raises CaseUnfit: if one of its pictures cannot be sent.
        """
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
        """A part as the protocol has it."""
        if part.kind == "text":
            return [{"type": "text", "text": _sendable(part.text)}]
        if part.path is None:
            raise CaseUnfit(part.problem or f"{part.source or 'an image'} is missing")
        key = f"{part.sha256}/{frames}"
        if key not in self._prepared:
            self._prepared[key] = asyncio.ensure_future(asyncio.to_thread(self._encode, part, frames))
            self._forget_old()
        return await asyncio.shield(self._prepared[key])  # another call may be waiting for it as well

    def _forget_old(self) -> None:
        while len(self._prepared) > 1 and (len(self._prepared) > self._kept or self._bytes() > _KEPT_BYTES):
            self._prepared.popitem(last=False)

    def _bytes(self) -> int:
        done = [task for task in self._prepared.values() if task.done() and not task.exception()]
        return sum(len(e["image_url"]["url"]) for task in done for e in task.result() if e["type"] == "image_url")

    def _encode(self, part: Part, frames: int) -> list[dict]:
        try:
            content = part.path.read_bytes()
        except OSError as error:
            raise CaseUnfit(f"{part.source or part.path.name} cannot be read: {error.strerror}") from error
        if part.sha256 and hashlib.sha256(content).hexdigest() != part.sha256:
            raise CaseUnfit(f"{part.source or part.path.name}: its file has been changed since it was taken in")
        if not frames:
            return [self._image(prepared(part.path, self._side, self._format, content))]
        entries = []
        for seconds, data in prepared_frames(part.path, frames, self._side, self._format):
            entries += [{"type": "text", "text": f"Frame at {seconds:.2f} s:"}, self._image(data)]
        return entries

    def _image(self, data: bytes) -> dict:
        url = f"data:{MEDIA_TYPES[self._format]};base64,{base64.b64encode(data).decode()}"
        return {"type": "image_url", "image_url": {"url": url}}


def _sendable(text: str) -> str:
    """A text as UTF-8 can carry it: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
