"""Label Studio's JSON: one task a case, the runs' verdicts as predictions, people's labels as annotations.

The form is that of Label Studio's raw JSON import and export. A labelling interface that shows it needs an Image named
`image`, Choices named `label` (usable, badcase, unsure), Choices named `tags`, and a TextArea
named `comment`. A picture that came by a link keeps it; another one is `/data/local-files/?d=images/…`, which Label Studio
serves when its local files root is the workspace's folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from data.exchange.writing.long import case_cells
from data.exchange.writing.table import unbroken
from data.store import export as store
from data.store import export_wide as wide
from data.store.snapshot import Snapshot
from evaluators.verdict import label_of


def write_label_studio(of: Snapshot, dataset_id: int, run_id: int | None, path: Path) -> int:
    """The cases of a dataset as a JSON list of tasks; gives how many. run_id: predictions of this run only."""
    runs = store.runs(of, dataset_id, run_id)
    wide.prepare(of, [])
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for chunk in store.chunks(store.cases(of, dataset_id)):
            for task in _tasks(of, chunk, runs):
                file.write(("[\n" if count == 0 else ",\n") + unbroken(json.dumps(task, ensure_ascii=False)))
                count += 1
        file.write("\n]\n" if count else "[]\n")
    return count


def _tasks(of: Snapshot, cases: list[dict], runs: list[dict]) -> Iterator[dict]:
    ids, by_run = [case["id"] for case in cases], {run["id"]: run for run in runs}
    predictions: dict[int, list[dict]] = {case_id: [] for case_id in ids}
    annotations: dict[int, list[dict]] = {case_id: [] for case_id in ids}
    for verdict in wide.verdicts_of(of, ids, list(by_run)):
        predictions[verdict["case_id"]].append(_prediction(verdict, by_run[verdict["run_id"]]))
    for review in wide.labels_of(of, ids, "currents"):
        annotations[review["case_id"]].append(_annotation(review))
    for decision in wide.decisions_of(of, ids):
        said = {**decision, "comment": decision["reason"], "tags": [], "blind": False}
        annotations[decision["case_id"]].append({**_annotation(said), "ground_truth": True})
    for case in cases:
        yield {
            "id": case["id"],
            "data": _data(case),
            "predictions": predictions[case["id"]],
            "annotations": annotations[case["id"]],
        }


def _data(case: Mapping) -> dict[str, object]:
    cells = case_cells(case)
    texts = ("case_id", "prompt", "actual_output", "expected_output", "retrieval_context", "generator", "tags", "split")
    results = [_address(p) for p in case["parts"] if p["role"] == "output" and p["kind"] != "text"]
    return {
        **{name: cells[name] for name in texts if cells[name]},
        "case_id": cells["case_id"],
        "image": results[0] if results else "",
        "input_images": [_address(p) for p in case["parts"] if p["role"] == "input" and p["kind"] != "text"],
    }


def _address(part: Mapping) -> str:
    if part["source"].lower().startswith(("http://", "https://")) or not part["sha256"]:
        return part["source"]
    name = f"{part['sha256']}.{part['extension']}"
    return f"/data/local-files/?d=images/{name[:2]}/{name}"


def _prediction(verdict: Mapping, run: Mapping) -> dict[str, object]:
    label = label_of(verdict["score"], run["threshold"])
    why = verdict["reason"] if verdict["status"] == "ok" else f"{verdict['status']}: {verdict['problem']}"
    return {
        "model_version": f"{run['judge_name']} {run['metric']} (run {run['id']})",
        "score": verdict["score"],
        "created_at": verdict["created"],
        "result": [*_choices("label", [label] if label else []), *_text("reason", why)],
    }


def _annotation(review: Mapping) -> dict[str, object]:
    return {
        "created_username": review["reviewer"],
        "created_at": review["created"],
        "ground_truth": False,
        "was_cancelled": False,
        "meta": {"criterion": review["criterion"], "blind": bool(review["blind"]), "basis": review.get("basis")},
        "result": [
            *_choices("label", [review["label"]]),
            *_choices("tags", review["tags"]),
            *_text("comment", review["comment"]),
        ],
    }


def _choices(name: str, chosen: list[str]) -> list[dict]:
    return [{"from_name": name, "to_name": "image", "type": "choices", "value": {"choices": chosen}}] if chosen else []


def _text(name: str, text: str) -> list[dict]:
    return [{"from_name": name, "to_name": "image", "type": "textarea", "value": {"text": [text]}}] if text else []
