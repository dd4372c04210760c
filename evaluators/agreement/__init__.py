"""Judge against people: estimates with intervals, and the reason where there is none."""

from evaluators.agreement.alternative import AltTest, Replaced, alt_test
from evaluators.agreement.ceiling import Ceiling, ceiling
from evaluators.agreement.clusters import ClusterMetrics, cells_ratio, cluster_metrics, cluster_ratio
from evaluators.agreement.comparisons import ClusterDifference, bh, by, holm, paired_cluster_diff
from evaluators.agreement.correction import Corrected, rogan_gladen
from evaluators.agreement.estimate import REASON_WORDS, WARNING_WORDS, ClusterEstimate, Estimate
from evaluators.agreement.gate import Claim, claim
from evaluators.agreement.headline import Headline, HumanAgreement, clustered_headline, headline, human_agreement
from evaluators.agreement.items import ScoreError, bias_mae
from evaluators.agreement.jackknife import jackknife
from evaluators.agreement.labels import majority
from evaluators.agreement.monitoring import Window, ewma, p_chart_limits
from evaluators.agreement.paired import PairedDifference, mcnemar
from evaluators.agreement.planning import min_successes, n_for_claim, n_for_halfwidth, n_paired
from evaluators.agreement.proportions import clopper_pearson, cp_lower, kg_lower, two_prop_diff, wilson
from evaluators.agreement.ranks import (
    PairwiseAccuracy,
    corr_ci,
    correlation,
    kendall_tau_b,
    pairwise_accuracy,
    pearson,
    spearman,
)
from evaluators.agreement.repeats import SelfConsistency, self_consistency
from evaluators.agreement.reviewers import ReviewerPair, alpha, reviewer_pairs
from evaluators.agreement.roc import auc, average_precision, quadratic_kappa
from evaluators.agreement.table import BinaryMetrics, binary_metrics
from evaluators.agreement.thresholds import HeldOut, Sweep, Threshold, held_out, threshold_sweep
from evaluators.agreement.two_phase import StratifiedEstimate, TwoPhase, stratified, two_phase

__all__ = [
    "REASON_WORDS",
    "WARNING_WORDS",
    "AltTest",
    "BinaryMetrics",
    "Ceiling",
    "Claim",
    "ClusterDifference",
    "ClusterEstimate",
    "ClusterMetrics",
    "Corrected",
    "Estimate",
    "Headline",
    "HeldOut",
    "HumanAgreement",
    "PairedDifference",
    "PairwiseAccuracy",
    "Replaced",
    "ReviewerPair",
    "ScoreError",
    "SelfConsistency",
    "StratifiedEstimate",
    "Sweep",
    "Threshold",
    "TwoPhase",
    "Window",
    "alpha",
    "alt_test",
    "auc",
    "average_precision",
    "bh",
    "bias_mae",
    "binary_metrics",
    "by",
    "ceiling",
    "cells_ratio",
    "claim",
    "clopper_pearson",
    "cluster_metrics",
    "cluster_ratio",
    "clustered_headline",
    "corr_ci",
    "correlation",
    "cp_lower",
    "ewma",
    "headline",
    "held_out",
    "holm",
    "human_agreement",
    "jackknife",
    "kendall_tau_b",
    "kg_lower",
    "majority",
    "mcnemar",
    "min_successes",
    "n_for_claim",
    "n_for_halfwidth",
    "n_paired",
    "p_chart_limits",
    "paired_cluster_diff",
    "pairwise_accuracy",
    "pearson",
    "quadratic_kappa",
    "reviewer_pairs",
    "rogan_gladen",
    "self_consistency",
    "spearman",
    "stratified",
    "threshold_sweep",
    "two_phase",
    "two_prop_diff",
    "wilson",
]
