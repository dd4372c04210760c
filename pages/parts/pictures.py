"""Pictures by URL: the original bytes or a smaller copy, by content hash, never to change, signed.

`st.image` would re-encode a PNG as JPEG: people would look at artefacts that the judge never saw.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from html import escape

import streamlit as st

from data.images import BROWSER_EXTENSIONS, SIDES
from evaluators.case import Part

#: Made anew when the server starts: a signature is only good for pages that this server drew.
_KEY = secrets.token_bytes(32)
#: Originals up to this size are shown as they are; of larger ones a screen-size copy, the original on a click.
_ORIGINAL_BYTES = 4_000_000


def signature(name: str) -> str:
    """The signature of a picture's name (`original/<sha256>.png`, `thumb/<sha256>.png`)."""
    return hmac.new(_KEY, name.encode(), hashlib.sha256).hexdigest()[:32]


def is_signed(name: str, given: str) -> bool:
    """Whether this server signed that name."""
    return hmac.compare_digest(signature(name).encode(), given.encode())


def url(part: Part, size: str) -> str:
    """Where the browser gets a picture: size is `original` or one of data.images.SIDES."""
    name = f"{size}/{part.sha256}{part.path.suffix}"
    return f"/picture/{name}?s={signature(name)}"


def for_desk(part: Part, alt: str) -> dict:
    """A picture as the desk needs it: url to show, original to zoom into, or the problem."""
    if part.path is None:
        return {"alt": alt, "problem": part.problem or "This picture is missing.", "source": part.source}
    extension, video = part.path.suffix[1:], part.kind == "video"
    original = url(part, "original" if extension in BROWSER_EXTENSIONS else "screen")
    as_it_is = video or part.path.stat().st_size <= _ORIGINAL_BYTES
    return {
        "alt": alt, "url": original if as_it_is else url(part, "screen"), "original": original, "source": part.source,
        "video": video,
    }  # fmt: skip


def draw(parts: Sequence[Part], captions: Sequence[str], size: str = "thumb") -> None:
    """Pictures beside one another with a caption each; a missing one as a box that says why."""
    figures = "".join(_figure(part, caption, size) for part, caption in zip(parts, captions, strict=True))
    width = SIDES.get(size, 640)
    st.html(
        f"<style>.second-look-pictures{{display:flex;flex-wrap:wrap;gap:12px}}"
        f".second-look-pictures figure{{margin:0;flex:1 1 0;min-width:min(100%,140px);max-width:{min(width, 640)}px}}"
        ".second-look-pictures img{width:100%;border-radius:8px;display:block}"
        ".second-look-pictures figcaption{font-size:.85rem;opacity:.75;padding:4px 2px;overflow-wrap:anywhere}"
        ".second-look-pictures .missing{border:1px dashed currentColor;border-radius:8px;padding:16px;aspect-ratio:4/3;"
        "overflow:hidden;opacity:.75;overflow-wrap:anywhere}</style>"
        f'<div class="second-look-pictures">{figures}</div>'
    )


def _figure(part: Part, caption: str, size: str) -> str:
    if part.path is None:
        shown = f'<div class="missing">{escape(part.problem or "This picture is missing.")}</div>'
    else:
        shown = (
            f'<a href="{url(part, "original")}" target="_blank" rel="noopener">'
            f'<img src="{url(part, size)}" alt="{escape(caption, quote=True)}" loading="lazy"></a>'
        )
    return f"<figure>{shown}<figcaption>{escape(caption)}</figcaption></figure>"
