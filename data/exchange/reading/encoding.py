"""In which encoding a text file is: UTF-8, UTF-16 with or without its mark, or GB18030 as Chinese Excel saves it."""

from __future__ import annotations

import codecs

from data.exchange.reading.table import Source, TableUnreadable

_STEP = 1 << 20
_HEAD = 1 << 16
#: What line ends, tabs, commas and blanks become when UTF-16 is read from the wrong side; and zero, which no text has.
_SWAPPED = frozenset("\u0a00\u0d00\u0900\u2c00\u2000\x00")
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def encoding_of(source: Source) -> str:
    """The name of the encoding, found by reading the whole file once.

    GB18030 can decode nearly any bytes, so it is taken only where what comes out is everyday Chinese: text in Latin-1 or
    Shift-JIS must not come in as nonsense.

    :raises TableUnreadable: if it is none of them.
    """
    with source.open() as file:
        head = file.read(_HEAD)
    marked = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
    guess = marked or _unmarked_utf16(head)
    if guess:
        if _decodes(source, guess):
            return guess
        raise TableUnreadable(
            f"{source.short_name} begins as {guess.upper()} text and does not go on so; save it anew."
        )
    if _has_nul(source):
        raise TableUnreadable(f"{source.short_name} holds NUL characters: it is not a text file.")
    if _decodes(source, "utf-8"):
        return "utf-8"
    if _decodes(source, "gb18030") and _is_everyday_chinese(source):
        return "gb18030"
    raise TableUnreadable(f"{source.short_name} is not text in UTF-8, UTF-16 or GB18030; save it as CSV UTF-8.")


def _unmarked_utf16(head: bytes) -> str | None:
    """UTF-16 without its mark: read from the right side it has line ends and none of _SWAPPED."""
    if head.count(0) < 2:
        return None
    found = {}
    for encoding in ("utf-16-le", "utf-16-be"):
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(head)
        except UnicodeDecodeError:
            continue
        if not _SWAPPED & set(text) and ("\n" in text or "\r" in text):
            found[encoding] = sum(sign.isascii() for sign in text)
    return max(found, key=found.get, default=None)


def _decodes(source: Source, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    with source.open() as file:
        try:
            while piece := file.read(_STEP):
                if "\x00" in decoder.decode(piece):
                    return False
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _has_nul(source: Source) -> bool:
    with source.open() as file:
        while piece := file.read(_STEP):
            if b"\x00" in piece:
                return True
    return False


def _is_everyday_chinese(source: Source) -> bool:
    """Of the first signs beyond ASCII nine in ten are in GB 2312, which has the everyday ones."""
    decoder, found = codecs.getincrementaldecoder("gb18030")(), ""
    with source.open() as file:
        while len(found) < 5_000 and (piece := file.read(_STEP)):
            found += "".join(sign for sign in decoder.decode(piece) if not sign.isascii())
    found = found[:5_000]
    return bool(found) and sum(map(_in_gb2312, found)) >= 0.9 * len(found)


def _in_gb2312(sign: str) -> bool:
    try:
        return len(sign.encode("gb2312")) == 2
    except UnicodeEncodeError:
        return False
