"""What people said: reviews and adjudications. Rows are only ever added; an undo is a row too."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from data.store.badcase_tags import tag_words
from data.store.connection import database, insert, insert_many, now, row, rows, value, writing
from evaluators.metrics import CRITERIA

MAX_COMMENT = 10_000
LABELS = ("usable", "badcase", "unsure")


class ReviewRefused(ValueError):  # noqa: N818 - it names what happened to the review
    """A review that cannot be kept; the text says why. Nothing was stored."""


@dataclass(frozen=True)
class Review:
    """What one person said about one case under one criterion.

    token: made where the review was made; the store takes each one once. label: one of LABELS. items: corrected items
    by key, a number for a sub-score or an answer text. blind: the judge's verdict was hidden when the label was given; the
    store knows better where this person has seen it before. shown: a verdict of run_id was on the screen.
    run_id: the run whose verdict was, or was to be, beside the case. draw_id: the queue draw that offered the case;
    without one the person picked it, and it never enters an estimate. decided: the browser's time; dwell_ms: how long
    the case was looked at.
    """

    token: str
    case_id: int
    revision: int
    criterion: str
    reviewer_id: int
    label: str
    items: Mapping[str, float | str] = field(default_factory=dict)
    tags: Sequence[str] = ()
    comment: str = ""
    score: float | None = None
    blind: bool = False
    shown: bool = False
    run_id: int | None = None
    draw_id: int | None = None
    decided: str | None = None
    dwell_ms: int | None = None
    created: str = ""


def reviewer_named(name: str) -> int:
    """The id of a reviewer, known from now on if not before. Names differ by more than case.

    :raises ReviewRefused: if the name is empty or longer than 80 characters.
    """
    name = " ".join(name.split())
    if not 1 <= len(name) <= 80:
        raise ReviewRefused("A name has 1 to 80 characters.")
    with writing() as db:
        db.conn.execute("INSERT OR IGNORE INTO reviewers (name, created) VALUES (?, ?)", [name, now()])
    return value("SELECT id FROM reviewers WHERE name = ?", [name])


def reviewers() -> list[dict]:
    """All reviewers with how many standing reviews each gave."""
    return rows(
        "SELECT p.id, p.name, (SELECT count(*) FROM current_reviews r WHERE r.reviewer_id = p.id) AS reviews "
        "FROM reviewers p ORDER BY p.name"
    )


def save_review(review: Review) -> bool:
    """Commit a review. False if its token is known already: it was saved before, and nothing is stored twice.

    :raises ReviewRefused: if it is not a valid review.
    """
    _check(review)
    with writing() as db:
        if _known(review.token):
            return False
        current = value("SELECT revision FROM cases WHERE id = ?", [review.case_id])
        if current is None or not 1 <= review.revision <= current:
            raise ReviewRefused(f"There is no revision {review.revision} of case {review.case_id}.")
        basis, draw_id = _basis(review)
        blind = review.blind and not has_seen(review.reviewer_id, review.case_id, review.revision)
        try:
            review_id = insert(
                db, "reviews", token=review.token, case_id=review.case_id, revision=review.revision,
                criterion=review.criterion, reviewer_id=review.reviewer_id, label=review.label, score=review.score,
                tags_json=list(review.tags), comment=review.comment, blind=int(blind), shown=int(review.shown),
                run_id=review.run_id, draw_id=draw_id, basis=basis, decided=review.decided, dwell_ms=review.dwell_ms,
                created=review.created or now(),
            )  # fmt: skip
        except sqlite3.IntegrityError as error:
            raise ReviewRefused(f"The review names something that does not exist ({error}).") from error
        items = [
            (review_id, key, float(v) if not isinstance(v, str) else None, v if isinstance(v, str) else None)
            for key, v in review.items.items()
        ]
        insert_many(db, "review_items", ("review_id", "key", "value", "answer"), items)
        db.conn.execute(
            "DELETE FROM leases WHERE case_id = ? AND criterion = ? AND reviewer_id = ?",
            [review.case_id, review.criterion, review.reviewer_id],
        )
    return True


def undo_review(token: str, undone_token: str, reviewer_id: int) -> bool:
    """Take a review back by adding a row that says so. False if that was done before.

    :raises ReviewRefused: if there is no such review of this reviewer.
    """
    with writing() as db:
        if _known(token):
            return False
        undone = row("SELECT * FROM reviews WHERE token = ? AND reviewer_id = ?", [undone_token, reviewer_id])
        if undone is None or undone["label"] is None:
            raise ReviewRefused("There is no such review of yours to take back.")
        if value("SELECT 1 FROM reviews WHERE undoes = ?", [undone["id"]]):
            return False
        insert(
            db, "reviews", token=token, case_id=undone["case_id"], revision=undone["revision"],
            criterion=undone["criterion"], reviewer_id=reviewer_id, undoes=undone["id"], tags_json=[], comment="",
            blind=int(not has_seen(reviewer_id, undone["case_id"], undone["revision"])), run_id=undone["run_id"],
            basis=undone["basis"], created=now(),
        )  # fmt: skip
    return True


def saw_verdicts(reviewer_id: int, case_ids: Iterable[int]) -> None:
    """Write down that a person has been shown a verdict on these cases as they are now: no later label is blind."""
    unseen = [case_id for case_id in case_ids if not has_seen(reviewer_id, case_id)]
    if unseen:
        with writing() as db:
            db.conn.executemany(
                "INSERT OR IGNORE INTO seen_verdicts SELECT ?, id, revision, ? FROM cases WHERE id = ?",
                [(reviewer_id, now(), case_id) for case_id in unseen],
            )


def has_seen(reviewer_id: int, case_id: int, revision: int | None = None) -> bool:
    """Whether a person has been shown a verdict on a revision of a case (the current one if none is named)."""
    return bool(
        value(
            "SELECT 1 FROM seen_verdicts s JOIN cases c ON c.id = s.case_id "
            "WHERE s.reviewer_id = ? AND s.case_id = ? AND s.revision = coalesce(?, c.revision)",
            [reviewer_id, case_id, revision],
        )
    )


def adjudicate(
    token: str, case_id: int, criterion: str, reviewer_id: int, label: str, reason: str, revision: int | None = None
) -> bool:
    """Commit a lead's decision on a case: it is gold from now on. False if the token is known already.

    revision: which one the lead looked at, the current one if none is named; a decision on an older one counts no more.
    """
    if label not in ("usable", "badcase"):
        raise ReviewRefused("An adjudication says usable or badcase.")
    with writing() as db:
        if db.conn.execute("SELECT 1 FROM adjudications WHERE token = ?", [token]).fetchone():
            return False
        current = value("SELECT revision FROM cases WHERE id = ?", [case_id])
        if current is None or not 1 <= (revision or current) <= current:
            raise ReviewRefused(f"There is no revision {revision or 1} of case {case_id}.")
        insert(
            db, "adjudications", token=token, case_id=case_id, revision=revision or current, criterion=criterion,
            reviewer_id=reviewer_id, label=label, reason=reason, created=now(),
        )  # fmt: skip
    return True


def history(case_id: int) -> list[dict]:
    """Every review of a case as it was given, newest first, undone ones and undos included, with corrected items."""
    found = rows(
        "SELECT r.*, p.name AS reviewer, d.queue, d.pi, (SELECT u.created FROM reviews u WHERE u.undoes = r.id) AS undone "
        "FROM reviews r JOIN reviewers p ON p.id = r.reviewer_id LEFT JOIN queue_draws d ON d.id = r.draw_id "
        "WHERE r.case_id = ? ORDER BY r.id DESC",
        [case_id],
    )
    return [{**r, "items": _items(r["id"])} for r in found]


def current_review(case_id: int, criterion: str, reviewer_id: int) -> dict | None:
    """What a person's standing review of a case says: label, tags, comment, items; None if there is none."""
    found = row(
        "SELECT id, label, tags_json, comment FROM current_reviews WHERE case_id = ? AND criterion = ? AND reviewer_id = ?",
        [case_id, criterion, reviewer_id],
    )
    return {**found, "items": _items(found["id"])} if found else None


def latest_of(reviewer_id: int, dataset_id: int, criterion: str, limit: int) -> list[dict]:
    """What a person said last in a dataset: case_id, external_id, label, created; newest first."""
    return rows(
        "SELECT r.case_id, c.external_id, r.label, r.created FROM current_reviews r JOIN cases c ON c.id = r.case_id "
        "WHERE r.reviewer_id = ? AND c.dataset_id = ? AND r.criterion = ? ORDER BY r.id DESC LIMIT ?",
        [reviewer_id, dataset_id, criterion, limit],
    )


def adjudications(case_id: int) -> list[dict]:
    """Every adjudication of a case, newest first."""
    return rows(
        "SELECT a.*, p.name AS reviewer FROM adjudications a JOIN reviewers p ON p.id = a.reviewer_id "
        "WHERE a.case_id = ? ORDER BY a.id DESC",
        [case_id],
    )


def reviewed_count(dataset_id: int, criterion: str, reviewer_id: int) -> int:
    """On how many cases of a dataset a person's label stands."""
    return value(
        "SELECT count(DISTINCT r.case_id) FROM standing_reviews r JOIN cases c ON c.id = r.case_id "
        "WHERE c.dataset_id = ? AND r.criterion = ? AND r.reviewer_id = ?",
        [dataset_id, criterion, reviewer_id],
    )


def _check(review: Review) -> None:
    if not isinstance(review.token, str) or not 1 <= len(review.token) <= 100:
        raise ReviewRefused("A review needs a token of at most 100 characters.")
    if review.criterion not in CRITERIA:
        raise ReviewRefused(f"{review.criterion!r} is not a criterion: {', '.join(CRITERIA)}.")
    if not isinstance(review.comment, str) or len(review.comment) > MAX_COMMENT:
        raise ReviewRefused(f"A comment is a text of at most {MAX_COMMENT:,} characters.")
    if review.label not in LABELS:
        raise ReviewRefused(f"{review.label!r} is not a label: usable, badcase or unsure.")
    known = tag_words()
    unknown = [tag for tag in review.tags if tag not in known]
    if unknown:
        raise ReviewRefused(f"{unknown[0]!r} is not a known tag.")
    for key, v in review.items.items():
        is_number = isinstance(v, int | float) and not isinstance(v, bool)
        if not isinstance(v, str) and not (is_number and 0 <= v <= 10):
            raise ReviewRefused(f"{key} is {v!r}: a corrected sub-score is a number from 0 to 10.")
    if not isinstance(review.dwell_ms, int | None) or not 0 <= (review.dwell_ms or 0) < 2**53:
        raise ReviewRefused(f"{review.dwell_ms!r} is not a time in milliseconds.")


def _known(token: str) -> bool:
    return database().conn.execute("SELECT 1 FROM reviews WHERE token = ?", [token]).fetchone() is not None


def _basis(review: Review) -> tuple[str, int | None]:
    """The basis of the draw that offered this case to this person; a case shown without one was picked.

    Revising a label on a drawn case, from wherever, leaves the case drawn.
    """
    draw = row(
        "SELECT id, basis FROM queue_draws WHERE case_id = :case AND reviewer_id = :reviewer AND criterion = :criterion "
        "AND id = coalesce(:draw, (SELECT max(draw_id) FROM standing_reviews WHERE case_id = :case "
        "AND reviewer_id = :reviewer AND criterion = :criterion))",
        {
            "case": review.case_id,
            "reviewer": review.reviewer_id,
            "criterion": review.criterion,
            "draw": review.draw_id,
        },
    )
    return (draw["basis"], draw["id"]) if draw else ("opportunistic", None)


def _items(review_id: int) -> dict[str, float | str]:
    found = rows("SELECT key, value, answer FROM review_items WHERE review_id = ?", [review_id])
    return {r["key"]: r["answer"] if r["value"] is None else r["value"] for r in found}
