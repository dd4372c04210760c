"""An estimate with its interval, or why there is none. Undefined is None with a reason, never 0 or NaN."""

from __future__ import annotations

from dataclasses import asdict, dataclass

#: Fewer cases than that give a first impression; fewer of one class tell hardly anything of it.
SMALL, FEW = 30, 10

#: Why a figure is undefined, in the words of the screens.
REASON_WORDS = {
    "no_data": "no labels yet",
    "no_threshold": "the run gives scores and no labels",
    "judge_answered_none": "the judge gave no label on any of these cases",
    "no_human_bad": "no badcase among the labels",
    "no_human_usable": "no usable case among the labels",
    "judge_flagged_none": "the judge flagged nothing",
    "judge_passed_none": "the judge passed nothing",
    "class_absent": "this class does not occur",
    "one_human_class": "people used only one of the two labels",
    "single_category": "only one class was seen: agreement is 100 %, kappa is undefined",
    "too_few_units": "no case has labels by two people",
    "zero_margin": "the judge or the people used only one label",
    "few_clusters": "all of these cases belong to one prompt",
    "unreviewed_verdict": "one of the judge's two verdicts was never reviewed",
    "unsampled_stratum": "one of the bands was never reviewed",
    "constant_input": "one side gave the same score to every case",
    "no_pairs": "people ranked no two of these cases",
    "degenerate": "too uniform or too few cases for an interval",
    "judge_at_chance": "on the calibration labels the judge is no better than chance",
    "calibration_misfit": "the calibration labels and these cases do not fit",
    "interval_undefined": "the labels are too few for an interval: every value is possible",
}

#: What each warning means.
WARNING_WORDS = {
    "no_threshold": "This run gives scores without labels: name a threshold to compare them with people's labels.",
    "no_data": "There are no labels to compare with yet.",
    "small_n": f"Fewer than {SMALL} labelled cases: the interval is wide, treat the figure as a first impression.",
    "few_human_bad": f"Fewer than {FEW} badcases among the labels: how many the judge finds is hardly known.",
    "few_human_usable": f"Fewer than {FEW} usable cases among the labels: how many the judge passes is hardly known.",
    "accuracy_misleading": "Accuracy flatters here: most cases have one label, and agreement beyond chance is low, or cannot be "
    "told.",
    "worse_than_constant": "Always giving the most frequent label would agree with people more often than this judge.",
    "not_shown_better_than_constant": "It is not shown that the judge beats always giving the most frequent label.",
    "few_clusters": f"Fewer than {FEW} prompts among the labels: the interval is rough.",
    "few_misses": "Fewer than 5 missed badcases were seen among the passed cases: how many badcases the judge finds is a guess.",
    "calibration_misfit": "The calibration labels and these cases do not fit: the corrected rate left 0-100 % and was cut.",
    "constant_passes": "Always giving the most frequent label passes as well: the test is not informative here.",
}


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval.

    value, lo, hi: None when undefined, and then `reason` is a key of REASON_WORDS. A reason beside limits without a value
    says that they are the worst cases; beside a value, that the interval is missing or holds everything possible.
    n: what the figure rests on. se: standard error, None where the method has none. method: how the interval was made.
    """

    value: float | None
    lo: float | None = None
    hi: float | None = None
    reason: str | None = None
    n: float = 0
    se: float | None = None
    method: str = ""

    @classmethod
    def undefined(cls, reason: str, n: float = 0) -> Estimate:
        return cls(None, reason=reason, n=n)

    def as_dict(self) -> dict:
        """All fields, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class ClusterEstimate(Estimate):
    """An estimate from cases that belong together in clusters, which are prompts.

    n_eff: how many independent cases the n are worth; deff: n / n_eff, the design effect; both None where the method has
    none. clusters: how many the figure rests on.
    """

    n_eff: float | None = None
    deff: float | None = None
    clusters: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """Keys of WARNING_WORDS."""
        return ("few_clusters",) if self.value is not None and self.clusters < FEW else ()
