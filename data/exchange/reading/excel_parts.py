"""What openpyxl does not stream: merged areas, and pictures with the cells they belong to.

Pictures in a workbook come in three ways: floating over a cell (xl/drawings), placed in a cell by newer Excel (a cell's
`vm` leads through xl/metadata.xml and xl/richData), and placed in a cell by WPS (a formula DISPIMG names it in
xl/cellimages.xml). ECMA-376 part 1, 20.5; [MS-XLSX] 2.3.6.1 and 2.6.205.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import weakref
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import fromstring
from openpyxl.utils import column_index_from_string, range_boundaries

from data.exchange.reading.headers import Area
from data.exchange.reading.table import Source
from data.images import MAX_BYTES

_MAX_MERGED = 100_000
_MAX_PICTURES = 50_000
_PIECE = 1 << 20
#: Bytes that one of the patterns below can match.
_LONGEST = 1_200
_MAX_XML = 30_000_000
#: Each pattern looks only so far: a sheet is up to 500 MB, and a tag may be never closed.
_MERGED = re.compile(rb"<(?:\w{1,40}:)?mergeCell\s[^<>]{0,200}?ref=\"([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})\"")
_CELL = re.compile(rb"<(?:\w{1,40}:)?c\s[^<>]{0,300}>")
_WPS = re.compile(
    rb"<(?:\w{1,40}:)?c\s([^<>]{0,300})>\s{0,40}<(?:\w{1,40}:)?[fv]\b[^<>]{0,100}>[^<]{0,300}?"
    rb"DISPIMG\((?:&quot;|\")([^\"&<]{1,80})"
)
_REFERENCE = re.compile(rb"\br=\"([A-Z]{1,3})(\d{1,7})\"")
_RICH = re.compile(rb"\bvm=\"(\d{1,7})\"")

Readers = dict[str, Callable[[], bytes]]


@dataclass(frozen=True)
class Sheet:
    """merged: the merged areas. below: row -> column -> last row, of areas that are merged downwards. pictures: row ->
    column -> readers by name. Rows and columns count from 1. filled: how many rows hold something, as far as can be told
    without reading them; less if in doubt."""

    merged: tuple[Area, ...] = ()
    below: dict[int, dict[int, int]] = field(default_factory=dict)
    pictures: dict[int, dict[int, Readers]] = field(default_factory=dict)
    filled: int = 0


def content_types(archive: zipfile.ZipFile) -> dict[str, str]:
    """What each member of a workbook says it is; nothing for one that says two things, or of which nothing is known.

    What is no picture by its ending is none, and no sheet outside of their folder: openpyxl reads some parts by their
    names, whatever their content type. It also reads whole what the workbook calls a sheet of charts.
    """
    package = _Package(None, archive)
    root = package.xml("[Content_Types].xml")
    told: dict[str, set[str]] = {}
    for entry in _all(root, "Override"):
        told.setdefault(entry.get("PartName", "").lstrip("/"), set()).add(entry.get("ContentType", ""))
    defaults = {entry.get("Extension", "").lower(): entry.get("ContentType", "") for entry in _all(root, "Default")}
    found = {}
    for member in archive.namelist():
        ending = posixpath.splitext(member)[1][1:].lower()
        kinds = told.get(member) or {defaults.get(ending, "")}
        kind = next(iter(kinds)) if len(kinds) == 1 else ""
        is_no_picture = kind.startswith("image/") and ending in ("", "xml", "rels", "bin")
        is_no_sheet = kind.endswith(".worksheet+xml") and "/worksheets/" not in member
        found[member] = "" if is_no_picture or is_no_sheet else kind
    books = [path for path, kinds in told.items() if any(kind.endswith("main+xml") for kind in kinds)]
    return found | {path: "" for book in books for path in package.relations(book, "chartsheet").values()}


def sheets_parts(source: Source) -> dict[str, Sheet]:
    """The merged areas and pictures of every sheet by its name; what cannot be understood of them is left out."""
    found = {}
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            package = _Package(source, archive)
            for title, path in package.sheet_paths().items():
                found[title] = _sheet(package, path)
    except Exception:  # a damaged part: whoever reads the values says what is wrong
        return found
    return found


def _sheet(package: _Package, path: str) -> Sheet:
    merged, rich, wps, filled = _scan(package, path)
    below: dict[int, dict[int, int]] = {}
    for top, left, bottom, _right in merged:
        if bottom > top:
            below.setdefault(top, {})[left] = bottom
    pictures: dict[int, dict[int, Readers]] = {}
    for (row, column), media in [*package.floating(path), *package.rich(rich), *package.of_wps(wps)][:_MAX_PICTURES]:
        name = package.name_of(media)
        if name:
            pictures.setdefault(row, {}).setdefault(column, {})[name] = package.reader(media)
    return Sheet(merged, below, pictures, filled)


def _scan(package: _Package, path: str) -> tuple[tuple[Area, ...], dict, dict, int]:
    """Merged areas, cells with rich values, cells of WPS pictures and the filled rows, in one pass over the sheet's XML."""
    merged: list[Area] = []
    rich: dict[tuple[int, int], int] = {}
    wps: dict[tuple[int, int], str] = {}
    has_rich, has_wps = "xl/metadata.xml" in package.members, "xl/cellimages.xml" in package.members
    rest, open_row, filled = b"", b"", 0
    with package.archive.open(path) as file:
        while piece := file.read(_PIECE):
            *whole, open_row = (open_row + piece).split(b"</row>")
            filled += sum(b"<v" in row or b"<is" in row for row in whole)
            open_row = open_row[-_PIECE:]
            piece = rest + piece
            rest = piece[-_LONGEST:]
            if len(merged) < _MAX_MERGED:
                for found in _MERGED.finditer(piece):
                    left, top, right, bottom = range_boundaries(found[1].decode())
                    merged.append((top, left, bottom, right))
            if has_rich and b" vm=" in piece:
                for cell in _CELL.finditer(piece):
                    if (value := _RICH.search(cell[0])) and (at := _REFERENCE.search(cell[0])):
                        rich[_place(at[1], at[2])] = int(value[1])
            if has_wps and b"DISPIMG" in piece:
                for found in _WPS.finditer(piece):
                    if at := _REFERENCE.search(found[1]):
                        wps[_place(at[1], at[2])] = found[2].decode(errors="replace")
    return tuple(dict.fromkeys(merged)), rich, wps, filled


def _place(column: bytes, row: bytes) -> tuple[int, int]:
    return int(row), column_index_from_string(column.decode())


class _Opened:
    """A workbook's zip that is opened when its first picture is read, once for all of them, and closed with the last
    reader."""

    def __init__(self, source: Source):
        self._source = source

    @cached_property
    def archive(self) -> zipfile.ZipFile:
        file = self._source.open()
        weakref.finalize(self, file.close)
        return zipfile.ZipFile(file)


class _Package:
    """A workbook's zip, with the relations between its members."""

    def __init__(self, source: Source, archive: zipfile.ZipFile):
        self.archive = archive
        self.members = set(archive.namelist())
        self._names: dict[str, str] = {}
        self._opened = _Opened(source)

    def xml(self, path: str) -> Element | None:
        """A member as XML, None if there is none that can be read."""
        try:
            if path not in self.members or self.archive.getinfo(path).file_size > _MAX_XML:
                return None
            return fromstring(self.archive.read(path))
        except Exception:  # damaged, or an entity bomb: its pictures are left out, the values are read all the same
            return None

    def relations(self, path: str, kind: str = "") -> dict[str, str]:
        """The targets of a member's relations by id; of those of a kind, if one is named."""
        folder, file = posixpath.split(path)
        root = self.xml(f"{folder}/_rels/{file}.rels")
        return {
            relation.get("Id", ""): self._resolved(folder, relation.get("Target", ""))
            for relation in (root if root is not None else ())
            if relation.get("TargetMode") != "External" and kind in relation.get("Type", "")
        }

    @staticmethod
    def _resolved(folder: str, target: str) -> str:
        return target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))

    def sheet_paths(self) -> dict[str, str]:
        """The members that hold the sheets, by the sheets' names."""
        targets = self.relations("xl/workbook.xml")
        paths = {
            e.get("name", ""): targets.get(_attribute(e, "id")) for e in _all(self.xml("xl/workbook.xml"), "sheet")
        }
        return {title: path for title, path in paths.items() if path in self.members}

    def floating(self, path: str) -> list[tuple[tuple[int, int], str]]:
        """Pictures that lie over cells, each with the cell under its upper left corner."""
        found = []
        for drawing in self.relations(path).values():
            if "/drawings/" not in drawing or not drawing.endswith(".xml"):
                continue
            media = self.relations(drawing)
            for anchor in _all(self.xml(drawing), "oneCellAnchor", "twoCellAnchor"):
                blip = next(iter(_all(anchor, "blip")), None)
                target = media.get(_attribute(blip, "embed")) if blip is not None else None
                if target in self.members:
                    found.append((_anchored(anchor), target))
        return found

    def rich(self, cells: dict[tuple[int, int], int]) -> list[tuple[tuple[int, int], str]]:
        """Pictures that newer Excel placed in cells, given the cells' `vm` (from 1)."""
        if not cells:
            return []
        values = [int(block.get("i", 0)) for block in _all(self.xml("xl/metadata.xml"), "rvb")]
        blocks = _all(next(iter(_all(self.xml("xl/metadata.xml"), "valueMetadata")), None), "rc")
        pictures = [
            int(next((v.text or "0" for v in _all(value, "v")), "0"))
            for value in _all(self.xml("xl/richData/rdrichvalue.xml"), "rv")
        ]
        relations = [_attribute(one, "id") for one in _all(self.xml("xl/richData/richValueRel.xml"), "rel")]
        targets = self.relations("xl/richData/richValueRel.xml")
        found = []
        for cell, number in cells.items():
            try:
                value = values[int(blocks[number - 1].get("v", 0))]
                target = targets[relations[pictures[value]]]
            except (IndexError, KeyError, ValueError):
                continue
            if target in self.members:
                found.append((cell, target))
        return found

    def of_wps(self, cells: dict[tuple[int, int], str]) -> list[tuple[tuple[int, int], str]]:
        """Pictures that WPS placed in cells, given the ids in their formulas."""
        if not cells:
            return []
        targets, by_id = self.relations("xl/cellimages.xml"), {}
        for picture in _all(self.xml("xl/cellimages.xml"), "pic"):
            facts, blip = next(iter(_all(picture, "cNvPr")), None), next(iter(_all(picture, "blip")), None)
            if facts is not None and blip is not None:
                by_id[facts.get("name", "")] = targets.get(_attribute(blip, "embed"))
        return [(cell, by_id[name]) for cell, name in cells.items() if by_id.get(name) in self.members]

    def name_of(self, media: str) -> str:
        """A name made of the picture's content; empty if it cannot be read."""
        if media not in self._names:
            try:
                with self.archive.open(media) as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                self._names[media] = f"embedded-{digest[:12]}{posixpath.splitext(media)[1].lower()}"
            except Exception:  # a damaged member: openpyxl does not look at it, so it is only missing
                self._names[media] = ""
        return self._names[media]

    def reader(self, media: str) -> Callable[[], bytes]:
        opened = self._opened

        def read() -> bytes:
            with opened.archive.open(media) as member:
                return member.read(MAX_BYTES + 1)

        return read


def _anchored(anchor: Element) -> tuple[int, int]:
    """The cell under the upper left corner of a floating picture."""
    corner = next(iter(_all(anchor, "from")), ())
    facts = {_local(child.tag): int(child.text or 0) for child in corner if (child.text or "0").strip().isdigit()}
    return facts.get("row", 0) + 1, facts.get("col", 0) + 1


def _all(root: Element | None, *names: str) -> list[Element]:
    return [] if root is None else [entry for entry in root.iter() if _local(entry.tag) in names]


def _attribute(entry: Element, name: str) -> str:
    """An attribute by its local name; relations have theirs in a namespace."""
    return next((value for key, value in entry.attrib.items() if key.startswith("{") and _local(key) == name), "")


def _local(tag: object) -> str:
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""
