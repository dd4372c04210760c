"""Many rows at once, by the same rules as `save_cases`, `save_verdicts` and `save_review`: a file that is imported.

All of it happens inside one `writing()`, so that row ids can be given out here and half an import never stays. With
`dry=True` nothing is written: the same questions are asked, and ids of what would be new are made up.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import sqlite_utils

from data.images import Picture
from data.store import cases as case_store
from data.store.connection import database, insert, now, rows, value
from evaluators.case import ROLES, Case

#: Rows that go to SQLite at a time; also how many ids one query asks for.
STEP = 2_000
#: Memory for pages of the database while many rows are written; with SQLite's 2 MB they go to disk again and again.
_CACHE_KB = 50_000


class Known(NamedTuple):
    """A case's row id and current revision."""

    id: int
    revision: int


class VerdictRow(NamedTuple):
    """A verdict to write. items: rows of the table items without their first two columns."""

    case: Known
    status: str
    score: float | None
    reason: str
    problem: str
    flags: Sequence[str]
    items: Sequence[tuple]
    created: str


class Bulk:
    """One import into one dataset, which is made if need be."""

    def __init__(self, dataset: str, dry: bool):
        self.dataset, self.dry, self.at = dataset, dry, now()
        found = case_store.dataset_id(dataset)
        if found is None and not dry:
            case_store.save_cases(dataset, [])
            found = case_store.dataset_id(dataset)
        self.dataset_id = found
        self._was_empty = found is None or not value("SELECT 1 FROM cases WHERE dataset_id = ?", [found])
        self._next = {
            t: 1 + (value(f"SELECT max(id) FROM {t}") or 0) for t in ("cases", "verdicts", "reviews", "queue_draws")
        }
        self._positions: dict[int, int] = {}
        self._digests: dict[str, int] = {}
        self._began_at = dict(self._next)
        if not dry:
            self.db.conn.execute(f"PRAGMA cache_size = -{_CACHE_KB}")

    @property
    def db(self) -> sqlite_utils.Database:
        return database()

    def new_id(self, table: str) -> int:
        """The next row id of a table."""
        self._next[table] += 1
        return self._next[table] - 1

    # --- cases ---------------------------------------------------------------------------------------------------------

    def known(self, external_ids: Sequence[str]) -> dict[str, Known]:
        """The cases that the dataset had before, by the ids that people know them by."""
        if self._was_empty:
            return {}
        found = {}
        for ids in steps(external_ids):
            sql = f"SELECT external_id, id, revision FROM cases WHERE dataset_id = ? AND external_id IN ({marks(ids)})"
            found |= {r["external_id"]: Known(r["id"], r["revision"]) for r in rows(sql, [self.dataset_id, *ids])}
        return found

    def save_pictures(self, pictures: Iterable[Picture]) -> None:
        if not self.dry:
            case_store.save_cases(self.dataset, [], pictures)

    def add_cases(self, cases: Sequence[Case], splits: Sequence[str]) -> list[Known]:
        """Write cases that the dataset does not have."""
        made = [Known(self.new_id("cases"), 1) for _ in cases]
        if self.dry:
            return made
        self.write(
            "cases", ("id", "dataset_id", "external_id", "revision", "prompt", "generator", "tags_json", "split", "created"),
            [
                (m.id, self.dataset_id, clean(c.id), 1, clean(c.prompt), clean(c.generator), json_list(c.tags), s or "test",
                 self.at)
                for m, c, s in zip(made, cases, splits, strict=True)
            ],
        )  # fmt: skip
        self._write_parts(made, cases)
        return made

    def complete_cases(self, made: Sequence[Known], cases: Sequence[Case]) -> None:
        """Write cases of this very import again, with what another of its files adds: nobody has seen them without it."""
        if self.dry:
            return
        for known, case in zip(made, cases, strict=True):
            self.db.conn.execute("DELETE FROM parts WHERE case_id = ?", [known.id])
            self.db.conn.execute(
                "UPDATE cases SET prompt = ?, generator = ?, tags_json = ? WHERE id = ?",
                [clean(case.prompt), clean(case.generator), json_list(case.tags), known.id],
            )
        self._write_parts(made, cases)

    def _write_parts(self, made: Sequence[Known], cases: Sequence[Case]) -> None:
        self.write(
            "parts", ("case_id", "revision", "role", "position", "kind", "text", "sha256", "source", "problem"),
            [
                (m.id, 1, role, place, p.kind, clean(p.text), p.sha256 or None, clean(p.source), clean(p.problem))
                for m, c in zip(made, cases, strict=True)
                for role in ROLES
                for place, p in enumerate(getattr(c, role))
            ],
        )  # fmt: skip

    def change_cases(
        self, cases: Sequence[Case], before: Sequence[tuple[Known, Case]]
    ) -> tuple[case_store.Saved, list[Known]]:
        """Save cases that are there and differ, one by one: each may go back to an older revision. Gives what that did, and
        the revisions that they are in then."""
        after = [
            Known(known.id, case_store.revision_after(known.id, old, case))
            for case, (known, old) in zip(cases, before, strict=True)
        ]
        saved = case_store.compare(self.dataset, cases) if self.dry else case_store.save_cases(self.dataset, cases)
        return saved, after

    # --- verdicts ------------------------------------------------------------------------------------------------------

    def start_run(self, judge: str, facts: Mapping[str, object], settings: Mapping[str, object], file: str) -> int:
        """Write a run that is done, of a judge of kind imported; gives its id. facts: columns of runs."""
        if self.dry:
            self._positions[-1 - len(self._positions)] = 0
            return min(self._positions)
        judge_id, name = self._judge(judge, settings)
        run_id = insert(
            self.db, "runs", dataset_id=self.dataset_id, judge_id=judge_id,
            judge_json={"name": name, "kind": "imported", "settings": dict(settings), "mode": "", "concurrency": 1},
            metric_version="imported", metric_settings_json={}, prompts_json={}, status="done", created=self.at,
            started=self.at, finished=self.at, **facts,
        )  # fmt: skip
        insert(self.db, "imported_runs", run_id=run_id, file=file, digest="")
        self._positions[run_id] = 0
        return run_id

    def _judge(self, name: str, settings: Mapping[str, object]) -> tuple[int, str]:
        """The imported judge of that name; the name of another kind of judge gets a word behind it."""
        for called in (name, f"{name} (imported)"):
            found = rows("SELECT id, kind FROM judges WHERE name = ?", [called])
            if not found:
                facts = {"kind": "imported", "settings_json": dict(settings), "created": self.at}
                return insert(self.db, "judges", name=called, **facts), called
            if found[0]["kind"] == "imported":
                return found[0]["id"], called
        raise ValueError(f"{name!r} and {name!r} (imported) are both names of other judges; name the judge otherwise.")

    def add_verdicts(self, run_id: int, verdicts: Sequence[VerdictRow]) -> None:
        """Write verdicts of a run of this import; no case may come twice."""
        place = self._positions[run_id]
        self._positions[run_id] = place + len(verdicts)
        if self.dry:
            return
        ids = [self.new_id("verdicts") for _ in verdicts]
        self.write(
            "run_cases", ("run_id", "position", "case_id", "revision"),
            [(run_id, at, v.case.id, v.case.revision) for at, v in enumerate(verdicts, place)],
        )  # fmt: skip
        self.write(
            "verdicts",
            ("id", "run_id", "case_id", "revision", "status", "score", "reason", "flags_json", "problem", "steps_json",
             "seconds", "created"),
            [
                (i, run_id, v.case.id, v.case.revision, v.status, v.score, clean(v.reason), json_list(v.flags),
                 clean(v.problem), "[]", 0.0, v.created or self.at)
                for i, v in zip(ids, verdicts, strict=True)
            ],
        )  # fmt: skip
        self.write(
            "items",
            ("verdict_id", "position", "key", "kind", "group", "text", "value", "low", "high", "answer", "expected",
             "choices_json"),
            [(i, at, *item) for i, v in zip(ids, verdicts, strict=True) for at, item in enumerate(v.items)],
        )  # fmt: skip

    def end_run(self, run_id: int, digest: str) -> int | None:
        """Close a run. If an earlier import made a run of the very same verdicts, that one is given, and what was just
        written is not kept. Equal runs of one import are told apart by their order."""
        place = self._digests[digest] = self._digests.get(digest, 0) + 1
        if place > 1:
            digest = f"{digest}/{place}"
        if self.dataset_id is None:
            return None
        found = value(
            "SELECT i.run_id FROM imported_runs i JOIN runs r ON r.id = i.run_id WHERE i.digest = ? AND r.dataset_id = ?",
            [digest, self.dataset_id],
        )
        if self.dry:
            return found
        if found is None:
            self.db.conn.execute("UPDATE imported_runs SET digest = ? WHERE run_id = ?", [digest, run_id])
            return None
        self.db.conn.execute(
            "DELETE FROM items WHERE verdict_id IN (SELECT id FROM verdicts WHERE run_id = ?)", [run_id]
        )
        for table in ("verdicts", "run_cases", "imported_runs"):
            self.db.conn.execute(f"DELETE FROM {table} WHERE run_id = ?", [run_id])
        self.db.conn.execute("DELETE FROM runs WHERE id = ?", [run_id])
        return found

    def is_new(self, case: Known) -> bool:
        """Whether a case came in with this import."""
        return case.id >= self._began_at["cases"]

    def close(self) -> None:
        """Give the memory back; to be called whatever happened."""
        self.db.conn.execute("PRAGMA cache_size = -2000")
        self.db.conn.execute("PRAGMA shrink_memory")

    def log(self, file: str, sheet: str, digest: str, fields: Mapping, choices: Mapping, report: Mapping) -> None:
        """Write down that a file came in, and how it was read."""
        insert(
            self.db, "imports", dataset_id=self.dataset_id, file=file, sheet=sheet, sha256=digest,
            fields_json=dict(fields), choices_json=dict(choices), report_json=dict(report), created=self.at,
        )  # fmt: skip

    def write(self, table: str, columns: Sequence[str], values: Sequence[tuple]) -> None:
        if values:
            names = ", ".join(f'"{name}"' for name in columns)
            self.db.conn.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({marks(columns)})', values)


def steps(values: Sequence, step: int = STEP) -> Iterable[list]:
    return (list(values[at : at + step]) for at in range(0, len(values), step))


def marks(values: Sequence) -> str:
    return ",".join("?" * len(values))


def json_list(value: Sequence) -> str:
    return json.dumps(list(value), ensure_ascii=False) if value else "[]"


def clean(text: str) -> str:
    """A text as SQLite takes it: half an emoji becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
