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


#: A text that begins so would be run as a formula by a spreadsheet.
FORMULA_STARTS = tuple("=+-@\t\r＝＋－＠")


def harmless(text: str) -> str:
    """A text as a cell: an apostrophe before what a spreadsheet would run. `as_typed` gives the text back, whatever it is."""
    return "'" + text if _runs(text) else text


def as_typed(cell: str) -> str:
    """The text of a cell: the apostrophe that `harmless` put there is taken off again."""
    return cell[1:] if cell.startswith("'") and _runs(cell[1:]) else cell


def _runs(text: str) -> bool:
    """Whether a text begins like a formula, apostrophes before it not counted: those must come back as well."""
    return text.lstrip("'").startswith(FORMULA_STARTS)


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
