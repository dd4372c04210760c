"""A judge that answers after a fixed time and costs next to nothing: what is measured is the other side.

python -m benchmarks.quick_server --delay 0.2     # prints its base URL
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re

_WANTED = re.compile(rb'\\"score\\": \[([^\]]*)\]')
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


def reply_to(body: bytes) -> bytes:
    """A completion with as many scores as the question asks for, drawn from the request's bytes."""
    listed = _WANTED.search(body)
    wanted = listed[1].count(b",") + 1 if listed else 1
    digest = hashlib.md5(body, usedforsecurity=False).digest()
    text = json.dumps({"reasoning": "Drawn from the request.", "score": [2 + digest[i] % 9 for i in range(wanted)]})
    usage = {"prompt_tokens": 1000, "completion_tokens": 30, "total_tokens": 1030}
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return json.dumps(
        {"id": "c", "object": "chat.completion", "created": 1, "model": "quick", "choices": [choice], "usage": usage}
    ).encode()


async def serve(delay: float, port: int = 0) -> None:
    """Serve until killed; the base URL is printed first."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = _LENGTH.search(head)
                body = await reader.readexactly(int(length[1])) if length else b""
                answered = asyncio.get_running_loop().time() + delay
                content = reply_to(body)
                await asyncio.sleep(answered - asyncio.get_running_loop().time())
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(content)
                )
                writer.write(content)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", port, limit=1 << 20)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.2, help="seconds from the whole request to the reply")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.delay, arguments.port))
