"""Argilla's exports of image records: records as JSON (fields, responses, suggestions), or flat (`Q.responses`).

As JSON: responses is question -> list of {value, user_id, status}; suggestions is question -> {value, score, agent}.
Flat (to_list(flatten=True), to_datasets, Parquet): `Q.responses`, `Q.responses.users`, `Q.responses.status` are lists,
and `Q.suggestion`, `Q.suggestion.score`, `Q.suggestion.agent` single values. A draft or discarded response is no label.
The question that answers with words for usable and badcase is the label, one that answers with numbers a rating, one with
texts the comment.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from data.exchange.formats.rewriting import parsed, rewritten, text
from data.exchange.mapping import Choices
from data.exchange.proposing import Proposal, is_picture_name
from data.exchange.reading import EmbeddedPictures, Table
from data.exchange.saying import number
from data.exchange.synonyms import field_named, label_from

_CASE = ("case_id", "prompt", "input_images", "result_image", "actual_output", "generator", "tags")
_SAID = {
    "reviewer": "reviewer", "label": "human_label", "rating": "rating:rating", "comment": "comment", "judge": "judge",
    "judge_label": "judge_label", "score": "score",
}  # fmt: skip
_FLAT = re.compile(r"(.+)\.responses")


def recognise(table: Table) -> Proposal | None:
    """A proposal for either form: a row for each person's response, and for each agent's suggestion."""
    flat = [
        found[1]
        for column in table.columns
        if (found := _FLAT.fullmatch(column)) and f"{column}.users" in table.columns
    ]
    nested = (
        [c for c in table.columns if c.startswith("responses.")]
        if any(c.startswith("fields.") for c in table.columns)
        else []
    )
    if not flat and not nested:
        return None

    def rewrite(row: Mapping[str, str]) -> Iterator[dict[str, str]]:
        case = _case(row)
        said = _flat(row, flat) if flat else _nested(row)
        yield from ([case | one for one in said] or [case])

    return rewritten(table, "records of Argilla", {name: name for name in _CASE} | _SAID, rewrite, Choices())


def _case(row: Mapping[str, str]) -> dict[str, str]:
    case: dict[str, str] = {"case_id": row.get("id", "") or row.get("external_id", "")}
    for column, cell in row.items():
        name = column.removeprefix("fields.").removeprefix("metadata.")
        found = field_named(name)
        if found in _CASE and not case.get(found) and cell:
            case[found] = cell
    if not case.get("result_image"):
        pictures = (c for c in row.values() if isinstance(c, EmbeddedPictures) or is_picture_name(c))
        case["result_image"] = next(pictures, "")
    return case


def _flat(row: Mapping[str, str], questions: list[str]) -> list[dict[str, str]]:
    people: dict[str, dict[str, str]] = defaultdict(dict)
    judges: dict[str, dict[str, str]] = defaultdict(dict)
    for question in questions:
        answers, users, statuses = (
            parsed(row.get(f"{question}.responses{end}", "")) for end in ("", ".users", ".status")
        )
        answers, users = (found if isinstance(found, list) else [] for found in (answers, users))
        statuses = statuses if isinstance(statuses, list) else []
        for place, (answer, user) in enumerate(zip(answers, users, strict=False)):
            if place >= len(statuses) or statuses[place] in (None, "submitted"):
                people[str(user)] = _answer(answer) | people[str(user)]
        _suggest(
            judges,
            row.get(f"{question}.suggestion"),
            *(row.get(f"{question}.suggestion.{n}") for n in ("score", "agent")),
        )
    return [{"reviewer": _name(user), **said} for user, said in people.items() if said] + list(judges.values())


def _nested(row: Mapping[str, str]) -> list[dict[str, str]]:
    people: dict[str, dict[str, str]] = defaultdict(dict)
    judges: dict[str, dict[str, str]] = defaultdict(dict)
    for column, cell in row.items():
        if column.startswith("responses."):
            found = parsed(cell)
            for response in found if isinstance(found, list) else []:
                if isinstance(response, dict) and response.get("status") in (None, "submitted"):
                    user = str(response.get("user_id") or "annotator")
                    people[user] = _answer(response.get("value")) | people[user]
        elif column.startswith("suggestions.") and column.endswith(".value"):
            stem = column.removesuffix(".value")
            _suggest(judges, cell, row.get(f"{stem}.score"), row.get(f"{stem}.agent"))
    return [{"reviewer": _name(user), **said} for user, said in people.items() if said] + list(judges.values())


def _answer(value: object) -> dict[str, str]:
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    told = text(value).strip()
    if not told:
        return {}
    if label_from(told):
        return {"label": told}
    return {"rating": told} if number(told) is not None else {"comment": told}


def _suggest(judges: dict, value: str | None, score: str | None, agent: str | None) -> None:
    if value and label_from(value):
        judges[agent or "suggestion"] |= {"judge": agent or "suggestion", "judge_label": value}
    elif value and number(value) is not None:
        judges[agent or "suggestion"] |= {"judge": agent or "suggestion", "score": value}


def _name(user: str) -> str:
    """A person's name: Argilla knows people by long ids, of which the beginning is enough."""
    return f"annotator {user[:8]}" if re.fullmatch(r"[0-9a-f]{8}-[0-9a-f-]{27}", user) else user
