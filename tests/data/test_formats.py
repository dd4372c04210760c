"""Files of other tools are recognised by themselves and come in as their makers mean them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from data.exchange.gathering import proposals_for, sources_at
from data.exchange.importing import run_import
from data.exchange.reading import Source
from data.store import cases as case_store
from data.store import reviews
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.agreement import Basis, counts
from data.store.connection import rows
from tests.data.test_case_table import case


def brought(content: object, name: str = "file.json", dataset: str = "shoes") -> tuple[str, dict]:
    """The format that a file was recognised as, and the report of its import."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    (proposal,) = proposals_for([Source(name, text.encode())])
    return proposal.format, run_import(dataset, [proposal]).report


def test_a_coze_table_brings_its_judge_and_asks_whether_text_and_picture_match():
    inputs = '"[""https://x.test/1.jpg!/fw/1120"", ""https://x.test/2.jpg""]"'
    found, report = brought(
        "input_images,user_prompt,result_image,score,reasoning\n"
        f"{inputs},图1跟图2手牵着手在漫步,https://x.test/r.jpg!/fw/1120,0,我现在需要处理用户的评估请求。\n"
        f"{inputs},图1在跑步,https://x.test/s.jpg,1,应该输出1。\n",
        "coze.csv",
    )
    assert (found, report["pictures"]["links"], report["verdicts"]["new"]) == ("a table of a Coze evaluator", 4, 2)
    (run,) = run_store.runs()
    assert (run["judge_name"], run["criterion"], run["threshold"]) == ("Coze", "match", 0.5)
    assert [(v["label"], v["reason"]) for v in verdict_store.result_rows(1)] == [
        ("badcase", "我现在需要处理用户的评估请求。"), ("usable", "应该输出1。"),
    ]  # fmt: skip
    first = next(iter(case_store.load_cases([1]).values()))
    assert [p.source for p in first.input_images] == ["https://x.test/1.jpg!/fw/1120", "https://x.test/2.jpg"]


def test_a_vertex_gecko_table_brings_its_questions_with_what_was_expected():
    picture = json.dumps(
        {"contents": [{"parts": [{"file_data": {"mime_type": "image/png", "file_uri": "gs://b/coffee.png"}}]}]}
    )
    asked = {"is the cup of coffee steaming?": "yes", "is there toast?": "no"}
    records = (
        "[QARecord(question='is the cup of coffee steaming?', question_type='attribute', gt_answer='yes', "
        "answer_choices=['yes', 'no'], justification='x'), QARecord(question='is there toast?', question_type='food', "
        "gt_answer='yes', answer_choices=['yes', 'no'], justification='y')]"
    )
    found, report = brought(
        [{"prompt": "steaming coffee and toast", "image": picture, "rubrics": "…", "qa_records": records,
          "gecko_metric/rubric_results": str(asked), "final_score": 0.5}],
    )  # fmt: skip
    assert (found, report["verdicts"]["new"]) == ("a result of Vertex AI's Gecko", 1)
    (run,) = run_store.runs()
    assert (run["metric"], run["criterion"]) == ("gecko_image", "match")
    items = verdict_store.verdicts_of_case(1)[0]["items"]
    assert [(i["text"], i["answer"], i["expected"]) for i in items] == [
        ("is the cup of coffee steaming?", "yes", "yes"), ("is there toast?", "no", "yes"),
    ]  # fmt: skip
    corrected = verdict_store.corrected_score(run, items, {items[1]["key"]: "yes"})
    assert corrected == 1.0


def test_deepeval_test_cases_are_texts_and_pictures_in_their_places():
    found, report = brought([
        {"input": ["Change the shoes to blue", {"url": "https://x.test/in.png", "local": False}],
         "actual_output": [{"url": "https://x.test/out.png", "local": False}], "expected_output": None},
        {"input": "What is this? [DEEPEVAL:IMAGE:https://x.test/q.png]", "actual_output": "A shoe.",
         "expected_output": "A blue shoe.", "retrieval_context": ["Shoes are blue.", "There is a sale."]},
    ])  # fmt: skip
    assert (found, report["cases"]["new"]) == ("deepeval test cases", 2)
    first, second = case_store.load_cases([1, 2]).values()
    assert (first.prompt, first.input_images[0].source, first.output[0].source) == (
        "Change the shoes to blue", "https://x.test/in.png", "https://x.test/out.png",
    )  # fmt: skip
    assert (second.prompt, second.input_images[0].source) == ("What is this?", "https://x.test/q.png")
    assert [p.text for p in second.context] == ["Shoes are blue.", "There is a sale."]
    assert (second.output[0].text, second.expected[0].text) == ("A shoe.", "A blue shoe.")


@pytest.mark.parametrize("names", [("testCases", "metricsData", "actualOutput", "evaluationModel"),
                                   ("test_results", "metrics_data", "actual_output", "evaluation_model")])  # fmt: skip
def test_deepeval_results_make_a_run_for_each_metric(names):
    cases, data, output, model = names
    found, report = brought({cases: [
        {"name": f"test_case_{n}", "input": f"a shoe {n}", output: f"https://x.test/{n}.png", "expectedOutput": None, data: [
            {"name": "Text to Image", "threshold": 0.7, "success": n > 0, "score": 0.6 + n / 5, "reason": "SC 6", model: "gpt-4o"},
            {"name": "Other", "threshold": 0.5, "success": True, "score": 1, "reason": "", model: "gpt-4o"},
        ]} for n in range(2)
    ]})  # fmt: skip
    assert (found, report["cases"]["new"], report["verdicts"]["new"]) == ("deepeval results", 2, 4)
    run = run_store.runs()[0]
    assert (run["judge_name"], run["threshold"]) == ("Text to Image · gpt-4o", 0.7)
    assert [(v["score"], v["label"]) for v in verdict_store.result_rows(run["id"])] == [
        (0.6, "badcase"),
        (0.8, "usable"),
    ]


LABEL_STUDIO = [
    {"id": 7, "data": {"image": "https://x.test/1.png", "prompt": "a red shoe"},
     "predictions": [{"model_version": "qwen", "score": 0.3, "result": [{"type": "choices", "value": {"choices": ["badcase"]}}]}],
     "annotations": [
         {"completed_by": 1, "created_at": "2026-01-02T03:04:05Z", "was_cancelled": False, "result": [
             {"from_name": "q", "type": "choices", "value": {"choices": ["可用"]}},
             {"from_name": "c", "type": "textarea", "value": {"text": ["looks right"]}}]},
         {"completed_by": {"id": 2, "email": "bo@x.test"}, "was_cancelled": False, "result": [
             {"from_name": "r", "type": "rating", "value": {"rating": 2}}]},
         {"completed_by": 3, "was_cancelled": True, "result": [{"type": "choices", "value": {"choices": ["usable"]}}]}]},
    {"id": 8, "data": {"image": "https://x.test/2.png", "prompt": "a blue shoe"}, "annotations": [], "predictions": []},
]  # fmt: skip


def test_label_studio_tasks_bring_annotations_and_predictions():
    found, report = brought(LABEL_STUDIO)
    assert found == "tasks of Label Studio"
    assert [report[kind]["new"] for kind in ("cases", "verdicts", "reviews")] == [2, 1, 2]
    said = {r["reviewer"]: r for r in reviews.history(case_store.find_case("shoes", "task-7"))}
    assert (said["annotator 1"]["label"], said["annotator 1"]["comment"]) == ("usable", "looks right")
    assert said["annotator 1"]["created"] == "2026-01-02T03:04:05Z"
    assert said["bo@x.test"]["label"] == "badcase"
    assert report["rows"] == 2
    assert brought(LABEL_STUDIO)[1]["reviews"]["unchanged"] == 2


def test_the_small_label_studio_export_is_recognised():
    found, report = brought(
        "annotation_id,annotator,choice,created_at,id,image,prompt\n1,ann,usable,2026-01-02,7,https://x.test/1.png,a shoe\n"
        "2,bo,badcase,2026-01-02,7,https://x.test/1.png,a shoe\n", "export.csv",
    )  # fmt: skip
    assert (found, report["cases"]["new"], report["reviewers"]) == (
        "a small export of Label Studio",
        1,
        {"ann": 1, "bo": 1},
    )


ARGILLA = {"id": "r1", "status": "completed", "_server_id": None, "image": "https://x.test/1.png", "prompt": "a shoe"}
USER = "0a1b2c3d-0000-4000-8000-000000000001"


@pytest.mark.parametrize(
    "record",
    [
        {**ARGILLA, "usable.responses": ["yes", "no"], "usable.responses.users": [USER, "bo"],
         "usable.responses.status": ["submitted", "draft"], "note.responses": ["fine"], "note.responses.users": [USER],
         "note.responses.status": ["submitted"], "usable.suggestion": "no", "usable.suggestion.score": 0.9,
         "usable.suggestion.agent": "gpt"},
        {"id": "r1", "fields": {"image": "https://x.test/1.png", "prompt": "a shoe"}, "metadata": {}, "vectors": {},
         "responses": {"usable": [{"value": "yes", "user_id": USER, "status": "submitted"},
                                  {"value": "no", "user_id": "bo", "status": "draft"}],
                       "note": [{"value": "fine", "user_id": USER, "status": "submitted"}]},
         "suggestions": {"usable": {"value": "no", "score": 0.9, "agent": "gpt"}}},
    ],
    ids=["flat", "nested"],
)  # fmt: skip
def test_argilla_records_bring_responses_and_suggestions(record):
    found, report = brought([record])
    assert (found, report["problems"]) == ("records of Argilla", [])
    (said,) = reviews.history(case_store.find_case("shoes", "r1"))
    assert (said["reviewer"], said["label"], said["comment"]) == ("annotator 0a1b2c3d", "usable", "fine")
    assert [(v["label"], v["run_id"]) for v in verdict_store.verdicts_of_case(1)] == [("badcase", 1)]
    assert case("r1").prompt == "a shoe"


def test_a_coze_loop_experiment_brings_each_evaluator_as_a_judge():
    found, report = brought(
        "ID,status,input,image,actual_output,图文匹配<0.0.1>,图文匹配<0.0.1>_reason,美观<1.0>,美观<1.0>_reason,质检\n"
        "754,success,画一只猫,https://x.test/1.png,,1,符合,0.5,一般,通过\n755,success,画一只狗,https://x.test/2.png,,0,不符合,0.25,差,\n",
        "experiment.csv",
    )
    assert (found, report["cases"]["new"], report["verdicts"]["new"]) == ("an experiment of coze-loop", 2, 4)
    assert [run["judge_name"] for run in run_store.runs()] == ["图文匹配 0.0.1", "美观 1.0"]
    assert verdict_store.result_rows(1)[1]["reason"] == "不符合"


@pytest.fixture
def viescore_folder(tmp_path):
    """A result folder of VIEScore with two pictures, and one rater's file of ImagenHub."""
    said = {
        "SC": {"sample_1.jpg": [8, 9], "sample_2.jpg": [8, 80], "sample_3.jpg": [2, 9]},
        "PQ": {"sample_1.jpg": [6, 5], "sample_2.jpg": [7, 7], "sample_3.jpg": [9, 9]},
    }
    links = "https://x.test/Museum/ImagenHub_Text-Guided_IE"
    for aspect, scores in said.items():
        path = tmp_path / "results_gpt4o_0shot" / "ImagenHub_Text-Guided_IE" / "CycleDiffusion" / f"{aspect}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        shown = ("input", "CycleDiffusion") if aspect == "SC" else ("CycleDiffusion",)
        path.write_text(json.dumps({
            name: {"score": score, "reasoning": "why", "prompt_input": "RULES:\n\nEditing instruction: let it snow\n",
                   "vision_input": [f"{links}/{place}/{name}" for place in shown]} for name, score in scores.items()
        }, indent=4))  # fmt: skip
    ratings = tmp_path / "Text-Guided_IE_rater1.tsv"
    ratings.write_text("uid\tCycleDiffusion\nsample_1.jpg\t[1, 0.5]\nsample_2.jpg\t[0.5,0.5]\nsample_3.jpg\t[0,1]\n")
    return tmp_path


def test_a_viescore_folder_and_imagenhub_ratings_find_each_other(viescore_folder):
    proposals = proposals_for(sources_at(viescore_folder))
    said = [replace(p, choices=replace(p.choices, random=True)) for p in proposals]
    report = run_import("edits", said).report
    assert [p.format for p in proposals] == ["ratings of ImagenHub", "results of VIEScore"]
    assert [report[kind]["new"] for kind in ("cases", "verdicts", "reviews")] == [3, 3, 3]
    assert report["problems"] == []
    made = case("Text-Guided_IE/CycleDiffusion/sample_1", "edits")
    assert (made.prompt, made.generator, len(made.input_images), len(made.result_images)) == (
        "let it snow",
        "CycleDiffusion",
        1,
        1,
    )
    (run,) = run_store.runs()
    found = verdict_store.result_rows(run["id"])
    assert [(v["status"], v["score"]) for v in found] == [
        ("ok", pytest.approx((0.8 * 0.5) ** 0.5)), ("unreadable", None), ("ok", pytest.approx((0.2 * 0.9) ** 0.5)),
    ]  # fmt: skip
    assert (run["judge_name"], run["metric"], run["criterion"]) == ("gpt4o_0shot", "text_to_image", "overall")
    cells = counts(Basis(run["id"], 0.5))
    assert (cells["tn"], cells["tp"], cells["unanswered_usable"]) == (1, 1, 1)


def test_nothing_that_was_recognised_breaks_the_store():
    brought(LABEL_STUDIO)
    assert rows("PRAGMA foreign_key_check") == []
