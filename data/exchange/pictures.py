"""Where the pictures named in a table come from: a folder, a zip, or files that somebody dropped."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from data.exchange.zips import MAX_FILES, PicturesUnusable, ZipOfPictures, is_zip
from data.images import MAX_BYTES, shown_name

__all__ = ["WHOLE", "Match", "Pictures", "PicturesBeside", "PicturesUnusable"]
#: The worth of a match in which all that a table says of a picture's place is true.
WHOLE = 1_000


class Match(NamedTuple):
    """Which of the pictures given a name stands for. worth: how many parts of the two paths agree, from the end; WHOLE if
    all of the name's do."""

    member: str
    worth: int


class Pictures:
    """Pictures by name. A name in a table may be a whole relative path, or the bare file name if only one has it.

    refused: names with the reason why they are not read. notes: what was left out, in sentences.
    """

    def __init__(
        self,
        readers: Mapping[str, Callable[[], bytes]],
        refused: Mapping[str, str] | None = None,
        notes: Sequence[str] = (),
    ):
        self._names, self.notes = list(readers), list(notes)
        self._readers = {name: partial(_refuse, name, why) for name, why in (refused or {}).items()} | dict(readers)
        self._by_file_name: dict[str, list[str]] = {}
        for name in self._readers:
            self._by_file_name.setdefault(PurePosixPath(_plain(name)).name, []).append(name)

    def __len__(self) -> int:
        return len(self._names)

    @classmethod
    def none(cls) -> Pictures:
        return cls({})

    @classmethod
    def of_files(cls, files: Mapping[str, bytes]) -> Pictures:
        """Files in memory, by name."""
        return cls({name: lambda content=content: content for name, content in files.items()})

    @classmethod
    def of_zip(cls, archive: Path | BinaryIO, name: str) -> Pictures:
        """A zip on disk or in memory.

        :raises PicturesUnusable: if it is broken or hostile.
        """
        packed = ZipOfPictures(archive, name)
        return cls(packed.readers, packed.refused, packed.notes)

    @classmethod
    def at(cls, path: Path) -> Pictures:
        """A folder with everything below it, or a zip.

        :raises PicturesUnusable: if it is neither, or the zip is broken or hostile.
        """
        if path.is_dir():
            files = [file for file in sorted(path.rglob("*")) if file.is_file()]
            if len(files) > MAX_FILES:
                raise PicturesUnusable(f"{path} holds {len(files):,} files, more than {MAX_FILES:,}.")
            return cls({file.relative_to(path).as_posix(): partial(read_file, file) for file in files})
        if path.is_file() and is_zip(path):
            return cls.of_zip(path, path.name)
        raise PicturesUnusable(f"{path} is neither a folder nor a zip file.")

    def names(self) -> list[str]:
        """All names, as they came."""
        return list(self._names)

    def read(self, name: str) -> bytes:
        """The bytes of the picture that a table names: that very name, else the one that differs in case or folder only.

        :raises LookupError: if there is none, or several fit; the text says which.
        """
        return self._readers[self.match(name).member]()

    def match(self, name: str, is_link: bool = False) -> Match:
        """The picture that a table names, see `read`. is_link: the name is a link's path, of which the folders on this side
        need not be part; the picture whose path agrees with it longest is meant.

        :raises LookupError: if there is none, or several fit; the text says which.
        """
        if name in self._readers:
            return Match(name, WHOLE)
        wanted = _plain(name)
        same_name = self._by_file_name.get(PurePosixPath(wanted).name, [])
        worths = {known: worth for known in same_name if (worth := _worth(wanted, _plain(known), is_link))}
        best = max(worths.values(), default=0)
        fitting = [known for known, worth in worths.items() if worth == best]
        if len(fitting) > 1:
            these = ", ".join(map(shown_name, sorted(fitting)[:3]))
            raise LookupError(f"{shown_name(name)} could be {len(fitting)} of the pictures ({these}); name its folder")
        if not fitting:
            raise LookupError(f"no picture named {shown_name(name)} is among the {len(self)} given")
        return Match(fitting[0], best)


def _worth(wanted: str, known: str, is_link: bool) -> int:
    """How well a picture's path fits what is wanted; 0 if it does not."""
    if f"/{known}".endswith(f"/{wanted}"):
        return WHOLE
    if not is_link and not f"/{wanted}".endswith(f"/{known}"):
        return 0
    pairs = zip(reversed(wanted.split("/")), reversed(known.split("/")), strict=False)
    return sum(1 for _pair in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _refuse(name: str, why: str) -> bytes:
    raise LookupError(f"{shown_name(name)} is not read: it {why}")


class PicturesBeside(Pictures):
    """Pictures that lie in the folder of the table which names them, or below it."""

    def __init__(self, folder: Path):
        super().__init__({})
        self._folder = folder.resolve()

    def match(self, name: str, is_link: bool = False) -> Match:
        """The name itself: it is a path from the folder."""
        return Match(name, WHOLE)

    def read(self, name: str) -> bytes:
        """See `Pictures.read`; a name that leads out of the folder is not found."""
        try:
            path = (self._folder / name).resolve()
            is_there = path.is_relative_to(self._folder) and path.is_file()
        except (OSError, ValueError):  # a name that no file can have: too long, or with NUL
            is_there = False
        if not is_there:
            raise LookupError(f"no picture named {shown_name(name)} lies beside the table")
        return read_file(path)


def read_file(path: Path) -> bytes:
    """The bytes of a file, as far as one that is too large need be read to be turned away.

    :raises LookupError: if it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise LookupError(f"{shown_name(path.name)} cannot be read: {error.strerror}") from error


def _plain(name: str) -> str:
    """A name to compare: case folded, composed (a Mac writes é as two characters), with / between folders."""
    return unicodedata.normalize("NFC", name.strip().replace("\\", "/").removeprefix("./")).casefold()
