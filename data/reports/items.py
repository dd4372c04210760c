"""Agreement item by item."""

from __future__ import annotations

from data.store import agreement as agreement_store
from evaluators.agreement import bias_mae, wilson


def item_report(run_id: int) -> list[dict]:
    """Agreement item by item: a row for each sub-score (bias, MAE) and for each group of answers (share that agrees)."""
    groups: dict[tuple[str, str], list[dict]] = {}
    for pair in agreement_store.item_pairs(run_id):
        name = pair["key"] if pair["kind"] == "sub_score" else pair["group"]
        groups.setdefault((pair["kind"], name), []).append(pair)
    report = []
    for (kind, name), pairs in groups.items():
        row = {"item": name, "kind": kind, "n": len(pairs)}
        if kind == "sub_score":
            error = bias_mae([p["judge_value"] for p in pairs], [p["human_value"] for p in pairs])
            same = wilson(sum(p["judge_value"] == p["human_value"] for p in pairs), len(pairs))
            row |= {"bias": error.bias, "bias_lo": error.lo, "bias_hi": error.hi, "mae": error.mae}
        else:
            # A missing answer agrees with nobody, left as it was or not.
            agreed = sum(p["judge_answer"] == p["human_answer"] is not None for p in pairs)
            same = wilson(agreed, len(pairs))
            row |= {"bias": None, "bias_lo": None, "bias_hi": None, "mae": None}
        report.append(row | {"agreement": same.value, "lo": same.lo, "hi": same.hi})
    return report
