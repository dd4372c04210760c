"""Rubrics by prompt: every version is kept; the newest is the one that is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, replace

import sqlite_utils

from data.store.connection import insert, now, row, rows, writing
from evaluators.metrics.gecko import valid_answer
from evaluators.metrics.wording import normalised
from evaluators.rubric import LETTERS, QUESTION_TYPES, Rubric, RubricQuestion


class RubricRefused(ValueError):  # noqa: N818 - it names what happened to the rubric
    """A rubric that cannot be kept; the text says why. Nothing was stored."""


def latest(prompt: str, medium: str) -> Rubric | None:
    """The newest version of a prompt's rubric, None if there is none."""
    found = row(
        f"{_SELECT} WHERE prompt_sha256 = ? AND medium = ? ORDER BY version DESC LIMIT 1", [_digest(prompt), medium]
    )
    return _rubric(found) if found else None


def versions(prompt: str, medium: str) -> list[Rubric]:
    """All versions of a prompt's rubric, newest first."""
    found = rows(f"{_SELECT} WHERE prompt_sha256 = ? AND medium = ? ORDER BY version DESC", [_digest(prompt), medium])
    return [_rubric(r) for r in found]


def rubric_by_id(rubric_id: int) -> Rubric | None:
    """One rubric, or None."""
    found = row(f"{_SELECT} WHERE id = ?", [rubric_id])
    return _rubric(found) if found else None


def of_dataset(dataset_id: int) -> list[Rubric]:
    """The newest rubric of every prompt of a dataset that has one."""
    found = rows(
        f"{_SELECT} r WHERE prompt IN (SELECT prompt FROM cases WHERE dataset_id = ?) AND version = "
        "(SELECT max(version) FROM rubrics s WHERE s.prompt_sha256 = r.prompt_sha256 AND s.medium = r.medium) ORDER BY id",
        [dataset_id],
    )
    return [_rubric(r) for r in found]


def keep_first(rubric: Rubric) -> Rubric:
    """Keep the first rubric of a prompt; gives the one in force, an older one if there was one."""
    with writing() as db:
        return latest(rubric.prompt, rubric.medium) or _insert(db, replace(rubric, version=1))


def save_edited(prompt: str, medium: str, questions: Sequence[RubricQuestion], author: str) -> Rubric:
    """Keep a person's edit as the next version; verdicts on older versions keep theirs.

    :raises RubricRefused: if a question has no text or no valid answer, two are the same, or none is left.
    """
    checked = _checked(questions, medium)
    with writing() as db:
        before = latest(prompt, medium)
        version = before.version + 1 if before else 1
        keywords = before.keywords if before else ""
        return _insert(db, Rubric(prompt, medium, checked, keywords, 0, version, author))


_SELECT = "SELECT id, prompt, medium, version, questions_json, keywords, dropped, author FROM rubrics"


def _checked(questions: Sequence[RubricQuestion], medium: str) -> tuple[RubricQuestion, ...]:
    valid = ("yes", "no") if medium == "image" else tuple(LETTERS)
    seen: set[str] = set()
    for number, question in enumerate(questions, 1):
        if not normalised(question.text):
            raise RubricRefused(f"Question {number} has no text.")
        if question.answer not in valid:
            raise RubricRefused(f"Question {number} needs one of these answers: {', '.join(valid)}.")
        if medium == "video" and [valid_answer(choice, medium) for choice in question.choices] != list(LETTERS):
            raise RubricRefused(f"Question {number} needs four choices that begin with a), b), c) and d).")
        if medium == "image" and question.type not in QUESTION_TYPES:
            raise RubricRefused(f"Question {number} needs one of these types: {', '.join(QUESTION_TYPES)}.")
        if normalised(question.text) in seen:
            raise RubricRefused(f"Question {number} is asked twice.")
        seen.add(normalised(question.text))
    if not questions:
        raise RubricRefused("A rubric needs at least one question.")
    return tuple(
        replace(question, id=number, text=question.text.strip()) for number, question in enumerate(questions, 1)
    )


def _insert(db: sqlite_utils.Database, rubric: Rubric) -> Rubric:
    rubric_id = insert(
        db, "rubrics", prompt_sha256=_digest(rubric.prompt), medium=rubric.medium, version=rubric.version,
        prompt=rubric.prompt, questions_json=[asdict(question) for question in rubric.questions],
        keywords=rubric.keywords, dropped=rubric.dropped, author=rubric.author, created=now(),
    )  # fmt: skip
    return replace(rubric, id=rubric_id)


def _rubric(found: dict) -> Rubric:
    questions = tuple(RubricQuestion(**{**q, "choices": tuple(q["choices"])}) for q in found.pop("questions"))
    return Rubric(questions=questions, **found)


def _digest(prompt: str) -> str:
    return hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()
