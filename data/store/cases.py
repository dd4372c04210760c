"""Datasets and cases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import sqlite_utils

from data import images
from data.store.connection import insert, insert_many, now, row, rows, update, value, writing
from data.store.links import is_link
from evaluators.case import ROLES, Case, Part


@dataclass(frozen=True)
class Saved:
    """How many cases were new, changed or unchanged; set_aside: how many labels no longer count, since what they are about
    has changed. They are kept, and count again when the case is as it was."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    set_aside: int = 0


@dataclass(frozen=True)
class CaseFilter:
    """Which cases to show. Empty fields do not filter; `search` is looked for in prompts and ids, case folded.

    label is a judge's or the people's label: `judge:badcase` or `people:usable`; `unreviewed` are those without any
    review, `unjudged` those without any verdict.
    """

    dataset_id: int | None = None
    search: str = ""
    generator: str = ""
    tag: str = ""
    state: str = ""


#: The states that the filter offers, with their words.
CASE_STATES = {
    "unreviewed": "nobody has reviewed it",
    "reviewed": "reviewed",
    "unjudged": "no verdict",
    "problem": "a verdict or picture with a problem",
}


def dataset_id(name: str) -> int | None:
    """The id of the dataset of that name, or None."""
    return value("SELECT id FROM datasets WHERE name = ?", [name])


def datasets() -> list[dict]:
    """All datasets with their number of cases, oldest first."""
    return rows(
        "SELECT d.id, d.name, d.created, (SELECT count(*) FROM cases c WHERE c.dataset_id = d.id) AS cases "
        "FROM datasets d ORDER BY d.id"
    )


def save_cases(dataset: str, cases: Iterable[Case], pictures: Iterable[images.Picture] = ()) -> Saved:
    """Save cases into a dataset, creating it if need be; all of them or none.

    A case whose id is known and whose texts or pictures differ gets a new revision, or goes back to the older one that was
    just like it: what was said of a revision stays with it. A changed generator or tag makes no revision, nor does the
    picture of a link that comes in later: a known case with a fetched link is the same as with the link alone. The pictures
    that the cases show must be among `pictures` or already known.
    """
    counts = {"new": 0, "changed": 0, "unchanged": 0, "set_aside": 0}
    with writing() as db:
        for picture in pictures:
            _save_picture(db, picture)
        dataset_row = dataset_id(dataset)
        if dataset_row is None:
            dataset_row = insert(db, "datasets", name=dataset, created=now())
        for case in cases:
            what, set_aside = _save_case(db, dataset_row, case)
            counts[what] += 1
            counts["set_aside"] += set_aside
    return Saved(**counts)


def compare(dataset: str, cases: Iterable[Case]) -> Saved:
    """What `save_cases` would do, without doing it."""
    found, counts = dataset_id(dataset), {"new": 0, "changed": 0, "unchanged": 0, "set_aside": 0}
    for case in cases:
        known = _known(found, case.id) if found else None
        if known is None:
            counts["new"] += 1
            continue
        case = with_known_links(case, known[1])
        counts[_change(known, case)] += 1
        if not is_completed_by(known[1], case):
            counts["set_aside"] += _standing_labels(known[0]["id"])
    return Saved(**counts)


def is_same(known: Case, case: Case) -> bool:
    """Whether saving `case` over the known one would change nothing."""
    return _content(known) == _content(with_known_links(case, known))


def revision_after(case_row: int, known: Case, case: Case) -> int:
    """The revision that a known case would be in once `case` were saved over it."""
    case = with_known_links(case, known)
    return revision_of(case_row) if is_completed_by(known, case) else _other_revision(case_row, case)[0]


def known_case(dataset: str, external_id: str) -> Case | None:
    """The case of that id as it is now, None if the dataset has none."""
    found = dataset_id(dataset)
    known = _known(found, external_id) if found else None
    return known[1] if known else None


def with_known_links(case: Case, known: Case) -> Case:
    """A case whose links that are not fetched are the pictures that they gave in the case that is known."""
    fetched = {p.source: p for role in ROLES for p in getattr(known, role) if p.sha256 and is_link(p.source)}
    return replace(
        case,
        **{
            role: tuple(p if p.sha256 or p.kind == "text" else fetched.get(p.source, p) for p in getattr(case, role))
            for role in ROLES
        },
    )


def is_completed_by(known: Case, case: Case) -> bool:
    """Whether a case shows what the known one shows or was to show: the same, except that links have been fetched. It
    keeps its revision then, with all that was said of it: what was meant is there now."""
    return _parts_content(with_known_links(known, case)) == _parts_content(case)


def case_by_id(case_id: int) -> dict | None:
    """A case's row with its dataset's name."""
    return row(
        "SELECT c.*, d.name AS dataset FROM cases c JOIN datasets d ON d.id = c.dataset_id WHERE c.id = ?", [case_id]
    )


def revision_of(case_id: int) -> int:
    """The current revision of a case."""
    return value("SELECT revision FROM cases WHERE id = ?", [case_id])


def find_case(dataset: str, external_id: str) -> int | None:
    """The id of a case by its dataset's name and the id people know it by."""
    return value(
        "SELECT c.id FROM cases c JOIN datasets d ON d.id = c.dataset_id WHERE d.name = ? AND c.external_id = ?",
        [dataset, external_id],
    )


def list_cases(wanted: CaseFilter, limit: int, offset: int = 0) -> list[dict]:
    """Rows of the cases that a filter lets through, in the order they came in."""
    where, parameters = _where(wanted)
    return rows(
        f"SELECT c.*, d.name AS dataset FROM cases c JOIN datasets d ON d.id = c.dataset_id {where} "
        "ORDER BY c.id LIMIT ? OFFSET ?",
        [*parameters, limit, offset],
    )


def count_cases(wanted: CaseFilter) -> int:
    """How many cases a filter lets through."""
    where, parameters = _where(wanted)
    return value(f"SELECT count(*) FROM cases c {where}", parameters)


def generators(dataset_id: int | None = None) -> list[str]:
    """The names of generators that occur."""
    found = rows(
        "SELECT DISTINCT generator FROM cases WHERE generator != '' AND (? IS NULL OR dataset_id = ?) ORDER BY generator",
        [dataset_id, dataset_id],
    )
    return [found_row["generator"] for found_row in found]


def tags(dataset_id: int | None = None) -> list[str]:
    """The tags that occur."""
    found = rows(
        "SELECT DISTINCT t.value AS tag FROM cases c, json_each(c.tags_json) t "
        "WHERE ? IS NULL OR c.dataset_id = ? ORDER BY tag",
        [dataset_id, dataset_id],
    )
    return [found_row["tag"] for found_row in found]


def marks(case_ids: Sequence[int], reviewer_id: int) -> dict[int, dict]:
    """What is known of cases at a glance, by case id: status, score and threshold of the newest verdict (None without
    one; flaky runs left out), the people's current labels, and whether one of them is this reviewer's (mine)."""
    slots = ",".join("?" * len(case_ids))
    found = rows(
        "SELECT c.id, v.status, v.score, r.threshold, (SELECT json_group_array(p.label) FROM current_reviews p "
        "  WHERE p.case_id = c.id) AS labels_json, EXISTS (SELECT 1 FROM current_reviews m WHERE m.case_id = c.id "
        "  AND m.reviewer_id = ?) AS mine FROM cases c "
        "LEFT JOIN verdicts v ON v.id = (SELECT max(w.id) FROM verdicts w JOIN runs q ON q.id = w.run_id "
        "  WHERE w.case_id = c.id AND w.revision = c.revision AND NOT q.options_json ->> 'flaky') "
        f"LEFT JOIN runs r ON r.id = v.run_id WHERE c.id IN ({slots})",
        [reviewer_id, *case_ids],
    )
    return {r["id"]: r for r in found}


def load_cases(case_ids: Sequence[int], revisions: dict[int, int] | None = None) -> dict[int, Case]:
    """Whole cases by id, in their current revision or the one named. A picture whose file is gone has a `problem`."""
    marks = ",".join("?" * len(case_ids))
    found = {r["id"]: r for r in rows(f"SELECT * FROM cases WHERE id IN ({marks})", list(case_ids))}
    parts: dict[int, dict[str, list[Part]]] = {case_id: {role: [] for role in ROLES} for case_id in found}
    for part in rows(
        f"SELECT p.*, i.extension FROM parts p LEFT JOIN images i ON i.sha256 = p.sha256 WHERE p.case_id IN ({marks}) "
        "ORDER BY p.case_id, p.role, p.position",
        list(case_ids),
    ):
        wanted = (revisions or {}).get(part["case_id"], found[part["case_id"]]["revision"])
        if part["revision"] == wanted:
            parts[part["case_id"]][part["role"]].append(_part(part))
    return {
        case_id: Case(
            id=r["external_id"], generator=r["generator"], tags=tuple(r["tags"]),
            **{role: tuple(of_role) for role, of_role in parts[case_id].items()},
        )
        for case_id, r in found.items()
    }  # fmt: skip


def _where(wanted: CaseFilter) -> tuple[str, list]:
    clauses, parameters = ["1"], []
    if wanted.dataset_id is not None:
        clauses.append("c.dataset_id = ?")
        parameters.append(wanted.dataset_id)
    if wanted.search.strip():
        clauses.append("(instr(casefold(c.prompt), ?) OR instr(casefold(c.external_id), ?))")
        parameters += [wanted.search.strip().casefold()] * 2
    if wanted.generator:
        clauses.append("c.generator = ?")
        parameters.append(wanted.generator)
    if wanted.tag:
        clauses.append("EXISTS (SELECT 1 FROM json_each(c.tags_json) t WHERE t.value = ?)")
        parameters.append(wanted.tag)
    if wanted.state:
        clauses.append(_STATE_CLAUSES[wanted.state])
    return "WHERE " + " AND ".join(clauses), parameters


_STATE_CLAUSES = {
    "unreviewed": "NOT EXISTS (SELECT 1 FROM standing_reviews r WHERE r.case_id = c.id)",
    "reviewed": "EXISTS (SELECT 1 FROM standing_reviews r WHERE r.case_id = c.id)",
    "unjudged": "NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.case_id = c.id AND v.revision = c.revision)",
    "problem": (
        "(EXISTS (SELECT 1 FROM verdicts v WHERE v.case_id = c.id AND v.revision = c.revision AND v.status != 'ok') OR "
        "EXISTS (SELECT 1 FROM parts p WHERE p.case_id = c.id AND p.revision = c.revision AND p.problem != ''))"
    ),
}


def _save_picture(db: sqlite_utils.Database, picture: images.Picture) -> None:
    db.conn.execute(
        "INSERT OR IGNORE INTO images (sha256, extension, width, height, bytes, created) VALUES (?, ?, ?, ?, ?, ?)",
        [picture.sha256, picture.extension, picture.width, picture.height, picture.bytes, now()],
    )


def _known(dataset_row: int, external_id: str) -> tuple[dict, Case] | None:
    found = row("SELECT * FROM cases WHERE dataset_id = ? AND external_id = ?", [dataset_row, external_id])
    return (found, load_cases([found["id"]])[found["id"]]) if found else None


def _change(known: tuple[dict, Case] | None, case: Case) -> str:
    return "unchanged" if known is None or _content(known[1]) == _content(case) else "changed"


def _content(case: Case) -> tuple:
    return _parts_content(case), case.generator, sorted(case.tags)


def _parts_content(case: Case) -> list:
    """What a judge or a person sees: texts, pictures by hash, and what a missing picture was to be."""
    return [[(p.kind, p.text, p.sha256, "" if p.sha256 else p.source) for p in getattr(case, role)] for role in ROLES]


def _save_case(db: sqlite_utils.Database, dataset_row: int, case: Case) -> tuple[str, int]:
    """What became of the case (new, changed, unchanged), and how many labels that set aside."""
    known = _known(dataset_row, case.id)
    facts = {"prompt": case.prompt, "generator": case.generator, "tags_json": list(case.tags)}
    if known is None:
        case_row = insert(db, "cases", dataset_id=dataset_row, external_id=case.id, created=now(), **facts)
        _save_parts(db, case_row, 1, case)
        return "new", 0
    case = with_known_links(case, known[1])
    if _change(known, case) == "unchanged":
        return "unchanged", 0
    case_row, revision, set_aside = known[0]["id"], known[0]["revision"], 0
    if is_completed_by(known[1], case):
        _complete_parts(db, case_row, revision, case)
    else:
        set_aside = _standing_labels(case_row)
        revision, is_new = _other_revision(case_row, case)
        if is_new:
            _save_parts(db, case_row, revision, case)
    update(db, "cases", case_row, revision=revision, **facts)
    return "changed", set_aside


def _other_revision(case_row: int, case: Case) -> tuple[int, bool]:
    """The revision of a case with this content: an older one that was just like it, else a new one (and whether it is)."""
    last = value("SELECT max(revision) FROM parts WHERE case_id = ?", [case_row]) or 1
    same = [
        r
        for r in range(1, last + 1)
        if _parts_content(load_cases([case_row], {case_row: r})[case_row]) == _parts_content(case)
    ]
    return (same[-1], False) if same else (last + 1, True)


def _standing_labels(case_row: int) -> int:
    return value("SELECT count(*) FROM current_reviews WHERE case_id = ?", [case_row])


def _save_parts(db: sqlite_utils.Database, case_row: int, revision: int, case: Case) -> None:
    columns = ("case_id", "revision", "role", "position", "kind", "text", "sha256", "source", "problem")
    values = [
        (case_row, revision, role, position, p.kind, p.text, p.sha256 or None, p.source, p.problem)
        for role in ROLES
        for position, p in enumerate(getattr(case, role))
    ]
    insert_many(db, "parts", columns, values)


def _complete_parts(db: sqlite_utils.Database, case_row: int, revision: int, case: Case) -> None:
    """Put the pictures of links that have been fetched into the parts that wait for them."""
    found = [p for role in ROLES for p in getattr(case, role) if p.sha256 and is_link(p.source)]
    db.conn.executemany(
        "UPDATE parts SET sha256 = ?, kind = ?, problem = '' "
        "WHERE case_id = ? AND revision = ? AND source = ? AND sha256 IS NULL AND kind != 'text'",
        [(p.sha256, p.kind, case_row, revision, p.source) for p in found],
    )


def _part(found: dict) -> Part:
    if found["kind"] == "text":
        return Part.of_text(found["text"])
    problem, path = found["problem"], None
    if found["sha256"]:
        path = images.original_path(found["sha256"], found["extension"])
        if not path.exists():
            problem, path = f"{found['source'] or path.name}: its file is missing from the workspace", None
    return Part(found["kind"], path=path, sha256=found["sha256"] or "", source=found["source"], problem=problem)
