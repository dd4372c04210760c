"""Which column of a file is what: proposed from names and cells, changed by people, kept for the next file.

A mapping says for each column a field of FIELDS, or nothing. A field of one judge or person among several has the name
behind an @: `score@gpt4o`, `human_label@rater 1`. Fields that end in a colon take a key: `item:SC.artifacts`,
`rating:PQ`, `human_item:KEY`.
"""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

CASE = "the case"
VERDICT = "a judge's verdict"
LABEL = "a person's label"
DECISION = "the lead's decision"

#: Field -> (what it is about, what it is, in words).
FIELDS: dict[str, tuple[str, str]] = {
    "case_id": (CASE, "the id that people know the case by; it joins a file of verdicts or labels to its cases"),
    "prompt": (CASE, "what the picture was to show"),
    "input_images": (CASE, "names or links of input images: a JSON list, lines, commas or semicolons"),
    "result_image": (CASE, "name or link of the result: a picture or a video"),
    "actual_output": (CASE, "the result, if it is a text"),
    "expected_output": (CASE, "what was expected"),
    "retrieval_context": (CASE, "the context that was given"),
    "generator": (CASE, "who made the result"),
    "tags": (CASE, "tags of the case"),
    "split": (CASE, "which part of the data it belongs to"),
    "judge": (VERDICT, "which judge: one row a case and judge"),
    "run": (VERDICT, "which run, where one judge has several"),
    "metric": (VERDICT, "by which metric"),
    "aspect": (VERDICT, "which aspect (SC, PQ) a row is about, where a verdict takes several rows"),
    "score": (VERDICT, "the score"),
    "judge_label": (VERDICT, "usable or badcase, as the judge says"),
    "judge_bad": (VERDICT, "1 where the judge says badcase"),
    "reason": (VERDICT, "why"),
    "item:": (VERDICT, "one sub-score or answer, by its key"),
    "items": (VERDICT, "several sub-scores in one cell: a JSON list or object"),
    "status": (VERDICT, "ok, or how judging failed"),
    "problem": (VERDICT, "why judging failed"),
    "threshold": (VERDICT, "usable from this score on, 0-1"),
    "judged": (VERDICT, "when it was judged"),
    "reviewer": (LABEL, "who labelled: one row a case and person"),
    "human_label": (LABEL, "usable, badcase or unsure, as a person says"),
    "human_bad": (LABEL, "1 where a person says badcase"),
    "rating:": (LABEL, "a rating by a person; usable if all of that person's ratings are high enough"),
    "human_score": (LABEL, "a score by a person, kept beside the label"),
    "human_item:": (LABEL, "a person's word on one sub-score or answer, by its key"),
    "comment": (LABEL, "what a person noted"),
    "human_tags": (LABEL, "what is wrong, as badcase tags"),
    "labelled": (LABEL, "when a person labelled"),
    "criterion": (LABEL, "what was asked: match, overall or recall"),
    "blind": (LABEL, "1 where the verdict was hidden"),
    "basis": (LABEL, "random, designed or opportunistic: how the case was drawn"),
    "queue": (LABEL, "the queue that offered the case"),
    "stratum": (LABEL, "the stratum of the draw"),
    "pi": (LABEL, "the chance with which the case was drawn"),
    "token": (LABEL, "the label's own id"),
    "undoes": (LABEL, "the id of the label that is taken back"),
    "revision": (LABEL, "the case's revision that it is about"),
    "current_revision": (LABEL, "the case's revision now"),
    "adjudicated": (DECISION, "usable or badcase, as the lead decided"),
    "adjudicated_by": (DECISION, "who decided"),
    "adjudicated_at": (DECISION, "when"),
    "adjudication_reason": (DECISION, "why"),
}
#: Fields without which a row says nothing of its kind.
CASE_CONTENT = frozenset(
    {"prompt", "input_images", "result_image", "actual_output", "expected_output", "retrieval_context"}
)
VERDICT_CONTENT = frozenset({"score", "judge_label", "judge_bad", "item:", "items", "status"})
LABEL_CONTENT = frozenset({"human_label", "human_bad", "rating:", "human_score"})


class MappingWrong(ValueError):  # noqa: N818 - it names what the mapping is
    """The mapping cannot be used; the text says why."""


@dataclass(frozen=True)
class Choices:
    """What a file does not say of itself.

    criterion: empty: by the metric, else overall. judge, reviewer: their names where no column has them. threshold: 0-1,
    after scaling; None: what fits the file's own labels, else 0.5. scale: the highest score there can be; 0: by the
    scores. metric: by which the verdicts were made, if it is one of ours. combine: how the aspects of a verdict become
    its score. usable_from: the least share of the scale, 0-1, with which a rating is usable. blind: the labels were given
    without seeing the judge. random: the labelled cases are all cases, or a random draw of them; None: nobody says so, so they are
    taken to be picked.
    """

    criterion: str = ""
    judge: str = ""
    reviewer: str = ""
    metric: str = ""
    threshold: float | None = None
    scale: float = 0.0
    combine: str = "viescore"
    usable_from: float = 0.5
    rating_scale: float = 0.0
    blind: bool = False
    random: bool | None = None


#: What is true of the next file of that kind too; who judged or labelled, and how, is asked anew.
KEPT_CHOICES = frozenset({"criterion", "scale", "rating_scale", "combine"})
#: How the aspects of a verdict are combined.
COMBINE = {
    "viescore": "the square root of their product, as VIEScore does",
    "lowest": "the lowest",
    "mean": "the mean",
}


@dataclass(frozen=True)
class Mapping:
    """Column -> field. A column without one is not read."""

    fields: AnyMapping[str, str] = field(default_factory=dict)

    def columns_of(self, wanted: str) -> list[str]:
        """The columns of a field, whoever they are of; a field with a colon stands for all its keys."""
        return [c for c, f in self.fields.items() if split_field(f)[0] == wanted]

    def has(self, wanted: frozenset[str]) -> bool:
        """Whether some column is one of these fields."""
        return any(split_field(f)[0] in wanted for f in self.fields.values())

    def with_column(self, column: str, target: str) -> Mapping:
        """This mapping with another field for a column; a field that only one column can be moves to it.

        :raises MappingWrong: if there is no such field.
        """
        check_field(target)
        fields = {c: f for c, f in self.fields.items() if c != column and (f != target or _is_repeatable(target))}
        return replace(self, fields=fields | ({column: target} if target else {}))

    def as_dict(self) -> dict[str, str]:
        return dict(self.fields)


def split_field(target: str) -> tuple[str, str, str]:
    """(field, key, name) of a target.

    >>> split_field("item:SC.artifacts@gpt4o"), split_field("prompt")
    (('item:', 'SC.artifacts', 'gpt4o'), ('prompt', '', ''))
    """
    told, _at, name = target.partition("@")
    kind, colon, key = told.partition(":")
    return kind + colon, key, name


def check_field(target: str) -> None:
    """:raises MappingWrong: if there is no such field, with those that there are."""
    found, key, name = split_field(target)
    if target and (found not in FIELDS or (found.endswith(":") and not key)):
        known = ", ".join(f"{name}KEY" if name.endswith(":") else name for name in FIELDS)
        raise MappingWrong(f"There is no field {target!r}; there are: {known}.")
    if name and FIELDS[found][0] not in (VERDICT, LABEL):
        raise MappingWrong(f"{target!r}: only what judges and people say has a name behind an @.")


def _is_repeatable(target: str) -> bool:
    """Several columns may be tags or comments; everything else is one column."""
    return split_field(target)[0] in ("tags", "human_tags")


def parsed(told: Sequence[str], mapping: Mapping, columns: Sequence[str]) -> Mapping:
    """A mapping changed by texts FIELD=COLUMN (an empty FIELD leaves the column unread).

    :raises MappingWrong: if a text is none, or the column or field is not there.
    """
    for text in told:
        target, equals, column = text.partition("=")
        if not equals:
            raise MappingWrong(f"{text!r} is not FIELD=COLUMN.")
        if column not in columns:
            raise MappingWrong(f"There is no column {column!r}; there are: {', '.join(columns)[:600]}.")
        mapping = mapping.with_column(column, target.strip())
    return mapping


def kept_choices(choices: Choices) -> dict:
    """What of the choices is kept with a mapping."""
    return {name: told for name, told in asdict(choices).items() if name in KEPT_CHOICES}


def choices_dict(choices: Choices) -> dict:
    """The choices as they are kept."""
    return asdict(choices)
