"""Asking a judge one small question, to see whether it is there and how it replies."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import replace
from pathlib import Path

from PIL import Image

from evaluators.case import Part
from evaluators.judges.endpoint import EndpointJudge
from evaluators.judges.question import Question, Reply
from evaluators.judges.settings import EndpointSettings

_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string"}},
    "required": ["colour"],
    "additionalProperties": False,
}


async def try_judge(settings: EndpointSettings) -> Reply:
    """The judge's reply to a small red picture and "which colour is it?".

    :raises JudgeFailed: if it cannot be reached or answers with an error.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "red.png"
        Image.new("RGB", (64, 64), "#d02020").save(path)
        picture = Part("image", path=path, sha256=hashlib.sha256(path.read_bytes()).hexdigest(), source=path.name)
        asked = 'Which colour is this picture? Reply with one JSON object and nothing else: {"colour": "…"}'
        question = Question("trial", "trial", "1", "You look at pictures.", (Part.of_text(asked), picture), _SCHEMA)
        # What it can do is found out anew, and somebody waits for the answer.
        judge = EndpointJudge(replace(settings, mode="", attempts=min(settings.attempts, 2)))
        try:
            return await judge.ask(question)
        finally:
            await judge.close()
