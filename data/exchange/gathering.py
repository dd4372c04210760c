"""Everything that people give at once - files, folders, zips - as tables with proposals, and where their pictures are."""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from data.exchange.formats import viescore
from data.exchange.proposing import Proposal, propose
from data.exchange.reading import Source, TableUnreadable, open_table

_ENDINGS = (".csv", ".tsv", ".xlsx", ".json", ".jsonl", ".ndjson", ".parquet")
#: Of the tables in a bundle of ours, those that repeat what others say.
_LEFT_OUT = frozenset(
    {
        "parts.csv",
        "run_cases.csv",
        "items.csv",
        "corrections.csv",
        "seen.csv",
        "draws.csv",
        "runs.jsonl",
        "dataset.json",
    }
)
_CASE = ("prompt", "input_images", "result_image", "generator")
_MAX_TABLE = 500_000_000
_MAX_TABLES = 2_000


def sources_at(path: Path) -> list[Source]:
    """The tables at a path: the file itself, or those in a folder and below it, or those in a zip.

    :raises TableUnreadable: if a folder or zip has none.
    """
    if path.is_dir():
        found = [Source.of_path(p) for p in sorted(path.rglob("*")) if p.suffix.lower() in _ENDINGS and p.is_file()]
        if not found or len(found) > _MAX_TABLES:
            raise TableUnreadable(f"The folder {path.name} has {len(found):,} tables in it; name the files.")
        return found
    return sources_in(Source.of_path(path))


def sources_in(source: Source) -> list[Source]:
    """A file as it is; of a zip that is no workbook the tables in it.

    :raises TableUnreadable: if a zip has no tables, or too large ones.
    """
    with source.open() as file:
        if file.read(2) != b"PK":
            return [source]
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if any(m.filename == "[Content_Types].xml" for m in members):
                return [source]
            wanted = [m for m in members if _is_table(m)]
            if not wanted:
                return [source]
            if sum(m.file_size for m in wanted) > _MAX_TABLE or len(wanted) > _MAX_TABLES:
                raise TableUnreadable(
                    f"The tables in {source.short_name} would unpack to more than {_MAX_TABLE:,} bytes."
                )
            return [Source(m.filename.rpartition("/")[2], archive.read(m)) for m in wanted]
    except TableUnreadable:
        raise
    except Exception:  # a damaged one, perhaps a workbook: its reader says what is wrong
        return [source]


def _is_table(member: zipfile.ZipInfo) -> bool:
    name = member.filename.rpartition("/")[2]
    is_ours = name.lower().endswith(_ENDINGS) and not name.startswith((".", "~$")) and name not in _LEFT_OUT
    return is_ours and not member.is_dir() and not member.filename.startswith("__MACOSX/")


def proposals_for(sources: Sequence[Source], sheet: str | None = None) -> list[Proposal]:
    """What the tables in these files probably are; the files of one VIEScore folder are one table.

    :raises TableUnreadable: if one cannot be read.
    """
    given = [source for source in sources if source.size] or sources
    found = [propose(open_table(source, sheet if _is_workbook(source) else None)) for source in given]
    if empty := [source.short_name for source in sources if not source.size]:
        note = f"{', '.join(empty[:20])}: empty, and passed over."
        found[0] = replace(found[0], table=replace(found[0].table, notes=(*found[0].table.notes, note)))
    parts = [p for p in found if p.format == viescore.TITLE]
    if len(parts) < 2:
        return found
    return [*(p for p in found if p.format != viescore.TITLE), _joined(parts)]


def _is_workbook(source: Source) -> bool:
    with source.open() as file:
        return file.read(2) == b"PK"


def _joined(parts: list[Proposal]) -> Proposal:
    """The files of VIEScore results as one table, the rows numbered on. A case is told by its first row, which is that of
    SC where there is one (it knows the input images as well); the others only say their aspect."""
    ordered = sorted(parts, key=lambda p: p.table.source.stem != "SC")

    def rows() -> Iterator[tuple[int, dict[str, str]]]:
        told: set[str] = set()
        for number, (_, row) in enumerate(itertools.chain(*(p.table.rows() for p in ordered)), 1):
            yield number, row | dict.fromkeys(_CASE, "") if row["case_id"] in told else row
            told.add(row["case_id"])

    note = f"{len(parts)} files of results are read as one table."
    return replace(parts[0], table=replace(ordered[0].table, rows=rows, notes=(note,)))
