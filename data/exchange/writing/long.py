"""The long tables: one row a case, a verdict, a review, a decision, a draw, an item, a part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from data.exchange.writing.table import PICTURE, Column, Table, columns_of, item_cells, item_columns
from data.store import export as store
from data.store.snapshot import Snapshot
from evaluators.verdict import label_of

CASE = columns_of(
    "case_id prompt input_images:list result_image actual_output:list expected_output:list retrieval_context:list "
    "generator tags:list revision:whole created:time split"
)
VERDICT = columns_of(
    "case_id prompt generator revision:whole current_revision:whole run:whole judge metric status score:number label "
    "reasoning problem flags:list threshold:number metric_version rubric_version:whole input_tokens:whole "
    "output_tokens:whole created:time raw_replies:json criterion seconds:number steps:list"
)
REVIEW = columns_of(
    "case_id prompt generator revision:whole current_revision:whole criterion reviewer human_label human_score:number "
    "blind:yes comment tags:list first:yes stands:yes undoes basis queue stratum pi:number run:whole token decided "
    "created:time undone:time shown:yes dwell_ms:whole"
)
ADJUDICATION = columns_of(
    "case_id prompt generator revision:whole current_revision:whole criterion reviewer label reason token created:time"
)
DRAW = columns_of("queue reviewer case_id criterion stratum pi:number basis created:time")
ITEM = columns_of(
    "case_id run:whole position:whole key kind group text value:number low:number high:number answer expected "
    "choices:list node:whole"
)
CORRECTION = columns_of("token key value:number answer")
PART = columns_of("case_id revision:whole role position:whole kind text source sha256 extension problem file")


def cases_table(of: Snapshot, dataset_id: int) -> Table:
    """One row a case, as it is now."""
    rows = (case_cells(case) for case in store.cases(of, dataset_id))
    return Table("cases", CASE, store.count_rows(of, "cases", dataset_id), rows)


def case_columns() -> tuple[Column, ...]:
    """The columns of a case in every table that has whole cases."""
    return CASE


def case_cells(case: Mapping) -> dict[str, object]:
    """A case of `store.cases` as cells: texts, and the names or links that its pictures came by."""

    def said(parts: list[Mapping]) -> list[str]:
        return [part["text"] if part["kind"] == "text" else part["source"] for part in parts]

    parts = {
        role: [p for p in case["parts"] if p["role"] == role] for role in ("input", "output", "expected", "context")
    }
    results = [part for part in parts["output"] if part["kind"] != "text"]
    shown = next((p for p in (*results, *parts["input"]) if p["sha256"]), None)
    return {
        "case_id": case["external_id"],
        "prompt": "\n".join(part["text"] for part in parts["input"] if part["kind"] == "text"),
        "input_images": said([part for part in parts["input"] if part["kind"] == "image"]),
        "result_image": results[0]["source"] if results else "",
        "actual_output": said([part for part in parts["output"] if part not in results[:1]]),
        "expected_output": said(parts["expected"]),
        "retrieval_context": said(parts["context"]),
        **{name: case[name] for name in ("generator", "tags", "revision", "created", "split")},
        PICTURE: (shown["sha256"], shown["extension"]) if shown else None,
    }


def verdicts_table(of: Snapshot, dataset_id: int, run_id: int | None = None) -> Table:
    """One row a verdict, with every item in a column of its own and the judge's raw replies."""
    items = item_columns("item:", "items", store.item_kinds(of, dataset_id, run_id))
    names = {column.name for column in items}

    def rows() -> Iterator[dict]:
        for verdict in store.verdicts(of, dataset_id, run_id):
            label = label_of(verdict["score"], verdict["threshold"])
            yield verdict | {"label": label} | item_cells("item:", "items", verdict["items"], names)

    return Table("verdicts", (*VERDICT, *items), store.count_rows(of, "verdicts", dataset_id, run_id), rows())


def reviews_table(of: Snapshot, dataset_id: int) -> Table:
    """One row for everything a person said, undone and revised labels included."""
    prefix, rest = "human_item:", "human_items"
    items = item_columns(prefix, rest, store.corrected_kinds(of, dataset_id))
    names = {column.name for column in items}

    def rows() -> Iterator[dict]:
        for review in store.reviews(of, dataset_id):
            flags = {name: bool(review[name]) for name in ("blind", "first", "stands", "shown")}
            facts = {"human_label": review["label"], "human_score": review["score"], "run": review["run_id"]}
            yield review | facts | flags | item_cells(prefix, rest, review["items"], names)

    return Table("reviews", (*REVIEW, *items), store.count_rows(of, "reviews", dataset_id), rows())


def adjudications_table(of: Snapshot, dataset_id: int) -> Table:
    """One row a decision of a lead, the ones that were decided anew included."""
    count = store.count_rows(of, "adjudications", dataset_id)
    return Table("adjudications", ADJUDICATION, count, store.adjudications(of, dataset_id))


def draws_table(of: Snapshot, dataset_id: int) -> Table:
    """One row a case drawn for somebody, whether it was labelled or not: what chances the labels rest on."""
    return Table("draws", DRAW, store.count_rows(of, "draws", dataset_id), store.draws(of, dataset_id))


def items_table(of: Snapshot, dataset_id: int, run_id: int | None = None) -> Table:
    """One row an item of a verdict, with its text, its bounds and what was expected."""
    count = store.count_rows(of, "items", dataset_id, run_id)
    return Table("items", ITEM, count, store.items(of, dataset_id, run_id))


def corrections_table(of: Snapshot, dataset_id: int) -> Table:
    """One row an item that a person corrected, by the token of the review."""
    count = store.count_rows(of, "corrections", dataset_id)
    return Table("corrections", CORRECTION, count, store.corrections(of, dataset_id))


def parts_table(of: Snapshot, dataset_id: int) -> Table:
    """One row a part of a case, older revisions included; file: where a bundle has the picture."""
    rows = (part | {"file": bundled_name(part)} for part in store.parts(of, dataset_id))
    return Table("parts", PART, store.count_rows(of, "parts", dataset_id), rows)


def bundled_name(picture: Mapping) -> str:
    """The name of a kept picture in a bundle; empty for what is none."""
    return f"images/{picture['sha256']}.{picture['extension']}" if picture["sha256"] else ""


def bundled_cases_table(of: Snapshot, dataset_id: int) -> Table:
    """The table of cases with its pictures under the names that they have in a bundle."""
    rows = (
        case_cells({**case, "parts": [{**p, "source": bundled_name(p) or p["source"]} for p in case["parts"]]})
        for case in store.cases(of, dataset_id)
    )
    return replace(cases_table(of, dataset_id), rows=rows)
