"""The rows of an import of which something was not taken, as a table with the reasons: to be mended and given again."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from data.exchange.columns import harmless
from data.exchange.importing import ImportPlan


def write_rejected(plan: ImportPlan, path: Path) -> int:
    """Write the rows of which something was not taken, as CSV with the reasons as a last column; gives how many."""
    with path.open("w", encoding="utf-8-sig", newline="", errors="replace") as file:
        return sum(1 for line in _rejected_lines(plan, csv.writer(file)) if line)


def rejected_csv(plan: ImportPlan) -> bytes:
    """The same in memory, for a download."""
    file = io.StringIO(newline="")
    for _line in _rejected_lines(plan, csv.writer(file)):
        pass
    return file.getvalue().encode("utf-8-sig", "replace")


def _rejected_lines(plan: ImportPlan, writer) -> Iterator[bool]:
    several = len(plan.files) > 1
    columns = list(dict.fromkeys(column for p in plan.proposals for column in p.table.columns))
    writer.writerow([*(["file"] if several else []), *map(harmless, columns), "row", "reason"])
    for proposal, file in zip(plan.proposals, plan.files, strict=True):
        wanted = file.rejected_rows
        for number, row in proposal.table.rows() if wanted else ():
            if number in wanted:
                cells = [harmless(row.get(column, "")) for column in columns]
                writer.writerow([*([file.file] if several else []), *cells, number, harmless(wanted[number])])
                yield True
