"""Many people's labels at once, and the lead's decisions, as a part of one import; see `bulk`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from data.store.bulk import Bulk, Known, clean, json_list, marks, steps
from data.store.connection import insert, rows, value


class ReviewRow(NamedTuple):
    """A review to write, or with `undoes` (a token) the taking back of one; draw: (queue, stratum, pi), None: picked."""

    token: str
    case: Known
    criterion: str
    reviewer_id: int
    label: str | None
    score: float | None
    tags: Sequence[str]
    comment: str
    blind: bool
    basis: str
    draw: tuple[str, str, float | None] | None
    items: Sequence[tuple[str, float | None, str | None]]
    created: str
    undoes: str = ""


class BulkReviews:
    """The reviews of one import."""

    def __init__(self, bulk: Bulk):
        self._bulk = bulk
        self._reviewers: dict[str, int] = {}
        self._new_tokens: dict[str, int] = {}
        self._draws: dict[tuple, int] = {}

    def reviewer(self, name: str) -> int:
        """The id of a reviewer, made if need be."""
        key = name.casefold()
        if key not in self._reviewers:
            found = value("SELECT id FROM reviewers WHERE name = ?", [name])
            if found is None:
                found = -1 - len(self._reviewers)
                if not self._bulk.dry:
                    found = insert(self._bulk.db, "reviewers", name=name, created=self._bulk.at)
            self._reviewers[key] = found
        return self._reviewers[key]

    def add(self, reviews: Sequence[ReviewRow]) -> tuple[int, int]:
        """Write reviews whose token is new; gives how many were new, and how many of them changed somebody's label.

        :raises LookupError: if one takes back a label that is not there.
        """
        reviews = self._with_own_tokens(reviews)
        given = self._known_tokens([r.token for r in reviews if not self._bulk.is_new(r.case)])
        fresh: dict[str, ReviewRow] = {}
        for review in reviews:
            if review.token not in given and review.token not in self._new_tokens:
                fresh.setdefault(review.token, review)
        kept = list(fresh.values())
        before = self._labelled([r for r in kept if not self._bulk.is_new(r.case)])
        seen = self._seen([r for r in kept if r.blind and not self._bulk.is_new(r.case)])
        ids = {r.token: self._bulk.new_id("reviews") for r in kept}
        self._new_tokens |= ids
        if not self._bulk.dry:
            self._write_reviews(kept, ids, seen)
        return len(kept), sum((r.case.id, r.criterion, r.reviewer_id) in before for r in kept)

    def _write_reviews(self, kept: Sequence[ReviewRow], ids: Mapping[str, int], seen: set) -> None:
        draws = self._draw(kept)
        undone = {r.token: self._review_id(r.undoes) for r in kept if r.undoes}
        self._bulk.write(
            "reviews",
            ("id", "token", "case_id", "revision", "criterion", "reviewer_id", "label", "undoes", "score", "tags_json",
             "comment", "blind", "shown", "draw_id", "basis", "created"),
            [
                (ids[r.token], r.token, r.case.id, r.case.revision, r.criterion, r.reviewer_id, r.label,
                 undone.get(r.token), r.score, json_list(r.tags), clean(r.comment),
                 int(r.blind and (r.reviewer_id, *r.case) not in seen), 0, draws.get(r.token), r.basis, r.created or self._bulk.at)
                for r in kept
            ],
        )  # fmt: skip
        items = [(ids[r.token], clean(key), number, answer) for r in kept for key, number, answer in r.items]
        self._bulk.write("review_items", ("review_id", "key", "value", "answer"), items)

    def _draw(self, kept: Sequence[ReviewRow]) -> dict[str, int]:
        """The draws that offered these cases, written down where they are not."""
        wanted = {r.token: (r.draw[0], r.reviewer_id, r.case.id, r.criterion) for r in kept if r.draw}
        old = [r for r in kept if r.draw and not self._bulk.is_new(r.case)]
        for some in steps(old, 400):
            sql = " OR ".join(["(case_id = ? AND reviewer_id = ? AND queue = ? AND criterion = ?)"] * len(some))
            asked = [x for r in some for x in (r.case.id, r.reviewer_id, r.draw[0], r.criterion)]
            for found in rows(f"SELECT id, queue, reviewer_id, case_id, criterion FROM queue_draws WHERE {sql}", asked):
                self._draws[found["queue"], found["reviewer_id"], found["case_id"], found["criterion"]] = found["id"]
        new = []
        for review in kept:
            key = wanted.get(review.token)
            if key and key not in self._draws:
                self._draws[key] = self._bulk.new_id("queue_draws")
                new.append((self._draws[key], *key, review.draw[1], review.draw[2], review.basis, self._bulk.at))
        columns = ("id", "queue", "reviewer_id", "case_id", "criterion", "stratum", "pi", "basis", "created")
        self._bulk.write("queue_draws", columns, new)
        return {token: self._draws[key] for token, key in wanted.items()}

    def decide(self, decisions: Sequence[tuple[str, Known, str, int, str, str, str]]) -> int:
        """Write adjudications (token, case, criterion, reviewer_id, label, reason, created) whose token is new."""
        given = self._known_tokens([d[0] for d in decisions], "adjudications")
        kept = {d[0]: d for d in decisions if d[0] not in given}
        if not self._bulk.dry:
            self._bulk.write(
                "adjudications",
                ("token", "case_id", "revision", "criterion", "reviewer_id", "label", "reason", "created"),
                [(t, case.id, case.revision, c, who, label, clean(why), at or self._bulk.at)
                 for t, case, c, who, label, why, at in kept.values()],
            )  # fmt: skip
        return len(kept)

    def _with_own_tokens(self, reviews: Sequence[ReviewRow]) -> list[ReviewRow]:
        """The reviews, those with other tokens whose token is that of a label on another case: the same export came into
        another dataset before."""
        told = {t: r.case.id for r in reviews for t in (r.token, r.undoes) if t}
        taken: set[str] = set()
        for some in steps(list(told)):
            sql = f"SELECT token, case_id FROM reviews WHERE token IN ({marks(some)})"
            taken |= {r["token"] for r in rows(sql, some) if r["case_id"] != told[r["token"]]}

        def own(token: str, case: Known) -> str:
            return f"{token[:80]}/{case.id}" if token in taken else token

        if not taken:
            return list(reviews)
        return [r._replace(token=own(r.token, r.case), undoes=own(r.undoes, r.case)) for r in reviews]

    def _known_tokens(self, tokens: Sequence[str], table: str = "reviews") -> set[str]:
        found = set()
        for some in steps(tokens):
            found |= {r["token"] for r in rows(f"SELECT token FROM {table} WHERE token IN ({marks(some)})", some)}
        return found

    def _review_id(self, token: str) -> int:
        found = self._new_tokens.get(token) or value("SELECT id FROM reviews WHERE token = ?", [token])
        if found is None:
            raise LookupError(f"There is no label {token} to take back.")
        return found

    def _labelled(self, reviews: Sequence[ReviewRow]) -> set[tuple[int, str, int]]:
        """(case, criterion, reviewer) of these that have a label of that person already."""
        found = set()
        for some in steps([r.case.id for r in reviews]):
            sql = f"SELECT DISTINCT case_id, criterion, reviewer_id FROM reviews WHERE case_id IN ({marks(some)})"
            found |= {(r["case_id"], r["criterion"], r["reviewer_id"]) for r in rows(sql, some)}
        return found

    def _seen(self, reviews: Sequence[ReviewRow]) -> set[tuple[int, int, int]]:
        """(reviewer, case, revision) of these whose verdict that person has been shown: such a label is not blind."""
        found = set()
        for some in steps([r.case.id for r in reviews]):
            sql = f"SELECT reviewer_id, case_id, revision FROM seen_verdicts WHERE case_id IN ({marks(some)})"
            found |= {(r["reviewer_id"], r["case_id"], r["revision"]) for r in rows(sql, some)}
        return found
