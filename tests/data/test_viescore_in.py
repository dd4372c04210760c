"""Real files of verdicts and ratings come in with mappings only, and the figures are those of the files themselves."""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from dataclasses import replace

import pytest
from click.testing import CliRunner

from cli import cli
from data.exchange.gathering import proposals_for
from data.exchange.importing import carry_out, plan_import
from data.exchange.reading import Source
from data.reports.headline import agreement_report
from data.store import runs as run_store
from data.store.agreement import Basis, counts
from tests.conftest import REPOSITORY

FOLDER = REPOSITORY.parent / "shared" / "data" / "viescore"
FILES = [FOLDER / name for name in ("cases.csv", "verdicts.csv", "ratings.csv")]
pytestmark = pytest.mark.skipif(not FILES[0].exists(), reason="the real data is not here")


def read(name: str) -> list[dict]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def expected() -> dict[str, dict[str, int]]:
    """tp, fp, fn, tn and unanswered by judge, computed from the files alone: VIEScore's O = sqrt(SC PQ) against the
    majority of three raters, who each call a badcase what is below 0.5 in either rating."""
    bad = defaultdict(int)
    for row in read("ratings.csv"):
        bad[row["case_id"]] += float(row["SC"]) < 0.5 or float(row["PQ"]) < 0.5
    aspects = defaultdict(dict)
    for row in read("verdicts.csv"):
        aspects[row["judge"], row["case_id"]][row["aspect"]] = min(json.loads(row["sub_scores"]))
    found: dict = {judge: defaultdict(int) for judge, _case in aspects}
    for (judge, case), of_case in aspects.items():
        gold = bad[case] >= 2
        if set(of_case) != {"SC", "PQ"}:
            found[judge]["unanswered_bad" if gold else "unanswered_usable"] += 1
            continue
        says_bad = math.sqrt(of_case["SC"] * of_case["PQ"]) < 5
        found[judge][
            {(True, True): "tp", (False, True): "fp", (True, False): "fn", (False, False): "tn"}[gold, says_bad]
        ] += 1
    return found


def check_figures() -> None:
    wanted = expected()
    assert {run["judge_name"] for run in run_store.runs()} == set(wanted) == {"gpt4o_0shot", "gemini_0shot"}
    for run in run_store.runs():
        found = counts(Basis(run["id"], run["threshold"]))
        assert {name: count for name, count in found.items() if count} == wanted[run["judge_name"]]
        report = agreement_report(run["id"])
        right = wanted[run["judge_name"]]["tp"] + wanted[run["judge_name"]]["tn"]
        assert report["n"] == run["cases"] == 2417
        assert report["accuracy"]["value"] == pytest.approx(right / 2417, abs=1e-12)  # no answer is no right answer


def test_three_files_by_command_and_once_more():
    command = ["import", *map(str, FILES), "--dataset", "viescore", "--labels-blind", "--labels-random", "--json"]
    done = CliRunner().invoke(cli, command)
    report = json.loads(done.stdout)
    assert (report["cases"]["new"], report["verdicts"]["new"], report["reviews"]["new"]) == (2417, 4834, 7251)
    assert (report["rows"], report["problems"], report["pictures"]["links"]) == (2417 + 9666 + 7251, [], 2596)
    check_figures()
    again = json.loads(CliRunner().invoke(cli, command).stdout)
    assert [again[kind]["unchanged"] for kind in ("cases", "verdicts", "reviews")] == [2417, 4834, 7251]
    assert len(run_store.runs()) == 2


def test_one_file_after_the_other_as_on_the_screen():
    for path in FILES:
        (proposal,) = proposals_for([Source(path.name, path.read_bytes())])
        proposal = replace(proposal, choices=replace(proposal.choices, blind=True, random=True))
        plan = plan_import("viescore", [proposal])
        assert plan.report["problems"] == []
        carry_out(plan)
    check_figures()


def test_a_part_of_the_cases_gives_the_published_figures_and_the_rest_is_rejected_row_by_row(tmp_path):
    rows = [row for row in read("cases.csv") if row["task"] == "t2i"]
    with (tmp_path / "t2i.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    files = [str(tmp_path / "t2i.csv"), *map(str, FILES[1:])]
    command = ["import", *files, "--dataset", "t2i", "--labels-blind", "--labels-random", "--json"]
    done = CliRunner().invoke(cli, [*command, "--rejected", str(tmp_path / "rejected.csv")])
    report = json.loads(done.stdout)
    assert done.exit_code == 1
    assert (report["cases"]["new"], report["reviews"]["new"], report["reviews"]["rejected"]) == (985, 985 * 3, 1432 * 3)
    reference = json.loads((FOLDER / "reference_t2i.json").read_text())["judges"]
    for run in run_store.runs():
        found = counts(Basis(run["id"], run["threshold"]))
        assert [found[cell] for cell in ("tp", "fp", "fn", "tn")] == [
            reference[run["judge_name"]][cell] for cell in ("tp", "fp", "fn", "tn")
        ]
    with (tmp_path / "rejected.csv").open(encoding="utf-8-sig", newline="") as file:
        rejected = list(csv.DictReader(file))
    assert len(rejected) == len(report["problems"])
    assert {row["file"] for row in rejected} == {"verdicts.csv", "ratings.csv"}
    assert rejected[0]["reason"] == f"case_id: there is no case {rejected[0]['case_id']} in t2i"
