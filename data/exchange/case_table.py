"""Cases from a table and pictures: matched row by row first, shown to whoever asked, and only then saved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from data.exchange.case_of_row import case_of_row
from data.exchange.columns import CASE_COLUMNS, SYNONYMS
from data.exchange.picture_parts import PictureParts
from data.exchange.pictures import Pictures
from data.exchange.reading import SURPLUS
from data.images import Picture
from data.store import cases as case_store
from data.store.links import NOT_FETCHED
from evaluators.case import Case, Part


@dataclass(frozen=True)
class Problem:
    """What is wrong with one cell. row counts from 1, the header not counted; column may be empty."""

    row: int
    column: str
    problem: str


@dataclass
class Matched:
    """A table matched with its pictures, nothing saved yet: the cases by row, and what is wrong.

    cases: row number and case. columns: those of ours that the table has. rejected: the rows that give no
    case. unread: columns that are not read here.
    """

    cases: list[tuple[int, Case]] = field(default_factory=list)
    columns: set[str] = field(default_factory=set)
    pictures: list[Picture] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    rejected: int = 0
    unread: list[str] = field(default_factory=list)


def match(rows: Iterable[Mapping[str, str]], pictures: Pictures, *, keeping: bool = True) -> Matched:
    """Make cases of rows. Pictures that are found are kept (by content, so that nothing is kept twice).

    With keeping=False nothing is written: to show how rows and pictures match before anybody decides.

    A row without prompt and pictures, or with an id that stood in an earlier row, is rejected. A picture that is not
    found or broken is a problem of its row; the row stays a case. A link stays one, to be fetched later.
    """
    matched, seen, parts = Matched(), {}, PictureParts(pictures, keeping)
    for number, row in enumerate(rows, 1):
        if number == 1:
            matched.unread.extend(c for c in row if c and c not in CASE_COLUMNS and c not in SYNONYMS and c != SURPLUS)
            matched.columns = {SYNONYMS.get(c, c) for c in row}
        if not any(value.strip() for value in row.values()):
            continue
        if SURPLUS in row:
            told = "the row has more cells than the header; put texts that hold commas into quotes"
            matched.problems.append(Problem(number, "", told))
            matched.rejected += 1
            continue
        case = _case(number, row, parts, matched)
        if not case.input and not case.output:
            matched.problems.append(Problem(number, "prompt", "the row has neither a prompt nor a picture"))
            matched.rejected += 1
        elif case.id in seen:
            matched.problems.append(Problem(number, "case_id", f"{case.id} stands in row {seen[case.id]} already"))
            matched.rejected += 1
        else:
            seen[case.id] = number
            matched.cases.append((number, case))
    matched.pictures = list(parts.kept.values())
    return matched


def save(dataset: str, matched: Matched) -> dict:
    """Save matched cases, all or none; gives the report of an import.

    A table changes only what it has: a column that it lacks, or a picture that was not found this time, leaves a known
    case as it was there.
    """
    saved = case_store.save_cases(dataset, completed(dataset, matched), matched.pictures)
    return report(dataset, matched, saved)


def completed(dataset: str, matched: Matched) -> list[Case]:
    """The matched cases, with what the table does not say taken from the cases that are known."""
    return [
        completed_case(case, case_store.known_case(dataset, case.id), matched.columns) for _row, case in matched.cases
    ]


def completed_case(case: Case, known: Case | None, columns: set[str]) -> Case:
    """A case of a table that has these columns, with what it does not say taken from the case as it is known."""
    if known is None:
        return case
    filled = {
        "input": [*_side(case, known, "input", "text", "prompt" in columns),
                  *_side(case, known, "input", "media", "input_images" in columns)],
        "output": [*_side(case, known, "output", "media", "result_image" in columns),
                   *_side(case, known, "output", "text", "actual_output" in columns)],
        "expected": case.expected if "expected_output" in columns else known.expected,
        "context": case.context if "retrieval_context" in columns else known.context,
    }  # fmt: skip
    return replace(
        case,
        **{role: tuple(_found_again(parts, getattr(known, role))) for role, parts in filled.items()},
        generator=case.generator if "generator" in columns else known.generator,
        tags=case.tags if "tags" in columns else known.tags,
    )


def _side(case: Case, known: Case, role: str, kind: str, is_told: bool) -> list[Part]:
    """The texts or the media of a role: the table's, or the known ones where it has no such column."""
    return [part for part in getattr(case if is_told else known, role) if (part.kind == "text") == (kind == "text")]


def _found_again(parts: Iterable[Part], known: Sequence[Part]) -> list[Part]:
    """A picture that is missing this time is the one of that name that was there before."""
    kept = {part.source: part for part in known if part.sha256}
    return [kept.get(part.source, part) if part.problem else part for part in parts]


def report(dataset: str, matched: Matched, saved: case_store.Saved) -> dict:
    """The report of an import, as the command line prints it."""
    nothing = {"new": 0, "changed": 0, "unchanged": 0, "rejected": 0}
    return {
        "dataset": dataset,
        "cases": {
            "new": saved.new,
            "changed": saved.changed,
            "unchanged": saved.unchanged,
            "rejected": matched.rejected,
        },
        "verdicts": dict(nothing),
        "reviews": dict(nothing),
        "labels_set_aside": saved.set_aside,
        "unread_columns": matched.unread,
        "problems": [vars(problem) for problem in matched.problems],
    }


def merged(reports: Sequence[dict], names: Sequence[str]) -> dict:
    """The reports of several files as one; with more than one file each problem says its file."""
    if len(reports) == 1:
        return reports[0]
    kinds = ("cases", "verdicts", "reviews")
    return {
        "dataset": reports[0]["dataset"],
        **{kind: {what: sum(r[kind][what] for r in reports) for what in reports[0][kind]} for kind in kinds},
        "labels_set_aside": sum(r["labels_set_aside"] for r in reports),
        "unread_columns": sorted({column for r in reports for column in r["unread_columns"]}),
        "problems": [{"file": name, **p} for r, name in zip(reports, names, strict=True) for p in r["problems"]],
    }


def pair_prompts(prompts: Sequence[str], picture_names: Sequence[str]) -> list[dict[str, str]]:
    """Rows that pair the n-th prompt with the n-th picture, for people who have just these two lists.

    Pictures go in by their names in natural order (2 before 10). Prompts or pictures left over make rows too, so that
    nobody overlooks them.
    """
    ordered = sorted(picture_names, key=natural_order)
    length = max(len(prompts), len(ordered))
    padded_prompts = [*prompts, *[""] * (length - len(prompts))]
    padded_names = [*ordered, *[""] * (length - len(ordered))]
    return [{"prompt": prompt, "result_image": name} for prompt, name in zip(padded_prompts, padded_names, strict=True)]


def natural_order(name: str) -> tuple:
    """A sort key under which img2 comes before img10."""
    return tuple(int(piece) if piece.isdecimal() else piece.casefold() for piece in re.split(r"(\d+)", name))


def _case(number: int, row: Mapping[str, str], parts: PictureParts, matched: Matched) -> Case:
    def take(name: str, column: str) -> Part:
        part = parts.part(name)
        if part.problem and part.problem != NOT_FETCHED:
            matched.problems.append(Problem(number, column, part.problem))
        return part

    return case_of_row({column: _cell(row, column) for column in CASE_COLUMNS}, take)


def _cell(row: Mapping[str, str], column: str) -> str:
    """The text of a column, or of the column that goes by another name elsewhere."""
    names = (column, *(other for other, ours in SYNONYMS.items() if ours == column))
    return next((row[name].strip() for name in names if row.get(name, "").strip()), "")
