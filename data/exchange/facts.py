"""What a file's verdicts and labels have to do with each other: looked up over all rows before one is taken."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from data.exchange.mapping import Choices, MappingWrong
from data.exchange.saying import Rows, RowWrong, SaidVerdict, number
from evaluators.metrics import CRITERIA, METRICS

#: Highest scores that scales have.
_SCALES = (1.0, 5.0, 10.0, 100.0)
RunKey = tuple[str, str]


@dataclass
class ScoreFacts:
    """The scores of one judge's run, on the file's own scale."""

    low: float = 0.0
    high: float = 0.0
    scores: int = 0
    labels: int = 0
    lowest_usable: float = float("inf")
    highest_bad: float = float("-inf")
    thresholds: set[str] = field(default_factory=set)
    metrics: set[str] = field(default_factory=set)
    criteria: set[str] = field(default_factory=set)
    aspects: dict[str, None] = field(default_factory=dict)
    item_high: float = 0.0

    def count(self, verdict: SaidVerdict) -> None:
        score = verdict.score if verdict.score is not None or not verdict.aspect else lowest_item(verdict)
        if score is not None:
            self.scores += 1
            self.low, self.high = min(self.low, score), max(self.high, score)
            if verdict.label == "usable":
                self.lowest_usable = min(self.lowest_usable, score)
            elif verdict.label == "badcase":
                self.highest_bad = max(self.highest_bad, score)
        self.labels += verdict.label is not None
        if verdict.threshold is not None:
            self.thresholds.add(verdict.threshold)
        if verdict.metric:
            self.metrics.add(verdict.metric)
        if criterion := verdict.shared.get("criterion"):
            self.criteria.add(criterion)
        if verdict.aspect:
            self.aspects[verdict.aspect] = None
        for item in verdict.items:
            if item.value is not None:
                self.item_high = max(self.item_high, item.value)


@dataclass(frozen=True)
class RunSettings:
    """How the verdicts of a run are read. scale: the highest score there can be. from_labels: the label makes the score,
    1 or 0. combine: how aspects become one score. noted: what was assumed, in sentences."""

    judge: str
    metric: str
    criterion: str
    threshold: float | None
    scale: float
    item_scale: float
    from_labels: bool
    aspects: tuple[str, ...]
    combine: str
    noted: tuple[str, ...]


@dataclass
class Facts:
    """A whole file: run settings by (judge, run), and the scale of ratings."""

    runs: dict[RunKey, RunSettings] = field(default_factory=dict)
    rating_scale: float = 1.0


class FactsFinder:
    """Finds the facts of a table whose rows are shown to it one by one."""

    def __init__(self, rows: Rows, choices: Choices):
        self._rows, self._choices = rows, choices
        self._facts, self._highest = Facts(), 0.0
        self._scores: dict[RunKey, ScoreFacts] = defaultdict(ScoreFacts)

    def look_at(self, row: dict[str, str]) -> None:
        for said in self._rows.verdicts(row) if self._rows.gives_verdicts else ():
            if not isinstance(said, RowWrong):
                self._scores[said.judge, said.run].count(said)
        if not self._rows.gives_labels:
            return
        for said in self._rows.labels(row):
            if not isinstance(said, RowWrong):
                self._highest = max(self._highest, *(value for _key, value in said.ratings), 0.0)

    def found(self) -> Facts:
        """:raises MappingWrong: if a scale or threshold cannot be."""
        self._facts.rating_scale = self._choices.rating_scale or scale_of(self._highest)
        self._facts.runs = {key: settled(key[0], found, self._choices) for key, found in self._scores.items()}
        return self._facts


def settled(judge: str, facts: ScoreFacts, choices: Choices) -> RunSettings:
    """How the verdicts of one run are read.

    :raises MappingWrong: if scores are below 0 or above every known scale.
    """
    scale, noted = choices.scale or scale_of(facts.high), []
    if facts.low < 0 or facts.high > scale:
        told = f"The scores of {judge} go from {facts.low:g} to {facts.high:g}"
        raise MappingWrong(f"{told}: they must lie between 0 and the highest score there can be; say it with --scale.")
    if scale != 1 and facts.scores:
        noted.append(f"The scores of {judge} are taken to be 0-{scale:g}, and kept as 0-1.")
    metric = next(iter(facts.metrics)) if len(facts.metrics) == 1 else choices.metric
    if metric not in METRICS:
        is_viescore = set(facts.aspects) == {"SC", "PQ"} and choices.combine == "viescore"
        metric = "text_to_image" if is_viescore else "imported"
    told = next(iter(facts.criteria)) if len(facts.criteria) == 1 else ""
    criterion = choices.criterion or told or (METRICS[metric].criterion if metric in METRICS else "overall")
    if criterion not in CRITERIA:
        raise MappingWrong(f"{criterion[:60]!r} is not a criterion: {', '.join(CRITERIA)}.")
    threshold, from_labels = _threshold(judge, facts, choices, scale, noted)
    return RunSettings(
        judge, metric, criterion, threshold, scale, max(10.0, scale_of(facts.item_high)), from_labels,
        tuple(facts.aspects), choices.combine, tuple(noted),
    )  # fmt: skip


def _threshold(
    judge: str, facts: ScoreFacts, choices: Choices, scale: float, noted: list[str]
) -> tuple[float | None, bool]:
    """The threshold 0-1, and whether the labels must make the scores."""
    if choices.threshold is not None:
        if not 0 <= choices.threshold <= 1:
            raise MappingWrong(
                f"A threshold of {choices.threshold:g} is outside 0-1; it is compared with scores made 0-1."
            )
        return choices.threshold, not facts.scores
    if len(facts.thresholds) == 1:
        told = next(iter(facts.thresholds))
        found = number(told)
        if told and (found is None or not 0 <= found <= 1):
            raise MappingWrong(f"The threshold of {judge[:80]} is {told[:40]!r}: it must be a number from 0 to 1.")
        if told or not facts.labels:
            return found, not facts.scores
    if not facts.labels:
        noted.append(f"No threshold is given for {judge}: usable from half the scale on.")
        return 0.5, False
    if not facts.scores:
        return 0.5, True
    if facts.highest_bad < facts.lowest_usable:
        if facts.highest_bad < 0.5 * scale <= facts.lowest_usable:
            return 0.5, False
        found = facts.lowest_usable / scale
        noted.append(f"The labels of {judge} follow from its scores at a threshold of {found:g}.")
        return found, False
    noted.append(
        f"No threshold gives the labels of {judge} from its scores: the labels count, the scores are kept as items."
    )
    return 0.5, True


def scale_of(highest: float) -> float:
    """The highest score that there can be, by the highest there is."""
    return next((scale for scale in _SCALES if highest <= scale), highest)


def lowest_item(verdict: SaidVerdict) -> float | None:
    """The lowest sub-score of a verdict, which makes the score of an aspect."""
    return min((item.value for item in verdict.items if item.value is not None), default=None)
