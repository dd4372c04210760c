"""Tables out: which there are, in which formats, and the one function that writes them.

A table is read from a snapshot and written row by row: memory does not grow with the number of rows. A file is there when
it is whole; whatever goes wrong leaves what was there before.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from data.exchange.writing import long, wide
from data.exchange.writing.bundle import write_bundle
from data.exchange.writing.coze import coze_table
from data.exchange.writing.label_studio import write_label_studio
from data.exchange.writing.table import ExportRefused, Table
from data.exchange.writing.text import write_csv, write_jsonl
from data.store.snapshot import Snapshot, snapshot

__all__ = [
    "FORMATS", "MEDIA_TYPES", "NEED_RUN", "OF_RUNS", "TABLES", "WHOLE", "ExportRefused", "ending_of", "opened", "snapshot",
    "write",
]  # fmt: skip

#: The tables, with what a row of them is. The agreement table is of one run.
TABLES = {
    "everything": "one row a case: parts, every run's verdict with its items, each person's first and final label, gold",
    "cases": "one row a case",
    "verdicts": "one row a verdict, with every item in a column of its own and the judge's raw replies",
    "reviews": "one row for everything a person said, undone and revised labels included",
    "adjudications": "one row a lead's decision",
    "draws": "one row a case drawn for a reviewer, with its chance, labelled or not",
    "agreement": "one row a case of a run: the judge's label, each person's, and the final one",
}
#: Formats that every table can have, and formats that are a table of their own; with the ending of their files.
FORMATS = {
    "csv": ("CSV in UTF-8 that spreadsheets open right; cells that look like formulas are made harmless", ".csv"),
    "xlsx": ("Excel, columns typed, header frozen", ".xlsx"),
    "jsonl": ("JSON lines", ".jsonl"),
    "parquet": ("Parquet, for pandas and DuckDB", ".parquet"),
    "coze": ("Coze's table (Excel) with score and reasoning of a run filled", ".xlsx"),
    "labelstudio": ("Label Studio's JSON: verdicts as predictions, labels as annotations", ".json"),
    "bundle": ("the whole dataset as one zip: all tables as CSV, and the pictures", ".zip"),
}
#: Formats whose table is their own.
WHOLE = ("coze", "labelstudio", "bundle")
#: What is of one run, and what may be.
NEED_RUN = ("agreement", "coze")
OF_RUNS = (*NEED_RUN, "everything", "verdicts", "labelstudio")
MEDIA_TYPES = {
    ".csv": "text/csv", ".json": "application/json", ".jsonl": "application/jsonl", ".zip": "application/zip",
    ".parquet": "application/vnd.apache.parquet",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}  # fmt: skip
_OF_DATASET: dict[str, Callable[[Snapshot, int], Table]] = {
    "cases": long.cases_table,
    "reviews": long.reviews_table,
    "adjudications": long.adjudications_table,
    "draws": long.draws_table,
}
_OF_RUNS: dict[str, Callable[[Snapshot, int, int | None], Table]] = {
    "everything": wide.everything_table,
    "verdicts": long.verdicts_table,
}


def ending_of(format: str) -> str:
    """The ending of a format's files."""
    return FORMATS[format][1]


def opened(of: Snapshot, table: str, dataset: str, run_id: int | None = None) -> Table:
    """A table of one dataset. everything and verdicts may be of one run; agreement needs one.

    :raises ExportRefused: if there is no such table, dataset or run, with a sentence.
    """
    dataset_id = _checked(of, dataset, run_id)
    if table in _OF_DATASET:
        return _OF_DATASET[table](of, dataset_id)
    if table in _OF_RUNS:
        return _OF_RUNS[table](of, dataset_id, run_id)
    if table != "agreement":
        raise ExportRefused(f"There is no table {table!r}; there are: {', '.join(TABLES)}.")
    if run_id is None:
        raise ExportRefused("The agreement table is of one run; name it.")
    return wide.agreement_table(of, dataset_id, run_id)


def write(
    table: str, dataset: str, path: Path, *, format: str = "csv", run_id: int | None = None, thumbnails: bool = False
) -> dict[str, int]:
    """Write a table, or a format that is a table of its own, to a file; gives rows, and what else there is to tell:
    `cut` cells that were longer than Excel allows; `pictures` and `missing` of a bundle.

    :raises ExportRefused: as `opened`, or if the format cannot hold it.
    :raises OSError: if the file cannot be written.
    """
    if format not in FORMATS:
        raise ExportRefused(f"There is no format {format!r}; there are: {', '.join(FORMATS)}.")
    if thumbnails and format not in ("xlsx", "coze"):
        raise ExportRefused("Thumbnails go into Excel files only.")
    with snapshot() as of, tempfile.TemporaryDirectory(dir=path.parent, prefix=".export-") as folder:
        unfinished = Path(folder) / "unfinished"
        report = _written(of, table, dataset, unfinished, format, run_id, thumbnails, path.suffix.lower() == ".csv")
        os.replace(unfinished, path)
    return report


def _written(
    of: Snapshot, table: str, dataset: str, path: Path, format: str, run_id: int | None, thumbnails: bool, is_csv: bool
) -> dict[str, int]:
    if format == "bundle":
        return write_bundle(of, _checked(of, dataset, None), path)
    if format == "labelstudio":
        return {"rows": write_label_studio(of, _checked(of, dataset, run_id), run_id, path)}
    if format == "coze":
        dataset_id = _checked(of, dataset, run_id)
        if run_id is None:
            raise ExportRefused("Coze's table has the scores of one run; name it.")
        found, format = coze_table(of, dataset_id, run_id), "csv" if is_csv else "xlsx"
    else:
        found = opened(of, table, dataset, run_id)
    report = {"rows": found.count}
    if format == "xlsx":
        from data.exchange.writing.excel import write_xlsx  # with its library, when it is needed

        report["cut"] = write_xlsx(found, path, thumbnails)
    elif format == "parquet":
        from data.exchange.writing.parquet import write_parquet  # likewise

        write_parquet(found, path)
    else:
        (write_csv if format == "csv" else write_jsonl)(found, path)
    return report


def _checked(of: Snapshot, dataset: str, run_id: int | None) -> int:
    """The id of a dataset; the run, if one is named, must be of it."""
    dataset_id = of.value("SELECT id FROM datasets WHERE name = ?", [dataset])
    if dataset_id is None:
        raise ExportRefused(f"There is no dataset {dataset!r}.")
    if run_id is not None and of.value("SELECT dataset_id FROM runs WHERE id = ?", [run_id]) != dataset_id:
        raise ExportRefused(f"Run {run_id} is not a run of {dataset!r}.")
    return dataset_id
