"""What a workspace is restored from: a folder or a zip. Nothing of it is trusted: only the files that the database names
are read, and each picture must be what its name says."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

from data.images import MEDIA_TYPES

_PIECE = 1 << 20
_DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError)


class BackupUnusable(ValueError):  # noqa: N818 - it names what the backup is
    """The backup cannot be restored; the text says why. Nothing was changed."""


@contextmanager
def opened_backup(source: Path, database_name: str) -> Iterator[FolderBackup | ZipBackup]:
    """The backup in a folder or zip.

    :raises BackupUnusable: if it is neither.
    """
    if source.is_dir():
        yield FolderBackup(source, database_name)
    elif source.is_file() and zipfile.is_zipfile(source):
        try:
            archive = zipfile.ZipFile(source)
        except _DAMAGED as error:
            raise BackupUnusable(f"{source} is not a zip file that can be read: {error}.") from error
        with archive:
            yield ZipBackup(archive, source, database_name)
    else:
        raise BackupUnusable(f"{source} is neither a folder nor a zip file that can be read.")


class FolderBackup:
    """A backup in a folder, or a workspace that somebody copied."""

    def __init__(self, folder: Path, database_name: str):
        self._folder, self._database = folder, folder / database_name

    def copy_database(self, target: Path) -> None:
        """Copy the database, with what is still in its log; the source stays as it is.

        :raises BackupUnusable: if there is none, or it cannot be read.
        """
        if not self._database.is_file():
            raise BackupUnusable(f"{self._folder} holds no {self._database.name}: it is no backup of a workspace.")
        log = self._database.with_name(self._database.name + "-wal")
        how = "mode=ro" if log.exists() else "immutable=1"
        try:
            with (
                closing(sqlite3.connect(f"{self._database.absolute().as_uri()}?{how}", uri=True)) as old,
                closing(sqlite3.connect(target)) as new,
            ):
                old.backup(new)
        except sqlite3.Error as error:
            raise BackupUnusable(f"{self._database} cannot be read: {error}. Nothing was restored.") from error

    def copy_picture(self, sha256: str, extension: str, home: Path) -> str:
        """Copy one picture into a workspace's folder; gives what is wrong, or nothing."""
        name = _picture_name(sha256, extension)
        path = self._folder / name
        if not path.is_file():
            return f"The picture {path.name} is missing from the backup."
        try:
            with path.open("rb") as file:
                return _kept(file, sha256, home / name)
        except OSError as error:
            return f"The picture {path.name} cannot be read: {error.strerror}."


class ZipBackup:
    """A backup in a zip."""

    def __init__(self, archive: zipfile.ZipFile, source: Path, database_name: str):
        self._archive, self._source, self._database = archive, source, database_name

    def copy_database(self, target: Path) -> None:
        """Unpack the database.

        :raises BackupUnusable: if there is none, it is damaged, or there is no room for it.
        """
        try:
            member = self._archive.getinfo(self._database)
        except KeyError:
            raise BackupUnusable(f"{self._source} holds no {self._database}: it is no backup of a workspace.") from None
        free = shutil.disk_usage(target.parent).free
        if member.file_size > free:
            raise BackupUnusable(f"{self._source} unpacks to {member.file_size:,} bytes; {free:,} are free here.")
        try:
            with self._archive.open(member) as packed, target.open("wb") as file:
                shutil.copyfileobj(packed, file, _PIECE)  # never more than the size checked above
        except _DAMAGED as error:
            raise BackupUnusable(f"{self._source} is damaged: {error}. Nothing was restored.") from error

    def copy_picture(self, sha256: str, extension: str, home: Path) -> str:
        """As `FolderBackup.copy_picture`."""
        name = _picture_name(sha256, extension)
        try:
            with self._archive.open(name) as file:
                return _kept(file, sha256, home / name)
        except KeyError:
            return f"The picture {Path(name).name} is missing from the backup."
        except _DAMAGED as error:
            (home / name).unlink(missing_ok=True)
            return f"The picture {Path(name).name} is damaged in the backup: {error}."


def _picture_name(sha256: str, extension: str) -> str:
    """Where a picture lies below a workspace's folder.

    :raises BackupUnusable: if the database names something that is no picture.
    """
    is_hash = len(sha256) == 64 and set(sha256) <= set("0123456789abcdef")
    if not is_hash or extension not in MEDIA_TYPES:
        raise BackupUnusable(f"The backup's database names a picture {sha256[:80]}.{extension[:20]}, which is none.")
    return f"images/{sha256[:2]}/{sha256}.{extension}"


def _kept(file: BinaryIO, sha256: str, target: Path) -> str:
    """Copy a picture and see whether it is what its name says; if not it is left out."""
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with target.open("wb") as copy:
        while piece := file.read(_PIECE):
            digest.update(piece)
            copy.write(piece)
    if digest.hexdigest() == sha256:
        return ""
    target.unlink()
    return f"The picture {target.name} has been changed in the backup: its content is not its name. It was left out."
