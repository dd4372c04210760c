"""Does the result answer the prompt, given its reference pictures? (Coze's 图生图-图文匹配度.)

The judge splits the prompt into elements and says for each whether the result answers it, and whether anything contradicts
the prompt. The decision is ours: 1 iff there is an element, enough of them are answered, and nothing contradicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from evaluators.case import Case, Part
from evaluators.errors import UnreadableReply
from evaluators.judges.question import Question
from evaluators.metrics.base import Answers, Asking, Metric
from evaluators.metrics.wording import (
    TEXT,
    YES_NO,
    captioned,
    distinct,
    key_of,
    list_schema,
    material,
    object_schema,
    prompt_text,
    unusable,
    version_of,
)
from evaluators.replies import SCORE_KEYS, field, image_flags, read_object, read_yes_no, reasoning_of
from evaluators.rubric import Rubric
from evaluators.score_texts import number_of
from evaluators.verdict import Item, Options, share_right

MAX_INPUTS = 10
_SCHEMA = object_schema(
    {
        "reasoning": TEXT,
        "elements": list_schema({"element": TEXT, "answered": YES_NO}),
        "contradiction": YES_NO,
        "score": {"type": "number", "enum": [0, 1]},
    }
)


@dataclass(frozen=True)
class ImageTextMatch(Metric):
    """coverage: the share of elements that must be answered; compare: whether that share itself is enough."""

    coverage: float = 0.6
    compare: Literal["at_least", "above"] = "at_least"

    name: ClassVar[str] = "image_text_match"
    title: ClassVar[str] = "Image-text match (图文匹配度)"
    criterion: ClassVar[str] = "match"
    needs: ClassVar[str] = f"a prompt, 1 to {MAX_INPUTS} input images and exactly 1 result image"
    setting_names: ClassVar[tuple[str, ...]] = ("coverage", "compare")

    def __post_init__(self) -> None:
        if isinstance(self.coverage, bool) or not isinstance(self.coverage, int | float) or not 0 <= self.coverage <= 1:
            raise ValueError(f"coverage {self.coverage!r} is not a share from 0 to 1")
        if self.compare not in ("at_least", "above"):
            raise ValueError(f"compare {self.compare!r} is neither at_least nor above")

    @property
    def prompts(self) -> dict[str, str]:
        return {name: prompt_text(f"image_text_match/{name}") for name in ("judge", "match")}

    @property
    def version(self) -> str:
        return version_of("image_text_match/1", self.prompts.values())

    @property
    def score_rule(self) -> dict[str, object]:
        return {"name": "coverage", "coverage": self.coverage, "compare": self.compare}

    def lacks(self, case: Case) -> str | None:
        if len(case.result_images) != 1:
            return f"needs exactly 1 result image, found {len(case.result_images)}"
        if not 1 <= len(case.input_images) <= MAX_INPUTS:
            return f"needs 1 to {MAX_INPUTS} input images, found {len(case.input_images)}"
        if not case.prompt.strip():
            return "needs a prompt, found none"
        return unusable((*case.input_images, *case.result_images))

    def opening_questions(self, case: Case, options: Options, rubric: Rubric | None = None) -> list[Question]:
        content = [Part.of_text(self.prompts["match"]), *material("prompt", case.prompt)]
        for number, part in enumerate(case.input_images, 1):
            content += captioned(f"Reference picture {number} (图{number}, image {number})", part)
        content += captioned("Result (效果图)", case.result_images[0])
        return [Question(self.name, "match", self.version, self.prompts["judge"], tuple(content), _SCHEMA)]

    async def ask(self, case: Case, asking: Asking) -> Answers:
        (question,) = self.opening_questions(case, asking.options)
        found = await asking.readably(question, _read)
        items, reasoning = _items(found), reasoning_of(found)
        decided, stated = self.score(items), _stated_score(found)
        flags = ("self_contradiction",) if stated is not None and stated != decided else ()
        elements = [item for item in items if item.kind == "element"]
        step = f"{sum(e.is_right for e in elements)} of {len(elements)} elements answered, contradiction {items[-1].answer}"
        return Answers(
            items=items,
            reason=reasoning if asking.options.include_reason else "",
            flags=(*flags, *image_flags(reasoning)),
            steps=(f"{step}; the judge itself says {stated}, the rule says {decided:g}",),
        )

    def score(self, items: Sequence[Item]) -> float:
        """1.0 or 0.0: at least one element, coverage reached, and no contradiction. A missing answer is not a yes."""
        elements = [item for item in items if item.kind == "element"]
        if not elements or any(item.kind == "contradiction" and not item.is_right for item in items):
            return 0.0
        share = share_right(elements)
        return float(share >= self.coverage if self.compare == "at_least" else share > self.coverage)


def _read(text: str) -> dict:
    """A reply with at least one element and its answer.

    :raises UnreadableReply: if it lists none, or none has an answer, or it does not say whether anything contradicts the prompt.
    """
    found = read_object(text)
    if not any(answered is not None for _name, answered in _elements(found)):
        raise UnreadableReply(
            'no elements were listed with an answer; "elements" must name at least one, each with "answered"'
        )
    if read_yes_no(field(found, ["contradiction", "矛盾"])) is None:
        raise UnreadableReply('"contradiction" is neither yes nor no')
    return found


def _elements(found: dict) -> list[tuple[str, bool | None]]:
    """The elements with their answers, in order; the same element named twice with the same answer counts once."""
    listed = field(found, ["elements", "要素"])
    pairs = []
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, dict):
            name = field(entry, ["element", "name", "要素", "text"])
            if isinstance(name, str) and name.strip():
                pairs.append((name.strip(), read_yes_no(field(entry, ["answered", "answer", "verdict", "响应"]))))
    return list(dict.fromkeys(pairs))


def _items(found: dict) -> tuple[Item, ...]:
    elements = _elements(found)
    keys = distinct(key_of("element", name) for name, _answered in elements)
    items = [
        Item(key, "element", name, "elements", answer=_word(answered), expected="yes", choices=("yes", "no"))
        for key, (name, answered) in zip(keys, elements, strict=True)
    ]
    contradicts = read_yes_no(field(found, ["contradiction", "矛盾"]))
    words = "something contradicts the prompt"
    items.append(
        Item("contradiction", "contradiction", words, "contradiction", answer=_word(contradicts), expected="no",
             choices=("yes", "no"))
    )  # fmt: skip
    return tuple(items)


def _word(answer: bool | None) -> str | None:
    return None if answer is None else "yes" if answer else "no"


def _stated_score(found: dict) -> float | None:
    """The score that the judge itself states (1, 1.0, "1", "1.0"), None if it states none."""
    value = field(found, SCORE_KEYS)
    return number_of(value[0] if isinstance(value, list) and len(value) == 1 else value, 1)


IMAGE_TEXT_MATCH = ImageTextMatch()
