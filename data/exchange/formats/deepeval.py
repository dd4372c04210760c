"""deepeval's test cases and test runs.

Test cases (a data set saved as JSON, JSONL or CSV): input, actual_output, expected_output, context, retrieval_context.
Test runs (.latest_test_run.json): testCases with name, input, actualOutput, … and metricsData; results of evaluate():
test_results with metrics_data. Each entry of these has name, score, threshold, success, reason, evaluationModel, error.
Texts may be lists of texts and images. An image is an object with `url` or `dataBase64`, or stands in a text as
`[DEEPEVAL:IMAGE:ID]`: only deepeval itself knows which picture such an ID was, so it counts as missing unless it is a
link or a file name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from data.exchange.formats.rewriting import parsed, rewritten, text
from data.exchange.mapping import Choices
from data.exchange.proposing import Proposal, is_picture_name
from data.exchange.reading import Table

_IMAGE = re.compile(r"\[DEEPEVAL:IMAGE:(.*?)\]|MLLMImage\([^)]*?url=['\"](.*?)['\"][^)]*\)")
_CASE = {
    "case_id": "case_id", "prompt": "prompt", "input_images": "input_images", "result_image": "result_image",
    "actual_output": "actual_output", "expected_output": "expected_output", "retrieval_context": "retrieval_context",
    "tags": "tags",
}  # fmt: skip
_VERDICT = {
    "judge": "judge", "metric": "run", "score": "score", "success": "judge_label", "reason": "reason", "error": "problem",
    "threshold": "threshold",
}  # fmt: skip


def recognise(table: Table) -> Proposal | None:
    """A proposal for either; several metrics of a case become several rows."""
    names = {_plain(column): column for column in table.columns}
    if "input" not in names or not {"actualoutput", "expectedoutput"} & set(names):
        return None
    has_verdicts = "metricsdata" in names
    if not has_verdicts and "prompt" in names:
        return None

    def rewrite(row: Mapping[str, str]) -> Iterator[dict[str, str]]:
        told = {name: row.get(column, "") for name, column in names.items()}
        case = _case(told)
        entries = parsed(told.get("metricsdata", "")) if has_verdicts else None
        for entry in [e for e in entries if isinstance(e, dict)] if isinstance(entries, list) and entries else [{}]:
            yield case | (_verdict({_plain(key): value for key, value in entry.items()}) if has_verdicts else {})

    fields = _CASE | (_VERDICT if has_verdicts else {})
    return rewritten(table, f"deepeval {'results' if has_verdicts else 'test cases'}", fields, rewrite, Choices())


def _case(told: Mapping[str, str]) -> dict[str, str]:
    inputs, outputs = _split(told.get("input", "")), _split(told.get("actualoutput", ""))
    context = told.get("retrievalcontext") or told.get("context", "")
    return {
        "case_id": told.get("name", "") or told.get("id", ""),
        "prompt": "\n".join(inputs[0]),
        "input_images": text(inputs[1]) if inputs[1] else "",
        "result_image": text(outputs[1]) if outputs[1] else "",
        "actual_output": text(outputs[0]) if outputs[0] else "",
        "expected_output": _entries(told.get("expectedoutput", "")),
        "retrieval_context": _entries(context),
        "tags": told.get("tags", ""),
    }


def _verdict(entry: Mapping[str, object]) -> dict[str, str]:
    threshold = entry.get("threshold")
    return {
        "judge": f"{entry.get('name') or 'deepeval'} · {entry.get('evaluationmodel') or 'unknown model'}",
        "metric": text(entry.get("name")),
        "score": text(entry.get("score")),
        "success": text(entry.get("success")),
        "reason": text(entry.get("reason")),
        "error": text(entry.get("error")) if entry.get("score") is None else "",
        "threshold": text(threshold),
    }


def _entries(cell: str) -> str:
    """A list of texts and pictures as our columns have it."""
    told, pictures = _split(cell)
    return text([*told, *pictures]) if told or pictures else ""


def _split(cell: str) -> tuple[list[str], list[str]]:
    """The texts and the pictures of a field."""
    found = parsed(cell) if cell.strip()[:1] in "[{" and cell.strip() else None
    texts: list[str] = []
    pictures: list[str] = []
    for entry in found if isinstance(found, list) else [found if isinstance(found, dict) else cell]:
        if isinstance(entry, dict):
            link = entry.get("url") or entry.get("path")
            if entry.get("dataBase64"):
                link = f"data:{entry.get('mimeType') or 'image/png'};base64,{entry['dataBase64']}"
            if link:
                pictures.append(str(link))
            continue
        rest = text(entry)
        pictures += [first or second for first, second in _IMAGE.findall(rest)]
        rest = _IMAGE.sub("", rest).strip()
        if rest:
            (pictures if is_picture_name(rest) else texts).append(rest)
    return texts, pictures


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())
