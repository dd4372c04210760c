"""A dataset as one zip with nothing missing: all tables as CSV, the pictures, the runs and how the dataset is reviewed.

    dataset.json        name, blind_share, overlap, badcase tags, and the form's version
    cases.csv           the cases as they are now; pictures by their names in this zip
    parts.csv           every part of every revision, with the name or link that each picture came by
    runs.jsonl          metric, version, settings, judge, threshold, prompts, status of each run
    run_cases.csv       which cases in which revision a run was to judge
    verdicts.csv, items.csv, reviews.csv, corrections.csv, adjudications.csv, draws.csv
    seen.csv            who has been shown a verdict on which case: no later label of theirs is blind
    images/SHA256.EXT   the originals

`data.exchange.bundles` brings it into another workspace as it was: reviews with basis, blind flag and draw, draws in
their order (an audited case counts once the random order has come past it), decisions in theirs.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

from data.exchange.writing import long
from data.exchange.writing.table import Table, cells, columns_of, unbroken
from data.exchange.writing.text import put_csv
from data.images import original_path
from data.store import export as store
from data.store.snapshot import Snapshot

FORM = 1
RUN_CASE = columns_of("run:whole position:whole case_id revision:whole")
SEEN = columns_of("reviewer case_id revision:whole seen:time")


def write_bundle(of: Snapshot, dataset_id: int, path: Path) -> dict[str, int]:
    """The whole dataset as a zip; gives how many rows, pictures and missing pictures."""
    rows = pictures = missing = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
        words = {"form": FORM, **store.workspace_words(of, dataset_id)}
        archive.writestr("dataset.json", _json(words, indent=2))
        for table in _tables(of, dataset_id):
            with archive.open(f"{table.name}.csv", "w", force_zip64=True) as file:
                put_csv(table.names, cells(table), file)
            rows += table.count
        runs = "".join(_json(run) + "\n" for run in store.runs(of, dataset_id))
        archive.writestr("runs.jsonl", runs)
        for picture in store.pictures(of, dataset_id):
            original = original_path(picture["sha256"], picture["extension"])
            if original.exists():
                archive.write(original, long.bundled_name(picture), zipfile.ZIP_STORED)
                pictures += 1
            else:
                missing += 1
    return {"rows": rows, "pictures": pictures, "missing": missing}


def _tables(of: Snapshot, dataset_id: int) -> Iterator[Table]:
    yield long.bundled_cases_table(of, dataset_id)
    yield long.parts_table(of, dataset_id)
    count = store.count_rows(of, "run_cases", dataset_id)
    yield Table("run_cases", RUN_CASE, count, store.run_cases(of, dataset_id))
    yield long.verdicts_table(of, dataset_id)
    yield long.items_table(of, dataset_id)
    yield long.reviews_table(of, dataset_id)
    yield long.corrections_table(of, dataset_id)
    yield long.adjudications_table(of, dataset_id)
    yield long.draws_table(of, dataset_id)
    yield Table("seen", SEEN, store.count_rows(of, "seen", dataset_id), store.seen(of, dataset_id))


def _json(value: object, indent: int | None = None) -> str:
    return unbroken(json.dumps(value, ensure_ascii=False, indent=indent))
