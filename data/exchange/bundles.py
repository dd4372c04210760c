"""A bundle in: a dataset that was written whole (`data.exchange.writing.bundle`) comes into a workspace as it was."""

from __future__ import annotations

import csv
import io
import json
import math
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from data.exchange.columns import as_typed
from data.exchange.writing import long
from data.exchange.writing.bundle import FORM, RUN_CASE, SEEN
from data.exchange.writing.table import Column
from data.exchange.zips import DAMAGED, ZipOfPictures
from data.images import NotAPicture, Picture, keep
from data.store import cases as case_store
from data.store.connection import writing
from data.store.whole_dataset import DatasetRows
from evaluators.metrics import CRITERIA, METRICS
from evaluators.metrics.imported import Imported

#: The tables in the order in which they can be saved, with their columns; further columns are not read.
_TABLES: dict[str, tuple[Column, ...]] = {
    "cases": long.CASE, "parts": long.PART, "run_cases": RUN_CASE, "verdicts": long.VERDICT, "items": long.ITEM,
    "draws": long.DRAW, "reviews": long.REVIEW, "corrections": long.CORRECTION, "adjudications": long.ADJUDICATION,
    "seen": SEEN,
}  # fmt: skip
#: Characters of a line or cell; bytes of dataset.json, and of any other member.
_MOST_CHARACTERS = 50_000_000
_MOST_WORDS, _MOST_BYTES = 5_000_000, 4_000_000_000
#: What rows raise that are not what they should be.
_WRONG = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, csv.Error, sqlite3.IntegrityError,
          sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.DataError)  # fmt: skip


class BundleRefused(ValueError):  # noqa: N818 - it names what happened to the bundle
    """The bundle cannot be brought in; the text says why. Nothing was saved."""


def is_bundle(path: Path) -> bool:
    """Whether a file is a zip that says it is a bundle."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {"dataset.json", "cases.csv", "parts.csv"} <= set(archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def bring_in(path: Path, dataset: str = "") -> dict[str, object]:
    """Save the dataset of a bundle, under its own name or another one; gives its name, cases, verdicts, reviews, and the
    problems of pictures. A dataset of that name must not be here: what is here is never mixed with what comes.

    :raises BundleRefused: if it is none, damaged, newer, or the dataset is here already.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            words = _words(archive)
            if words["form"] > FORM:
                raise BundleRefused(
                    f"{path.name} was made by a newer version of Second Look; bring it in with that one."
                )
            name = dataset or words["name"]
            if case_store.dataset_id(name) is not None:
                raise BundleRefused(f"There is a dataset {name!r} already; bring the bundle in under another name.")
            pictures, problems = _pictures(path)
            return _saved(_Bundle(archive, path.name), name, words, pictures) | {"problems": problems}
    except BundleRefused:
        raise
    except DAMAGED as error:
        raise BundleRefused(f"{path.name} is damaged or no bundle: {error}. Nothing was saved.") from error
    except KeyError as error:
        raise BundleRefused(f"{path.name} lacks {error}; it is no whole bundle. Nothing was saved.") from error


def _words(archive: zipfile.ZipFile) -> dict:
    """What a bundle says of its dataset, once the sizes of its members are known to be bearable.

    :raises ValueError: if one is too large, or what it says is not what a bundle says.
    """
    for member in archive.infolist():  # as declared: Python's zip reader gives no more than that of a member
        most = _MOST_WORDS if member.filename == "dataset.json" else _MOST_BYTES
        if member.file_size > most:
            told = f"{member.filename[-60:]} would unpack to {member.file_size:,} bytes"
            raise ValueError(f"{told}, more than {most:,}")
    words = json.loads(archive.read("dataset.json"))
    if not isinstance(words, dict):
        raise ValueError("dataset.json does not hold an object")
    name, share, overlap, tags = map(words.get, ("name", "blind_share", "overlap", "badcase_tags"))
    wrong = (
        ("form", type(words["form"]) is not int),
        ("name", not isinstance(name, str) or not 0 < len(name.strip()) <= 200),
        ("blind_share", share is not None and not (type(share) in (int, float) and 0 <= share <= 1)),
        ("overlap", overlap is not None and not (type(overlap) is int and 0 < overlap < 1_000)),
        ("badcase_tags", not isinstance(tags or [], list) or not all(map(_is_tag, tags or []))),
    )
    if not wrong[0][1] and words["form"] > FORM:
        return words  # another version may say it otherwise
    if found := next((fact for fact, is_wrong in wrong if is_wrong), None):
        raise ValueError(f"its {found} in dataset.json is not one")
    return {**words, "badcase_tags": tags or []}


def _is_tag(tag: object) -> bool:
    return isinstance(tag, dict) and all(isinstance(tag.get(fact), str) and tag[fact] for fact in ("key", "words"))


def _pictures(path: Path) -> tuple[list[Picture], list[str]]:
    """The pictures that are what their names say, kept; and what is wrong with the others."""
    kept, problems = [], []
    for name, read in ZipOfPictures(path, path.name).readers.items():
        if not name.startswith("images/"):
            continue
        try:
            picture = keep(read(), name)
        except (NotAPicture, LookupError) as error:
            problems.append(str(error.args[0]))
            continue
        if name == f"images/{picture.sha256}.{picture.extension}":
            kept.append(picture)
        else:
            problems.append(f"{name} has been changed: its content is not its name")
    return kept, problems


def _saved(bundle: _Bundle, name: str, words: dict, pictures: list[Picture]) -> dict[str, object]:
    with writing() as db:
        rows = DatasetRows(db, name, words)
        rows.add_pictures(pictures)
        bundle.save("cases", rows.add_cases)
        bundle.save("parts", lambda found: rows.add_parts(found, {picture.sha256 for picture in pictures}))
        bundle.save("runs", rows.add_runs)
        for table in ("run_cases", "verdicts", "items", "draws", "reviews", "corrections", "adjudications"):
            bundle.save(table, getattr(rows, f"add_{table}"))
        if "seen.csv" in bundle.members:  # an older bundle has none
            bundle.save("seen", rows.add_seen)
    counts = {"cases": len(rows.cases), "verdicts": len(rows.verdicts), "reviews": len(rows.reviews)}
    return {"dataset": name, **counts, "pictures": len(pictures)}


class _Bundle:
    """The tables of a bundle, read row by row; what is wrong with a row is said with its place."""

    def __init__(self, archive: zipfile.ZipFile, name: str):
        self._archive, self._name, self._row = archive, name, 0
        self.members = frozenset(archive.namelist())

    def save(self, table: str, add: Callable[[Iterator[dict]], None]) -> None:
        try:
            add(self._runs() if table == "runs" else self._rows(table))
        except _WRONG as error:
            told = f"{error.args[0]!r} is not known" if isinstance(error, KeyError) else error
            raise BundleRefused(f"{self._name}, {table}, row {self._row}: {told}. Nothing was saved.") from error

    def _runs(self) -> Iterator[dict]:
        with self._archive.open("runs.jsonl") as file:
            for self._row, line in enumerate(_Lines(io.TextIOWrapper(file, encoding="utf-8")), 1):
                run = json.loads(line)
                if not isinstance(run, dict) or not isinstance(run["judge"], dict):
                    raise ValueError("it is no object with a judge")
                if not isinstance(run["judge"].get("name"), str) or not isinstance(run["judge"].get("settings"), dict):
                    raise ValueError("its judge has no name or no settings")
                if run["metric"] != Imported.name and run["metric"] not in METRICS:
                    raise ValueError(f"metric {str(run['metric'])[:60]!r} is not one that this version knows")
                _check(run)
                yield run

    def _rows(self, table: str) -> Iterator[dict]:
        csv.field_size_limit(_MOST_CHARACTERS)
        with self._archive.open(f"{table}.csv") as file:
            text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            lines = _Lines(text)
            for self._row, row in enumerate(csv.DictReader(lines), 1):
                lines.taken = 0
                if None in row.values():
                    raise ValueError("it has fewer cells than the header")
                found = {column.name: _value(column.kind, as_typed(row[column.name])) for column in _TABLES[table]}
                _check(found, table)
                yield found


class _Lines:
    """The lines of a text. taken: characters since somebody set it to 0; a row that is too long is an error."""

    def __init__(self, text: io.TextIOWrapper):
        self._text, self.taken = text, 0

    def __iter__(self) -> Iterator[str]:
        while line := self._text.readline(_MOST_CHARACTERS):
            self.taken += len(line)
            if len(line) == _MOST_CHARACTERS or self.taken > 2 * _MOST_CHARACTERS:
                raise ValueError(f"it has more than {_MOST_CHARACTERS:,} characters")
            yield line


def _check(row: dict, table: str = "") -> None:
    """:raises ValueError: if a row says what nothing in a workspace can say."""
    if "criterion" in row and row["criterion"] not in CRITERIA and table != "verdicts":
        raise ValueError(f"criterion {str(row['criterion'])[:60]!r} is not one of {', '.join(CRITERIA)}")
    facts = ("score", "threshold", "pi") if table == "verdicts" else ("threshold", "pi")
    for fact in facts:
        value = row.get(fact)
        if value is not None and not (isinstance(value, int | float) and 0 <= value <= 1):
            raise ValueError(f"{fact} {str(value)[:60]} is not a number from 0 to 1")


def _value(kind: str, cell: str) -> object:
    """A cell as what its column holds; an empty one holds nothing."""
    match kind:
        case "list":
            return _list(cell)
        case "json":
            return json.loads(cell) if cell else []
        case "text" | "time":
            return cell or None
    if cell == "":
        return None
    if kind != "number":
        return int(cell)
    if not math.isfinite(found := float(cell)):
        raise ValueError(f"{cell} is not a number")
    return found


def _list(cell: str) -> list[str]:
    """The entries of a list exactly as they were: JSON, or one entry as it is."""
    try:
        found = json.loads(cell) if cell.startswith("[") else None
    except ValueError:
        found = None
    return found if isinstance(found, list) else [cell] if cell else []
