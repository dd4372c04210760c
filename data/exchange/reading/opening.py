"""What a file is, by its content; its name's ending only decides what the content leaves open."""

from __future__ import annotations

import zipfile

from data.exchange.reading import delimited, excel, objects, parquet
from data.exchange.reading.table import MAX_FILE, Source, Table, TableUnreadable

#: How files begin that people take for tables and that are none.
_OTHERS = {
    b"\xd0\xcf\x11\xe0": "is an old Excel file (.xls); save it as .xlsx or CSV",
    b"%PDF": "is a PDF; save the table as XLSX or CSV",
    b"\x89PNG": "is a picture, not a table",
    b"\xff\xd8\xff": "is a picture, not a table",
    b"GIF8": "is a picture, not a table",
    b"\x1f\x8b": "is packed with gzip; unpack it first",
    b"Rar!": "is a RAR archive; unpack it first",
    b"7z\xbc\xaf": "is a 7z archive; unpack it first",
}


def open_table(source: Source, sheet: str | None = None) -> Table:
    """The table in a file: delimited text, XLSX, JSON, JSONL or Parquet.

    sheet: of a workbook; without it the first one with a header that is known, else the first with rows.

    :raises TableUnreadable: with one sentence: what is wrong, where, what to do.
    """
    name = source.short_name
    if not source.size:
        raise TableUnreadable(f"{name} is empty.")
    if source.size > MAX_FILE:
        raise TableUnreadable(f"{name} has {source.size:,} bytes, more than {MAX_FILE:,}; split it into several files.")
    with source.open() as file:
        head = file.read(4096)
    wrong = next((words for start, words in _OTHERS.items() if head.startswith(start)), None)
    if wrong:
        raise TableUnreadable(f"{name} {wrong}.")
    if head.startswith(b"PK"):
        return _in_zip(source, sheet)
    if head.startswith(b"PAR1"):
        return parquet.open(source, sheet)
    text = head.replace(b"\x00", b"").removeprefix(b"\xef\xbb\xbf").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")
    text = text.lstrip()
    if text[:14].lower().startswith((b"<!doctype html", b"<html")):
        raise TableUnreadable(f"{name} is a web page, whatever its name says; save the table as XLSX or CSV.")
    if text[:1] in (b"{", b"[") and (text[1:].lstrip()[:1] in b'{["}]' or not _is_named_delimited(source)):
        return objects.open(source, sheet)
    return delimited.open(source, sheet)


def _in_zip(source: Source, sheet: str | None) -> Table:
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            members = set(archive.namelist())
    except Exception:  # a damaged one: the Excel reader says how
        return excel.open(source, sheet)
    if "[Content_Types].xml" not in members and not any(m.startswith("xl/") for m in members):
        told = "is a zip without a workbook in it; unpack it, or give it as the pictures of a table"
        raise TableUnreadable(f"{source.short_name} {told}.")
    return excel.open(source, sheet)


def _is_named_delimited(source: Source) -> bool:
    return source.name.lower().endswith((".csv", ".tsv", ".txt"))
