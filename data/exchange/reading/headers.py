"""Which rows of a sheet are its header: not a title above it, and perhaps two rows, with groups merged over columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from data.exchange.reading.table import unique

#: A merged area: first row, first column, last row, last column, counted from 1.
Area = tuple[int, int, int, int]


@dataclass(frozen=True)
class Header:
    """columns: the names, empty where there is none. first_row: the sheet's row, from 1, where the data begins. known: how
    many of the names are those of a field."""

    columns: tuple[str, ...]
    first_row: int
    known: int


def find_header(lines: Sequence[Sequence[str]], merged: Sequence[Area]) -> Header:
    """The header of the first rows of a sheet.

    It is the first row with something in it; a row with a single cell is a title if fuller ones follow, and so is one
    of which no name is known if another one has several. Where a cell of
    it is merged over several columns the row below names the columns of that group: GPT-4o over score and reason gives
    GPT-4o.score and GPT-4o.reason.
    """
    from data.exchange.synonyms import is_known  # it knows words, this file only rows

    filled = [sum(map(bool, line)) for line in lines]
    at = next(place for place, count in enumerate(filled) if count)
    if filled[at] == 1:
        at = next((place for place, count in enumerate(filled[: at + 6]) if count > 1), at)
    is_grouped = any(area[0] == at + 1 and 1 < area[1] < area[3] for area in merged)
    known = [sum(is_known(cell.strip()) for cell in line if cell) for line in lines[: at + 6]]
    if not known[at] and not is_grouped and max(known[at:]) > 1:
        at = known.index(max(known[at:]), at)
    names = [name.strip() for name in lines[at]]
    groups = [area for area in merged if area[0] == at + 1 and area[1] < area[3] and area[0] == area[2]]
    rows = 1
    if groups and at + 1 < len(lines):
        rows = 2
        below = [name.strip() for name in lines[at + 1]]
        width = max(len(names), len(below))
        names += [""] * (width - len(names))
        below += [""] * (width - len(below))
        for _row, first, _last, last in groups:
            names[first:last] = [names[first - 1]] * (last - first)
        names = [".".join(filter(None, pair)) for pair in zip(names, below, strict=True)]
    while names and not names[-1]:
        names.pop()
    return Header(unique(names), at + rows + 1, sum(map(is_known, names)))
