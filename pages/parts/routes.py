"""What the server answers besides Streamlit's own pages: pictures, and headers that keep foreign pictures out."""

from __future__ import annotations

import re

import anyio.to_thread
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from data.images import MEDIA_TYPES, SIDES, original_path, smaller_path
from evaluators.errors import CaseUnfit
from pages.parts.pictures import is_signed

_NAME = re.compile(r"([0-9a-f]{64})\.([a-z]{3,4})")
_FOR_EVER = {"Cache-Control": "private, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


async def picture(request: Request) -> Response:
    """A picture by content hash: `original`, or a smaller JPEG copy that is made when first asked for."""
    size, name = request.path_params["size"], request.path_params["name"]
    matched = _NAME.fullmatch(name)
    if not matched or not is_signed(f"{size}/{name}", request.query_params.get("s", "")):
        return PlainTextResponse("This picture's address was not made by this server; reload the page.", 403)
    sha256, extension = matched.groups()
    if size != "original" and size not in SIDES:
        return PlainTextResponse("There is no such size.", 404)
    if size == "original":
        path = original_path(sha256, extension)
        if not path.exists():
            return PlainTextResponse("This picture's file is missing from the workspace.", 404)
        return FileResponse(path, media_type=MEDIA_TYPES[extension], headers=_FOR_EVER)
    try:
        path = await anyio.to_thread.run_sync(smaller_path, sha256, extension, size)
    except CaseUnfit as error:
        return PlainTextResponse(str(error), 404)
    return FileResponse(path, media_type="image/jpeg", headers=_FOR_EVER)


class _Headers:
    """Pictures only from here: a link to a picture in somebody's text cannot make a reviewer's browser fetch it."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        async def send_with_headers(message):
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = (
                    "img-src 'self' data: blob:; object-src 'none'; frame-ancestors 'self'"
                )
                headers["Referrer-Policy"] = "same-origin"
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


Wary = Middleware(_Headers)
