"""Files in: planned first (nothing is written), then carried out as a whole or not at all.

Plan and deed are one piece of code: the plan asks the workspace the same questions and leaves the writing out.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

from data.exchange import import_report
from data.exchange.case_of_row import case_of_row, names_in
from data.exchange.case_table import completed_case
from data.exchange.facts import FactsFinder
from data.exchange.import_file import ImportFile, ImportRow, import_file
from data.exchange.import_report import FileReport, Problem
from data.exchange.labels_in import Labels
from data.exchange.mapping import CASE_CONTENT, MappingWrong, choices_dict
from data.exchange.picture_parts import PictureParts
from data.exchange.pictures import Pictures
from data.exchange.proposing import Proposal
from data.exchange.reading import SURPLUS, EmbeddedPictures, TableUnreadable
from data.exchange.saying import RowWrong
from data.exchange.verdicts_in import Verdicts
from data.store import cases as case_store
from data.store.bulk import STEP, Bulk, Known
from data.store.bulk_reviews import BulkReviews
from data.store.connection import writing
from data.store.links import NOT_FETCHED
from evaluators.case import Case, Part

_PICTURES = frozenset({"input_images", "result_image", "actual_output", "expected_output", "retrieval_context"})


@dataclass(frozen=True)
class ImportPlan:
    """What an import would do. report: as `import_report.as_dict` gives it; files: the same by file, in the order of
    `proposals`; named: the pictures that the tables name."""

    dataset: str
    proposals: tuple[Proposal, ...]
    pictures: Pictures
    report: dict
    files: tuple[FileReport, ...]
    named: frozenset[str] = frozenset()


def plan_import(dataset: str, proposals: Sequence[Proposal], pictures: Pictures | None = None) -> ImportPlan:
    """Look what bringing these tables into a dataset would do. Nothing is written.

    Tables with cases come first, so that verdicts and labels of the same import find theirs by id.

    :raises MappingWrong: if a mapping says nothing that could be taken, or cannot be right.
    :raises TableUnreadable: if a file turns out to be damaged.
    """
    ordered = sorted(proposals, key=lambda p: not p.mapping.has(CASE_CONTENT))
    pictures = Pictures.none() if pictures is None else pictures
    work = _Import(dataset, ordered, pictures, dry=True)
    report, files = work.done()
    return ImportPlan(dataset, tuple(ordered), pictures, report, files, frozenset(work.parts.names))


def carry_out(plan: ImportPlan) -> ImportPlan:
    """Do what a plan says, all of it or nothing; gives it with the report of what was done."""
    report, files = _Import(plan.dataset, plan.proposals, plan.pictures, dry=False).done()
    return replace(plan, report=report, files=files)


def run_import(dataset: str, proposals: Sequence[Proposal], pictures: Pictures | None = None) -> ImportPlan:
    """Plan and deed at once, for those who need not be asked in between."""
    ordered = sorted(proposals, key=lambda p: not p.mapping.has(CASE_CONTENT))
    return carry_out(ImportPlan(dataset, tuple(ordered), Pictures.none() if pictures is None else pictures, {}, ()))


class _Content(NamedTuple):
    """What the files of an import say of a case so far: the first of them, and a hash of each piece that one says."""

    file: str
    pieces: dict[str, int]


def _pieces(case: Case, columns: set[str]) -> dict[str, int]:
    """A hash of what a case says in each of these columns, an empty cell included."""

    def parts(role: str, is_text: bool | None = None) -> tuple:
        found = getattr(case, role)
        return tuple((p.kind, p.text, p.sha256 or p.source) for p in found if is_text in (None, p.kind == "text"))

    said = {
        "prompt": parts("input", True), "input_images": parts("input", False), "result_image": parts("output", False),
        "actual_output": parts("output", True), "expected_output": parts("expected"),
        "retrieval_context": parts("context"), "generator": case.generator, "tags": tuple(case.tags),
    }  # fmt: skip
    return {piece: hash(content) for piece, content in said.items() if piece in columns}


class _Import:
    def __init__(self, dataset: str, proposals: Sequence[Proposal], pictures: Pictures, dry: bool):
        if not dataset.strip():
            raise MappingWrong("The dataset needs a name.")
        self.dataset, self.dry = dataset, dry
        self.parts = PictureParts(pictures, keeping=not dry)
        self.files = [import_file(proposal, len(proposals) == 1) for proposal in proposals]
        if not any(next(p.table.rows(), None) for p in proposals):
            raise TableUnreadable("None of the tables has a row.")
        for note in pictures.notes:
            self.files[0].report.note(note)
        self.ids: dict[str, Known] = {}
        self.is_several = sum(file.gives_cases for file in self.files) > 1
        self.contents: dict[str, _Content] = {}
        self.after: dict[str, Case] = {}  # changed cases, where other files may say more of them

    def done(self) -> tuple[dict, tuple[FileReport, ...]]:
        with _uncollected():
            self._do()
        reports = [file.report for file in self.files]
        return import_report.as_dict(self.dataset, reports, self.parts.counts, self.dry), tuple(reports)

    def _do(self) -> None:
        for file in self.files:
            self._look_through(file)  # before the lock: decoding many pictures takes a while
        if self.dry:
            self._all(Bulk(self.dataset, dry=True))
        else:
            with writing(), closing(Bulk(self.dataset, dry=False)) as bulk:
                self._all(bulk)

    def _look_through(self, file: ImportFile) -> None:
        """Read a table once: keep its pictures, and see what its verdicts and labels have to do with each other."""
        rows = file.rows
        finder = FactsFinder(rows, file.proposal.choices)
        wanted = [(found, column) for found, column in rows.case_columns if found in _PICTURES]
        says_more = rows.gives_verdicts or rows.gives_labels
        for _number, row in file.numbered() if wanted or says_more else ():
            if SURPLUS in row:
                continue
            if says_more:
                finder.look_at(row)
            if wanted:
                self._take_pictures({found: row.get(column, "") for found, column in wanted})
        file.facts = finder.found()

    def _take_pictures(self, cells: dict[str, str]) -> None:
        for cell in cells.values():
            for name, reader in cell.readers.items() if isinstance(cell, EmbeddedPictures) else ():
                self.parts.part(name, {name: reader})
        for name in names_in({found: cell.strip() for found, cell in cells.items()}):
            self.parts.part(name)

    def _all(self, bulk: Bulk) -> None:
        bulk.save_pictures(self.parts.kept.values())
        reviews = BulkReviews(bulk)
        for file in self.files:
            labels = Labels(reviews, file.proposal.choices, file.facts, file.report)
            verdicts = Verdicts(bulk, file.facts, file.report)
            rows = file.numbered()
            while chunk := [ImportRow(number, row) for number, row in itertools.islice(rows, STEP)]:
                file.report.rows += len({row.number for row in chunk} - {file.last})  # one may give several
                file.last = chunk[-1].number
                taken = self._cases(bulk, file, chunk)
                for row in taken:
                    self._sayings(file, row, verdicts, labels)
                verdicts.flush()
                labels.flush()
            verdicts.end()
            labels.end()
            if not self.dry and file.report.changes:
                table = file.proposal.table
                summary = {kind: getattr(file.report, kind) for kind in import_report.KINDS}
                bulk.log(
                    table.source.short_name, table.sheet, table.source.digest, file.proposal.mapping.as_dict(),
                    choices_dict(file.proposal.choices), summary,
                )  # fmt: skip

    # --- cases ---------------------------------------------------------------------------------------------------------

    def _cases(self, bulk: Bulk, file: ImportFile, chunk: list[ImportRow]) -> list[ImportRow]:
        """The rows of a chunk that have a case, with it; new and changed cases are saved."""
        rows = [row for row in chunk if self._has_case(file, row)]
        known = bulk.known([row.external_id for row in rows if row.external_id not in self.ids])
        if file.gives_cases:
            self._save(bulk, file, [row for row in rows if row.case is not None], known)
        self.ids |= known
        taken = []
        for row in rows:
            row.known = self.ids.get(row.external_id)
            if row.known is not None:
                taken.append(row)
            else:
                file.reject(row, "case_id", f"there is no case {row.external_id[:100]} in {self.dataset}")
        return taken

    def _has_case(self, file: ImportFile, row: ImportRow) -> bool:
        """Whether a row says which case it is about; otherwise it is rejected, or empty."""
        if not any(cell and not cell.isspace() for cell in row.cells.values()):
            file.report.rows -= 1
            return False
        if SURPLUS in row.cells:
            told = "the row has more cells than the header; put texts that hold commas into quotes"
            return file.reject(row, "", told)
        cells = file.rows.case_cells(row.cells)
        if len(cells.get("case_id", "")) > 500:
            return file.reject(row, "case_id", f"the id has {len(cells['case_id']):,} characters, more than 500")
        if not file.gives_cases:
            row.external_id = cells.get("case_id", "")
            return bool(row.external_id) or file.reject(row, "case_id", "the row does not say which case it is about")
        if (
            not any(cells.get(found) for found in CASE_CONTENT)
            and cells.get("case_id")
            and (cells["case_id"] in file.seen or cells["case_id"] in self.ids)
        ):
            row.external_id = cells["case_id"]  # a further row about a case that stands above
            return True
        row.case = self._case(file, row, cells)
        if not row.case.input and not row.case.output:
            return file.reject(row, "prompt", "the row has neither a prompt nor a picture")
        row.external_id = row.case.id
        content = hash((row.case.input, row.case.output, row.case.expected, row.case.context))
        if row.case.id not in file.seen:
            if self.is_several and (other := self._other_content(file, row)):
                return file.reject(row, "case_id", f"{row.external_id[:100]} stands in {other} with another content")
            file.seen[row.case.id] = row.number, content
            return True
        first, as_before = file.seen[row.case.id]
        row.case = None
        if file.rows.is_long and as_before == content:
            return True
        other = "with another content" if file.rows.is_long else "already"
        return file.reject(row, "case_id", f"{row.external_id[:100]} stands in row {first} {other}")

    def _other_content(self, file: ImportFile, row: ImportRow) -> str:
        """The file of this import that says something else of the case, if any; otherwise what this one says is kept in
        mind, and `row.adds` tells whether it says more."""
        said = _pieces(row.case, file.columns)
        before = self.contents.get(row.case.id)
        if before is None:
            self.contents[row.case.id] = _Content(file.report.file, said)
            return ""
        if any(before.pieces.get(piece, content) != content for piece, content in said.items()):
            return before.file
        row.adds = not said.keys() <= before.pieces.keys()
        before.pieces.update(said)
        return ""

    def _case(self, file: ImportFile, row: ImportRow, cells: dict[str, str]) -> Case:
        told: set[str] = set()

        def take(name: str, column: str) -> Part:
            part = self.parts.part(name)
            if part.problem and part.problem != NOT_FETCHED and name not in told:
                told.add(name)
                file.report.problems.append(Problem(row.number, column, part.problem))
            return part

        return case_of_row(cells, take)

    def _save(self, bulk: Bulk, file: ImportFile, rows: list[ImportRow], known: dict[str, Known]) -> None:
        earlier = {row.external_id: self.ids[row.external_id] for row in rows if row.external_id in self.ids}
        new = [row for row in rows if row.external_id not in known and row.external_id not in earlier]
        file.report.cases["new"] += len(new)
        split = next(iter(file.proposal.mapping.columns_of("split")), "")
        made = bulk.add_cases([row.case for row in new], [row.cells.get(split, "") for row in new])
        self.ids |= {row.external_id: case for row, case in zip(new, made, strict=True)}
        again = [row for row in rows if row.external_id in earlier and row.adds]
        file.report.cases["unchanged"] += len(earlier) - len(again)
        self._complete(bulk, file, [row for row in again if bulk.is_new(earlier[row.external_id])])
        known |= {
            row.external_id: earlier[row.external_id] for row in again if not bulk.is_new(earlier[row.external_id])
        }
        there = [row for row in rows if row.external_id in known]
        before = case_store.load_cases([known[row.external_id].id for row in there]) if there else {}
        changed: dict[str, tuple[Case, tuple[Known, Case]]] = {}
        for row in there:
            old = self.after.get(row.external_id) or before[known[row.external_id].id]
            case = completed_case(row.case, old, file.columns)
            if case_store.is_same(old, case):
                file.report.cases["unchanged"] += 1
            else:
                changed[row.external_id] = case, (known[row.external_id], old)
                if self.is_several:
                    self.after[row.external_id] = case
        if changed:
            saved, after = bulk.change_cases(*zip(*changed.values(), strict=True))
            file.report.cases["changed"] += saved.changed
            file.report.labels_set_aside += saved.set_aside
            known |= dict(zip(changed, after, strict=True))

    def _complete(self, bulk: Bulk, file: ImportFile, rows: list[ImportRow]) -> None:
        """Cases that an earlier file of this import brought, with what this one adds."""
        file.report.cases["changed"] += len(rows)
        if rows and not self.dry:
            made = [self.ids[row.external_id] for row in rows]
            before = case_store.load_cases([known.id for known in made])
            cases = [completed_case(r.case, before[k.id], file.columns) for r, k in zip(rows, made, strict=True)]
            bulk.complete_cases(made, cases)

    # --- what is said of them ------------------------------------------------------------------------------------------

    def _sayings(self, file: ImportFile, row: ImportRow, verdicts: Verdicts, labels: Labels) -> None:
        reader, report = file.rows, file.report
        for kind, said, take in (
            ("verdicts", reader.verdicts(row.cells) if reader.gives_verdicts else (), verdicts.take),
            ("reviews", reader.labels(row.cells) if reader.gives_labels else (), labels.take),
        ):
            for one in said:
                try:
                    if isinstance(one, RowWrong):
                        raise one
                    take(row.number, row.known, row.external_id, one)
                except RowWrong as error:
                    getattr(report, kind)["rejected"] += 1
                    report.problems.append(Problem(row.number, error.column, str(error), rejected=True))
        try:
            if decision := reader.decision(row.cells):
                labels.decide(row.number, row.known, decision)
        except RowWrong as error:
            report.problems.append(Problem(row.number, error.column, str(error), rejected=True))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without Python's search for cycles, of which an import makes none: looking through its many small objects again and
    again takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
