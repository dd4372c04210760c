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
    row: int = 0

    @property
    def about(self) -> tuple[int, str, int]:
        """(case, criterion, reviewer): of these one label is the current one."""
        return self.case.id, self.criterion, self.reviewer_id


class DecisionRow(NamedTuple):
    """An adjudication to write; row: where the file has it."""

    token: str
    case: Known
    criterion: str
    reviewer_id: int
    label: str
    reason: str
    created: str
    row: int

    @property
    def about(self) -> tuple[int, int, str]:
        """(case, revision, criterion): of these one decision counts."""
        return *self.case, self.criterion


class Added(NamedTuple):
    """What became of reviews. new: written, `changed` of them where that person had a label; wrong: not taken, and why;
    otherwise: here already, given in another way than is said now, as (blind, basis)."""

    new: int
    changed: int
    wrong: Sequence[tuple[ReviewRow, str]]
    otherwise: Sequence[tuple[int, str]]


class BulkReviews:
    """The reviews of one import."""

    def __init__(self, bulk: Bulk):
        self._bulk = bulk
        self._again: dict[tuple, ReviewRow] = {}
        self._current: dict[tuple, tuple[str, str]] = {}
        self._decided_again: dict[tuple, DecisionRow] = {}
        self._decided: dict[tuple, tuple[str, str]] = {}
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

    def add(self, reviews: Sequence[ReviewRow]) -> Added:
        """Write reviews whose token is new, the earliest first. One that is older than what that person says now is not
        taken, since the last one that is written is the current one, nor one that takes back what is not there."""
        reviews = self._with_own_tokens(sorted(reviews, key=lambda r: _moment(r.created or self._bulk.at)))
        old = [r for r in reviews if not self._bulk.is_new(r.case)]
        given = self._given([r.token for r in old])
        standing = self._standing([r for r in old if r.created or r.token in given])
        fresh: dict[str, ReviewRow] = {}
        wrong, otherwise = [], []
        for review in reviews:
            current = self._current.get(review.about) or standing.get(review.about)
            is_here = review.token in given
            if is_here and given[review.token] != (int(review.blind), review.basis) and not review.undoes:
                otherwise.append(given[review.token])
            if is_here or review.token in self._new_tokens or review.token in fresh:
                self._say_again(review, current)
            elif review.label and review.created and current and _moment(review.created) < _moment(current[1]):
                wrong.append((review, "that person has a later label on the case here, which stays"))
            else:
                fresh[review.token] = review
                self._again.pop(review.about, None)
                if review.label:
                    self._current[review.about] = review.token, review.created or self._bulk.at
        lost = self._lost([r for r in fresh.values() if r.undoes], fresh)
        wrong += [(r, f"there is no label {r.undoes[:100]} to take back") for r in lost]
        for review in lost:
            del fresh[review.token]
        kept = list(fresh.values())
        return Added(len(kept), self._save(kept), wrong, otherwise)

    def end(self) -> int:
        """Write the labels without a time that somebody gave before, changed, and has given again; gives how many."""
        kept = [r._replace(token=self._next_token(r.token, "reviews")) for r in self._again.values()]
        self._save(kept)
        self._current |= {r.about: (r.token, self._bulk.at) for r in kept}
        decisions = [d._replace(token=self._next_token(d.token, "adjudications")) for d in self._decided_again.values()]
        self._write_decisions(decisions)
        self._decided |= {d.about: (d.token, self._bulk.at) for d in decisions}
        self._again.clear()
        self._decided_again.clear()
        return len(kept)

    def _say_again(self, review: ReviewRow, current: tuple[str, str] | None) -> None:
        """Keep in mind a label that stands here but is not the current one; only the last one of a file counts. What was
        changed at the desk since, or taken back, stays as it is there."""
        if review.created or review.undoes:
            return
        if current and _is_imported(current[0]) and _base(current[0]) != _base(review.token):
            self._again[review.about] = review
        else:
            self._again.pop(review.about, None)

    @staticmethod
    def _next_token(token: str, table: str) -> str:
        """The token with the next running number."""
        base = _base(token)
        numbered = value(f"SELECT count(*) FROM {table} WHERE token > ? AND token < ?", [f"{base}-", f"{base}."])
        return f"{base}-{numbered + 2}"

    def _lost(self, undoing: Sequence[ReviewRow], fresh: Mapping[str, ReviewRow]) -> list[ReviewRow]:
        """Those that take back a label that is not there."""
        there = self._known_tokens([r.undoes for r in undoing])
        return [
            r for r in undoing if r.undoes not in fresh and r.undoes not in self._new_tokens and r.undoes not in there
        ]

    def _save(self, kept: Sequence[ReviewRow]) -> int:
        """Write reviews; gives how many of them changed somebody's label."""
        before = self._labelled([r for r in kept if not self._bulk.is_new(r.case)])
        seen = self._seen([r for r in kept if r.blind and not self._bulk.is_new(r.case)])
        ids = {r.token: self._bulk.new_id("reviews") for r in kept}
        self._new_tokens |= ids
        if not self._bulk.dry:
            self._write_reviews(kept, ids, seen)
        return sum(r.about in before for r in kept)

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

    def decide(self, decisions: Sequence[DecisionRow]) -> tuple[int, list[DecisionRow]]:
        """Write adjudications whose token is new; gives how many, and those that are not taken since there is a later one."""
        decisions = sorted(decisions, key=lambda d: _moment(d.created or self._bulk.at))
        given = self._known_tokens([d.token for d in decisions], "adjudications")
        standing = self._standing_decisions(decisions)
        kept: dict[str, DecisionRow] = {}
        wrong = []
        for decision in decisions:
            current = self._decided.get(decision.about) or standing.get(decision.about)
            if decision.token in given or decision.token in kept:
                if not decision.created:
                    self._decided_again.pop(decision.about, None)
                    if current and _is_imported(current[0]) and _base(current[0]) != _base(decision.token):
                        self._decided_again[decision.about] = decision
            elif decision.created and current and _moment(decision.created) < _moment(current[1]):
                wrong.append(decision)
            else:
                kept[decision.token] = decision
                self._decided[decision.about] = decision.token, decision.created or self._bulk.at
                self._decided_again.pop(decision.about, None)
        self._write_decisions(list(kept.values()))
        return len(kept), wrong

    @property
    def decided_again(self) -> int:
        """How many decisions without a time `end` will write."""
        return len(self._decided_again)

    def _write_decisions(self, decisions: Sequence[DecisionRow]) -> None:
        if not self._bulk.dry:
            self._bulk.write(
                "adjudications",
                ("token", "case_id", "revision", "criterion", "reviewer_id", "label", "reason", "created"),
                [(d.token, *d.case, d.criterion, d.reviewer_id, d.label, clean(d.reason), d.created or self._bulk.at)
                 for d in decisions],
            )  # fmt: skip

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

    def _given(self, tokens: Sequence[str]) -> dict[str, tuple[int, str]]:
        """Of these tokens those of reviews that are here: (blind, basis)."""
        found = {}
        for some in steps(tokens):
            sql = f"SELECT token, blind, basis FROM reviews WHERE token IN ({marks(some)})"
            found |= {r["token"]: (r["blind"], r["basis"]) for r in rows(sql, some)}
        return found

    def _standing(self, reviews: Sequence[ReviewRow]) -> dict[tuple, tuple[str, str]]:
        """(token, created) of the current labels on the cases of these, by (case, criterion, reviewer)."""
        found = {}
        for some in steps(list({r.case.id for r in reviews})):
            sql = (
                "SELECT case_id, criterion, reviewer_id, token, created FROM standing_reviews "
                f"WHERE case_id IN ({marks(some)}) ORDER BY id"
            )
            for r in rows(sql, some):
                found[r["case_id"], r["criterion"], r["reviewer_id"]] = r["token"], r["created"]
        return found

    def _standing_decisions(self, decisions: Sequence[DecisionRow]) -> dict[tuple, tuple[str, str]]:
        """(token, created) of the last decisions on these revisions of cases, by (case, revision, criterion)."""
        found = {}
        for some in steps(list({d.case.id for d in decisions})):
            sql = (
                "SELECT case_id, revision, criterion, token, created FROM adjudications "
                f"WHERE case_id IN ({marks(some)}) ORDER BY id"
            )
            for r in rows(sql, some):
                found[r["case_id"], r["revision"], r["criterion"]] = r["token"], r["created"]
        return found

    def _review_id(self, token: str) -> int:
        return self._new_tokens.get(token) or value("SELECT id FROM reviews WHERE token = ?", [token])

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


def _moment(created: str) -> str:
    """A time of the store so that texts compare like times, whatever their fractions."""
    return created.rstrip("Z")


def _is_imported(token: str) -> bool:
    """Whether a token was made for a label that came without one."""
    return token.startswith("imported-")


def _base(token: str) -> str:
    """Such a token without its running number."""
    return "-".join(token.split("-")[:3])
