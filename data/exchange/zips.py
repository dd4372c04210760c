"""Zips of pictures from anywhere. Nothing is unpacked to disk, so no name of a member can do harm; what is read is counted
while it is read, whatever sizes the zip declares."""

from __future__ import annotations

import lzma
import re
import stat
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from data.images import MAX_BYTES, shown_name

#: What Python's zip reader raises on a damaged, encrypted or hostile archive.
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    EOFError,
    OSError,
)
MAX_FILES = 100_000
MAX_TOTAL_BYTES = 20_000_000_000
#: A zip may unpack to so many times its size, and to FREE_BYTES in any case: pictures are compressed already.
MAX_RATIO, FREE_BYTES = 100, 1_000_000_000
_PIECE = 1 << 20
_IS_UTF8, _IS_ENCRYPTED = 0x800, 0x1
#: Characters of a Chinese file name: ideographs, punctuation, full-width forms.
_CHINESE = re.compile("[\\u2010-\\u203b\\u3000-\\u303f\\u4e00-\\u9fff\\uff00-\\uffef]+")


class PicturesUnusable(ValueError):  # noqa: N818 - it names what the source is
    """The folder or zip cannot be used; the text says why."""


def is_zip(path: Path) -> bool:
    """Whether a file is a zip."""
    return path.is_file() and zipfile.is_zipfile(path)


class ZipOfPictures:
    """The members of a zip that may be pictures: `readers` by name. `refused`: names of the others, with why;
    `notes` says the same in a sentence a kind.

    :raises PicturesUnusable: if it cannot be read as a zip, or declares too much.
    """

    def __init__(self, file: Path | BinaryIO, name: str):
        self._name = shown_name(name)
        try:
            self._archive = zipfile.ZipFile(file)
            size = sum(member.compress_size for member in self._archive.infolist())
        except DAMAGED as error:
            raise PicturesUnusable(f"{self._name} is not a zip file that can be read: {error}.") from error
        members = [m for m in self._archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX/")]
        if len(members) > MAX_FILES:
            raise PicturesUnusable(f"{self._name} holds {len(members):,} files, more than {MAX_FILES:,}.")
        self._room = min(MAX_TOTAL_BYTES, max(FREE_BYTES, MAX_RATIO * size))
        if sum(member.file_size for member in members) > self._room:
            raise PicturesUnusable(f"{self._name} would unpack to more than {self._room:,} bytes.")
        self.readers: dict[str, Callable[[], bytes]] = {}
        self.refused: dict[str, str] = {}
        self.notes: list[str] = []
        self._sort(members)

    def _sort(self, members: list[zipfile.ZipInfo]) -> None:
        left_out: dict[str, list[str]] = {}
        for member in members:
            name = decoded_name(member)
            why = _unfit(member, name)
            if not why and name in self.readers:
                why = "is there twice; the first is used"
            if why:
                left_out.setdefault(why, []).append(shown_name(name))
                self.refused.setdefault(name, why)
            else:
                self.readers[name] = partial(self._read, member, shown_name(name))
        for why, names in left_out.items():
            more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
            self.notes.append(f"{self._name}: {names[0]}{more} was left out: it {why}.")

    def _read(self, member: zipfile.ZipInfo, name: str) -> bytes:
        """The bytes of a member.

        :raises LookupError: if it cannot be unpacked, or unpacks to more than a picture has.
        """
        pieces, count = [], 0
        try:
            with self._archive.open(member) as file:
                while piece := file.read(_PIECE):
                    pieces.append(piece)
                    count += len(piece)
                    self._room -= len(piece)
                    if self._room < 0:
                        raise LookupError(
                            f"{name} was not unpacked: {self._name} unpacks to too many bytes for its size"
                        )
                    if count > MAX_BYTES:
                        raise LookupError(f"{name} unpacks to more than {MAX_BYTES:,} bytes")
        except DAMAGED as error:
            raise LookupError(f"{name} cannot be unpacked: {error}") from error
        return b"".join(pieces)


def _unfit(member: zipfile.ZipInfo, name: str) -> str:
    """Why a member is no picture that anybody means; empty if it may be one."""
    path = PurePosixPath(name)
    if ".." in path.parts or path.is_absolute() or re.match(r"[A-Za-z]:", name) or "\x00" in name:
        return "has a path that leads out of the zip"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "is a link to another file"
    if member.flag_bits & _IS_ENCRYPTED:
        return "needs a password; zip it without one"
    if path.suffix.lower() in (".zip", ".7z", ".rar", ".tar", ".gz"):
        return "is an archive inside of the zip; unpack it first"
    return ""


def decoded_name(member: zipfile.ZipInfo) -> str:
    """The name of a member as whoever zipped it saw it, with / between folders.

    Zips made on a Chinese Windows hold names in GBK and do not say so; Python reads them as code page 437.
    """
    name = member.filename
    if not member.flag_bits & _IS_UTF8 and not name.isascii():
        raw = name.encode("cp437", "replace")
        for encoding in ("utf-8", "gb18030"):
            try:
                found = raw.decode(encoding)
            except UnicodeDecodeError:
                continue
            foreign = "".join(c for c in found if not c.isascii())
            if encoding == "utf-8" or _CHINESE.fullmatch(foreign):
                name = found
                break
    return name.replace("\\", "/")
