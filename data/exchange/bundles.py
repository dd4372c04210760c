"""A bundle in: a dataset that was written whole (`data.exchange.writing.bundle`) comes into a workspace as it was."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from data.exchange.columns import as_typed
from data.exchange.writing import long
from data.exchange.writing.bundle import FORM, RUN_CASE
from data.exchange.writing.table import Column
from data.exchange.zips import DAMAGED, ZipOfPictures
from data.images import NotAPicture, Picture, keep
from data.store import cases as case_store
from data.store.connection import writing
from data.store.whole_dataset import DatasetRows

#: The tables in the order in which they can be saved, with their columns; further columns are not read.
_TABLES: dict[str, tuple[Column, ...]] = {
    "cases": long.CASE, "parts": long.PART, "run_cases": RUN_CASE, "verdicts": long.VERDICT, "items": long.ITEM,
    "draws": long.DRAW, "reviews": long.REVIEW, "corrections": long.CORRECTION, "adjudications": long.ADJUDICATION,
}  # fmt: skip
_MOST_CHARACTERS = 50_000_000


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
            words = json.loads(archive.read("dataset.json"))
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
    except (KeyError, TypeError) as error:
        raise BundleRefused(f"{path.name} lacks {error}; it is no whole bundle. Nothing was saved.") from error


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
    counts = {"cases": len(rows.cases), "verdicts": len(rows.verdicts), "reviews": len(rows.reviews)}
    return {"dataset": name, **counts, "pictures": len(pictures)}


class _Bundle:
    """The tables of a bundle, read row by row; what is wrong with a row is said with its place."""

    def __init__(self, archive: zipfile.ZipFile, name: str):
        self._archive, self._name, self._row = archive, name, 0

    def save(self, table: str, add: Callable[[Iterator[dict]], None]) -> None:
        try:
            add(self._runs() if table == "runs" else self._rows(table))
        except (ValueError, KeyError, TypeError, csv.Error, sqlite3.IntegrityError) as error:
            told = f"{error.args[0]!r} is not known" if isinstance(error, KeyError) else error
            raise BundleRefused(f"{self._name}, {table}, row {self._row}: {told}. Nothing was saved.") from error

    def _runs(self) -> Iterator[dict]:
        with self._archive.open("runs.jsonl") as file:
            for self._row, line in enumerate(io.TextIOWrapper(file, encoding="utf-8"), 1):
                yield json.loads(line)

    def _rows(self, table: str) -> Iterator[dict]:
        csv.field_size_limit(_MOST_CHARACTERS)
        with self._archive.open(f"{table}.csv") as file:
            text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            for self._row, row in enumerate(csv.DictReader(text), 1):
                yield {column.name: _value(column.kind, as_typed(row[column.name])) for column in _TABLES[table]}


def _value(kind: str, cell: str) -> object:
    """A cell as what its column holds; an empty one holds nothing."""
    match kind:
        case "list":
            return _list(cell)
        case "json":
            return json.loads(cell) if cell else []
        case "text" | "time":
            return cell or None
    return None if cell == "" else float(cell) if kind == "number" else int(cell)


def _list(cell: str) -> list[str]:
    """The entries of a list exactly as they were: JSON, or one entry as it is."""
    try:
        found = json.loads(cell) if cell.startswith("[") else None
    except ValueError:
        found = None
    return found if isinstance(found, list) else [cell] if cell else []
