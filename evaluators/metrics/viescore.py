"""The VIEScore family: semantic consistency (SC) and perceptual quality (PQ), each the worst of its sub-scores.

O = sqrt(min(SC) * min(PQ)) / 10, sub-scores 0-10 (VIEScore, Ku et al. 2023, section 3). One table drives every task.
SC sees the prompt and all images; PQ sees the result image alone, so that the inputs cannot colour it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from evaluators.case import Case, Part
from evaluators.judges.question import Question
from evaluators.metrics.base import Answers, Asking, Metric
from evaluators.metrics.wording import TEXT, captioned, material, object_schema, prompt_text, unusable, version_of
from evaluators.replies import ScoreReply, read_scores
from evaluators.rubric import Rubric
from evaluators.verdict import Item, Options

PQ_NAMES = ("naturalness", "artifacts")

#: The words people read for each sub-score.
SUB_SCORE_WORDS = {
    "prompt_following": "follows the prompt",
    "edit_success": "edit done",
    "overediting": "nothing else changed",
    "naturalness": "looks natural",
    "artifacts": "free of artefacts",
    "guidance_following": "follows the control",
    "subject_resemblance": "subject recognisable",
    "concept1_resemblance": "concept 1 recognisable",
    "concept2_resemblance": "concept 2 recognisable",
}


def overall_score(sc: Sequence[float], pq: Sequence[float]) -> float:
    """O in 0-1 from SC and PQ sub-scores in 0-10: sqrt(min(SC) * min(PQ)) / 10.

    >>> overall_score([7], [8, 9])
    0.7483314773547882

    :raises ValueError: if either side is empty.
    """
    return math.sqrt(min(sc) * min(pq)) / 10


@dataclass(frozen=True)
class VieScore(Metric):
    """A VIEScore task; see the TASKS table."""

    name: str = ""
    title: str = ""
    sc_names: tuple[str, ...] = ()
    input_roles: tuple[str, ...] = ()
    wrong_inputs: str = ""

    criterion: ClassVar[str] = "overall"

    @property
    def needs(self) -> str:
        if not self.input_roles:
            return "a prompt and exactly 1 result image, no input image"
        inputs = "1 input image" if len(self.input_roles) == 1 else f"{len(self.input_roles)} input images"
        return f"a prompt, exactly {inputs} ({', '.join(self.input_roles)}) and exactly 1 result image"

    @property
    def prompts(self) -> dict[str, str]:
        return {
            "judge": prompt_text("viescore/judge"),
            "SC": prompt_text(f"viescore/sc_{self.name}"),
            "PQ": prompt_text("viescore/pq"),
        }

    @property
    def version(self) -> str:
        return version_of("viescore/1", [*self.prompts.values(), _REPLY_FORM, _REASON_FORM])

    @property
    def score_rule(self) -> dict[str, object]:
        return {"name": "viescore"}

    def lacks(self, case: Case) -> str | None:
        for role, found, wanted in (
            ("result", case.result_images, 1),
            ("input", case.input_images, len(self.input_roles)),
        ):
            if len(found) != wanted:
                hint = f" ({self.wrong_inputs})" if role == "input" and self.wrong_inputs and found else ""
                number = f"exactly {wanted}" if wanted else "no"
                return f"needs {number} {role} image{'' if wanted == 1 else 's'}, found {len(found)}{hint}"
        if not case.prompt.strip():
            return "needs a prompt, found none"
        return unusable((*case.input_images, *case.result_images))

    def opening_questions(self, case: Case, options: Options, rubric: Rubric | None = None) -> list[Question]:
        return [self._sc_question(case, options), self._pq_question(case, options)]

    async def ask(self, case: Case, asking: Asking) -> Answers:
        options, names_of = asking.options, (self.sc_names, PQ_NAMES)
        sc, pq = await asking.all_readably(
            [
                (question, lambda text, names=names: read_scores(text, names))
                for question, names in zip(self.opening_questions(case, options), names_of, strict=True)
            ]
        )
        items = (*_items("SC", self.sc_names, sc), *_items("PQ", PQ_NAMES, pq))
        return Answers(
            items=items,
            reason=_reason(items, sc, pq) if options.include_reason else "",
            flags=tuple(dict.fromkeys((*sc.flags, *pq.flags))),
            steps=(f"SC: {_shown(self.sc_names, sc)}", f"PQ: {_shown(PQ_NAMES, pq)}", f"O = {self.score(items)!r}"),
        )

    def score(self, items: Sequence[Item]) -> float:
        """O of the items; each needs a value.

        :raises ValueError: if SC or PQ has no item.
        """
        side = {group: [i.value for i in items if i.group == group and i.value is not None] for group in ("SC", "PQ")}
        return overall_score(side["SC"], side["PQ"])

    def _sc_question(self, case: Case, options: Options) -> Question:
        inputs = zip((f"{role} image" for role in self.input_roles), case.input_images, strict=True)
        content = [Part.of_text(self.prompts["SC"] + _form(self.sc_names, options))]
        content += material("prompt to judge against", case.prompt)
        for caption, part in (*inputs, ("result image", case.result_images[0])):
            content += captioned(caption.capitalize(), part)
        return self._question("SC", content, len(self.sc_names), options)

    def _pq_question(self, case: Case, options: Options) -> Question:
        content = [Part.of_text(self.prompts["PQ"] + _form(PQ_NAMES, options)), case.result_images[0]]
        return self._question("PQ", content, len(PQ_NAMES), options)

    def _question(self, aspect: str, content: list[Part], count: int, options: Options) -> Question:
        return Question(self.name, aspect, self.version, self.prompts["judge"], tuple(content), _schema(count, options))


_REPLY_FORM = '\n\nReply with one JSON object and nothing else: {"score": [%s]}\nThe scores are numbers from 0 to 10.'
_REASON_FORM = (
    "\n\nReply with one JSON object and nothing else, the reasoning first: "
    '{"reasoning": "two or three sentences on what you see", "score": [%s]}\nThe scores are numbers from 0 to 10.'
)


def _form(names: Sequence[str], options: Options) -> str:
    """The last lines of a question: the form of the reply, with the sub-scores in their order."""
    return (_REASON_FORM if options.include_reason else _REPLY_FORM) % ", ".join(names)


def _schema(count: int, options: Options) -> Mapping[str, object]:
    scores = {
        "type": "array", "items": {"type": "number", "minimum": 0, "maximum": 10}, "minItems": count, "maxItems": count,
    }  # fmt: skip
    return object_schema({"reasoning": TEXT, "score": scores} if options.include_reason else {"score": scores})


def _items(group: str, names: Sequence[str], reply: ScoreReply) -> list[Item]:
    return [
        Item(f"{group}.{name}", "sub_score", SUB_SCORE_WORDS.get(name, name.replace("_", " ")), group, value)
        for name, value in zip(names, reply.scores, strict=True)
    ]


def _reason(items: Sequence[Item], sc: ScoreReply, pq: ScoreReply) -> str:
    """Which sub-score was the lowest on each side, and both reasonings."""
    lines = []
    for group, words, reply in (("SC", "Semantic consistency", sc), ("PQ", "Perceptual quality", pq)):
        worst = min((item for item in items if item.group == group), key=lambda item: item.value)
        lines.append(f"{words} {worst.value:g}/10, lowest: {worst.text}. {reply.reasoning}".strip())
    return "\n".join(lines)


def _shown(names: Sequence[str], reply: ScoreReply) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in zip(names, reply.scores, strict=True))


TEXT_TO_IMAGE = VieScore(
    name="text_to_image",
    title="Text to image",
    sc_names=("prompt_following",),
    wrong_inputs="use image_editing",
)
IMAGE_EDITING = VieScore(
    name="image_editing",
    title="Image editing",
    sc_names=("edit_success", "overediting"),
    input_roles=("source",),
)
MASK_GUIDED_EDITING = VieScore(
    name="mask_guided_editing",
    title="Mask-guided editing",
    sc_names=("edit_success", "overediting"),
    input_roles=("source",),
)
CONTROL_GUIDED_GENERATION = VieScore(
    name="control_guided_generation",
    title="Control-guided generation",
    sc_names=("prompt_following", "guidance_following"),
    input_roles=("control",),
)
SUBJECT_DRIVEN_GENERATION = VieScore(
    name="subject_driven_generation",
    title="Subject-driven generation",
    sc_names=("prompt_following", "subject_resemblance"),
    input_roles=("subject",),
)
SUBJECT_DRIVEN_EDITING = VieScore(
    name="subject_driven_editing",
    title="Subject-driven editing",
    sc_names=("subject_resemblance", "overediting"),
    input_roles=("source", "subject"),
)
MULTI_CONCEPT_GENERATION = VieScore(
    name="multi_concept_generation",
    title="Multi-concept generation",
    sc_names=("prompt_following", "concept1_resemblance", "concept2_resemblance"),
    input_roles=("concept 1", "concept 2"),
)
TASKS = (
    TEXT_TO_IMAGE,
    IMAGE_EDITING,
    MASK_GUIDED_EDITING,
    CONTROL_GUIDED_GENERATION,
    SUBJECT_DRIVEN_GENERATION,
    SUBJECT_DRIVEN_EDITING,
    MULTI_CONCEPT_GENERATION,
)
