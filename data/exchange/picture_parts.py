"""The pictures that a file names: looked up once each, kept by content, or left as a link to fetch."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from data.exchange.pictures import WHOLE, Match, Pictures
from data.images import MEDIA_TYPES, VIDEO_FORMATS, NotAPicture, Picture, examine, keep
from data.store.links import NOT_FETCHED
from evaluators.case import Part

#: A file's name, and the folders before it, somewhere in a link: https://x.test/a/618.jpg!/fw/1120 has x.test/a/618.jpg.
_FILE_NAME = re.compile(rf"[^?#&=]+\.(?:{'|'.join([*MEDIA_TYPES, 'jpeg', 'tiff'])})(?![a-z0-9])", re.IGNORECASE)
_LINKS = ("http://", "https://")
_LONGEST = 1_000
_ELSEWHERE = ("gs://", "s3://", "oss://", "tos://", "hdfs://", "file://")


class PictureParts:
    """Parts by name. keeping=False: pictures are looked at and nothing is written."""

    def __init__(self, pictures: Pictures, keeping: bool):
        self._pictures, self._take = pictures, keep if keeping else examine
        self._parts: dict[str, Part] = {}
        self.kept: dict[str, Picture] = {}
        self._uses: Counter[str] = Counter()
        #: A picture given -> the worth of the best claim to it, the path that has it (None: several), and its names.
        self._claims: dict[str, tuple[int, str | None, list[str]]] = {}
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
            if reader:
                return self._kept(reader(), name)
            match = self._pictures.match(name)
            part = self._kept(self._pictures.read(match.member), name)
            return part if self._holds(name, _folded(name), match) else self._taken_back(part, match.member)
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
        paths = _FILE_NAME.findall(unquote(link[:4_000]).partition("://")[2]) if len(self._pictures) else []
        if paths:
            try:
                match = self._pictures.match(paths[-1], is_link=True)
                part = replace(self._kept(self._pictures.read(match.member), match.member), source=link)
                return part if self._holds(link, _folded(paths[-1]), match) else self._taken_back(part, match.member)
            except (LookupError, NotAPicture, OSError):
                pass  # it is not among them, or not usable: the link is still there
        self._counts["links"] += 1
        return Part(_kind(link), source=link, problem=NOT_FETCHED)

    def _holds(self, name: str, path: str, match: Match) -> bool:
        """Whether a name has the best claim to a picture so far. Whoever has a worse one, or one as good by another path,
        has lost it: modelA/1.png and modelB/1.png are not both the 1.png that was given, and nobody knows which of them is.
        """
        best, holder, names = self._claims.get(match.member, (0, path, []))
        if match.worth < best:
            return False
        if match.worth == best and (match.worth == WHOLE or path == holder):
            names.append(name)
            return True
        for other in names:
            self._parts[other] = self._taken_back(self._parts[other], match.member)
        is_alone = match.worth > best
        self._claims[match.member] = (match.worth, path if is_alone else None, [name] if is_alone else [])
        return is_alone

    def _taken_back(self, part: Part, member: str) -> Part:
        """The part of a name without the picture that was taken for it."""
        self._counts["matched"] -= 1
        self._uses[part.sha256] -= 1
        if not self._uses[part.sha256]:
            del self.kept[part.sha256]
        if part.source.lower().startswith(_LINKS):
            self._counts["links"] += 1
            return Part(_kind(part.source), source=part.source, problem=NOT_FETCHED)
        self._counts["missing"] += 1
        told = f"{_short(part.source)} is not taken to be {_short(member)}: other names fit it as well; name its folder"
        return Part(_kind(part.source), source=part.source, problem=told)

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
        self._uses[picture.sha256] += 1
        self._counts["matched"] += 1
        return Part("video" if picture.extension in VIDEO_FORMATS else "image", sha256=picture.sha256, source=name)


def _folded(path: str) -> str:
    """A path to compare with another name's."""
    return path.strip().replace("\\", "/").removeprefix("./").casefold()


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
