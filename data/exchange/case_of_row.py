"""A case made of the cells of one row."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from data.exchange.columns import split_list, texts
from data.images import MEDIA_TYPES
from evaluators.case import Case, Part

_FILE_NAME = re.compile(rf"[^\n]{{1,300}}\.({'|'.join([*MEDIA_TYPES, 'jpeg', 'tiff'])})", re.IGNORECASE)


def case_of_row(cells: Mapping[str, str], take: Callable[[str, str], Part]) -> Case:
    """The case that cells (by field, see `columns.CASE_COLUMNS`) describe.

    take: gives the part of a picture, from its name and the field that names it. A row without an id gets one from its
    content.
    """
    get = cells.get
    prompt, inputs, result = get("prompt"), get("input_images"), get("result_image")
    parts = [Part("text", text=prompt)] if prompt else []
    if inputs:
        parts += [take(name, "input_images") for name in picture_names(inputs)]
    results = [take(name, "result_image") for name in result_names(result)] if result else []
    if output := get("actual_output"):
        results += _mixed(output, "actual_output", take)
    expected, context = get("expected_output"), get("retrieval_context")
    case = Case(
        get("case_id") or "",
        tuple(parts),
        tuple(results),
        tuple(_mixed(expected, "expected_output", take)) if expected else (),
        tuple(_mixed(context, "retrieval_context", take)) if context else (),
        get("generator") or "",
        tuple(split_list(told)) if (told := get("tags")) else (),
    )
    return case if case.id else _with_content_id(case)


def picture_names(cell: str) -> list[str]:
    """The pictures that a cell names; a picture that is written into the cell itself holds commas of its own."""
    return [cell] if cell.startswith("data:") else split_list(cell)


def result_names(cell: str) -> list[str]:
    """The results that a cell names: one, whose name may hold commas, or a JSON list."""
    return split_list(cell) if cell.startswith("[") else [cell]


def names_in(cells: Mapping[str, str]) -> list[str]:
    """Every picture that the cells of a row name."""
    names = picture_names(cells["input_images"]) if cells.get("input_images") else []
    names += result_names(cells["result_image"]) if cells.get("result_image") else []
    for field in ("actual_output", "expected_output", "retrieval_context"):
        names += [entry for entry in texts(cells.get(field, "")) if _FILE_NAME.fullmatch(entry)]
    return names


def _mixed(cell: str, field: str, take: Callable[[str, str], Part]) -> list[Part]:
    """The entries of a list of texts and pictures: an entry that is a picture's file name is that picture."""
    return [take(e, field) if _FILE_NAME.fullmatch(e) else Part("text", text=e) for e in texts(cell)]


def _with_content_id(case: Case) -> Case:
    """The same file imported twice changes nothing, and a picture that comes later belongs to the same case."""
    told = [case.input + case.output, *filter(None, (case.expected, case.context))]
    content = "".join(repr([(p.kind, p.text, p.source) for p in parts]) for parts in told)
    return replace(case, id="case-" + hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:10])
