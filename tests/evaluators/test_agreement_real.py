"""The statistics on a real, large case: 985 images of 197 prompts, 3 people, 4 judges. Skipped where its data are not there."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from evaluators import agreement
from tests.evaluators.test_agreement_reference import differences

REAL = Path(__file__).resolve().parents[2].parent / "shared/data/viescore/reference_t2i.json"
HUMANS = ("r1", "r2", "r3")


def real_rows() -> list[dict]:
    with (REAL.parent / "t2i_wide.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def real() -> tuple[dict, list[dict]]:
    if not REAL.is_file():
        pytest.skip(f"{REAL.name} is not beside this repository")
    return json.loads(REAL.read_text(encoding="utf-8")), real_rows()


def by_prompt(rows: list[dict], judge: str) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for row in rows:
        cell = {("1", "1"): 0, ("0", "1"): 1, ("1", "0"): 2, ("0", "0"): 3}[row["gold_bad"], row[f"{judge}_bad"]]
        groups.setdefault(row["prompt"], [0, 0, 0, 0])[cell] += 1
    return groups


@pytest.mark.parametrize("judge", ["gpt4o_0shot", "gpt4v_0shot", "gemini_0shot", "llava_0shot"])
def test_a_real_judge(real, judge):
    expected, rows = real[0]["judges"][judge], [row for row in real[1] if row[f"{judge}_bad"] != ""]
    groups = by_prompt(rows, judge)
    table = agreement.binary_metrics(*map(sum, zip(*groups.values(), strict=True)))
    clustered = agreement.cluster_metrics(groups)
    bad, score = [int(row["gold_bad"]) for row in rows], [round(float(row[f"{judge}_o"]), 9) for row in rows]
    sc, human = [float(row[f"{judge}_sc"]) / 10 for row in rows], [round(float(row["human_sc"]), 9) for row in rows]
    prompts = [row["prompt"] for row in rows]
    area = agreement.auc(
        [s for s, b in zip(score, bad, strict=True) if not b], [s for s, b in zip(score, bad, strict=True) if b]
    )
    error = agreement.bias_mae(sc, human)
    verdicts = {i: int(row[f"{judge}_bad"]) for i, row in enumerate(rows)}
    people = {name: {i: int(row[f"{name}_bad"]) for i, row in enumerate(rows)} for name in HUMANS}
    got = {
        **{name: getattr(table, name) for name in ("n", "tp", "fp", "fn", "tn")},
        **{
            name: getattr(table, name).value
            for name in expected
            if isinstance(getattr(table, name, None), agreement.Estimate)
        },
        **{f"{name}_clustered": getattr(clustered, name) for name in vars(clustered)},
        "clusters": clustered.accuracy.clusters,
        "kappa_se": table.kappa.se,
        "accuracy_wilson_naive": [table.accuracy.lo, table.accuracy.hi],
        "warnings": table.warnings,
        "auc_score_O": area.value,
        "auc_ci": [area.lo, area.hi],
        "average_precision_bad": agreement.average_precision(score, bad),
        "threshold_accuracy": agreement.threshold_sweep(score, bad, "accuracy", current=5).best,
        "threshold_youden": agreement.threshold_sweep(score, bad, "youden", current=5).best,
        "sc_spearman": agreement.spearman(sc, human),
        "sc_kendall": agreement.kendall_tau_b(sc, human),
        "sc_pearson": agreement.pearson(sc, human),
        "sc_bias_0_1": error.bias,
        "sc_mae_0_1": error.mae,
        "sc_pairwise_within_prompt": agreement.pairwise_accuracy(human, sc, prompts),
        "ceiling": agreement.ceiling(
            [(row["prompt"], int(row[f"{judge}_bad"]), [int(row[f"{name}_bad"]) for name in HUMANS]) for row in rows]
        ),
        "alt_test_eps0.1": agreement.alt_test(verdicts, people, 0.1),
        "alt_test_eps0.2": agreement.alt_test(verdicts, people, 0.2),
    }
    assert differences(expected, got) == []


def test_real_people(real):
    expected, rows = real[0]["humans"], real[1]
    prompts = [row["prompt"] for row in rows]
    bad = [[int(row[f"{name}_bad"]) for name in HUMANS] for row in rows]
    sc = [[float(row[f"{name}_sc"]) for name in HUMANS] for row in rows]
    pairs = agreement.reviewer_pairs({name: {i: row[j] for i, row in enumerate(bad)} for j, name in enumerate(HUMANS)})
    got = {
        "alpha_nominal_bad": agreement.alpha(bad, "nominal", prompts),
        "alpha_ordinal_sc": agreement.alpha(sc, "ordinal", prompts),
        "alpha_interval_sc": agreement.alpha(sc, "interval", prompts),
        **{f"pair_{p.one}_{p.other}": {"agreement": p.agreement.value, "kappa": p.kappa.value} for p in pairs},
    }
    wanted = {name: value for name, value in expected.items() if name != "fleiss_bad"}  # alpha serves for it
    assert differences(wanted, got) == []


def test_two_real_judges(real):
    expected, rows = real[0]["paired"], [row for row in real[1] if row["gemini_0shot_bad"] != ""]
    right = [[int(row[f"{judge}_bad"] == row["gold_bad"]) for judge in ("gpt4o_0shot", "gemini_0shot")] for row in rows]
    b, c = sum(one > other for one, other in right), sum(one < other for one, other in right)
    assert (len(rows), b, c) == (expected["n"], expected["b_only"], expected["c_only"])
    assert differences(expected["unclustered"], agreement.mcnemar(b, c, len(rows))) == []
    clustered = agreement.paired_cluster_diff(
        (row["prompt"], one - other, 1.0) for row, (one, other) in zip(rows, right, strict=True)
    )
    assert differences(expected["clustered"], clustered) == []


def test_a_judge_that_always_says_usable_passes_the_alternative_annotator_test_on_real_labels(real):
    people = {name: {i: int(row[f"{name}_bad"]) for i, row in enumerate(real[1])} for name in HUMANS}
    found = agreement.alt_test(dict.fromkeys(range(len(real[1])), 0), people, 0.1)
    assert differences(real[0]["judges"]["always_usable"]["alt_test_eps01"], found) == []
    assert found.warnings == ("constant_passes",)
