"""Gecko: a prompt becomes a rubric of questions, and each of its pictures or videos is asked them.

(Wiles et al. 2024; the rubric form of Vertex AI's evaluation service.) The score is the share of questions answered right.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from evaluators.case import Case, Part
from evaluators.errors import UnreadableReply
from evaluators.judges.images import open_upright
from evaluators.judges.question import Question
from evaluators.judges.video import frames
from evaluators.metrics.base import Answers, Asking, Metric
from evaluators.metrics.wording import (
    TEXT,
    YES_NO,
    distinct,
    key_of,
    list_schema,
    material,
    normalised,
    object_schema,
    prompt_text,
    unusable,
    version_of,
)
from evaluators.replies import field, read_object, read_yes_no, whole_number
from evaluators.rubric import LETTERS, QUESTION_TYPES, Rubric, RubricQuestion
from evaluators.verdict import Item, Options, share_right

_MARKED = re.compile(r"\{(\d{1,6})\}\s*\[")
_LETTER = re.compile(r"^[\s(\[*_\"']*([a-d])(?=[\s*_\"']*(?:[).:,、\]]|$))(?!\s*[,、/|]\s*[a-d]\b)", re.IGNORECASE)
_BLOCK = re.compile(
    r"question\s*(?:\d+\s*)?[:：]\s*(?P<question>[^\n]+?)\s*\n\s*(?:verdict|answer)\s*[:：][^\S\n]*"
    r"(?:\n\s*(?!question))?(?P<verdict>[^\n]*)",
    re.IGNORECASE,
)
_ANSWER = {"id": {"type": "integer"}, "question": TEXT, "reasoning": TEXT}
_RUBRIC = {"id": {"type": "integer"}, "question": TEXT}


@dataclass(frozen=True)
class Gecko(Metric):
    """Gecko for one medium. frames: how many frames of a video are shown, evenly spread over it."""

    frames: int = 8

    name: str = ""
    title: str = ""
    needs: str = ""
    rubric_medium: str = ""

    criterion: ClassVar[str] = "match"

    def __post_init__(self) -> None:
        if isinstance(self.frames, bool) or not isinstance(self.frames, int) or not 1 <= self.frames <= 64:
            raise ValueError(f"frames {self.frames!r} is not a whole number from 1 to 64")

    @property
    def setting_names(self) -> tuple[str, ...]:
        return ("frames",) if self.rubric_medium == "video" else ()

    @property
    def prompts(self) -> dict[str, str]:
        names = ("judge", f"rubric_{self.rubric_medium}", f"answers_{self.rubric_medium}")
        return {name.split("_")[0]: prompt_text(f"gecko/{name}") for name in names}

    @property
    def version(self) -> str:
        return version_of("gecko/1", self.prompts.values())

    @property
    def score_rule(self) -> dict[str, object]:
        return {"name": "share"}

    def lacks(self, case: Case) -> str | None:
        results = self._results(case)
        if len(results) != 1:
            return f"needs exactly 1 result {self.rubric_medium}, found {len(results)}"
        if not case.prompt.strip():
            return "needs a prompt, found none"
        return unusable(results)

    def opening_questions(self, case: Case, options: Options, rubric: Rubric | None = None) -> list[Question]:
        return [self._rubric_question(case)] if rubric is None else [self._answers_question(case, rubric)]

    def later_calls(self, case: Case, options: Options, rubric: Rubric | None = None) -> int:
        return 1 if rubric is None else 0

    async def ask(self, case: Case, asking: Asking) -> Answers:
        rubric = await asking.rubrics.latest(case.prompt, self.rubric_medium)
        if rubric is None:
            await asyncio.to_thread(self._look_at, case)  # a file that is no picture must not cost a rubric
            made = await asking.readably(self._rubric_question(case), self._read_rubric)
            rubric = await asking.rubrics.keep(replace(made, prompt=case.prompt, author=_author(asking)))
        given = await asking.readably(
            self._answers_question(case, rubric), lambda text: read_answers(text, rubric, self.rubric_medium)
        )
        keys = distinct(key_of("question", q.text) for q in rubric.questions)
        items = tuple(
            Item(
                key, "question", q.text, q.type or "question", answer=given.get(q.id),
                expected=q.answer, choices=q.choices,
            )
            for key, q in zip(keys, rubric.questions, strict=True)
        )  # fmt: skip
        return Answers(
            items=items,
            reason=_reason(items) if asking.options.include_reason else "",
            steps=(
                f"rubric version {rubric.version} by {rubric.author}: {rubric.keywords or rubric.prompt}",
                f"{len(rubric.questions)} questions, {rubric.dropped} dropped when it was made",
            ),
            rubric=rubric,
        )

    def score(self, items: Sequence[Item]) -> float:
        """The share of questions answered right, unweighted; a missing answer counts 0."""
        return share_right(items)

    def _results(self, case: Case) -> tuple[Part, ...]:
        if self.rubric_medium == "image":
            return case.result_images
        return tuple(part for part in case.output if part.kind == "video" or part.is_animation)

    def _look_at(self, case: Case) -> None:
        """:raises CaseUnfit: if the result cannot be read."""
        path = self._results(case)[0].path
        open_upright(path) if self.rubric_medium == "image" else frames(path, 1)

    def _rubric_question(self, case: Case) -> Question:
        content = [Part.of_text(self.prompts["rubric"]), *material("prompt", case.prompt)]
        kinds = {"type": {"type": "string", "enum": list(QUESTION_TYPES)}} if self.rubric_medium == "image" else {}
        answer = YES_NO if self.rubric_medium == "image" else {"type": "string", "enum": list(LETTERS)}
        choices = {"choices": {"type": "array", "items": TEXT}, "justification": TEXT, "answer": answer}
        schema = object_schema({"keywords": TEXT, "questions": list_schema({**_RUBRIC, **kinds, **choices})})
        return Question(self.name, "rubric", self.version, self.prompts["judge"], tuple(content), schema)

    def _answers_question(self, case: Case, rubric: Rubric) -> Question:
        lines = []
        for question in rubric.questions:
            options = "" if self.rubric_medium == "image" else "\n" + "\n".join(question.choices)
            lines.append(f"{question.id}. {question.text}{options}")
        content = [
            Part.of_text(self.prompts["answers"]),
            *material("list of questions", "\n".join(lines)),
            *self._results(case),
        ]
        verdict = YES_NO if self.rubric_medium == "image" else {"type": "string", "enum": list(LETTERS)}
        schema = object_schema({"answers": list_schema({**_ANSWER, "verdict": verdict})})
        frames = self.frames if self.rubric_medium == "video" else 0
        return Question(
            self.name, "answers", self.version, self.prompts["judge"], tuple(content), schema, frames=frames
        )

    def _read_rubric(self, text: str) -> Rubric:
        return read_rubric(text, self.rubric_medium)


def read_rubric(text: str, medium: str) -> Rubric:
    """The rubric in a judge's reply, its prompt left empty.

    Duplicates and questions without a valid answer are dropped and counted.

    :raises UnreadableReply: if no question is left, or a marked word has no question.
    """
    found = read_object(text)
    listed = field(found, ["questions", "qas"])
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    keywords = field(found, ["keywords"])
    keywords = keywords if isinstance(keywords, str) else ""
    asked_of = {_id(entry) for entry in entries}
    unasked = [number for number in dict.fromkeys(_MARKED.findall(keywords)) if int(number) not in asked_of]
    if unasked:
        raise UnreadableReply(f"the marked word {unasked[0]} has no question; write exactly one for each marked word")
    questions, seen = [], set()
    for entry in entries:
        question = _question(entry, len(questions) + 1, medium)
        if question is not None and normalised(question.text) not in seen:
            seen.add(normalised(question.text))
            questions.append(question)
    if not questions:
        raise UnreadableReply("the rubric has no question with an answer")
    return Rubric("", medium, tuple(questions), keywords, dropped=len(entries) - len(questions))


def read_answers(text: str, rubric: Rubric, medium: str) -> dict[int, str]:
    """The valid answers in a judge's reply by question id: yes or no, or a letter. What is absent is missing.

    Matched by id, then by the question's text. An id that comes with the text of another question counts for that one. A
    question that is answered twice, differently, has no answer.

    :raises UnreadableReply: if not one answer was found.
    """
    by_text = {normalised(question.text): question.id for question in rubric.questions}
    known = {question.id for question in rubric.questions}
    given: dict[int, set[str]] = {}
    for number, asked, verdict in _stated_answers(text):
        stated = by_text.get(normalised(asked)) if asked else None
        target = stated if stated is not None else number if number in known else None
        answer = valid_answer(verdict, medium)
        if target is not None and answer is not None:
            given.setdefault(target, set()).add(answer)
    if not given:
        raise UnreadableReply("no question was answered; answer each one by its number")
    return {target: answers.pop() for target, answers in given.items() if len(answers) == 1}


def valid_answer(verdict: object, medium: str) -> str | None:
    """`yes`/`no` for an image, the letter for a video ("b) cat" is b); None for anything else."""
    if medium == "image":
        answer = read_yes_no(verdict)
        return None if answer is None else "yes" if answer else "no"
    letter = _LETTER.match(unicodedata.normalize("NFKC", verdict)) if isinstance(verdict, str) else None
    return letter[1].lower() if letter else None


def _stated_answers(text: str) -> list[tuple[int | None, str, object]]:
    """(id, question text, verdict) as they stand in a reply: a JSON list, or blocks of Question and Verdict lines."""
    try:
        found = read_object(text)
    except UnreadableReply:
        plain = re.sub(r"[*_]{1,3}|</?question>", "", text)
        return [(None, block["question"], block["verdict"]) for block in _BLOCK.finditer(plain + "\n")]
    listed = field(found, ["answers", "results", "verdicts"])
    if listed is None:  # {"is there a cup?": "yes", …}
        return [(None, str(asked), verdict) for asked, verdict in found.items()]
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return [
        (_id(entry), str(field(entry, ["question"]) or ""), field(entry, ["verdict", "answer"])) for entry in entries
    ]


def _question(entry: dict, number: int, medium: str) -> RubricQuestion | None:
    text, answer = field(entry, ["question"]), valid_answer(field(entry, ["answer"]), medium)
    choices = field(entry, ["choices"])
    choices = tuple(map(str, choices)) if isinstance(choices, list) else ()
    if medium == "image":
        choices = ("yes", "no")
    letters = {valid_answer(choice, "video") for choice in choices}
    if not isinstance(text, str) or not text.strip() or answer is None or (medium == "video" and answer not in letters):
        return None
    kind = str(field(entry, ["type", "question_type"]) or "").casefold().strip()
    if medium == "image" and kind not in QUESTION_TYPES:
        kind = "other"
    justification = field(entry, ["justification"])
    return RubricQuestion(
        number, text.strip(), answer, choices, kind if medium == "image" else "",
        justification if isinstance(justification, str) else "",
    )  # fmt: skip


def _id(entry: dict) -> int | None:
    return whole_number(field(entry, ["id", "question_id"]))


def _author(asking: Asking) -> str:
    return f"judge: {asking.judge.identity.get('model', 'unknown')}"


def _reason(items: Sequence[Item]) -> str:
    """How many were answered right, and which were not."""
    wrong = [f"{i.text} (judge: {i.answer or 'missing'}, right: {i.expected})" for i in items if not i.is_right]
    return "\n".join([f"{len(items) - len(wrong)} of {len(items)} questions answered as the prompt says.", *wrong])


GECKO_IMAGE = Gecko(
    name="gecko_image",
    title="Gecko rubric, image",
    needs="a prompt and exactly 1 result image",
    rubric_medium="image",
)
GECKO_VIDEO = Gecko(
    name="gecko_video",
    title="Gecko rubric, video",
    needs="a prompt and exactly 1 result video (MP4, WebM, MOV or animated GIF)",
    rubric_medium="video",
)
