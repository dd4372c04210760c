"""Cases, verdicts and labels come in from one file or several: planned, reported, saved whole, and never twice."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import openpyxl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.drawing.image import Image

from cli import cli
from data.exchange.gathering import proposals_for
from data.exchange.importing import carry_out, plan_import, run_import
from data.exchange.mapping import Choices, MappingWrong, parsed
from data.exchange.pictures import Pictures
from data.exchange.proposing import guessed
from data.exchange.reading import Source, TableUnreadable, open_table
from data.exchange.rejected import rejected_csv
from data.exchange.saying import number
from data.exchange.synonyms import label_from
from data.exchange.writing import write
from data.reports.headline import agreement_report
from data.store import cases as case_store
from data.store import mappings as mapping_store
from data.store import queues, reviews
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.agreement import Basis, counts
from data.store.connection import rows
from tests.conftest import png
from tests.data.test_case_table import FILES, TABLE, case
from tests.data.test_hostile_tables import everything

WIDE = (
    "case_id,prompt,result_image,gpt4o.score,gpt4o.reason,gpt4o.item:SC.match,qwen_label,rater1,rater2,rater1_comment\n"
    "a,红色的方块,red.png,8,看起来对,9,可用,可用,1,\n"
    "b,a blue square,blue.png,2,it is red,1,不可用,不可用,usable,too dark\n"
)


def proposed(*files: str | bytes, **choices):
    sources = [Source(f"file{n}.csv", f.encode() if isinstance(f, str) else f) for n, f in enumerate(files)]
    return [replace(p, choices=replace(p.choices, **choices)) for p in proposals_for(sources)]


def imported(*files: str | bytes, pictures: dict[str, bytes] | None = None, dataset: str = "shoes", **choices) -> dict:
    given = Pictures.of_files(FILES if pictures is None else pictures)
    return run_import(dataset, proposed(*files, **choices), given).report


def counted(report: dict) -> dict[str, dict[str, int]]:
    return {kind: {k: v for k, v in report[kind].items() if v} for kind in ("cases", "verdicts", "reviews")}


# --- one file with everything ------------------------------------------------------------------------------------------


def test_one_wide_file_brings_cases_two_judges_and_two_people():
    report = imported(WIDE, blind=True, random=True)
    assert counted(report) == {"cases": {"new": 2}, "verdicts": {"new": 4}, "reviews": {"new": 4}}
    assert (report["problems"], report["unread_columns"]) == ([], [])
    assert report["pictures"] == {"matched": 2, "missing": 0, "unreadable": 0, "links": 0}
    gpt, qwen = run_store.runs()
    assert [(r["judge_name"], r["metric"], r["criterion"], r["status"], r["threshold"]) for r in (gpt, qwen)] == [
        ("gpt4o", "imported", "overall", "done", 0.5), ("qwen", "imported", "overall", "done", 0.5),
    ]  # fmt: skip
    assert [(v["score"], v["reason"], v["label"]) for v in verdict_store.result_rows(gpt["id"])] == [
        (0.8, "看起来对", "usable"), (0.2, "it is red", "badcase"),
    ]  # fmt: skip
    (item,) = verdict_store.verdicts_of_case(case_store.find_case("shoes", "a"))[-1]["items"]
    assert (item["key"], item["group"], item["value"], item["high"]) == ("SC.match", "SC", 9.0, 10.0)
    assert [v["score"] for v in verdict_store.result_rows(qwen["id"])] == [1.0, 0.0]
    said = {(r["reviewer"], r["label"], r["comment"], r["blind"], r["basis"]) for r in reviews.history(2)}
    assert said == {("rater1", "badcase", "too dark", 1, "random"), ("rater2", "usable", "", 1, "random")}
    assert counts(Basis(gpt["id"], 0.5))["tn"] == 1  # case b is a tie of the two people


def test_the_same_file_again_changes_nothing_at_all():
    imported(WIDE)
    before = everything()
    report = imported(WIDE)
    assert counted(report) == {"cases": {"unchanged": 2}, "verdicts": {"unchanged": 4}, "reviews": {"unchanged": 4}}
    assert [run["known"] for run in report["runs"]] == [True, True]
    assert everything() == before


def test_a_plan_tells_just_what_happens_then_and_writes_nothing():
    imported(WIDE)
    changed = WIDE.replace("a blue square", "a dark blue square").replace("b,a", "c,a new one,,,,,,usable,,\nb,a")
    before = everything()
    plan = plan_import("shoes", proposed(changed), Pictures.of_files(FILES))
    assert everything() == before
    assert plan.report["dry_run"]
    done = carry_out(plan)
    for part in ("cases", "verdicts", "reviews", "pictures", "problems", "labels_set_aside", "reviewers"):
        assert done.report[part] == plan.report[part]
    assert counted(done.report)["cases"] == {"new": 1, "changed": 1, "unchanged": 1}
    assert done.report["labels_set_aside"] == 2


def test_verdicts_that_differ_are_a_run_of_their_own_and_the_old_ones_stay():
    imported(WIDE)
    report = imported(WIDE.replace("8,看起来对", "3,看错了"))
    assert counted(report)["verdicts"] == {"new": 2, "unchanged": 2}
    assert [run["judge_name"] for run in run_store.runs()] == ["gpt4o", "qwen", "gpt4o"]
    assert [v["score"] for v in verdict_store.result_rows(1)] == [0.8, 0.2]


def test_a_label_that_somebody_changed_is_added_and_the_first_one_stays_first():
    imported(WIDE, blind=True)
    report = imported(WIDE.replace("可用,1", "不可用,1"), blind=True)
    assert counted(report)["reviews"] == {"changed": 1, "unchanged": 3}
    first = rows("SELECT label FROM first_reviews WHERE case_id = 1 ORDER BY reviewer_id")
    current = rows("SELECT label FROM current_reviews WHERE case_id = 1 ORDER BY reviewer_id")
    assert ([r["label"] for r in first], [r["label"] for r in current]) == (["usable"] * 2, ["badcase", "usable"])


def test_half_an_import_never_stays(monkeypatch):
    imported(TABLE)
    before = everything()
    bad = "case_id,prompt\n" + "".join(f"n{n},p\n" for n in range(3_000)) + 'z,"' + "x" * 2_000_000 + '"\n'
    with pytest.raises(TableUnreadable):
        imported(WIDE, bad)
    assert everything() == before


# --- several files, joined by id ---------------------------------------------------------------------------------------

VERDICTS = "case_id,judge,score,reasoning\na,gpt,0.9,fine\nb,gpt,0.2,no\na,claude,0.4,hm\nlost,gpt,1,x\n"


def test_verdicts_find_their_cases_and_those_without_are_rejected_with_row_and_reason():
    report = imported(VERDICTS, TABLE)  # in whatever order the files are given
    assert counted(report)["verdicts"] == {"new": 3, "rejected": 1}
    assert report["problems"] == [
        {"file": "file0.csv", "row": 4, "column": "case_id", "problem": "there is no case lost in shoes"}
    ]
    assert {run["judge"]: run["verdicts"] for run in report["runs"]} == {"gpt": 2, "claude": 1}


def test_rejected_rows_come_back_as_a_table_with_the_reason_as_a_column():
    plan = run_import("shoes", proposed(TABLE, VERDICTS + "b,gpt,0.3,again\n"), Pictures.of_files(FILES))
    found = list(csv.DictReader(io.StringIO(rejected_csv(plan).decode("utf-8-sig"))))
    assert [(row["case_id"], row["row"], row["reason"]) for row in found] == [
        ("lost", "4", "case_id: there is no case lost in shoes"),
        ("b", "5", "gpt has a verdict on b in an earlier row already"),
    ]


def test_a_row_a_case_and_judge_with_the_prompt_repeated_is_one_case():
    long = "case_id,prompt,judge,score\na,p,gpt,1\na,p,claude,0\na,other,qwen,1\n"
    report = imported(long)
    assert (counted(report)["cases"], counted(report)["verdicts"]) == ({"new": 1, "rejected": 1}, {"new": 2})
    assert report["problems"][0]["problem"] == "a stands in row 1 with another content"


def test_ratings_make_a_label_and_stay_beside_it():
    imported("case_id,prompt\na,p\nb,q\n")
    report = imported("case_id,rater,SC,PQ\na,x,1,0.5\na,y,0,1\nb,x,0.5,0.5\n", blind=True)
    assert counted(report)["reviews"] == {"new": 3}
    (usable, bad) = reviews.history(1)[::-1]
    assert (usable["label"], usable["score"], usable["items"]) == ("usable", 0.5, {"SC": 1.0, "PQ": 0.5})
    assert bad["label"] == "badcase"


def test_two_files_with_one_id_for_other_cases_never_mix():
    first = "case_id,prompt,gpt_score\na,a red square,1\nb,same,1\n"
    second = "case_id,prompt,gpt_score,rater1\na,a blue circle,0,badcase\nb,same,0,usable\n"
    plan = plan_import("shoes", proposed(first, second))
    done = carry_out(plan)
    assert done.report["problems"] == plan.report["problems"] == [
        {"file": "file1.csv", "row": 1, "column": "case_id", "problem": "a stands in file0.csv with another content"}
    ]  # fmt: skip
    assert counted(done.report)["cases"] == {"new": 2, "unchanged": 1, "rejected": 1}
    assert (counted(done.report)["reviews"], reviews.history(1)) == ({"new": 1}, [])


def test_a_file_that_says_what_another_one_lacks_completes_its_cases():
    first, second = "case_id,prompt,rater1\na,a red square,usable\n", "case_id,result_image\na,red.png\n"
    planned = plan_import("shoes", proposed(first, second), Pictures.of_files(FILES)).report
    report = imported(first, second)
    assert counted(report) == counted(planned)
    assert counted(report)["cases"] == {"new": 1, "changed": 1}
    found = case("a")
    assert (found.prompt, len(found.result_images)) == ("a red square", 1)
    assert len(rows("SELECT 1 FROM current_reviews")) == 1
    before = everything()
    assert counted(imported(first, second))["cases"] == {"unchanged": 2}
    assert everything() == before


def current(case_id: int = 1) -> list[str]:
    sql = "SELECT label FROM current_reviews WHERE case_id = ? ORDER BY reviewer_id"
    return [r["label"] for r in rows(sql, [case_id])]


@pytest.mark.parametrize("times", [("", "", ""), ("2026-01-01", "2026-01-02", "2026-01-03")])
def test_a_label_that_is_changed_and_changed_back_ends_as_it_was_said_last(times):
    imported("case_id,prompt\na,p\n")
    said = [f"case_id,reviewer,human_label,labelled\na,Ann,{label},{at}\n"
            for label, at in zip(("usable", "badcase", "usable"), times, strict=True)]  # fmt: skip
    for text in said:
        planned = plan_import("shoes", proposed(text)).report
        assert counted(imported(text)) == counted(planned)
    assert current() == ["usable"]
    before = everything()
    assert counted(imported(said[-1]))["reviews"] == {"unchanged": 1}
    assert everything() == before


def test_a_person_twice_in_one_file_is_the_same_file_the_next_time_too():
    for name, labels in (("shoes", "usable badcase usable"), ("hats", "badcase usable badcase badcase")):
        text = "case_id,prompt,reviewer,human_label\n" + "".join(f"a,p,Ann,{label}\n" for label in labels.split())
        imported(text, dataset=name)
        assert current(case_store.find_case(name, "a")) == [labels.split()[-1]]
        before = everything()
        assert set(counted(imported(text, dataset=name))["reviews"]) == {"unchanged"}
        assert everything() == before


def test_decisions_of_the_lead_are_changed_back_too():
    imported("case_id,prompt\na,p\n")
    for label in ("usable", "badcase", "usable"):
        text = f"case_id,adjudicated,adjudicated_by\na,{label},Lee\n"
        (p,) = proposed(text)
        mapping = parsed([f"{c}={c}" for c in ("adjudicated", "adjudicated_by")], p.mapping, p.table.columns)
        assert run_import("shoes", [replace(p, mapping=mapping)]).report["adjudications"] == 1
    assert [r["label"] for r in rows("SELECT label FROM current_adjudications")] == ["usable"]
    assert run_import("shoes", [replace(p, mapping=mapping)]).report["adjudications"] == 0


def test_an_older_decision_of_the_lead_does_not_override_a_later_one():
    imported("case_id,prompt\na,p\n")
    reviews.adjudicate("desk", 1, "overall", reviews.reviewer_named("Lee"), "badcase", "")
    (p,) = proposed("case_id,adjudicated,adjudicated_at\na,usable,2020-01-01\na,usable,2999-01-01\n")
    mapping = parsed([f"{c}={c}" for c in ("adjudicated", "adjudicated_at")], p.mapping, p.table.columns)
    plan = plan_import("shoes", [replace(p, mapping=mapping)])
    assert carry_out(plan).report["problems"] == plan.report["problems"] == [
        {"row": 1, "column": "adjudicated_at", "problem": "there is a later decision on the case here, which stays"}
    ]  # fmt: skip
    assert [r["label"] for r in rows("SELECT label FROM current_adjudications")] == ["usable"]


@given(said=st.lists(st.lists(st.sampled_from(["usable", "badcase", "unsure"]), min_size=1, max_size=4), max_size=4))
@settings(max_examples=25, deadline=None)
def test_whatever_somebody_says_in_files_one_after_the_other_the_last_word_stands(said):
    name = "said " + json.dumps(said)
    for labels in said:
        text = "case_id,prompt,reviewer,human_label\n" + "".join(f"a,p,Ann,{label}\n" for label in labels)
        planned = plan_import(name, proposed(text)).report
        assert counted(imported(text, dataset=name)) == counted(planned)
        assert current(case_store.find_case(name, "a")) == labels[-1:]
        assert set(counted(imported(text, dataset=name))["reviews"]) == {"unchanged"}


def test_times_and_not_rows_say_which_label_of_a_person_is_the_current_one():
    late, early = "a,Ann,badcase,2026-02-02\n", "a,Ann,usable,2026-01-01\n"
    header = "case_id,reviewer,human_label,labelled\n"
    imported("case_id,prompt\na,p\n")
    imported(header + late + early)
    assert current() == ["badcase"]
    report = imported(header + "a,Ann,unsure,2026-01-15\n")
    assert (counted(report)["reviews"], current()) == ({"rejected": 1}, ["badcase"])
    assert report["problems"][0]["problem"] == "that person has a later label on the case here, which stays"
    report = imported("case_id,prompt\nn,p\n", *(header + row.replace("a,", "n,", 1) for row in (late, early)))
    assert (counted(report)["reviews"], current(2)) == ({"new": 1, "rejected": 1}, ["badcase"])


def test_a_label_of_the_desk_stays_when_an_older_file_comes_again():
    imported("case_id,prompt\na,p\n")
    text = "case_id,reviewer,human_label\na,Ann,usable\n"
    imported(text)
    who = reviews.reviewer_named("Ann")
    reviews.save_review(reviews.Review("desk", 1, 1, "overall", who, "badcase"))
    assert counted(imported(text))["reviews"] == {"unchanged": 1}
    assert current() == ["badcase"]


def test_taking_back_a_label_that_is_not_there_is_a_problem_of_its_row_in_the_plan():
    imported("case_id,prompt\na,p\n")
    files = proposed("case_id,reviewer,human_label,token,undoes\na,Ann,usable,t1,\na,Ann,,t2,t1\na,Ann,,t3,gone\n")
    files = [replace(p, mapping=parsed(["token=token", "undoes=undoes"], p.mapping, p.table.columns)) for p in files]
    plan = plan_import("shoes", files)
    assert carry_out(plan).report["problems"] == plan.report["problems"] == [
        {"row": 3, "column": "undoes", "problem": "there is no label gone to take back"}
    ]  # fmt: skip
    assert current() == []


def test_what_is_assumed_of_ratings_is_said_and_one_outside_the_scale_is_rejected():
    text = "case_id,prompt,rater,SC\na,p,x,4\nb,q,x,2\nc,r,x,-1\n"
    report = imported(text)
    assert "Ratings are taken to be 0-5; a label is usable if each is at least 2.5." in report["notes"]
    assert any(note.startswith("Labels are taken to be on overall") for note in report["notes"])
    assert counted(report)["reviews"] == {"new": 2, "rejected": 1}
    assert report["problems"][0]["problem"] == "a rating of -1 is outside 0-5"


def test_labels_that_are_here_stay_as_they_were_given_and_the_report_says_so():
    imported(WIDE)
    report = imported(WIDE, blind=True, random=True)
    told = "4 labels are here already as given beside the verdict, on picked cases: unchanged."
    assert [note for note in report["notes"] if "abels" in note] == [told]


# --- thresholds, scales, labels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "threshold", "scores"),
    [
        ([("0.9", "usable"), ("0.1", "badcase")], 0.5, [0.9, 0.1]),
        ([("0.9", "usable"), ("0.7", "badcase")], 0.9, [0.9, 0.7]),
        ([("0.2", "usable"), ("0.7", "badcase")], 0.5, [1.0, 0.0]),
        ([("7/10", "pass"), ("30%", "fail")], 0.5, [0.7, 0.3]),
        ([("4", "可用"), ("2", "不可用")], 0.5, [0.8, 0.4]),
        ([("85", ""), ("20", "")], 0.5, [0.85, 0.2]),
    ],
)
def test_scores_are_brought_to_0_1_and_a_threshold_gives_the_labels_of_the_file(pairs, threshold, scores):
    lines = "".join(f"c{n},p{n},{score},{label}\n" for n, (score, label) in enumerate(pairs))
    imported("case_id,prompt,score,judge_label\n" + lines, judge="gpt")
    (run,) = run_store.runs()
    assert run["threshold"] == pytest.approx(threshold)
    found = verdict_store.result_rows(run["id"])
    assert [v["score"] for v in found] == pytest.approx(scores)
    if pairs[0][1]:
        assert [v["label"] for v in found] == [label_from(label) for _score, label in pairs]


def test_a_score_that_is_no_number_is_a_verdict_that_could_not_be_read():
    imported("case_id,prompt,score\na,p,0.5\nb,q,error: timeout\nc,r,\n", judge="gpt")
    found = verdict_store.result_rows(1)
    assert [(v["status"], v["problem"]) for v in found] == [
        ("ok", ""), ("unreadable", "the file has 'error: timeout' for a score"),
    ]  # fmt: skip


@pytest.mark.parametrize("told", ["a", "7", "-1", "nan"])
def test_a_threshold_in_the_file_that_cannot_be_is_refused(told):
    with pytest.raises(MappingWrong, match="it must be a number from 0 to 1"):
        imported(f"case_id,prompt,score,threshold\na,p,0.5,{told}\n", judge="gpt")


@pytest.mark.parametrize(
    ("choice", "told"), [({"threshold": 2.0}, "outside 0-1"), ({"scale": 1.0}, "must lie between 0")]
)
def test_choices_that_cannot_be_are_refused(choice, told):
    with pytest.raises(MappingWrong, match=told):
        imported("case_id,prompt,score\na,p,5\n", judge="gpt", **choice)
    assert case_store.datasets() == []


def test_a_cell_that_is_no_label_rejects_that_label_and_nothing_else():
    report = imported(
        "case_id,prompt,human_label\n" + "".join(f"c{n},p,可用\n" for n in range(20)) + "z,p,perhaps so\n"
    )
    assert counted(report) == {"cases": {"new": 21}, "verdicts": {}, "reviews": {"new": 20, "rejected": 1}}
    assert report["problems"][0] == {
        "row": 21, "column": "human_label", "problem": "'perhaps so' is neither usable, badcase nor unsure",
    }  # fmt: skip


def test_labels_are_taken_as_picked_unless_somebody_says_otherwise():
    some = "case_id,prompt,human_label\na,p,usable\nb,q,\n"
    for text in (some, some.replace("b,q,", "b,q,badcase")):
        report = imported(text, reviewer="Ann")
        assert reviews.history(1)[0]["basis"] == "opportunistic"
    assert any("--labels-random" in note for note in report["notes"])
    imported(some, dataset="drawn", reviewer="Ann", random=True, blind=True)
    (said,) = reviews.history(case_store.find_case("drawn", "a"))
    assert (said["basis"], said["queue"], said["pi"], said["blind"]) == ("random", "imported", 1.0, 1)


def test_who_saw_a_verdict_before_has_no_blind_label():
    imported("case_id,prompt\na,p\nb,q\n")
    reviews.saw_verdicts(reviews.reviewer_named("Ann"), [1])
    imported("case_id,reviewer,human_label\na,Ann,usable\nb,Ann,usable\n", blind=True)
    assert [reviews.history(n)[0]["blind"] for n in (1, 2)] == [0, 1]


def test_imported_labels_live_with_those_of_the_desk():
    imported("case_id,prompt\na,p\nb,q\n")
    imported("case_id,reviewer,human_label\na,Ann,usable\n", random=True)
    left = queues.next_cases(1, "overall", reviews.reviewer_named("ann"), 10)
    assert [entry["case_id"] for entry in left] == [2]


def test_tags_that_are_known_become_tags_and_others_stay_in_the_comment():
    imported(
        'case_id,prompt,human_label,human_tags,comment\na,p,badcase,"wrong count, 手指",see hand\n', reviewer="Ann"
    )
    said = reviews.history(1)[0]
    assert (said["tags"], said["comment"]) == (["wrong_count"], "see hand\n手指")


def test_a_person_s_score_without_a_label_is_a_rating_and_one_that_is_no_number_is_rejected():
    report = imported("case_id,prompt,rater1_score\na,p,4\nb,q,1\nc,r,so so\n")
    assert counted(report)["reviews"] == {"new": 2, "rejected": 1}
    assert (current(1), current(2), report["problems"][0]["problem"]) == (
        ["usable"], ["badcase"], "'so so' is not a number",
    )  # fmt: skip
    assert counted(imported("编号,提示词,人工评分\na,p,80\n", dataset="zh"))["reviews"] == {"new": 1}


def test_a_case_with_a_whole_verdict_and_one_by_aspects_keeps_the_whole_one_and_the_rest_of_the_file():
    imported("case_id,prompt\na,p\nb,q\n")
    report = imported("case_id,judge,aspect,score\na,gpt,SC,5\na,gpt,,7\nb,gpt,SC,5\n", scale=10.0, combine="lowest")
    assert counted(report)["verdicts"] == {"new": 2, "rejected": 1}
    assert [(p["row"], p["problem"]) for p in report["problems"]] == [
        (1, "gpt has a verdict on a in an earlier row already")
    ]  # fmt: skip


def test_half_an_emoji_anywhere_in_json_comes_in_as_a_question_mark():
    half = "\ud83d"
    row = {"case_id": f"a{half}", "prompt": half, "judge": f"g{half}", "score": 1, "reviewer": f"Ann{half}",
           "human_label": "usable", "comment": half, f"x{half}.score": 0.5, f"item:k{half}": 3}  # fmt: skip
    text = json.dumps([row])
    for _ in range(2):
        report = run_import("shoes", proposals_for([Source("file.json", text.encode())])).report
        assert report["problems"] == []
    assert (case("a?").prompt, set(report["reviewers"])) == ("?", {"Ann?"})


def test_an_empty_table_among_others_is_passed_over_with_a_note():
    report = imported(TABLE, "case_id,judge,score\n", "")
    assert counted(report)["cases"] == {"new": 2}
    for told in ("file1.csv has a header and no rows; it is passed over.", "file2.csv: empty, and passed over."):
        assert told in report["notes"]
    for alone in ("case_id,prompt\n", ""):
        with pytest.raises(TableUnreadable):
            imported(alone)


def test_equal_runs_of_one_import_stay_two_runs_and_come_again_as_those():
    told = "case_id,judge,run,score\na,gpt,1,0.9\na,gpt,2,0.9\n"
    same = "case_id,judge,score\na,gpt,0.9\n"
    imported("case_id,prompt\na,p\n")
    assert counted(imported(told))["verdicts"] == {"new": 2}
    assert counted(imported(same, same))["verdicts"] == {"new": 2}
    assert len(run_store.runs()) == 4
    before = everything()
    assert [counted(r)["verdicts"] for r in (imported(told), imported(same, same))] == [{"unchanged": 2}] * 2
    assert everything() == before


# --- pictures ----------------------------------------------------------------------------------------------------------


def test_pictures_in_the_cells_of_a_sheet_are_kept(tmp_path):
    book = openpyxl.Workbook()
    for line in (["user_prompt", "input_images", "result_image"], ["图1的方块变成蓝色", None, None]):
        book.active.append(line)
    for cell, color in (("B2", "red"), ("C2", "blue")):
        book.active.add_image(Image(io.BytesIO(png(color))), cell)
    book.save(tmp_path / "表格.xlsx")
    report = run_import("shoes", proposals_for([Source.of_path(tmp_path / "表格.xlsx")])).report
    assert (report["pictures"]["matched"], report["problems"]) == (2, [])
    found = next(iter(case_store.load_cases([1]).values()))
    assert [p.path.read_bytes() for p in (*found.input_images, *found.result_images)] == [png("red"), png("blue")]
    again = run_import("shoes", proposals_for([Source.of_path(tmp_path / "表格.xlsx")])).report
    assert counted(again)["cases"] == {"unchanged": 1}


def test_missing_and_broken_pictures_and_links_are_counted_and_the_cases_stay():
    text = "case_id,prompt,result_image\na,p,gone.png\nb,p,half.png\nc,p,https://example.com/x.png\nd,p,gs://bucket/x.png\n"
    report = imported(text, pictures={"half.png": png("red")[:40]})
    assert report["pictures"] == {"matched": 0, "missing": 2, "unreadable": 1, "links": 1}
    assert [p["row"] for p in report["problems"]] == [1, 2, 4]
    assert counted(report)["cases"] == {"new": 4}
    assert case("c").result_images[0].source == "https://example.com/x.png"


def test_a_picture_that_comes_later_completes_its_case():
    imported(TABLE, pictures={})
    assert counted(imported(TABLE))["cases"] == {"changed": 2}


# --- mappings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "cells", "wanted"),
    [
        ("编号,用户提示词,参考图,效果图,生成模型", "1,画一只猫,a.png,b.png,m",
         {"编号": "case_id", "用户提示词": "prompt", "参考图": "input_images", "效果图": "result_image", "生成模型": "generator"}),
        ("Prompt,Image URL,Human Label", "p,https://x.test/1,good",
         {"Prompt": "prompt", "Image URL": "result_image", "Human Label": "human_label"}),
        ("q,pic,标注员1,标注员2", "p,a.jpg,可用,不可用",
         {"pic": "result_image", "标注员1": "human_label@标注员1", "标注员2": "human_label@标注员2"}),
        ("text,output", "p,a.webp", {"text": "prompt", "output": "result_image"}),
        ("input prompt,output", "p,some words", {"input prompt": "prompt", "output": "actual_output"}),
        ("prompt,label,score", "p,pass,0.5", {"prompt": "prompt", "label": "judge_label", "score": "score"}),
        ("prompt,label", "p,不可用", {"prompt": "prompt", "label": "human_label"}),
        ("prompt,rating,annotator", "p,4,Ann", {"prompt": "prompt", "annotator": "reviewer", "rating": "rating:rating"}),
        ("prompt,r1_bad,gpt4o_bad", "p,1,0", {"prompt": "prompt", "r1_bad": "human_bad@r1", "gpt4o_bad": "judge_bad@gpt4o"}),
        ("prompt,ann,小明", "p,usable,不可用", {"prompt": "prompt", "ann": "human_label@ann", "小明": "human_label@小明"}),
        ("prompt,paid", "p,yes", {"prompt": "prompt"}),  # yes may be anything
    ],
)  # fmt: skip
def test_what_columns_are_is_proposed_from_names_and_cells(header, cells, wanted):
    assert dict(guessed(open_table(Source("x.csv", f"{header}\n{cells}\n".encode()))).fields) == wanted


def test_a_mapping_is_changed_by_field_and_column():
    (proposal,) = proposed("a,b,c\n1,2,3\n")
    mapping = parsed(["prompt=a", "score@gpt=b", "item:SC.x@gpt=c"], proposal.mapping, ("a", "b", "c"))
    assert dict(mapping.fields) == {"a": "prompt", "b": "score@gpt", "c": "item:SC.x@gpt"}
    assert dict(parsed(["=b"], mapping, ("a", "b", "c")).fields) == {"a": "prompt", "c": "item:SC.x@gpt"}
    for text, told in (("nope=a", "no field 'nope'"), ("prompt=z", "no column 'z'"), ("prompt", "not FIELD=COLUMN"),
                       ("item:=a", "no field"), ("prompt@gpt=a", "has a name behind an @")):  # fmt: skip
        with pytest.raises(MappingWrong, match=told):
            parsed([text], mapping, ("a", "b", "c"))


def test_the_command_takes_mappings_tells_without_doing_and_writes_what_it_did_not_take(tmp_path):
    (tmp_path / "odd.csv").write_text(
        "what,where,verdict of gpt\nred,https://x.test/1.png,7\nblue,https://x.test/2.png,often\n"
    )

    def run(*more: str, status: int = 0):
        done = CliRunner().invoke(cli, ["import", str(tmp_path / "odd.csv"), "--dataset", "odd", *more])
        assert done.exit_code == status, done.output
        return done.output

    options = ["--map", "prompt=what", "--map", "score@gpt=verdict of gpt", "--judge-threshold", "0.8", "--scale", "10"]
    assert "none of the known columns" not in run(*options, "--dry-run")
    assert case_store.datasets() == []
    report = json.loads(run(*options, "--json", "--keep-mapping", "odd ones"))
    assert (report["cases"]["new"], report["verdicts"]["new"], report["runs"][0]["threshold"]) == (2, 2, 0.8)
    assert json.loads(run("--json"))["cases"]["unchanged"] == 2  # the kept mapping is recognised
    assert "There is no column 'nope'" in run("--map", "prompt=nope", status=2)
    assert "There is no kept mapping" in run("--mapping", "other", status=2)


def test_what_a_kept_mapping_says_is_never_who_judged_or_how_people_labelled(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("wer,was,wie,gut\na,p,7,usable\n")
    options = ["--map", "case_id=wer", "--map", "prompt=was", "--map", "score=wie", "--map", "human_label=gut",
               "--judge", "gpt", "--reviewer", "Ann", "--labels-blind", "--labels-random", "--scale", "10"]  # fmt: skip
    command = ["import", str(path), "--dataset", "d", "--json"]
    dry = CliRunner().invoke(cli, [*command, *options, "--keep-mapping", "mine", "--dry-run"])
    assert (dry.exit_code, mapping_store.mappings()) == (0, [])
    assert CliRunner().invoke(cli, [*command, *options, "--keep-mapping", "mine"]).exit_code == 0
    kept = mapping_store.mapping_named("mine")
    assert kept["choices"] == {"criterion": "", "scale": 10.0, "rating_scale": 0.0, "combine": "viescore"}
    with_old = {"judge": "gpt", "reviewer": "Ann", "blind": True, "random": True, "scale": 5.0}
    mapping_store.keep_mapping("mine", kept["fields"], with_old)  # as it was kept before
    (proposal,) = proposals_for([Source.of_path(path)])
    assert proposal.choices == Choices(scale=5.0)


@pytest.mark.parametrize("option", [["--keep-mapping", "x" * 81], ["--rejected", "/nowhere/at/all.csv"]])
def test_what_cannot_be_written_afterwards_is_refused_before_anything_is_saved(option, tmp_path):
    (tmp_path / "t.csv").write_text("case_id,prompt\na,p\n")
    done = CliRunner().invoke(cli, ["import", str(tmp_path / "t.csv"), "--dataset", "d", *option])
    assert (done.exit_code, case_store.datasets()) == (2, [])


def test_a_zip_with_a_table_and_its_pictures_is_enough(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "全部.zip", "w") as archive:
        archive.writestr("deep/表.csv", TABLE)
        for name, content in FILES.items():
            archive.writestr(f"deep/{name}", content)
    done = CliRunner().invoke(cli, ["import", str(tmp_path / "全部.zip"), "--dataset", "z", "--json"])
    assert json.loads(done.stdout)["pictures"]["matched"] == 2


# --- out and in again --------------------------------------------------------------------------------------------------


def test_an_export_comes_into_an_empty_dataset_of_the_same_workspace_with_the_same_figures(tmp_path):
    imported(WIDE, blind=True, random=True)
    reviews.undo_review("undo", rows("SELECT token FROM reviews LIMIT 1")[0]["token"], 1)
    reviews.adjudicate("t", 2, "overall", 1, "badcase", "it is red")
    files = [tmp_path / f"{table}.csv" for table in ("cases", "verdicts", "reviews", "adjudications")]
    for path in files:
        write(path.stem, "shoes", path, format="csv")
    for _ in range(2):
        report = run_import(
            "again", proposals_for([Source.of_path(path) for path in files]), Pictures.of_files(FILES)
        ).report
        assert report["problems"] == []
    assert counted(report) == {"cases": {"unchanged": 2}, "verdicts": {"unchanged": 4}, "reviews": {"unchanged": 5}}
    for first, second in ((1, 3), (2, 4)):
        for basis in ("blind", "all"):
            figures = [agreement_report(run, basis) for run in (first, second)]
            assert {k for k in figures[0] if figures[0][k] != figures[1][k]} == {"run", "dataset"}


def test_a_link_whose_picture_is_among_those_given_needs_no_fetching():
    text = (
        "user_prompt,result_image\n画一只猫,https://x.test/00/618cf325.jpg!/fw/1120\n画一只狗,https://x.test/lost.jpg\n"
    )
    report = imported(text, pictures={"图/618cf325.jpg": png("red")})
    assert report["pictures"] == {"matched": 1, "missing": 0, "unreadable": 0, "links": 1}
    (part,) = next(iter(case_store.load_cases([1]).values())).result_images
    assert (part.source, part.path.read_bytes()) == ("https://x.test/00/618cf325.jpg!/fw/1120", png("red"))
    assert counted(imported(text, pictures={}))["cases"] == {"unchanged": 2}


# --- whatever a file holds ---------------------------------------------------------------------------------------------

MANY = 60
WORD = st.sampled_from(
    ["", "a", "b", "可用", "0.5", "7", "[1, 2]", '{"x": 1}', "red.png", "https://x.test/1.png", "-", "😀", "'", "="]
)
COLUMN = st.sampled_from(
    ["case_id", "prompt", "result_image", "judge", "score", "label", "sub_scores", "reviewer", "human_label", "aspect", "SC",
     "comment", "threshold", "created_at", "gpt.score", "rater1", "tags", "status"]
)  # fmt: skip


@given(columns=st.lists(COLUMN, min_size=1, max_size=6, unique=True), data=st.data())
@settings(max_examples=MANY, deadline=None)
def test_any_table_is_imported_or_answered_and_again_changes_nothing(columns, data):
    lines = data.draw(st.lists(st.lists(WORD, min_size=len(columns), max_size=len(columns)), min_size=1, max_size=5))
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([columns, *lines])
    try:
        planned = plan_import("any", proposed(buffer.getvalue()), Pictures.of_files(FILES))
    except (MappingWrong, TableUnreadable):
        return
    done = carry_out(planned)
    assert counted(done.report) == counted(planned.report)
    before = everything()
    again = carry_out(plan_import("any", proposed(buffer.getvalue()), Pictures.of_files(FILES)))
    assert everything() == before
    assert all(set(of_kind) <= {"unchanged", "rejected"} for of_kind in counted(again.report).values())
    assert rows("PRAGMA foreign_key_check") == []


@given(value=st.floats(0, 1e6, allow_nan=False))
def test_a_number_is_read_as_it_was_written(value):
    assert number(repr(value)) == value
    assert number(f"{value!r}%") == pytest.approx(value / 100)
