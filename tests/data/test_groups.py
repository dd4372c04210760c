"""Figures group by group: who is in which group, what is counted there, and what many looks are worth."""

from __future__ import annotations

import json

import pytest

from data.reports.charts.groups import axis_names, groups_chart
from data.reports.groups import GROUP_FIGURES, GROUPINGS, groups_report
from data.reports.prompt_kinds import length_band, script
from data.store import cases as case_store
from data.store import queues, reviews
from data.store import runs as run_store
from data.store.agreement import Basis
from data.store.connection import rows, writing
from evaluators.case import Case, Part
from tests.data.test_queues import judged


def filled(dataset: str, made: list[dict]) -> int:
    """A dataset of cases c1, c2, … each with prompt, generator, tags and images (how many input images)."""
    case_store.save_cases(dataset, [
        Case(id=f"c{i}", generator=one.get("generator", ""), tags=tuple(one.get("tags", ())),
             input=(Part.of_text(one.get("prompt", f"prompt {i}")),) * bool(one.get("prompt", "x"))
             + tuple(Part(kind="image", source=f"in{n}.png") for n in range(one.get("images", 0))),
             output=(Part(kind="image", source="out.png"),))
        for i, one in enumerate(made, 1)
    ], [])  # fmt: skip
    return case_store.dataset_id(dataset)


def labelled(dataset: int, truth: dict[int, str], name: str = "Ada") -> None:
    """Blind labels on cases by id, as drawn at random."""
    person = reviews.reviewer_named(name)
    drawn = {o["case_id"]: o["draw_id"] for o in queues.next_cases(dataset, "overall", person, 10_000)}
    for case_id, said in truth.items():
        reviews.save_review(reviews.Review(f"{name}-{case_id}", case_id, 1, "overall", person, said, blind=True,
                                           draw_id=drawn[case_id]))  # fmt: skip


def sized(report: dict) -> dict[str, tuple[int, float | None]]:
    """n and accuracy by group."""
    return {row["name"]: (row["n"], row["accuracy"]["value"]) for row in report["groups"]}


@pytest.fixture
def mixed() -> Basis:
    """Seven cases of two generators and one without; the judge is right on 1, 2, 3, 5, wrong on 4 and 6, silent on 7."""
    dataset = filled("mixed", [
        {"generator": "aster", "tags": ("hands", "text"), "prompt": "a cat"},
        {"generator": "aster", "tags": ("hands",), "prompt": "a cat"},
        {"generator": "aster", "prompt": "一只戴着红色帽子的黑猫坐在窗台上，窗外下着大雨，远处有雷"},
        {"generator": "borage", "tags": ("text",), "images": 1},
        {"generator": "borage", "tags": ("no tag",), "images": 3, "prompt": "x" * 200},
        {"generator": "borage", "prompt": "", "images": 2},
        {"prompt": "дом у моря"},
    ])  # fmt: skip
    run = judged(dataset, {1: 0.9, 2: 0.1, 3: 0.8, 4: 0.9, 5: 0.9, 6: 0.2, 7: None}, flags={2: ("suspect_scale",)})
    labelled(dataset, {1: "usable", 2: "badcase", 3: "usable", 4: "badcase", 5: "usable", 6: "usable", 7: "usable"})
    return Basis(run, 0.5)


def test_by_generator(mixed):
    report = groups_report(mixed, "generator")
    assert sized(report) == {"aster": (3, 1.0), "borage": (3, pytest.approx(1 / 3)), "no generator named": (1, 0.0)}
    aster, borage, nameless = report["groups"]
    assert (aster["prompts"], aster["recall_bad"]["value"], aster["specificity"]["value"]) == (2, 1.0, 1.0)
    assert (borage["recall_bad"]["value"], borage["specificity"]["value"]) == (0.0, 0.5)
    assert (aster["baseline"], aster["baseline_label"]) == (pytest.approx(2 / 3), "usable")
    assert nameless["recall_bad"]["reason"] == "no_human_bad"
    assert (nameless["kappa"]["value"], nameless["kappa"]["reason"]) == (None, "judge_answered_none")
    assert (report["overall"]["n"], report["overall"]["accuracy"]["value"]) == (7, pytest.approx(4 / 7))
    assert all(row["small"] for row in report["groups"])


def test_a_case_counts_in_each_of_its_tags_and_once_in_each(mixed):
    with writing() as db:
        db.conn.execute('UPDATE cases SET tags_json = \'["hands", "text", "hands"]\' WHERE id = 1')
    report = groups_report(mixed, "tag")
    assert sized(report) == {
        "(no tag)": (3, pytest.approx(1 / 3)),  # people have a tag that is called "no tag"
        "hands": (2, 1.0),
        "text": (2, 0.5),
        "no tag": (1, 1.0),
    }
    assert report["overall"]["n"] == 7
    assert any("groups overlap" in words for words in report["words"])


def test_by_length_script_and_input_images(mixed):
    assert sized(groups_report(mixed, "length")) == {
        "no prompt": (1, 0.0),
        "up to 20 characters": (4, 0.5),
        "21 to 60 characters": (1, 1.0),
        "more than 150 characters": (1, 1.0),
    }
    assert sized(groups_report(mixed, "language")) == {
        "Chinese, Japanese or Korean script": (1, 1.0),
        "Latin script": (4, 0.75),
        "another script": (1, 0.0),
        "no letters": (1, 0.0),
    }
    assert sized(groups_report(mixed, "images")) == {
        "no input image": (4, 0.75),
        "one input image": (1, 0.0),
        "two or more input images": (2, 0.5),
    }


def test_by_what_was_remarked_on_the_reply(mixed):
    assert sized(groups_report(mixed, "flag")) == {
        "no remark": (6, 0.5),
        "All sub-scores are 1 or less: the judge may have used a 0-1 scale.": (1, 1.0),
    }


def test_by_dataset_with_the_same_judging_only(mixed):
    made = {name: filled(name, [{"generator": "aster"}] * 2) for name in ("other", "silent", "stranger")}
    ids = {name: [r["id"] for r in rows("SELECT id FROM cases WHERE dataset_id = ? ORDER BY id", [dataset])]
           for name, dataset in made.items()}  # fmt: skip
    for name in ("other", "silent"):
        judged(made[name], {ids[name][0]: 0.9, ids[name][1]: 0.9})
    judged(made["stranger"], {ids["stranger"][0]: 0.9}, name="another judge")
    labelled(made["other"], {ids["other"][0]: "usable", ids["other"][1]: "badcase"})
    report = groups_report(mixed, "dataset")
    assert sized(report) == {"mixed": (7, pytest.approx(4 / 7)), "other": (2, 0.5), "silent": (0, None)}
    assert (report["looks"], report["overall"]["n"]) == (2, 9)
    assert groups_report(mixed, "dataset")["groups"][-1]["accuracy"]["reason"] == "no_data"


def test_cases_without_a_prompt_are_not_one_because_two_datasets_call_them_alike(home):
    first, second = (filled(name, [{"prompt": ""}, {"prompt": "a cat"}]) for name in ("first", "second"))
    run = judged(first, {1: 0.9, 2: 0.9})
    judged(second, {3: 0.9, 4: 0.9})
    labelled(first, {1: "usable", 2: "usable"})
    labelled(second, {3: "usable", 4: "usable"})
    overall = groups_report(Basis(run, 0.5), "dataset")["overall"]
    assert (overall["n"], overall["prompts"]) == (4, 3)  # "c1" twice, and the prompt that they share


def test_a_run_with_another_threshold_is_another_judging(mixed):
    other = filled("other", [{}])
    run = judged(other, {8: 0.9})
    with writing() as db:
        db.conn.execute("UPDATE runs SET threshold = 0.7 WHERE id = ?", [run])
    assert list(sized(groups_report(mixed, "dataset"))) == ["mixed"]


def test_many_looks_are_exploratory_and_none_is_a_finding(mixed):
    report = groups_report(mixed, "generator")
    said = " ".join(report["words"])
    assert report["exploratory"] and "3 groups looked at; one of 20 intervals misses by chance alone" in said
    assert "3 of 3 groups, with fewer than 30 labelled cases" in said
    assert "borage" not in said and "aster" not in said


def test_one_group_is_no_comparison(mixed):
    with writing() as db:
        db.conn.execute("UPDATE cases SET generator = 'aster'")
    report = groups_report(mixed, "generator")
    assert not report["exploratory"]
    assert report["words"][0].startswith("All 7 labelled cases are in one group (aster)")


def test_small_ends_at_30(home):
    dataset = filled("many", [{"generator": "aster" if i < 30 else "borage"} for i in range(59)])
    run = judged(dataset, {i: 0.9 for i in range(1, 60)})
    labelled(dataset, {i: "usable" for i in range(1, 60)})
    report = groups_report(Basis(run, 0.5), "generator")
    assert {row["name"]: (row["n"], row["small"]) for row in report["groups"]} == {
        "aster": (30, False),
        "borage": (29, True),
    }


@pytest.mark.parametrize("by", GROUPINGS)
def test_without_labels_or_a_threshold_there_is_a_sentence(by, fill):
    dataset = fill(2)
    run = judged(dataset, {1: 0.9, 2: 0.1})
    for basis, words in ((Basis(run, 0.5), "no labels"), (Basis(run, None), "threshold")):
        report = groups_report(basis, by)
        assert report["looks"] == 0 and words in report["words"][0]
        assert report["overall"]["accuracy"]["value"] is None
        json.dumps(report)


def test_picked_cases_and_examples_are_in_no_group(mixed):
    ada = reviews.reviewer_named("Ben")
    reviews.save_review(reviews.Review("picked", 4, 1, "overall", ada, "usable", blind=True))  # would make a tie
    assert sized(groups_report(mixed, "generator"))["borage"][0] == 3
    with writing() as db:
        db.conn.execute("UPDATE cases SET split = 'prompt_examples' WHERE id = 4")
    assert sized(groups_report(mixed, "generator"))["borage"][0] == 2
    assert sized(groups_report(mixed, "tag"))["text"][0] == 1


def test_a_group_without_a_settled_label_is_none(mixed):
    with writing() as db:
        db.conn.execute("UPDATE cases SET generator = 'comfrey' WHERE id = 4")
    ben = reviews.reviewer_named("Ben")
    [draw] = [o["draw_id"] for o in queues.next_cases(1, "overall", ben, 100) if o["case_id"] == 4]
    assert "comfrey" in sized(groups_report(mixed, "generator"))
    reviews.save_review(reviews.Review("tie", 4, 1, "overall", ben, "usable", blind=True, draw_id=draw))
    assert "comfrey" not in sized(groups_report(mixed, "generator"))


def test_only_the_largest_groups_are_listed(mixed, monkeypatch):
    monkeypatch.setattr("data.reports.groups.MOST_GROUPS", 2)
    report = groups_report(mixed, "generator")
    assert list(sized(report)) == ["aster", "borage"] and report["left_out"] == 1
    assert any("the smallest groups, 1 in number" in words for words in report["words"])


def test_prompt_bands_are_by_characters():
    assert [length_band("字" * n) for n in (0, 1, 20, 21, 60, 61, 150, 151)] == [
        "no prompt", "up to 20 characters", "up to 20 characters", "21 to 60 characters", "21 to 60 characters",
        "61 to 150 characters", "61 to 150 characters", "more than 150 characters",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("猫", "cjk"), ("ねこ", "cjk"), ("고양이", "cjk"), ("𠮷野家", "cjk"), ("Ein schöner Garten", "latin"),
        ("一张写着 OPEN 的招牌", "cjk"), ("a sign that says 你好", "latin"), ("cat 猫", "latin"), ("猫 cat", "cjk"),
        ("дом", "other"), ("بيت", "other"), ("12 × 3 🐈", "none"), ("", "none"),
    ],
)  # fmt: skip
def test_the_script_of_most_words_decides(prompt, found):
    assert script(prompt) == found


def test_the_chart_has_every_group_and_takes_no_name_for_markup(mixed):
    with writing() as db:
        db.conn.execute("UPDATE cases SET generator = '<b>1</b>' WHERE id <= 3")
    report = groups_report(mixed, "generator")
    for figure in GROUP_FIGURES:
        chart = groups_chart(report, figure)
        drawn = [row for row in report["groups"] if row[figure]["lo"] is not None]
        assert len(chart.data[0].x) == len(drawn)
        assert chart.layout.shapes[0].x0 == report["overall"][figure]["value"]
    assert "&lt;b&gt;1&lt;/b&gt; · n 3, small" in groups_chart(report).data[0].y
    assert len(set(axis_names(["x" * 50, "x" * 60], ["n 1", "n 1"]))) == 2


def test_repeats_of_a_run_elsewhere_do_not_add_rows(mixed):
    other = filled("other", [{}, {}])
    judged(other, {8: 0.9, 9: 0.9})
    second = judged(other, {8: 0.1})
    labelled(other, {8: "usable", 9: "usable"})
    assert run_store.run_by_id(second)["done"] == 1
    assert sized(groups_report(mixed, "dataset"))["other"] == (2, 1.0)  # the run with most verdicts
