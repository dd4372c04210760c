"""Result tables of Vertex AI's Gecko: prompt, image or video, rubrics, qa_records, gecko_metric/rubric_results, final_score.

A picture is `{"contents": [{"parts": [{"file_data": {"mime_type": …, "file_uri": …}}]}]}`, or the same with inline_data.
rubric_results is an object question -> answer, written as JSON or as Python does; qa_records hold the right answers as
`gt_answer='yes'`. Without final_score the score is the share of questions answered right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from data.exchange.formats.rewriting import parsed, rewritten
from data.exchange.mapping import Choices
from data.exchange.proposing import Proposal
from data.exchange.reading import Table

_RECORD = re.compile(
    r"question=(?P<q>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\").*?gt_answer=(?P<a>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")",
    re.DOTALL,
)
_FIELDS = {
    "case_id": "case_id", "prompt": "prompt", "result": "result_image", "generator": "generator", "score": "score",
    "questions": "items",
}  # fmt: skip


def recognise(table: Table) -> Proposal | None:
    """A proposal for such a table."""
    results = next((c for c in table.columns if c.split("/")[-1] == "rubric_results"), None)
    result = next((c for c in ("image", "video", "response", "result") if c in table.columns), None)
    if results is None or "prompt" not in table.columns or result is None:
        return None
    score = next((c for c in table.columns if c.split("/")[-1] in ("final_score", "score")), "")
    given = next((c for c in ("case_id", "id") if c in table.columns), "")

    def rewrite(row: Mapping[str, str]) -> Iterator[dict[str, str]]:
        answers = parsed(row.get(results, ""))
        answers = answers if isinstance(answers, dict) else {}
        right = {_string(found["q"]): _string(found["a"]) for found in _RECORD.finditer(row.get("qa_records", ""))}
        items = [
            {"question": question, "answer": str(answer), "expected": right.get(question, "yes")}
            for question, answer in answers.items()
        ]
        share = sum(i["answer"].strip().lower() == i["expected"].lower() for i in items) / len(items) if items else None
        yield {
            "case_id": row.get(given, ""),
            "prompt": row.get("prompt", ""),
            "result": _uri(row.get(result, "")),
            "generator": row.get("generator", "") or row.get("model", ""),
            "score": row.get(score, "") or ("" if share is None else repr(share)),
            "questions": json.dumps(items, ensure_ascii=False) if items else "",
        }

    fields = {column: field for column, field in _FIELDS.items() if given or column != "case_id"}
    metric = "gecko_video" if result == "video" else "gecko_image"
    choices = Choices(criterion="match", judge="Vertex Gecko", metric=metric, scale=1.0)
    return rewritten(table, "a result of Vertex AI's Gecko", fields, rewrite, choices)


def _uri(cell: str) -> str:
    """The link or content of the first file in a cell; the cell itself if it is no such object."""
    found = parsed(cell)
    waiting: list[object] = [found]
    while waiting:
        entry = waiting.pop(0)
        if isinstance(entry, dict):
            if "file_uri" in entry or "fileUri" in entry:
                return str(entry.get("file_uri") or entry.get("fileUri"))
            if "data" in entry and ("mime_type" in entry or "mimeType" in entry):
                return f"data:{entry.get('mime_type') or entry.get('mimeType')};base64,{entry['data']}"
            waiting += entry.values()
        elif isinstance(entry, list):
            waiting += entry
    return "" if isinstance(found, dict | list) else cell


def _string(literal: str) -> str:
    found = parsed(literal)
    return found if isinstance(found, str) else literal[1:-1]
