"""The columns of every table that comes in or goes out, and what a cell of them may hold."""

from __future__ import annotations

import json
import re

CASE_COLUMNS = (
    "case_id",
    "prompt",
    "input_images",
    "result_image",
    "actual_output",
    "expected_output",
    "retrieval_context",
    "generator",
    "tags",
)
#: Names that a column goes by elsewhere: Coze's sheets call the prompt user_prompt.
SYNONYMS = {"user_prompt": "prompt"}
VERDICT_COLUMNS = ("judge", "metric", "status", "score", "label", "reasoning")
REVIEW_COLUMNS = ("reviewer", "human_label", "human_score", "blind", "comment")


#: The tables that go out: what a row is, and its columns; `item:KEY`, `human_item:KEY` and `label:PERSON` ones follow.
TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "cases": ("one row a case", (*CASE_COLUMNS, "revision", "created")),
    "verdicts": (
        "one row a verdict, with every item in a column of its own and the judge's raw replies",
        (
            *(
                "case_id",
                "prompt",
                "generator",
                "revision",
                "current_revision",
                "run",
                *VERDICT_COLUMNS,
                "problem",
                "flags",
            ),
            *(
                "threshold",
                "metric_version",
                "rubric_version",
                "input_tokens",
                "output_tokens",
                "created",
                "raw_replies",
            ),
        ),
    ),
    "reviews": (
        "one row for everything a person said, undone and revised labels included",
        (
            *("case_id", "prompt", "generator", "revision", "current_revision", "criterion", *REVIEW_COLUMNS, "tags"),
            *("first", "stands", "undoes", "basis", "queue", "stratum", "pi", "run", "token", "decided", "created"),
        ),
    ),
    "agreement": (
        "one row a case of a run: the judge's label, each person's, and the final one",
        (
            *("case_id", "prompt", "generator", "revision", "judge", "metric", "status", "score", "threshold"),
            *("judge_label", "adjudicated", "adjudicated_by", "adjudicated_at", "adjudication_reason"),
            *("final_label", "final_label_blind", "final_label_all"),
        ),
    ),
}

#: A text that begins so would be run as a formula by a spreadsheet.
FORMULA_STARTS = tuple("=+-@\t\r＝＋－＠")


def harmless(text: str) -> str:
    """A text as a cell: an apostrophe before what a spreadsheet would run."""
    return "'" + text if text.startswith(FORMULA_STARTS) or as_typed(text) != text else text


def as_typed(cell: str) -> str:
    """The text of a cell: the apostrophe that `harmless` put there is taken off again."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA_STARTS) else cell


def split_list(cell: str) -> list[str]:
    """The entries of a list in a cell: a JSON list, or one entry a line, or separated by commas or semicolons.

    >>> split_list('["a.png", "b.png"]'), split_list("a.png; b.png"), split_list("a.png")
    (['a.png', 'b.png'], ['a.png', 'b.png'], ['a.png'])
    """
    cell = cell.strip()
    if cell.startswith("["):
        try:
            found = json.loads(cell)
        except ValueError:
            found = None
        if isinstance(found, list):
            return [str(entry).strip() for entry in found if str(entry).strip()]
    separator = r"\n" if "\n" in cell else r"[;；]" if re.search("[;；]", cell) else r"[,，]"
    return [entry.strip() for entry in re.split(separator, cell) if entry.strip()]


def texts(cell: str) -> list[str]:
    """The texts of a cell: a JSON list of texts, else the cell as one text; nothing for an empty cell."""
    cell = cell.strip()
    if cell.startswith("["):
        try:
            found = json.loads(cell)
        except ValueError:
            found = None
        if isinstance(found, list) and all(isinstance(entry, str) for entry in found):
            return [entry for entry in found if entry.strip()]
    return [cell] if cell else []


def join_list(entries: list[str]) -> str:
    """A list as a cell that `split_list` reads back: plain for one entry, JSON for more."""
    plain = len(entries) == 1 and split_list(entries[0]) == entries
    return entries[0] if plain else json.dumps(entries, ensure_ascii=False) if entries else ""
