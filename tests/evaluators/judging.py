"""Put cases to the judge at a server, and look at what it was sent, as every test of a metric does."""

from __future__ import annotations

import asyncio
import io

from PIL import Image

from evaluators import Case, EndpointJudge, EndpointSettings, Options, Verdict
from tests.chat_server import ChatServer


def judged(metric, case: Case, server: ChatServer, options: Options | None = None, rubrics=None, **settings) -> Verdict:
    """The verdict on one case."""
    return all_judged(metric, [case], server, options, rubrics, **settings)[0]


def all_judged(
    metric, cases: list[Case], server: ChatServer, options: Options | None = None, rubrics=None, **settings
) -> list[Verdict]:
    """The verdicts on several cases that one judge is asked about at once."""

    async def ask() -> list[Verdict]:
        judge = EndpointJudge(
            EndpointSettings(**{"model": "tester", "base_url": server.url, "attempts": 1, **settings})
        )
        try:
            return await asyncio.gather(
                *(metric.evaluate(case, judge, options or Options(), rubrics) for case in cases)
            )
        finally:
            await judge.close()

    return asyncio.run(ask())


COLOURS = {"red": (255, 0, 0), "green": (0, 128, 0), "blue": (0, 0, 255), "white": (255, 255, 255), "black": (0, 0, 0)}


def colour_of(content: bytes) -> str:
    """The name of the colour nearest to the middle of a picture."""
    with Image.open(io.BytesIO(content)) as image:
        middle = image.convert("RGB").getpixel((image.width // 2, image.height // 2))
    return min(COLOURS, key=lambda name: sum((a - b) ** 2 for a, b in zip(COLOURS[name], middle, strict=True)))
