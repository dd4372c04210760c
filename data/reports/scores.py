"""What a judge's score tells, whatever the threshold, and what a threshold chosen by people's labels would be worth."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from data.reports.score_words import sentences
from data.store import score_counts
from data.store.agreement import Basis
from data.store.runs import run_by_id
from evaluators.agreement import (
    SweepPoint,
    binary_metrics,
    cluster_metrics,
    cluster_ratio,
    clustered_auc,
    clustered_average_precision,
    gain,
    held_out,
    paired_cluster_diff,
    sweep_points,
    tables_at,
    threshold_sweep,
)

#: What a threshold is chosen by, in words; the keys are those of threshold_sweep.
OBJECTIVES = {
    "youden": "badcases found and usable cases passed count alike",
    "accuracy": "as many cases right as possible",
    "cost": "as little cost as possible",
}
#: The figures that are shown of a threshold, in the order in which they are read.
FIGURES = {
    "balanced_accuracy": "Balanced accuracy",
    "recall_bad": "Badcases found",
    "specificity": "Usable cases passed",
    "precision_bad": "Flags that are right",
    "accuracy": "Agreement with people",
}
_BINS = 20
_MOST_POINTS = 400  # of a curve: more are not seen


def scores_report(basis: Basis, objective: str = "youden", cost_fn: float = 1.0, cost_fp: float = 1.0) -> dict:
    """The score against people's labels, over the labelled cases that the judge scored (n), as plain values.

    objective: a key of OBJECTIVES; cost_fn, cost_fp: of a missed badcase and of a wrong flag, for `cost`. unscored: labelled
    cases without a score, which are left out. auc, average_precision, bad_rate: estimates; bad_rate is what the average
    precision would be by chance. points: the sweep, each with threshold (None at the ends, then `does` says what), tp, fp,
    fn, tn and their shares; current: the same at the basis' threshold. favoured: the threshold that these labels favour,
    never with its figures on them. held_out, now: FIGURES (and for `cost` the cost per case) of a judge tuned so, on cases
    that it was not tuned on, and of one at the basis' threshold; gain: by how much the former is better. distribution: cases
    by score and label. words: the whole in sentences.
    """
    found = score_counts.score_histogram(basis)
    rows = [(c, score, bad, n) for c, score, *both in found for bad, n in enumerate(both) if n]
    clusters, scores, bad, counts = ([row[place] for row in rows] for place in range(4))
    cases = {"scores": scores, "bad": bad, "counts": counts}
    n, badcases = sum(counts), sum(k for label, k in zip(bad, counts, strict=True) if label)
    tables = {} if basis.threshold is None else tables_at(basis.threshold, clusters=clusters, **cases)
    report = {
        "run": basis.run_id,
        "basis": basis.name,
        "threshold": basis.threshold,
        "strict": bool(run_by_id(basis.run_id)["options"]["strict"]),
        "n": n,
        "prompts": len(set(clusters)),
        "badcases": badcases,
        "unscored": score_counts.count_unscored(basis),
        "auc": clustered_auc(clusters=clusters, **cases).as_dict(),
        "average_precision": clustered_average_precision(clusters=clusters, **cases).as_dict(),
        "bad_rate": cluster_ratio(((c, k, k + u, 1.0) for c, _score, u, k in found), n).as_dict(),
        "points": [_point(point) for point in _thinned(sweep_points(**cases))],
        "current": _total_point(basis.threshold, tables),
        "distribution": _distribution(found),
        **_tuned(cases, clusters, basis.threshold, tables, (objective, cost_fn, cost_fp)),
    }
    return {**report, "words": sentences(report)}


def _tuned(
    cases: Mapping[str, list], clusters: Sequence[Hashable], current: float | None,
    tables: Mapping[Hashable, Sequence[int]], aim: tuple[str, float, float],
) -> dict:  # fmt: skip
    """The favoured threshold, what it is worth on new cases, what the present one with these tables is, the difference."""
    objective, cost_fn, cost_fp = aim
    how = {"metric": objective, "current": current, "cost_fn": cost_fn, "cost_fp": cost_fp}
    best = threshold_sweep(**cases, **how).best
    outside = held_out(clusters=clusters, **cases, **how)
    better = gain(outside.tables, tables, *aim) if outside.tables and tables else None
    costs = (cost_fn, cost_fp) if objective == "cost" else None
    return {
        "objective": objective,
        "costs": {"missed_badcase": cost_fn, "wrong_flag": cost_fp},
        "favoured": None if best is None else _named(best.t),
        "held_out": _figures(outside.tables, costs),
        "held_out_reason": outside.reason,
        "now": _figures(tables, costs),
        "gain": None if better is None else better.as_dict(),
    }


def _figures(tables: Mapping[Hashable, Sequence[int]] | None, costs: tuple[float, float] | None) -> dict | None:
    """FIGURES of 2x2 tables by prompt, with intervals that know the prompts; with costs also the cost per case."""
    if not tables:
        return None
    total = _sum(tables)
    # Where every prompt has one case the cases are independent.
    metrics = binary_metrics(*total) if len(tables) == sum(total) else cluster_metrics(tables)
    found = {name: getattr(metrics, name).as_dict() for name in FIGURES}
    if costs is None:
        return found
    spent = ((c, (costs[0] * fn + costs[1] * fp) / (tp + fp + fn + tn), tp + fp + fn + tn)
             for c, (tp, fp, fn, tn) in tables.items())  # fmt: skip
    return {**found, "cost": replace(paired_cluster_diff(spent), n=sum(total), p=None).as_dict()}


def _named(t: float) -> dict:
    """A threshold for JSON, which knows no infinity."""
    does = "passes every case" if t == -math.inf else "flags every case" if t == math.inf else ""
    return {"threshold": t if math.isfinite(t) else None, "does": does}


def _point(point: SweepPoint) -> dict:
    shares = ("recall_bad", "specificity", "precision_bad", "accuracy")
    cells = {cell: getattr(point, cell) for cell in ("tp", "fp", "fn", "tn")}
    return {**_named(point.t), **cells, **{share: getattr(point, share) for share in shares}}


def _total_point(t: float | None, tables: Mapping[Hashable, Sequence[int]]) -> dict | None:
    """The point of a threshold that need not be one of the sweep's."""
    return _point(SweepPoint(t, *_sum(tables))) if tables else None


def _sum(tables: Mapping[Hashable, Sequence[int]]) -> list[int]:
    return np.array(list(tables.values())).sum(axis=0).tolist()


def _thinned(points: list[SweepPoint]) -> list[SweepPoint]:
    """At most so many of them as can be seen, both ends among them."""
    if len(points) <= _MOST_POINTS:
        return points
    last = len(points) - 1
    return [points[round(i * last / (_MOST_POINTS - 1))] for i in range(_MOST_POINTS)]


def _distribution(found: Sequence[tuple[str, float, int, int]]) -> list[dict]:
    """Cases by label in twenty bands of score, each from lo up to but without hi; the last one has 1 in it."""
    bands = [{"lo": i / _BINS, "hi": (i + 1) / _BINS, "usable": 0, "badcase": 0} for i in range(_BINS)]
    for _cluster, score, usable, bad in found:
        # Rounded, as 0.15 * 20 is 3 but for rounding.
        band = bands[min(_BINS - 1, max(0, math.floor(round(score * _BINS, 9))))]
        band["usable"] += usable
        band["badcase"] += bad
    return bands
