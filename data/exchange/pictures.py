"""Where the pictures named in a table come from: a folder, a zip, or files that somebody dropped."""

from __future__ import annotations

import lzma
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from data.images import MAX_BYTES

#: What Python's zip reader raises on a damaged, encrypted or hostile archive.
_DAMAGED = (
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


class PicturesUnusable(ValueError):  # noqa: N818 - it names what the source is
    """The folder or zip cannot be used; the text says why."""


class Pictures:
    """Pictures by name. A name in a table may be a whole relative path, or the bare file name if only one has it."""

    def __init__(self, readers: Mapping[str, Callable[[], bytes]]):
        self._readers = dict(readers)
        self._by_file_name: dict[str, list[str]] = {}
        for name in self._readers:
            self._by_file_name.setdefault(PurePosixPath(_plain(name)).name, []).append(name)

    def __len__(self) -> int:
        return len(self._readers)

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
        return cls(_zip_readers(archive, name))

    @classmethod
    def at(cls, path: Path) -> Pictures:
        """A folder with everything below it, or a zip.

        :raises PicturesUnusable: if it is neither, or the zip is broken or hostile.
        """
        if path.is_dir():
            files = [file for file in sorted(path.rglob("*")) if file.is_file()]
            if len(files) > MAX_FILES:
                raise PicturesUnusable(f"{path} holds {len(files):,} files, more than {MAX_FILES:,}.")
            return cls({file.relative_to(path).as_posix(): file.read_bytes for file in files})
        if path.is_file() and zipfile.is_zipfile(path):
            return cls.of_zip(path, path.name)
        raise PicturesUnusable(f"{path} is neither a folder nor a zip file.")

    def names(self) -> list[str]:
        """All names, as they came."""
        return list(self._readers)

    def read(self, name: str) -> bytes:
        """The bytes of the picture that a table names: that very name, else the one that differs in case or folder only.

        :raises LookupError: if there is none, or several fit; the text says which.
        """
        if name in self._readers:
            return self._readers[name]()
        wanted = _plain(name)
        fitting = [
            known
            for known in self._by_file_name.get(PurePosixPath(wanted).name, [])
            if f"/{_plain(known)}".endswith(f"/{wanted}") or f"/{wanted}".endswith(f"/{_plain(known)}")
        ]
        if len(fitting) > 1:
            raise LookupError(
                f"{name} could be {len(fitting)} of the pictures ({', '.join(sorted(fitting)[:3])}); name its folder"
            )
        if not fitting:
            raise LookupError(f"no picture named {name} is among the {len(self)} given")
        return self._readers[fitting[0]]()


class PicturesBeside(Pictures):
    """Pictures that lie in the folder of the table which names them, or below it."""

    def __init__(self, folder: Path):
        super().__init__({})
        self._folder = folder.resolve()

    def read(self, name: str) -> bytes:
        """See `Pictures.read`; a name that leads out of the folder is not found."""
        path = (self._folder / name).resolve()
        if not path.is_relative_to(self._folder) or not path.is_file():
            raise LookupError(f"no picture named {name} lies beside the table")
        return path.read_bytes()


def _zip_readers(file: Path | BinaryIO, name: str) -> dict[str, Callable[[], bytes]]:
    """Readers of a zip's members; sizes are checked before anything is unpacked, and nothing is written to disk."""
    try:
        archive = zipfile.ZipFile(file)
    except _DAMAGED as error:
        raise PicturesUnusable(f"{name} is not a zip file that can be read: {error}.") from error
    members = [m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX/")]
    if len(members) > MAX_FILES:
        raise PicturesUnusable(f"{name} holds {len(members):,} files, more than {MAX_FILES:,}.")
    if sum(member.file_size for member in members) > MAX_TOTAL_BYTES:
        raise PicturesUnusable(f"{name} would unpack to more than {MAX_TOTAL_BYTES:,} bytes.")

    def reader(member: zipfile.ZipInfo) -> Callable[[], bytes]:
        def read() -> bytes:
            try:
                with archive.open(member) as file:
                    return file.read(MAX_BYTES + 1)
            except _DAMAGED as error:
                raise LookupError(f"{member.filename} cannot be unpacked: {error}") from error

        return read

    return {member.filename: reader(member) for member in members}


def _plain(name: str) -> str:
    """A name to compare: case folded, composed (a Mac writes é as two characters), with / between folders."""
    return unicodedata.normalize("NFC", name.strip().replace("\\", "/").removeprefix("./")).casefold()
