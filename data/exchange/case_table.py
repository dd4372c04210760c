"""Cases from a table and pictures: matched row by row first, shown to whoever asked, and only then saved."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from data.exchange.columns import CASE_COLUMNS, SYNONYMS, split_list, texts
from data.exchange.pictures import Pictures
from data.exchange.tables import SURPLUS
from data.images import MEDIA_TYPES, VIDEO_FORMATS, NotAPicture, Picture, examine, keep, kept_part
from data.store import cases as case_store
from evaluators.case import Case, Part

_FILE_NAME = re.compile(rf"[^\n]{{1,300}}\.({'|'.join([*MEDIA_TYPES, 'jpeg', 'tiff'])})", re.IGNORECASE)


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
    found or broken is a problem of its row; the row stays a case.
    """
    matched, seen = Matched(), {}
    kept: dict[str, Picture | str] = {}
    take = keep if keeping else examine
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
        case = _case(number, row, lambda name: _picture(name, pictures, kept, take), matched)
        if not case.input and not case.output:
            matched.problems.append(Problem(number, "prompt", "the row has neither a prompt nor a picture"))
            matched.rejected += 1
        elif case.id in seen:
            matched.problems.append(Problem(number, "case_id", f"{case.id} stands in row {seen[case.id]} already"))
            matched.rejected += 1
        else:
            seen[case.id] = number
            matched.cases.append((number, case))
    matched.pictures = [found for found in kept.values() if isinstance(found, Picture)]
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
    return [_completed(case, case_store.known_case(dataset, case.id), matched.columns) for _row, case in matched.cases]


def _completed(case: Case, known: Case | None, columns: set[str]) -> Case:
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


def _case(number: int, row: Mapping[str, str], take: Callable[[str], Part], matched: Matched) -> Case:
    cell = {column: _cell(row, column) for column in CASE_COLUMNS}

    def picture(name: str, column: str) -> Part:
        part = take(name)
        if part.problem:
            matched.problems.append(Problem(number, column, part.problem))
        return part

    prompt = (Part.of_text(cell["prompt"]),) if cell["prompt"] else ()
    inputs = [picture(name, "input_images") for name in split_list(cell["input_images"])]
    results = [picture(name, "result_image") for name in ([cell["result_image"]] if cell["result_image"] else [])]

    def mixed(column: str) -> list[Part]:
        """The entries of a list of texts and pictures: an entry that is a picture's file name is that picture."""
        entries = texts(cell[column])
        return [picture(e, column) if _FILE_NAME.fullmatch(e) else Part.of_text(e) for e in entries]

    case = Case(
        id=cell["case_id"],
        input=(*prompt, *inputs),
        output=(*results, *mixed("actual_output")),
        expected=tuple(mixed("expected_output")),
        context=tuple(mixed("retrieval_context")),
        generator=cell["generator"],
        tags=tuple(split_list(cell["tags"])),
    )
    return case if case.id else _with_content_id(case)


def _cell(row: Mapping[str, str], column: str) -> str:
    """The text of a column, or of the column that goes by another name elsewhere."""
    names = (column, *(other for other, ours in SYNONYMS.items() if ours == column))
    return next((row[name].strip() for name in names if row.get(name, "").strip()), "")


def _with_content_id(case: Case) -> Case:
    """A case without an id gets one from its texts and its pictures' names: the same file imported twice changes
    nothing, and a picture that comes later belongs to the same case."""
    told = [case.input + case.output, *filter(None, (case.expected, case.context))]
    content = "".join(repr([(p.kind, p.text, p.source) for p in parts]) for parts in told)
    return replace(case, id="case-" + hashlib.sha256(content.encode()).hexdigest()[:10])


def _picture(
    name: str, pictures: Pictures, kept: dict[str, Picture | str], take: Callable[[bytes, str], Picture]
) -> Part:
    if name not in kept:
        try:
            kept[name] = take(pictures.read(name), name)
        except LookupError as error:
            linked = name.lower().startswith(("http://", "https://"))
            kept[name] = f"{name} is a link; give its picture as a file" if linked else str(error.args[0])
        except (NotAPicture, OSError) as error:
            kept[name] = str(error)
    found = kept[name]
    if isinstance(found, Picture):
        return kept_part(found, name)
    return Part("video" if name.lower().endswith(tuple(VIDEO_FORMATS)) else "image", source=name, problem=found)
