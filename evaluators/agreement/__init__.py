"""Judge against people: estimates with intervals, and the reason where there is none."""

from evaluators.agreement.alternative import AltTest, Replaced, alt_test
from evaluators.agreement.ceiling import Ceiling, ceiling
from evaluators.agreement.clusters import ClusterMetrics, cells_ratio, cluster_metrics, cluster_ratio
from evaluators.agreement.comparisons import ClusterDifference, bh, by, holm, paired_cluster_diff
from evaluators.agreement.correction import Corrected, rogan_gladen
from evaluators.agreement.curves import SweepPoint, clustered_auc, clustered_average_precision, sweep_points
from evaluators.agreement.estimate import FEW, REASON_WORDS, SMALL, WARNING_WORDS, ClusterEstimate, Estimate
from evaluators.agreement.gate import Claim, claim
from evaluators.agreement.groups import GroupFigures, each_prompt, group_figures
from evaluators.agreement.headline import Headline, HumanAgreement, clustered_headline, headline, human_agreement
from evaluators.agreement.items import ScoreError, bias_mae
from evaluators.agreement.jackknife import jackknife
from evaluators.agreement.judged import clustered_two_phase, corrected_elsewhere
from evaluators.agreement.labels import majority
from evaluators.agreement.monitoring import Window, ewma, p_chart_limits
from evaluators.agreement.paired import PairedDifference, mcnemar
from evaluators.agreement.panel import Panel, Votes, panel
from evaluators.agreement.planning import min_successes, n_for_claim, n_for_halfwidth, n_paired
from evaluators.agreement.proportions import (
    clopper_pearson,
    cp_lower,
    kg_lower,
    mover_difference,
    two_prop_diff,
    wilson,
)
from evaluators.agreement.ranking import RankInterval, rank_intervals
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
from evaluators.agreement.same_cases import PromptTold, SameCases, Told, paired_difference, same_cases
from evaluators.agreement.score_tables import ScoreAgreement, score_agreement
from evaluators.agreement.table import BinaryMetrics, binary_metrics
from evaluators.agreement.thresholds import HeldOut, Sweep, Threshold, gain, held_out, tables_at, threshold_sweep
from evaluators.agreement.two_phase import StratifiedEstimate, TwoPhase, stratified, two_phase
from evaluators.agreement.watch import Watched, watch, window_size

__all__ = [
    "FEW",
    "REASON_WORDS",
    "SMALL",
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
    "GroupFigures",
    "Headline",
    "HeldOut",
    "HumanAgreement",
    "PairedDifference",
    "PairwiseAccuracy",
    "Panel",
    "PromptTold",
    "RankInterval",
    "Replaced",
    "ReviewerPair",
    "SameCases",
    "ScoreAgreement",
    "ScoreError",
    "SelfConsistency",
    "StratifiedEstimate",
    "Sweep",
    "SweepPoint",
    "Threshold",
    "Told",
    "TwoPhase",
    "Votes",
    "Watched",
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
    "clustered_auc",
    "clustered_average_precision",
    "clustered_headline",
    "clustered_two_phase",
    "corr_ci",
    "corrected_elsewhere",
    "correlation",
    "cp_lower",
    "each_prompt",
    "ewma",
    "gain",
    "group_figures",
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
    "mover_difference",
    "n_for_claim",
    "n_for_halfwidth",
    "n_paired",
    "p_chart_limits",
    "paired_cluster_diff",
    "paired_difference",
    "pairwise_accuracy",
    "panel",
    "pearson",
    "quadratic_kappa",
    "rank_intervals",
    "reviewer_pairs",
    "rogan_gladen",
    "same_cases",
    "score_agreement",
    "self_consistency",
    "spearman",
    "stratified",
    "sweep_points",
    "tables_at",
    "threshold_sweep",
    "two_phase",
    "two_prop_diff",
    "watch",
    "wilson",
    "window_size",
]
