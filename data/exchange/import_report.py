"""What an import will do, or did, in numbers and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

KINDS = ("cases", "verdicts", "reviews")
#: Problems that are told one by one on screen and in text; the JSON has all.
SHOWN = 50


@dataclass(frozen=True)
class Problem:
    """What is wrong with one cell. row counts from 1, the header not counted; column may be empty. rejected: what the row
    said there was not taken."""

    row: int
    column: str
    problem: str
    rejected: bool = False


@dataclass
class FileReport:
    """One file: rows found, counts by kind (new, changed, unchanged, rejected), problems, and what was assumed."""

    file: str
    rows: int = 0
    cases: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("new", "changed", "unchanged", "rejected"), 0))
    verdicts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("new", "changed", "unchanged", "rejected"), 0)
    )
    reviews: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("new", "changed", "unchanged", "rejected"), 0)
    )
    adjudications: int = 0
    labels_set_aside: int = 0
    unread_columns: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    runs: list[dict] = field(default_factory=list)
    reviewers: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)

    @property
    def rejected_rows(self) -> dict[int, str]:
        """Row number -> why something of it was not taken."""
        found: dict[int, list[str]] = {}
        for p in self.problems:
            if p.rejected:
                found.setdefault(p.row, []).append(f"{p.column}: {p.problem}" if p.column else p.problem)
        return {row: "; ".join(told) for row, told in found.items()}

    @property
    def changes(self) -> int:
        """How much of it is new to the workspace."""
        return self.adjudications + sum(getattr(self, kind)[what] for kind in KINDS for what in ("new", "changed"))


def as_dict(dataset: str, files: Sequence[FileReport], pictures: dict[str, int], dry: bool) -> dict:
    """The report of one import, as the command line prints it; with more than one file each problem says its file."""
    several = len(files) > 1

    def told(file: FileReport, problem: Problem) -> dict:
        facts = {"row": problem.row, "column": problem.column, "problem": problem.problem}
        return {"file": file.file, **facts} if several else facts

    return {
        "dataset": dataset,
        **({"dry_run": True} if dry else {}),
        "rows": sum(f.rows for f in files),
        **{kind: {what: sum(getattr(f, kind)[what] for f in files) for what in files[0].cases} for kind in KINDS},
        "adjudications": sum(f.adjudications for f in files),
        "pictures": pictures,
        "labels_set_aside": sum(f.labels_set_aside for f in files),
        "runs": [run for f in files for run in f.runs],
        "reviewers": {name: sum(f.reviewers.get(name, 0) for f in files) for f in files for name in f.reviewers},
        "unread_columns": list(dict.fromkeys(column for f in files for column in f.unread_columns)),
        "notes": [note for f in files for note in f.notes],
        "problems": [told(f, p) for f in files for p in f.problems],
    }


def lines(report: dict) -> list[str]:
    """A report as people read it."""
    dataset, pictures = report["dataset"], report["pictures"]
    said = [f"{dataset}: " + ", ".join(f"{n} {what}" for what, n in report["cases"].items())]
    for kind in ("verdicts", "reviews"):
        if any(report[kind].values()):
            said.append(f"  {kind}: " + ", ".join(f"{n} {what}" for what, n in report[kind].items() if n))
    if report["adjudications"]:
        said.append(f"  the lead's decisions: {report['adjudications']} new")
    for run in report["runs"]:
        number = f"run {run['run']}" if run["run"] and run["run"] > 0 else "a new run"
        words = "the same verdicts as" if run["known"] else "as"
        threshold = "no threshold" if run["threshold"] is None else f"usable from {run['threshold']:g}"
        said.append(f"  judge {run['judge']}: {run['verdicts']} verdicts, {words} {number}, {threshold}")
    said += [f"  {name}: {count} labels" for name, count in report["reviewers"].items()]
    counted = {"matched": "found", "missing": "missing", "unreadable": "unreadable", "links": "links to fetch"}
    if any(pictures.values()):
        said.append(
            "  pictures: " + ", ".join(f"{pictures[key]} {word}" for key, word in counted.items() if pictures[key])
        )
    if report["labels_set_aside"]:
        told = f"{report['labels_set_aside']} labels are about cases that changed; they count again if it is undone"
        said.append(f"  {told}")
    said += [f"  {note}" for note in report["notes"]]
    said += [f"  not read here: column {column}" for column in report["unread_columns"]]
    said += [f"  {p.get('file', '')} row {p['row']}, {p['column']}: {p['problem']}" for p in report["problems"][:SHOWN]]
    if len(report["problems"]) > SHOWN:
        said.append(f"  and {len(report['problems']) - SHOWN} more; --rejected FILE.csv writes the rows")
    return said
