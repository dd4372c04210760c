"""Tables out: cases, verdicts, reviews, agreement. CSV in UTF-8 with BOM, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pandas as pd

from data.exchange.columns import CASE_COLUMNS, TABLES, harmless, join_list
from data.store import agreement as agreement_store
from data.store import cases as case_store
from data.store import export as export_store
from data.store.runs import run_by_id
from evaluators.agreement import majority
from evaluators.case import Case
from evaluators.verdict import label_of


def table_rows(table: str, dataset: str, run_id: int | None = None) -> list[dict[str, object]]:
    """The rows of a table of one dataset, all with the same columns.

    verdicts and agreement may be of one run; agreement needs one.

    :raises ValueError: if there is no such table, dataset or run, with a sentence.
    """
    dataset_id = case_store.dataset_id(dataset)
    if dataset_id is None:
        raise ValueError(f"There is no dataset {dataset!r}.")
    if run_id is not None:
        run = run_by_id(run_id)
        if run is None or run["dataset_id"] != dataset_id:
            raise ValueError(f"Run {run_id} is not a run of {dataset!r}.")
    elif table == "agreement":
        raise ValueError("The agreement table is of one run; name it.")
    makers: dict[str, Callable[[], Iterable[dict]]] = {
        "cases": lambda: _cases(dataset_id),
        "verdicts": lambda: _verdicts(dataset_id, run_id),
        "reviews": lambda: _reviews(dataset_id),
        "agreement": lambda: _agreement(run_id),
    }
    if table not in TABLES:
        raise ValueError(f"There is no table {table!r}; there are: {', '.join(TABLES)}.")
    return _squared(list(makers[table]()), TABLES[table][1])


def as_csv(table: str, rows: Sequence[Mapping[str, object]]) -> bytes:
    """The rows of a table as CSV: UTF-8 with BOM, CRLF, texts that look like formulas made harmless."""
    return _csv(list(rows[0]) if rows else TABLES[table][1], (row.values() for row in rows))


def frame_csv(frame: pd.DataFrame) -> bytes:
    """A table of figures as such a CSV; what is undefined is empty."""
    plain = frame.astype(object).where(frame.notna(), None)
    return _csv(map(str, plain.columns), plain.itertuples(index=False))


def _csv(header: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(header)
    writer.writerows(map(_cell, row) for row in rows)
    return buffer.getvalue().encode("utf-8-sig", "replace")


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        return harmless(value)
    return "" if value is None else value


def _squared(rows: list[dict], first: Sequence[str]) -> list[dict]:
    """All rows with all columns: the table's own, then the others in the order in which they came."""
    columns = dict.fromkeys((*first, *(column for row in rows for column in row)))
    return [{column: row.get(column) for column in columns} for row in rows]


def _cases(dataset_id: int) -> Iterator[dict]:
    wanted, offset, step = case_store.CaseFilter(dataset_id=dataset_id), 0, 500
    while found := case_store.list_cases(wanted, step, offset):
        cases = case_store.load_cases([row["id"] for row in found])
        for row in found:
            yield {**_case_columns(cases[row["id"]]), "revision": row["revision"], "created": row["created"]}
        offset += step


def _case_columns(case: Case) -> dict[str, object]:
    def said(parts) -> str:
        return join_list([part.text if part.kind == "text" else part.source for part in parts])

    results = [part for part in case.output if part.kind != "text"]
    pictures = {
        "input_images": join_list([part.source for part in case.input_images]),
        "result_image": results[0].source if results else "",
    }
    columns = {
        "case_id": case.id,
        "prompt": case.prompt,
        **pictures,
        "actual_output": said([part for part in case.output if part not in results[:1]]),
        "expected_output": said(case.expected),
        "retrieval_context": said(case.context),
        "generator": case.generator,
        "tags": join_list(list(case.tags)),
    }
    return {name: columns[name] for name in CASE_COLUMNS}


def _verdicts(dataset_id: int, run_id: int | None) -> Iterator[dict]:
    for verdict in export_store.verdicts(dataset_id, run_id):
        items = verdict.pop("items")
        verdict["label"] = label_of(verdict["score"], verdict["threshold"])
        verdict["flags"] = join_list(verdict["flags"])
        yield _columns("verdicts", verdict) | {f"item:{key}": value for key, value in items.items()}


def _reviews(dataset_id: int) -> Iterator[dict]:
    for review in export_store.reviews(dataset_id):
        items = review.pop("items")
        review |= {"human_label": review["label"], "human_score": review["score"], "run": review["run_id"]}
        review["tags"] = join_list(review["tags"])
        yield _columns("reviews", review) | {f"human_item:{key}": value for key, value in items.items()}


def _agreement(run_id: int) -> Iterator[dict]:
    """final_label is the lead's decision, else the majority of everybody's current labels, picked ones included;
    final_label_blind and final_label_all are what the figures of either basis count."""
    run = run_by_id(run_id)
    labels = export_store.labels_of_run(run_id)
    counted = {
        basis: {
            pair["case_id"]: pair["gold"]
            for pair in agreement_store.agreement_rows(agreement_store.Basis(run_id, run["threshold"], basis))
        }
        for basis in agreement_store.BASES
    }
    people = sorted({name for said in labels.values() for name in said})
    for case in export_store.judged_cases(run_id):
        said = labels.get(case["case"], {})
        votes = [_VOTES.get(of.get("current")) for of in said.values()]
        case |= {
            "judge": run["judge"]["name"],
            "metric": run["metric"],
            "threshold": run["threshold"],
            "judge_label": label_of(case["score"], run["threshold"]),
            "final_label": case["adjudicated"] or _LABELS[majority(votes)],
            **{f"final_label_{basis}": counted[basis].get(case["case"]) for basis in counted},
        }
        yield (
            _columns("agreement", case)
            | {f"first_label:{name}": said.get(name, {}).get("first") for name in people}
            | {f"label:{name}": said.get(name, {}).get("current") for name in people}
        )


_VOTES = {"badcase": 1, "usable": 0}
_LABELS = {1: "badcase", 0: "usable", None: None}


def _columns(table: str, found: Mapping[str, object]) -> dict[str, object]:
    return {column: found[column] for column in TABLES[table][1]}
