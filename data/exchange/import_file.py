"""One file on its way in: how it is read, what is said of it in the report, and its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from data.exchange.columns import CASE_COLUMNS
from data.exchange.facts import Facts
from data.exchange.import_report import FileReport, Problem
from data.exchange.mapping import CASE_CONTENT, FIELDS, LABEL_CONTENT, VERDICT_CONTENT, MappingWrong
from data.exchange.proposing import Proposal
from data.exchange.reading import TableUnreadable
from data.exchange.saying import Rows
from data.store.bulk import Known, clean
from evaluators.case import Case


@dataclass
class ImportRow:
    """A row on its way: its number, its cells, its case (new to the workspace or not), where that ended up, and whether it
    adds to what an earlier file of the same import says of the case."""

    number: int
    cells: dict[str, str]
    external_id: str = ""
    case: Case | None = None
    known: Known | None = None
    adds: bool = False


@dataclass
class ImportFile:
    """One file of an import. seen: where each of its cases stands, and a hash of what it says there; last: the last row read."""

    proposal: Proposal
    rows: Rows
    report: FileReport
    columns: set[str]
    gives_cases: bool
    facts: Facts = field(default_factory=Facts)
    seen: dict[str, tuple[int, int]] = field(default_factory=dict)
    last: int = 0

    def numbered(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Its rows with their numbers; half an emoji, as JSON can hold it, becomes a question mark, since no store takes it."""
        for number, row in self.proposal.table.rows():
            texts = [cell for cell in row.values() if isinstance(cell, str)]
            try:
                "".join(texts).encode()
            except UnicodeEncodeError:
                row = {c: clean(v) if type(v) is str else v for c, v in row.items()}
            yield number, row

    def reject(self, row: ImportRow, column: str, told: str) -> bool:
        """Take down why a row is not taken; always False."""
        self.report.problems.append(Problem(row.number, column, told, rejected=True))
        if self.gives_cases:
            self.report.cases["rejected"] += 1
        else:
            self.report.verdicts["rejected"] += self.rows.gives_verdicts
            self.report.reviews["rejected"] += self.rows.gives_labels
        return False


def import_file(proposal: Proposal, is_alone: bool) -> ImportFile:
    """A file with what is known of it from a first reading. One without rows is passed over where there are others.

    :raises MappingWrong: if nothing of it would be taken.
    :raises TableUnreadable: if it has no rows, and is alone.
    """
    table, mapping, choices = proposal.table, proposal.mapping, proposal.choices
    kinds = [mapping.has(kind) for kind in (CASE_CONTENT, VERDICT_CONTENT, LABEL_CONTENT, frozenset({"adjudicated"}))]
    ids = mapping.columns_of("case_id")
    if not any(kinds) or not (kinds[0] or ids):
        what = (
            "says neither a case nor what somebody said of one"
            if not any(kinds)
            else "does not say which case a row is about"
        )
        known = ", ".join(CASE_COLUMNS)
        raise MappingWrong(
            f"{table.name} {what}: it has none of the known columns: {known}. Its columns are: "
            f"{', '.join(table.columns)[:300]}; say what they are."
        )
    is_empty = next(table.rows(), None) is None
    if is_empty and is_alone:
        raise TableUnreadable(f"{table.name} has a header and no rows.")
    rows = Rows(mapping, choices, table.source.stem)
    unread = [column for column in table.columns if column not in mapping.fields]
    report = FileReport(table.source.short_name, unread_columns=unread, notes=list(table.notes))
    if is_empty:
        report.note(f"{table.name} has a header and no rows; it is passed over.")
    if proposal.format:
        report.note(f"{table.source.short_name} is read as {proposal.format}.")
    columns = {name for name in mapping.fields.values() if name in FIELDS}
    return ImportFile(proposal, rows, report, columns, kinds[0])
