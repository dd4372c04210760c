"""Where the pictures named in a table come from: a folder, a zip, or files that somebody dropped."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from data.images import MAX_BYTES

MAX_FILES = 100_000
MAX_TOTAL_BYTES = 20_000_000_000


class PicturesUnusable(ValueError):  # noqa: N818 - it names what the source is
    """The folder or zip cannot be used; the text says why."""


class Pictures:
    """Pictures by name. A name in a table may be a whole relative path, or the bare file name if only one has it."""

    def __init__(self, readers: Mapping[str, Callable[[], bytes]]):
        self._readers = {_plain(name): (name, read) for name, read in readers.items()}
        self._by_file_name: dict[str, list[str]] = {}
        for name in self._readers:
            self._by_file_name.setdefault(PurePosixPath(name).name, []).append(name)

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
        return [name for name, _read in self._readers.values()]

    def read(self, name: str) -> bytes:
        """The bytes of the picture that a table names.

        :raises LookupError: if there is none, or several share that file name; the text says which.
        """
        plain = _plain(name)
        if plain in self._readers:
            return self._readers[plain][1]()
        candidates = self._by_file_name.get(PurePosixPath(plain).name, [])
        if len(candidates) > 1:
            raise LookupError(f"{name} is the name of {len(candidates)} pictures; name its folder as well")
        if not candidates:
            raise LookupError(f"no picture named {name} is among the {len(self)} given")
        return self._readers[candidates[0]][1]()


def _zip_readers(file: Path | BinaryIO, name: str) -> dict[str, Callable[[], bytes]]:
    """Readers of a zip's members; sizes are checked before anything is unpacked, and nothing is written to disk."""
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
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
            except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:  # damaged or encrypted
                raise LookupError(f"{member.filename} cannot be unpacked: {error}") from error

        return read

    return {member.filename: reader(member) for member in members}


def _plain(name: str) -> str:
    return name.strip().replace("\\", "/").removeprefix("./").casefold()
