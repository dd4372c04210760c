"""The sample workspace: loaded in seconds, twice is once, and every chart has something to show."""

from __future__ import annotations

import time

import pytest

from data.reports.headline import agreement_report
from data.reports.items import item_report
from data.sample.load import DATASETS, JUDGE, load
from data.store import cases as case_store
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.connection import rows, value
from evaluators.verdict import label_of
from tests.conftest import load_sample

COUNTED = ("datasets", "cases", "parts", "images", "judges", "runs", "verdicts", "items", "replies", "reviewers",
           "queue_draws", "reviews", "review_items", "rubrics")  # fmt: skip


def counts() -> dict[str, int]:
    return {table: value(f"SELECT count(*) FROM {table}") for table in COUNTED}


@pytest.fixture
def loaded() -> dict[str, dict]:
    """The sample's run by its metric."""
    load_sample()
    return {run["metric"]: run for run in run_store.runs()}


def test_it_loads_in_under_ten_seconds_and_loading_it_again_changes_nothing():
    started = time.perf_counter()
    load()
    assert time.perf_counter() - started < 10
    before = counts()
    load()
    assert counts() == before
    # 77 files, 76 pictures and videos: one edit was not done, so that its result is its source.
    assert {name: before[name] for name in ("datasets", "cases", "images", "runs", "reviews", "reviewers", "rubrics")} == {
        "datasets": 6, "cases": 72, "images": 76, "runs": 6, "reviews": 92, "reviewers": 2, "rubrics": 7,
    }  # fmt: skip


# A first start that was interrupted (Ctrl-C, a full disk) must not leave half a sample for ever.
@pytest.mark.parametrize("at", ["first dataset", "first run", "second dataset", "second run", "reviews", "last run"])
def test_a_load_that_was_interrupted_is_finished_by_the_next_one(at, monkeypatch):
    from data.sample import load as module

    calls = {"first dataset": ("_record", 1), "first run": ("_run", 1), "second dataset": ("_record", 2),
             "second run": ("_run", 2), "reviews": ("_review", 100), "last run": ("_run", 6)}  # fmt: skip
    name, number = calls[at]
    original, count = getattr(module, name), [0]

    def interrupted(*arguments):
        count[0] += 1
        if count[0] == number:
            raise KeyboardInterrupt
        return original(*arguments)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(module, name, interrupted)
        module.load()
    module.load()
    found = counts()
    assert {name: found[name] for name in ("cases", "runs", "verdicts", "reviews")} == {
        "cases": 72, "runs": 6, "verdicts": 72, "reviews": 92,
    }  # fmt: skip


def test_every_status_that_its_readme_names_occurs(loaded):
    def verdict(dataset: str, case_id: str) -> dict:
        return verdict_store.verdicts_of_case(case_store.find_case(DATASETS[dataset], case_id))[0]

    unreadable = verdict("text_to_image", "t2i-05-comfrey")
    assert unreadable["status"] == "unreadable"
    assert [reply["attempt"] for reply in unreadable["replies"] if reply["aspect"] == "SC"] == [1, 2]
    refused = verdict("image_editing", "edit-06-comfrey")
    assert (refused["status"], "content filter" in refused["problem"]) == ("refused", True)
    second = verdict("text_to_image", "t2i-07-aster")
    assert second["status"] == "ok"
    assert [(r["attempt"], r["finish_reason"]) for r in second["replies"] if r["aspect"] == "PQ"] == [
        (1, "length"),
        (2, "stop"),
    ]


def test_every_case_has_its_pictures_and_every_run_its_verdicts(loaded):
    cases = case_store.load_cases([row["id"] for row in rows("SELECT id FROM cases")])
    assert not [part.problem for case in cases.values() for part in (*case.input, *case.output, *case.expected, *case.context)
                if part.problem]  # fmt: skip
    assert sorted((run["dataset"], run["cases"], run["done"], run["status"]) for run in loaded.values()) == [
        ("Sample: Gecko rubrics, images", 6, 6, "done"),
        ("Sample: Gecko rubrics, videos", 4, 4, "done"),
        ("Sample: contextual recall", 4, 4, "done"),
        ("Sample: image editing", 14, 14, "done"),
        ("Sample: text to image", 36, 36, "done"),
        ("Sample: 图文匹配 (image-text match)", 8, 8, "done"),
    ]
    assert {run["judge_name"] for run in loaded.values()} == {JUDGE}


def test_figures_have_something_to_show(loaded):
    found = agreement_report(loaded["text_to_image"]["id"])
    assert all(found[cell] > 0 for cell in ("tp", "fp", "fn", "tn"))
    assert found["n"] >= 20
    assert found["accuracy"]["value"] > found["baseline"]
    assert 0 < found["kappa"]["value"] < 1
    assert found["human"]["cases"] > 0 and 0 < found["human"]["kappa"]["value"] < 1
    assert str(found["n"]) in found["words"][0]
    edits = agreement_report(loaded["image_editing"]["id"])
    assert edits["accuracy"]["value"] is not None and edits["kappa"]["value"] is not None


def test_some_cases_are_left_for_whoever_tries_it(loaded):
    assert value("SELECT count(*) FROM cases c WHERE NOT EXISTS (SELECT 1 FROM reviews r WHERE r.case_id = c.id)") == 12


def test_scores_lie_on_both_sides_of_the_threshold(loaded):
    for run in (loaded[name] for name in ("text_to_image", "image_editing", "image_text_match")):
        labels = [label_of(r["score"], run["threshold"]) for r in verdict_store.result_rows(run["id"])]
        assert {"usable", "badcase"} <= set(labels)


def results(loaded: dict, metric: str) -> list[dict]:
    return verdict_store.result_rows(loaded[metric]["id"])


@pytest.mark.parametrize(
    ("metric", "scores"),
    [
        ("image_text_match", [1, 0, 1, 0, 1, 1, 1, 0]),
        ("gecko_image", [1.0, 0.5, 1.0, 1.0, 6 / 7, 4 / 7]),
        ("gecko_video", [1.0, 0.8, 0.75, 1.0]),
        ("contextual_recall", [1.0, 2 / 3, 0.5, 0.75]),
    ],
)
def test_the_judge_s_scores_are_the_known_ones(metric, scores, loaded):
    assert [row["score"] for row in results(loaded, metric)] == pytest.approx(scores, abs=1e-12)
    assert {row["status"] for row in results(loaded, metric)} == {"ok"}


def test_the_coffee_photo_scores_1_and_a_half_and_three_quarters_in_the_mean(loaded):
    found = {row["external_id"]: row["score"] for row in results(loaded, "gecko_image")}
    assert (found["gecko-01-aster"], found["gecko-02-aster"]) == (1.0, 0.5)
    assert (found["gecko-01-aster"] + found["gecko-02-aster"]) / 2 == 0.75
    prompts = [row["prompt"] for row in results(loaded, "gecko_image")[:2]]
    assert prompts == [
        "steaming cup of coffee and a croissant on a table",
        "steaming cup of coffee and toast in a cafe",
    ]


def test_one_judge_contradicts_itself_and_one_answer_is_missing(loaded):
    flagged = [row["external_id"] for row in results(loaded, "image_text_match") if row["flags"]]
    assert flagged == ["match-02-aster"]
    assert results(loaded, "image_text_match")[2]["flags"] == ["self_contradiction"]
    missing = rows(
        "SELECT c.external_id FROM items i JOIN verdicts v ON v.id = i.verdict_id JOIN cases c ON c.id = v.case_id "
        "WHERE i.kind != 'sub_score' AND i.answer IS NULL"
    )
    assert [row["external_id"] for row in missing] == ["gecko-04-comfrey"]


def test_pictures_of_one_prompt_answered_the_same_rubric_and_other_prompts_another(loaded):
    found = rows(
        "SELECT c.prompt, count(DISTINCT v.rubric_id) AS rubrics, count(*) AS n FROM verdicts v "
        "JOIN cases c ON c.id = v.case_id JOIN runs r ON r.id = v.run_id WHERE r.metric LIKE 'gecko%' GROUP BY c.prompt"
    )
    assert {(row["rubrics"], row["n"]) for row in found} == {(1, 1), (1, 2)}
    assert len(found) == 7


@pytest.mark.parametrize("metric", ["image_text_match", "gecko_image", "gecko_video", "contextual_recall"])
def test_agreement_by_item_has_something_to_show(metric, loaded):
    lines = item_report(loaded[metric]["id"])["groups"]
    assert lines and all(0 <= row["agreement"]["value"] <= 1 and row["n"] > 0 for row in lines)
