"""What a judge says of a case: a verdict with its items, and how a score becomes a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from evaluators.rubric import Rubric

Label = Literal["usable", "badcase"]
Status = Literal["ok", "unreadable", "refused", "failed", "skipped"]

USABLE: Label = "usable"
BADCASE: Label = "badcase"

#: What each status means, in the words that people read on every screen.
STATUS_WORDS: dict[str, str] = {
    "ok": "judged",
    "unreadable": "the judge's reply could not be read",
    "refused": "the judge refused to answer",
    "failed": "the judge could not be reached or answered with an error",
    "skipped": "the case lacks what the metric needs",
}

#: What each flag on a readable reply means.
FLAG_WORDS: dict[str, str] = {
    "says_no_image": "The judge says that it saw no image.",
    "suspect_scale": "All sub-scores are 1 or less: the judge may have used a 0-1 scale.",
    "self_contradiction": "The judge's stated score does not follow from what it listed.",
}


@dataclass(frozen=True)
class Item:
    """One piece of a verdict that a person can correct.

    `key` is stable across runs (`SC.prompt_following`). `group` is what it belongs to (`SC`). A sub-score has a
    `value` between `low` and `high`; the others have an `answer` instead (None: missing), which is right if it is
    `expected`, one of `choices`. node: the 1-based context entry that supports a statement.
    """

    key: str
    kind: Literal["sub_score", "question", "element", "contradiction", "statement"]
    text: str
    group: str = ""
    value: float | None = None
    low: float = 0.0
    high: float = 10.0
    answer: str | None = None
    expected: str | None = None
    choices: tuple[str, ...] = ()
    node: int | None = None

    @property
    def is_right(self) -> bool:
        """Whether the answer is the expected one; a missing answer is not."""
        return self.answer is not None and self.answer == self.expected


def share_right(items: Sequence[Item]) -> float:
    """The share 0-1 of items whose answer is the expected one, unweighted; a missing answer counts 0.

    :raises ValueError: without items.
    """
    if not items:
        raise ValueError("a share of nothing")
    return sum(item.is_right for item in items) / len(items)


@dataclass(frozen=True)
class Options:
    """How a metric is run, with deepeval's meaning.

    threshold: usable iff score >= threshold; None gives a score and no label.
    strict: the threshold becomes 1 and a lower score becomes 0.
    include_reason: ask for and keep the judge's reasons.
    concurrent: the calls of one case go out together (deepeval's async_mode).
    verbose: keep the steps with the verdict.
    flaky: the result is reported and never decides anything.
    """

    threshold: float | None = 0.5
    strict: bool = False
    include_reason: bool = True
    concurrent: bool = True
    verbose: bool = False
    flaky: bool = False

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold {self.threshold} is outside 0-1")

    def as_dict(self) -> dict[str, object]:
        """All fields, as a run keeps them."""
        return asdict(self)

    @property
    def deciding_threshold(self) -> float | None:
        """The threshold that decides: 1 when strict."""
        return 1.0 if self.strict else self.threshold


@dataclass(frozen=True)
class Verdict:
    """What one run said of one case. There is always exactly one, whatever happened.

    score: 0-1, None unless status is `ok`. problem: why the status is not `ok`, a sentence for people.
    exchanges: every question asked with its reply, in the order asked. seconds: wall time for this case.
    """

    case_id: str
    metric: str
    status: Status
    score: float | None = None
    threshold: float | None = None
    reason: str = ""
    items: tuple[Item, ...] = ()
    flags: tuple[str, ...] = ()
    problem: str = ""
    steps: tuple[str, ...] = ()
    exchanges: tuple = ()
    seconds: float = 0.0
    rubric: Rubric | None = None

    @property
    def label(self) -> Label | None:
        """usable or badcase; None without a score or without a threshold."""
        return label_of(self.score, self.threshold)


def label_of(score: float | None, threshold: float | None) -> Label | None:
    """The label of a score: usable iff score >= threshold, at full precision; a tie is usable.

    None when either is None (score-only mode, or no score).
    """
    if score is None or threshold is None:
        return None
    return USABLE if score >= threshold else BADCASE


def shown_score(score: float | None, threshold: float | None = None, digits: int = 2) -> str:
    """A score for people: `digits` decimals, and more when rounding would hide which side of the threshold it is.

    >>> shown_score(0.4996, 0.5)
    '0.4996'
    >>> shown_score(0.4996, 0.7)
    '0.50'
    """
    if score is None:
        return "–"
    for places in range(digits, 18):
        text = f"{score:.{places}f}"
        if threshold is None or label_of(float(text), threshold) == label_of(score, threshold):
            return text
    return repr(score)
