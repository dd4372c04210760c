"""The pictures that a file names: looked up once each, kept by content, or left as a link to fetch."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from data.exchange.pictures import Pictures
from data.images import MEDIA_TYPES, VIDEO_FORMATS, NotAPicture, Picture, examine, keep
from data.store.links import NOT_FETCHED
from evaluators.case import Part

#: A file's name somewhere in a link: https://x.test/a/618.jpg!/fw/1120 has 618.jpg.
_FILE_NAME = re.compile(rf"[^/?#&=]+\.(?:{'|'.join([*MEDIA_TYPES, 'jpeg', 'tiff'])})(?![a-z0-9])", re.IGNORECASE)
_LINKS = ("http://", "https://")
_LONGEST = 1_000
_ELSEWHERE = ("gs://", "s3://", "oss://", "tos://", "hdfs://", "file://")


class PictureParts:
    """Parts by name. keeping=False: pictures are looked at and nothing is written."""

    def __init__(self, pictures: Pictures, keeping: bool):
        self._pictures, self._take = pictures, keep if keeping else examine
        self._parts: dict[str, Part] = {}
        self.kept: dict[str, Picture] = {}
        self._counts = {"matched": 0, "missing": 0, "unreadable": 0, "links": 0}

    @property
    def names(self) -> set[str]:
        """Every picture that was named."""
        return set(self._parts)

    @property
    def counts(self) -> dict[str, int]:
        """matched, missing, unreadable: pictures by name, each counted once; links: those to be fetched."""
        return dict(self._counts)

    def part(self, name: str, readers: Mapping[str, Callable[[], bytes]] | None = None) -> Part:
        """The part of a picture. readers: of the pictures that lie in the table itself, by name."""
        found = self._parts.get(name)
        if found is None:
            found = self._parts[name] = self._found(name, (readers or {}).get(name))
        return found

    def _found(self, name: str, reader: Callable[[], bytes] | None) -> Part:
        lowered = name[:12].lower()
        if lowered.startswith(_LINKS):
            return self._linked(name)
        if lowered.startswith(_ELSEWHERE):
            self._counts["missing"] += 1
            return Part(
                _kind(name), source=name, problem=f"{_short(name)} cannot be fetched from here; give it as a file"
            )
        if lowered.startswith("data:"):
            return self._written(name)
        if len(name) > _LONGEST:
            self._counts["missing"] += 1
            told = f"no picture has a name of {len(name):,} characters: {_short(name, 80)}"
            return Part("image", source=_short(name), problem=told)
        try:
            return self._kept(reader() if reader else self._pictures.read(name), name)
        except LookupError as error:
            self._counts["missing"] += 1
            return Part(_kind(name), source=_short(name), problem=_short(str(error.args[0]), 400))
        except (NotAPicture, OSError, ValueError) as error:
            self._counts["unreadable"] += 1
            return Part(_kind(name), source=_short(name), problem=_short(str(error), 400))
        except Exception as error:  # a damaged member of a workbook raises whatever its zip reader raises
            if reader is None:
                raise
            self._counts["unreadable"] += 1
            return Part(
                "image", source=_short(name), problem=f"{_short(name)} cannot be unpacked: {_short(str(error))}"
            )

    def _linked(self, link: str) -> Part:
        """The picture of a link: that of its file name if it is among those given, else one to be fetched."""
        file_name = _FILE_NAME.findall(unquote(link)) if len(self._pictures) else []
        if file_name:
            try:
                return replace(self._kept(self._pictures.read(file_name[-1]), file_name[-1]), source=link)
            except (LookupError, NotAPicture, OSError):
                pass  # it is not among them, or not usable: the link is still there
        self._counts["links"] += 1
        return Part(_kind(link), source=link, problem=NOT_FETCHED)

    def _written(self, name: str) -> Part:
        """A picture that is written into its cell as a data: URL."""
        try:
            content = base64.b64decode(name.partition(",")[2], validate=True)
            return self._kept(content, f"embedded-{len(content)}-{_hash_of(content)}")
        except (binascii.Error, NotAPicture) as error:
            self._counts["unreadable"] += 1
            return Part("image", source=_short(name, 60), problem=f"the picture in the cell cannot be read: {error}")

    def _kept(self, content: bytes, name: str) -> Part:
        picture = self._take(content, name)
        self.kept.setdefault(picture.sha256, picture)
        self._counts["matched"] += 1
        return Part("video" if picture.extension in VIDEO_FORMATS else "image", sha256=picture.sha256, source=name)


def _hash_of(content: bytes) -> str:
    """A short name for content."""
    return hashlib.sha256(content).hexdigest()[:12]


def _kind(name: str) -> str:
    if not any(f".{ending}" in name.lower() for ending in VIDEO_FORMATS):
        return "image"
    try:
        path = urlsplit(name).path if name[:8].lower().startswith(_LINKS) else name
    except ValueError:
        path = name
    return "video" if path.lower().endswith(tuple(VIDEO_FORMATS)) else "image"


def _short(text: str, length: int = 200) -> str:
    return text if len(text) <= length else f"{text[: length - 40]}…{text[-39:]}"
