"""Label Studio's exports of image tasks: JSON (tasks with annotations and predictions), and the small JSON and CSV.

An annotation's `result` holds entries of type choices, rating, number and textarea. A choice that is a word for usable,
badcase or unsure is the label; other choices are tags; a rating is one of 5. Who annotated is completed_by (an id, or an
object with an email) or created_username; a cancelled annotation says nothing. An annotation with `ground_truth` is the
lead's decision. `meta` may say criterion, blind and basis, as Second Look's own export does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from data.exchange.formats.rewriting import parsed, rewritten, text
from data.exchange.mapping import Choices
from data.exchange.proposing import Proposal, guessed, is_picture_name
from data.exchange.reading import Table
from data.exchange.synonyms import field_named, label_from

_CASE = ("case_id", "prompt", "input_images", "result_image", "actual_output", "expected_output", "retrieval_context", "generator",
         "tags", "split")  # fmt: skip
_SAID = {
    "reviewer": "reviewer", "label": "human_label", "rating": "rating:rating", "comment": "comment",
    "label_tags": "human_tags", "labelled": "labelled", "criterion": "criterion", "blind": "blind", "basis": "basis",
    "adjudicated": "adjudicated", "adjudicated_by": "adjudicated_by", "adjudicated_at": "adjudicated_at",
    "adjudication_reason": "adjudication_reason", "judge": "judge", "judge_label": "judge_label", "score": "score",
    "reason": "reason",
}  # fmt: skip


def recognise(table: Table) -> Proposal | None:
    """A proposal for tasks with annotations: a row for each annotation and each prediction of a task."""
    if "annotations" not in table.columns and "completions" not in table.columns:
        return _small(table)
    if not any(column.startswith("data.") for column in table.columns):
        return None
    fields = {name: name for name in _CASE}
    return rewritten(table, "tasks of Label Studio", fields | _SAID, _rows, Choices(rating_scale=5.0))


def _small(table: Table) -> Proposal | None:
    """The exports with one row an annotation: JSON_MIN and CSV."""
    if not {"annotation_id", "annotator"} <= set(table.columns):
        return None
    mapping = guessed(table)
    for column in table.columns:
        if column in ("choice", "label", "quality", "verdict") and "human_label" not in mapping.fields.values():
            mapping = mapping.with_column(column, "human_label")
    wanted = {"annotator": "reviewer", "created_at": "labelled", "id": "case_id"}
    for column, target in wanted.items():
        if column in table.columns and not (target == "case_id" and "case_id" in mapping.fields.values()):
            mapping = mapping.with_column(column, target)
    return Proposal(table, mapping, Choices(rating_scale=5.0), "a small export of Label Studio")


def _rows(row: Mapping[str, str]) -> Iterator[dict[str, str]]:
    data = {column.removeprefix("data."): cell for column, cell in row.items() if column.startswith("data.")}
    case = _case(data, row.get("id", ""))
    annotations = parsed(row.get("annotations") or row.get("completions", ""))
    predictions = parsed(row.get("predictions", ""))
    said = [_annotation(a) for a in _objects(annotations) if not a.get("was_cancelled")]
    said += [_prediction(p) for p in _objects(predictions)]
    for one in said or [{}]:
        yield case | one


def _case(data: Mapping[str, str], task_id: str) -> dict[str, str]:
    case: dict[str, str] = {}
    for name, cell in data.items():
        found = field_named(name)
        if found in _CASE and not case.get(found) and cell:
            case[found] = cell
    if "result_image" not in case:
        case["result_image"] = next((cell for cell in data.values() if is_picture_name(cell)), "")
    case["case_id"] = case.get("case_id") or (f"task-{task_id}" if task_id else "")
    for field in ("input_images", "result_image"):
        case[field] = case.get(field, "").replace("/data/local-files/?d=", "").replace("/data/upload/", "")
    return case


def _annotation(annotation: Mapping) -> dict[str, str]:
    values = _values(annotation.get("result"))
    who = annotation.get("created_username") or annotation.get("completed_by") or "annotator"
    who = who.get("email") or who.get("username") or who.get("id") if isinstance(who, dict) else who
    name = f"annotator {who}" if isinstance(who, int) else str(who).strip()
    at, comment = text(annotation.get("created_at") or annotation.get("updated_at")), values["text"]
    if annotation.get("ground_truth"):
        return {
            "adjudicated": values["label"],
            "adjudicated_by": name,
            "adjudicated_at": at,
            "adjudication_reason": comment,
        } | (_meta(annotation))
    return {
        "reviewer": name, "label": values["label"], "rating": "" if values["label"] else values["number"],
        "comment": comment, "label_tags": text(values["tags"]) if values["tags"] else "", "labelled": at,
    } | _meta(annotation)  # fmt: skip


def _meta(annotation: Mapping) -> dict[str, str]:
    meta = annotation.get("meta")
    if not isinstance(meta, dict):
        return {}
    return {name: text(meta[name]) for name in ("criterion", "blind", "basis") if meta.get(name) is not None}


def _prediction(prediction: Mapping) -> dict[str, str]:
    values = _values(prediction.get("result"))
    score = prediction.get("score")
    return {
        "judge": text(prediction.get("model_version")) or "prediction", "judge_label": values["label"],
        "score": text(score) if isinstance(score, int | float) else "", "reason": values["text"],
    }  # fmt: skip


def _values(result: object) -> dict:
    """The label, tags, number and text of a result."""
    found = {"label": "", "tags": [], "number": "", "text": ""}
    for entry in _objects(result):
        value = entry.get("value") if isinstance(entry.get("value"), dict) else {}
        for choice in value.get("choices") or ():
            label = label_from(str(choice))
            if label and not found["label"]:
                found["label"] = label
            else:
                found["tags"].append(str(choice))
        if "rating" in value or "number" in value:
            found["number"] = text(value.get("rating", value.get("number")))
        told = value.get("text")
        if told:
            found["text"] = "\n".join(map(str, told)) if isinstance(told, list) else str(told)
    return found


def _objects(found: object) -> list[dict]:
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
