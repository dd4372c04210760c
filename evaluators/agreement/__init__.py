"""Judge against people: estimates with intervals, and the reason where there is none."""

from evaluators.agreement.estimate import REASON_WORDS, WARNING_WORDS, Estimate
from evaluators.agreement.headline import Headline, HumanAgreement, headline, human_agreement
from evaluators.agreement.items import ScoreError, bias_mae
from evaluators.agreement.labels import majority
from evaluators.agreement.paired import PairedDifference, mcnemar
from evaluators.agreement.proportions import clopper_pearson, cp_lower, wilson
from evaluators.agreement.repeats import SelfConsistency, self_consistency
from evaluators.agreement.table import BinaryMetrics, binary_metrics

__all__ = [
    "REASON_WORDS",
    "WARNING_WORDS",
    "BinaryMetrics",
    "Estimate",
    "Headline",
    "HumanAgreement",
    "PairedDifference",
    "ScoreError",
    "SelfConsistency",
    "bias_mae",
    "binary_metrics",
    "clopper_pearson",
    "cp_lower",
    "headline",
    "human_agreement",
    "majority",
    "mcnemar",
    "self_consistency",
    "wilson",
]
