"""A file in, the same file out: `cli.py run cases.xlsx --metric … -o result.xlsx`, as Coze's users work."""

from __future__ import annotations

import csv
import io
import subprocess
import sys

import openpyxl
import pytest

from data.store import cases as case_store
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from tests.chat_server import Answer, ChatServer, said
from tests.conftest import REPOSITORY, png
from tests.test_cli import called
from tests.test_cli import said as printed

HEADER = ["input_images", "user_prompt", "result_image", "note"]
ROWS = [
    ['["ball.png", "cube.png"]', "图1的圆球和图2的方块", "good.png", 1],
    ["ball.png\ncube.png", "图1的圆球在图2的方块左边", "bad.png", 2.5],
    [None, None, None, None],
    ["ball.png; cube.png", "a prompt", "gone.png", "x"],
    ['["ball.png", "cube.png"]', "图1的圆球和图2的方块", "good.png", "the same again"],
    ["ball.png,cube.png", "unreadable", "good.png", None],
    [None, "no reference", "good.png", None],
]  # fmt: skip


def judge(request) -> Answer:
    prompt = request.texts[2]
    if prompt == "unreadable":
        return Answer("I like it.")
    answered = "no" if "左边" in prompt else "yes"
    return said(reasoning=f"=看了：{prompt}", elements=[{"element": prompt, "answered": answered}], contradiction="no",
                score="1.0" if answered == "yes" else 0)  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """Pictures beside a table."""
    for number, name in enumerate(("ball", "cube", "good", "bad")):
        (tmp_path / f"{name}.png").write_bytes(png((60 * number, 40, 40)))
    return tmp_path


def table(folder, *lines: list, name: str = "cases.xlsx", header: list | None = None):
    book = openpyxl.Workbook()
    for line in (header or HEADER, *lines):
        book.active.append(line)
    book.save(folder / name)
    return folder / name


def run(source, server, *more: object, status: int = 0, metric: str = "image_text_match") -> dict:
    return printed(
        "run", source, "--metric", metric, "--model", "tester", "--base-url", server.url, *more, status=status
    )


def written(path) -> list[list]:
    return [list(line) for line in openpyxl.load_workbook(path).active.iter_rows(values_only=True)]


def test_scores_and_reasonings_come_back_in_the_rows_they_belong_to(folder):
    source, output = table(folder, *ROWS), folder / "result.xlsx"
    with ChatServer(judge) as server:
        report = run(source, server, "-o", output, status=1)
    assert {name: report[name] for name in ("cases", "ok", "unreadable", "skipped", "mean_score", "file")} == {
        "cases": 5, "ok": 2, "unreadable": 1, "skipped": 2, "mean_score": 0.5, "file": str(output),
    }  # fmt: skip
    header, *lines = written(output)
    assert header == [*HEADER, "score", "reasoning"]
    assert [line[:4] for line in lines] == ROWS
    assert [line[4] for line in lines] == [1, 0, None, None, None, None, None]
    assert [type(line[4]) for line in lines[:2]] == [int, int]
    assert lines[0][5] == "=看了：图1的圆球和图2的方块"
    assert lines[2][5] is None
    assert lines[3][5] == "skipped: a picture cannot be used: no picture named gone.png lies beside the table"
    assert "stands in row 1 already" in lines[4][5]
    assert lines[5][5].startswith("unreadable: match: no JSON object was found")
    assert lines[6][5] == "skipped: needs 1 to 10 input images, found 0"
    assert openpyxl.load_workbook(output).active["F2"].data_type == "s"


def test_the_run_is_kept_as_any_other_under_the_name_of_the_file(folder):
    source = table(folder, *ROWS)
    with ChatServer(judge) as server:
        report = run(source, server, "-o", folder / "result.xlsx", status=1)
        calls = server.replies
        assert (report["dataset"], case_store.dataset_id("cases")) == ("cases", 1)
        again = run(source, server, "-o", folder / "again.xlsx", status=1)
        assert server.replies == calls  # it was paid for
    assert (again["calls"], len(run_store.runs())) == (0, 2)
    assert written(folder / "again.xlsx") == written(folder / "result.xlsx")
    assert [len(request.images) for request in server.requests] == [3] * calls


def test_a_judged_file_can_be_judged_again(folder):
    source = table(folder, ROWS[0], ROWS[1])
    with ChatServer(judge) as server:
        run(source, server, "-o", source)
        first = written(source)
        run(source, server, "-o", source, "--dataset", "other")
    assert written(source) == first
    assert len(first[0]) == 6


def test_a_csv_file_works_the_same(folder):
    source = folder / "cases.csv"
    with source.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([HEADER, *ROWS[:2]])
    with ChatServer(judge) as server:
        run(source, server, "-o", folder / "result.csv")
    lines = list(csv.DictReader(io.StringIO((folder / "result.csv").read_text(encoding="utf-8-sig"))))
    assert [(line["score"], line["reasoning"]) for line in lines] == [
        ("1", "'=看了：图1的圆球和图2的方块"), ("0", "'=看了：图1的圆球在图2的方块左边"),
    ]  # fmt: skip


def test_pictures_may_lie_elsewhere(folder, tmp_path):
    (tmp_path / "tables").mkdir()
    source = table(tmp_path / "tables", ROWS[0])
    with ChatServer(judge) as server:
        assert run(source, server, status=1)["skipped"] == 1
        assert run(source, server, "--images", folder)["ok"] == 1


def test_only_the_table_s_cases_are_judged_and_a_limit_counts_its_rows(folder):
    with ChatServer(judge) as server:
        run(table(folder, ROWS[0], name="first.xlsx"), server, "--dataset", "all")
        report = run(table(folder, ROWS[1], ROWS[0], name="second.xlsx"), server, "--dataset", "all", "--limit", "1", "-o",
                     folder / "result.xlsx")  # fmt: skip
    assert (report["cases"], [row["prompt"] for row in verdict_store.result_rows(2)]) == (1, [ROWS[1][1]])
    assert [line[4] for line in written(folder / "result.xlsx")[1:]] == [0, None]


@pytest.mark.parametrize("metric", ["text_to_image", "gecko_image", "contextual_recall"])
def test_other_metrics_take_a_file_too(metric, folder, server):
    header = ["prompt", "result_image", "expected_output", "retrieval_context"]
    lines = [["a red ball", "good.png", '["A ball. It is red."]', '["A red ball.", "ball.png"]'],
             ["a blue cube", "bad.png", '["A cube."]', '["A blue cube."]']]  # fmt: skip
    report = run(table(folder, *lines, header=header), server, "-o", folder / "result.xlsx", metric=metric)
    results = verdict_store.result_rows(report["run"])
    assert [line[4] for line in written(folder / "result.xlsx")[1:]] == [pytest.approx(row["score"]) for row in results]
    assert all(line[5] for line in written(folder / "result.xlsx")[1:])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--metric", "image_text_match", "--model", "m"], "Name a --dataset, or a TABLE of cases."),
        (["--dataset", "x", "--metric", "image_text_match", "--model", "m", "-o", "r.xlsx"], "-o goes with a TABLE"),
        (["gone.xlsx", "--metric", "image_text_match", "--model", "m"], "gone.xlsx"),
    ],
)
def test_what_was_asked_for_wrongly_is_said(arguments, problem):
    assert problem in called("run", *arguments, status=2)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04", "name\n红\n".encode()])
def test_a_file_that_is_no_table_is_refused_and_nothing_is_asked(content, folder, server):
    (folder / "cases.xlsx").write_bytes(content)
    output = called("run", folder / "cases.xlsx", "--metric", "image_text_match", "--model", "m", "--base-url", server.url,
                    status=2)  # fmt: skip
    assert "cases.xlsx" in output and "Traceback" not in output
    assert (server.replies, run_store.runs()) == (0, [])


def test_an_output_that_cannot_be_written_is_refused_before_the_judge_is_asked(folder, server):
    source = table(folder, ROWS[0])
    output = called("run", source, "--metric", "image_text_match", "--model", "m", "--base-url", server.url, "-o",
                    folder / "no" / "such" / "folder.xlsx", status=2)  # fmt: skip
    assert "cannot be written" in output
    assert server.replies == 0


def test_the_command_works_as_a_program(folder, home):
    source = table(folder, ROWS[0], ROWS[1])
    with ChatServer(judge) as server:
        done = subprocess.run(
            [sys.executable, "cli.py", "run", str(source), "--metric", "image_text_match", "--model", "m", "--base-url",
             server.url, "-o", str(folder / "result.xlsx")],
            cwd=REPOSITORY, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 of 2 " in done.stdout and "mean score 0.50" in done.stdout and "written: " in done.stdout
    assert [line[4] for line in written(folder / "result.xlsx")[1:]] == [1, 0]
