"""A dataset as it was in another workspace: every row again, under ids of this one.

What a table's rows are is told by the columns of a bundle (`data.exchange.writing.bundle`), values parsed. All of it is
to happen inside one `writing()`.
"""

from __future__ import annotations

import itertools
import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping

import sqlite_utils

from data.images import Picture
from data.store.connection import insert, insert_many, now
from data.store.export import chunks
from evaluators.judges.settings import EndpointSettings

_OVER = ("running", "queued")
#: The settings of a judge that say where it is asked, and with which key.
_WHERE = ("base_url", "key_variable")


def _is_same(known: Mapping, judge: Mapping) -> bool:
    """Whether a judge of this workspace is that of a run; a run keeps the address that an empty one stands for."""
    settings = known["settings"]
    if known["kind"] == "endpoint":
        settings = {**settings, "base_url": EndpointSettings(**settings).url}
    return known["kind"] == judge["kind"] and settings == judge["settings"]


class DatasetRows:
    """The rows of one dataset while they come in, with what ids of the other workspace have become here."""

    def __init__(self, db: sqlite_utils.Database, name: str, words: Mapping):
        self.db, self.cases, self.runs, self.reviewers = db, {}, {}, {}
        self.verdicts: dict[tuple[int, int], int] = {}
        self.reviews: dict[str, int] = {}
        self.draws: dict[tuple, int] = {}
        self.tokens: dict[str, str] = {}
        facts = {fact: words.get(fact) for fact in ("blind_share", "overlap")}
        self.dataset_id = insert(db, "datasets", name=name, created=now(), **facts)
        for tag in words.get("badcase_tags", ()):
            db.conn.execute(
                "INSERT OR IGNORE INTO badcase_tags (key, words, place) VALUES (?, ?, NULL)", [tag["key"], tag["words"]]
            )

    def add_pictures(self, pictures: Iterable[Picture]) -> None:
        for p in pictures:
            self.db.conn.execute(
                "INSERT OR IGNORE INTO images (sha256, extension, width, height, bytes, created) VALUES (?, ?, ?, ?, ?, ?)",
                [p.sha256, p.extension, p.width, p.height, p.bytes, now()],
            )

    def add_cases(self, rows: Iterable[Mapping]) -> None:
        for r in rows:
            facts = {fact: r[fact] or "" for fact in ("prompt", "generator")}
            self.cases[r["case_id"]] = insert(
                self.db, "cases", dataset_id=self.dataset_id, external_id=r["case_id"], revision=r["revision"],
                tags_json=r["tags"], split=r["split"] or "test", created=r["created"], **facts,
            )  # fmt: skip

    def add_parts(self, rows: Iterable[Mapping], kept: set[str]) -> None:
        """kept: the pictures that are here; another one is a problem of its part."""

        def values(r: Mapping) -> tuple:
            sha256, problem = r["sha256"], r["problem"] or ""
            if sha256 and sha256 not in kept:
                sha256, problem = None, problem or f"{r['source'] or sha256} was missing from the bundle"
            facts = (r["role"], r["position"], r["kind"], r["text"] or "", sha256, r["source"] or "", problem)
            return self.cases[r["case_id"]], r["revision"], *facts

        columns = ("case_id", "revision", "role", "position", "kind", "text", "sha256", "source", "problem")
        self._many("parts", columns, map(values, rows))

    def add_runs(self, rows: Iterable[Mapping]) -> None:
        """A run that was not over is stopped here; a judge whose replies stayed there cannot be asked."""
        for r in rows:
            facts = {fact: r[fact] for fact in ("metric", "metric_version", "criterion", "threshold", "problem", "created",
                                                "started", "finished", "seconds", "fresh")}  # fmt: skip
            texts = {
                f"{fact}_json": r[fact]
                for fact in ("judge", "metric_settings", "options", "prompts", "budget", "trouble")
            }
            judge_id, texts["judge_json"] = self._judge(r["judge"])
            self.runs[r["id"]] = insert(
                self.db, "runs", dataset_id=self.dataset_id, judge_id=judge_id,
                repeat_of=self.runs.get(r["repeat_of"]), status="stopped" if r["status"] in _OVER else r["status"],
                **facts, **texts,
            )  # fmt: skip

    def add_run_cases(self, rows: Iterable[Mapping]) -> None:
        columns = ("run_id", "position", "case_id", "revision")
        values = ((self.runs[r["run"]], r["position"], self.cases[r["case_id"]], r["revision"]) for r in rows)
        self._many("run_cases", columns, values)

    def add_verdicts(self, rows: Iterable[Mapping]) -> None:
        for r in rows:
            run_id, case_id = self.runs[r["run"]], self.cases[r["case_id"]]
            verdict_id = insert(
                self.db, "verdicts", run_id=run_id, case_id=case_id, revision=r["revision"], status=r["status"],
                score=r["score"], reason=r["reasoning"] or "", flags_json=r["flags"], problem=r["problem"] or "",
                steps_json=r["steps"], seconds=r["seconds"], created=r["created"],
            )  # fmt: skip
            self.verdicts[run_id, case_id] = verdict_id
            for position, reply in enumerate(r["raw_replies"]):
                reply_id = insert(
                    self.db, "replies", key=f"bundle/{uuid.uuid4()}", metric=r["metric"], aspect=reply["aspect"], model="",
                    mode="", text=reply["text"], finish_reason=reply["finish_reason"], refusal=reply["refusal"], seconds=0.0,
                    created=r["created"],
                )  # fmt: skip
                insert(
                    self.db, "verdict_replies", verdict_id=verdict_id, position=position, aspect=reply["aspect"],
                    attempt=reply["attempt"], cached=1, reply_id=reply_id,
                )  # fmt: skip

    def add_items(self, rows: Iterable[Mapping]) -> None:
        texts = ("kind", "group", "text")
        numbers = ("value", "low", "high", "answer", "expected")
        columns = ("verdict_id", "position", "key", *texts, *numbers, "choices_json", "node")
        values = (
            (self.verdicts[self.runs[r["run"]], self.cases[r["case_id"]]], r["position"], r["key"],
             *(r[text] or "" for text in texts), *(r[number] for number in numbers), r["choices"], r["node"])
            for r in rows
        )  # fmt: skip
        self._many("items", columns, values)

    def add_draws(self, rows: Iterable[Mapping]) -> None:
        """In their order: an audited case counts once the random order has come past it."""
        for r in rows:
            who, case_id, queue = self._reviewer(r["reviewer"]), self.cases[r["case_id"]], self._queue(r["queue"])
            self.draws[queue, who, case_id, r["criterion"]] = insert(
                self.db, "queue_draws", queue=queue, reviewer_id=who, case_id=case_id, criterion=r["criterion"],
                stratum=r["stratum"] or "", pi=r["pi"], basis=r["basis"], created=r["created"],
            )  # fmt: skip

    def add_reviews(self, rows: Iterable[Mapping]) -> None:
        for r in rows:
            who, case_id = self._reviewer(r["reviewer"]), self.cases[r["case_id"]]
            draw = self.draws[self._queue(r["queue"]), who, case_id, r["criterion"]] if r["queue"] else None
            facts = {fact: r[fact] for fact in ("revision", "criterion", "basis", "decided", "dwell_ms", "created")}
            self.reviews[r["token"]] = insert(
                self.db, "reviews", token=self._token("reviews", r["token"]), case_id=case_id, reviewer_id=who,
                label=r["human_label"], undoes=self.reviews[r["undoes"]] if r["undoes"] else None, score=r["human_score"],
                tags_json=r["tags"], comment=r["comment"] or "", blind=int(r["blind"]), shown=int(r["shown"]),
                run_id=self.runs.get(r["run"]), draw_id=draw, **facts,
            )  # fmt: skip

    def add_seen(self, rows: Iterable[Mapping]) -> None:
        values = ((self._reviewer(r["reviewer"]), self.cases[r["case_id"]], r["revision"], r["seen"]) for r in rows)
        self._many("seen_verdicts", ("reviewer_id", "case_id", "revision", "seen"), values)

    def add_corrections(self, rows: Iterable[Mapping]) -> None:
        values = ((self.reviews[r["token"]], r["key"], r["value"], r["answer"]) for r in rows)
        self._many("review_items", ("review_id", "key", "value", "answer"), values)

    def add_adjudications(self, rows: Iterable[Mapping]) -> None:
        for r in rows:
            insert(
                self.db, "adjudications", token=self._token("adjudications", r["token"]), case_id=self.cases[r["case_id"]],
                revision=r["revision"], criterion=r["criterion"], reviewer_id=self._reviewer(r["reviewer"]), label=r["label"],
                reason=r["reason"] or "", created=r["created"],
            )  # fmt: skip

    def _many(self, table: str, columns: tuple[str, ...], values: Iterator[tuple]) -> None:
        for chunk in chunks(values):
            insert_many(self.db, table, columns, chunk)

    def _judge(self, judge: Mapping) -> tuple[int, dict]:
        """The id of a run's judge, and the judge as the run keeps it.

        It is the one of this workspace if that is the very same. Any other is told of and cannot be asked: a bundle must
        not say where this workspace's questions, pictures and key go.
        """
        told = {"kind": "imported", "settings": {k: v for k, v in judge["settings"].items() if k not in _WHERE}}
        for number in itertools.count(1):
            name = judge["name"] if number == 1 else f"{judge['name']} ({number})"
            found = self.db.conn.execute("SELECT id, kind, settings_json FROM judges WHERE name = ?", [name]).fetchone()
            if found is None:
                settings = told["settings"]
                made = insert(self.db, "judges", name=name, kind="imported", settings_json=settings, created=now())
                return made, {**judge, **told, "name": name}
            known = {"kind": found[1], "settings": json.loads(found[2])}
            if known == told:
                return found[0], {**judge, **told, "name": name}
            if number == 1 and _is_same(known, judge):
                return found[0], dict(judge)
        raise AssertionError("unreachable")

    def _reviewer(self, name: str) -> int:
        if name not in self.reviewers:
            self.db.conn.execute("INSERT OR IGNORE INTO reviewers (name, created) VALUES (?, ?)", [name, now()])
            (self.reviewers[name],) = self.db.conn.execute("SELECT id FROM reviewers WHERE name = ?", [name]).fetchone()
        return self.reviewers[name]

    def _queue(self, queue: str) -> str:
        """The queue's name with the id that its run has here."""
        return re.sub(r"(?<=/run )\d+", lambda run: str(self.runs.get(int(run[0]), run[0])), queue)

    def _token(self, table: str, token: str) -> str:
        """The token, unless this workspace has given it to something else: another one then, the same each time."""
        if self.db.conn.execute(f"SELECT 1 FROM {table} WHERE token = ?", [token]).fetchone():
            return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.dataset_id}/{token}"))
        return token
