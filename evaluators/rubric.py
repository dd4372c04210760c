"""Rubrics: the questions that a prompt's pictures are asked. A rubric belongs to the prompt, not to a picture or a judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

#: The types of questions; a video's questions have none.
QUESTION_TYPES = (
    "object", "human", "animal", "food", "activity", "attribute", "counting", "color", "material", "spatial",
    "location", "shape", "other",
)  # fmt: skip
LETTERS = "abcd"


@dataclass(frozen=True)
class RubricQuestion:
    """One question. answer: `yes` or `no`, or for choices their letter. choices: as the judge sees them."""

    id: int
    text: str
    answer: str
    choices: tuple[str, ...]
    type: str = ""
    justification: str = ""


@dataclass(frozen=True)
class Rubric:
    """The questions of a prompt for a medium (`image` or `video`), in one version.

    keywords: the prompt with its words marked `{1}[…]`. dropped: questions that were left out when it was made
    (duplicates, without an answer). author: `judge: NAME` or a person. id: its row in the store, if it has one.
    """

    prompt: str
    medium: str
    questions: tuple[RubricQuestion, ...]
    keywords: str = ""
    dropped: int = 0
    version: int = 1
    author: str = "judge"
    id: int | None = None


class Rubrics(Protocol):
    """Where rubrics are kept, so that every picture of a prompt and every judge gets the same questions."""

    async def latest(self, prompt: str, medium: str) -> Rubric | None:
        """The newest version, None if the prompt has no rubric yet."""
        ...

    async def keep(self, rubric: Rubric) -> Rubric:
        """Keep the first rubric of a prompt; gives the one in force, which is an older one if there was one."""
        ...


class RubricsInMemory:
    """Rubrics for as long as this object lives."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Rubric] = {}

    async def latest(self, prompt: str, medium: str) -> Rubric | None:
        return self._kept.get((prompt, medium))

    async def keep(self, rubric: Rubric) -> Rubric:
        return self._kept.setdefault((rubric.prompt, rubric.medium), replace(rubric, version=1))
