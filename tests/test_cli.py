"""The terminal's door: what each command prints, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys

import pandas
import pytest
from click.testing import CliRunner, Result

from cli import cli
from data.store import queues, reviews
from data.store.reviews import Review
from tests.chat_server import Answer, ChatServer, by_aspect, scores
from tests.conftest import REPOSITORY, load_sample, png

RUN_KEYS = {
    "run", "metric", "judge", "cases", "ok", "unreadable", "refused", "failed", "skipped", "mean_score", "calls",
    "cached_calls", "input_tokens", "output_tokens", "seconds",
}  # fmt: skip


def ended(*arguments: object, status: int = 0) -> Result:
    """A command that has run; it must end as expected, and never with a traceback."""
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == status, done.output
    return done


def called(*arguments: object, status: int = 0) -> str:
    """What a command prints, its complaints included."""
    return ended(*arguments, status=status).output


def said(*arguments: object, status: int = 0) -> dict:
    """The JSON that a command prints, strictly read."""

    def refuse(constant: str):
        raise ValueError(f"{constant} is not JSON")

    return json.loads(ended(*arguments, "--json", status=status).stdout, parse_constant=refuse)


@pytest.fixture
def files(tmp_path):
    """A table of two cases with a folder of pictures."""
    (tmp_path / "pictures").mkdir()
    for color in ("red", "blue"):
        (tmp_path / "pictures" / f"{color}.png").write_bytes(png(color))
    table = tmp_path / "cases.csv"
    table.write_text(
        "case_id,prompt,result_image\na,a red square,red.png\nb,a blue square,blue.png\n", encoding="utf-8"
    )
    return table, tmp_path / "pictures"


@pytest.fixture
def shoes(files) -> str:
    table, pictures = files
    called("import", table, "--dataset", "shoes", "--images", pictures)
    return "shoes"


def run_at(server, *more: object, status: int = 0, metric: str = "text_to_image") -> dict:
    return said("run", "--dataset", "shoes", "--metric", metric, "--model", "tester", "--base-url", server.url,
                "--api-key-env", "JUDGE_KEY", *more, status=status)  # fmt: skip


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "sk-judge")


def test_metrics_are_listed_with_what_they_need():
    found = said("metrics")["metrics"]
    assert [metric["name"] for metric in found] == [
        "text_to_image", "image_editing", "mask_guided_editing", "control_guided_generation", "subject_driven_generation",
        "subject_driven_editing", "multi_concept_generation", "image_text_match", "gecko_image", "gecko_video",
        "contextual_recall",
    ]  # fmt: skip
    assert all(set(metric) >= {"name", "criterion", "needs"} for metric in found)
    assert "exactly 1 result image" in called("metrics")


def test_an_import_reports_what_is_new_and_ends_with_0(files):
    table, pictures = files
    report = said("import", table, "--dataset", "shoes", "--images", pictures)
    nothing = {"new": 0, "changed": 0, "unchanged": 0, "rejected": 0}
    assert {name: report[name] for name in ("dataset", "cases", "verdicts", "reviews", "problems")} == {
        "dataset": "shoes", "cases": {**nothing, "new": 2}, "verdicts": nothing, "reviews": nothing, "problems": [],
    }  # fmt: skip
    assert said("import", table, "--dataset", "shoes", "--images", pictures)["cases"] == {**nothing, "unchanged": 2}


def test_an_import_with_problems_lists_them_and_ends_with_1(files):
    report = said("import", files[0], "--dataset", "shoes", status=1)
    assert report["problems"][0] == {
        "row": 1, "column": "result_image", "problem": "no picture named red.png lies beside the table",
    }  # fmt: skip
    assert "row 2, result_image: no picture named blue.png" in called(
        "import", files[0], "--dataset", "shoes", status=1
    )


@pytest.mark.parametrize("name", ["missing.csv", "text.csv", "latin.csv", "images"])
def test_an_import_that_cannot_be_done_says_why_and_ends_with_2(name, files, tmp_path):
    (tmp_path / "text.csv").write_text("hello\nworld\n")
    (tmp_path / "latin.csv").write_bytes("prompt\nschön\n".encode("latin-1"))
    if name == "images":
        output = called("import", files[0], "--dataset", "x", "--images", files[0], status=2)
        assert "neither a folder nor a zip" in output
    else:
        assert name in called("import", tmp_path / name, "--dataset", "x", status=2)
    assert said("runs") == {"runs": []}


def test_a_run_prints_its_numbers(shoes, server):
    report = run_at(server)
    assert set(report) >= RUN_KEYS
    named = ("metric", "judge", "cases", "ok", "calls", "cached_calls", "input_tokens", "output_tokens")
    assert [report[name] for name in named] == [
        "text_to_image", f"tester @ {server.url[7:]}", 2, 2, 4, 0, 400, 80,
    ]  # fmt: skip
    assert 0 <= report["mean_score"] <= 1 and report["seconds"] >= 0
    assert {request.key for request in server.requests} == {"sk-judge"}
    again = said("run", "--dataset", "shoes", "--metric", "text_to_image", "--judge", report["judge"])
    assert (again["calls"], again["cached_calls"], server.replies) == (0, 4, 4)


def test_a_run_with_problems_ends_with_1(shoes):
    with ChatServer(by_aspect(Answer("hm"), scores(8, 9))) as server:
        report = run_at(server, status=1)
    assert (report["unreadable"], report["ok"], report["mean_score"]) == (2, 0, None)


def test_a_metric_that_does_not_fit_skips_every_case_and_asks_nothing(shoes, server):
    report = run_at(server, metric="image_editing", status=1)
    assert (report["skipped"], report["calls"], server.replies) == (2, 0, 0)


@pytest.mark.parametrize(
    ("more", "labels"),
    [
        (["--threshold", "0.74"], ["usable"] * 2),
        (["--threshold", "0.75"], ["badcase"] * 2),
        (["--threshold", "none"], [""] * 2),
        (["--strict"], ["badcase"] * 2),
        (["--limit", "1"], ["usable"]),
        (["--set", "include_reason=false", "--concurrency", "1"], ["usable"] * 2),
    ],
)
def test_settings_of_a_run_are_heeded(more, labels, shoes, tmp_path):
    with ChatServer(by_aspect(scores(7), scores(8, 9))) as server:
        run = run_at(server, *more)["run"]
    out = tmp_path / "verdicts.csv"
    called("export", "verdicts", "--dataset", "shoes", "--run", run, "-o", out)
    assert pandas.read_csv(out, keep_default_na=False)["label"].tolist() == labels


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--dataset", "boots", "--metric", "text_to_image", "--model", "m"], "There is no dataset 'boots'"),
        (["--dataset", "shoes", "--metric", "beauty", "--model", "m"], "beauty"),
        (["--dataset", "shoes", "--metric", "text_to_image"], "Name either --judge or --model."),
        (["--dataset", "shoes", "--metric", "text_to_image", "--judge", "a", "--model", "m"], "Name either"),
        (["--dataset", "shoes", "--metric", "text_to_image", "--judge", "nobody"], "There is no judge 'nobody'"),
        (["--dataset", "shoes", "--metric", "text_to_image", "--model", "m"], "OPENAI_API_KEY is not set"),
        (
            ["--dataset", "shoes", "--metric", "text_to_image", "--model", "m", "--api-key-env", "NOPE"],
            "NOPE is not set",
        ),
        (["--dataset", "shoes", "--metric", "text_to_image", "--model", "m", "--threshold", "2"], "outside 0-1"),
        (["--dataset", "shoes", "--metric", "text_to_image", "--model", "m", "--threshold", "x"], "x"),
        (
            ["--dataset", "shoes", "--metric", "text_to_image", "--model", "m", "--set", "coverage=1"],
            "no setting 'coverage'",
        ),
        (["--dataset", "shoes", "--metric", "text_to_image", "--model", "m", "--set", "coverage"], "is not KEY=VALUE"),
        (["--dataset", "shoes", "--metric", "text_to_image", "--model", "m", "--set", "flaky=7"], "true or false"),
        (["--dataset", "shoes", "--metric", "text_to_image", "--model", "m", "--base-url", "ftp://x"], "not an http"),
        (
            ["--dataset", "shoes", "--metric", "text_to_image", "--model", "m", "--base-url", "http://[::1"],
            "not an http",
        ),
        (
            ["--dataset", "shoes", "--metric", "text_to_image", "--model", "m", "--base-url", "http://localhost:x"],
            "not an http",
        ),
    ],
)
def test_a_run_that_was_asked_for_wrongly_says_so_ends_with_2_and_leaves_no_run(arguments, problem, shoes):
    assert problem in called("run", *arguments, status=2)
    assert said("runs") == {"runs": []}


def test_runs_are_listed_newest_last(shoes, server):
    first, second = run_at(server), run_at(server)
    found = said("runs")["runs"]
    assert [run["run"] for run in found] == [first["run"], second["run"]]
    assert set(found[0]) >= {"run", "dataset", "metric", "judge", "status", "done", "cases"}
    assert (found[0]["status"], found[0]["done"], found[0]["cases"]) == ("done", 2, 2)
    assert "2/2" in called("runs")


def test_resume_prints_what_run_prints(shoes, server):
    run = run_at(server)["run"]
    report = said("resume", run)
    assert set(report) >= RUN_KEYS
    assert (report["run"], report["ok"]) == (run, 2)


def test_cancel_says_whether_there_was_anything_to_cancel(shoes, server):
    run = run_at(server)["run"]
    assert said("cancel", run) == {"run": run, "cancelled": False}


@pytest.mark.parametrize("command", [["resume", 7], ["cancel", 7], ["agreement", "--run", 7]])
def test_a_run_that_does_not_exist_is_said_not_to(command):
    assert "There is no run 7" in called(*command, status=2)


def test_agreement_prints_undefined_figures_as_null_with_their_reason(shoes, server):
    run = run_at(server)["run"]
    report = said("agreement", "--run", run)
    assert set(report) >= {
        "run",
        "n",
        "accuracy",
        "kappa",
        "precision_bad",
        "recall_bad",
        "tp",
        "fp",
        "fn",
        "tn",
        "baseline",
    }
    assert (report["n"], report["accuracy"]["value"], report["accuracy"]["reason"]) == (0, None, "no_data")
    assert "There are no blind labels" in called("agreement", "--run", run)


def test_agreement_prints_figures_with_their_intervals(shoes):
    with ChatServer(by_aspect(scores(7), scores(8, 9))) as server:
        run = run_at(server)["run"]
    ada = reviews.reviewer_named("Ada")
    for offered, label in zip(queues.next_cases(1, "overall", ada, 2), ("usable", "badcase"), strict=True):
        case_id, draw = offered["case_id"], offered["draw_id"]
        reviews.save_review(Review(label, case_id, 1, "overall", ada, label, blind=True, draw_id=draw))
    report = said("agreement", "--run", run)
    assert [report[cell] for cell in ("n", "tp", "fp", "fn", "tn", "baseline")] == [2, 0, 0, 1, 1, 0.5]
    assert report["accuracy"]["value"] == 0.5
    assert report["accuracy"]["lo"] < 0.5 < report["accuracy"]["hi"]
    assert (report["precision_bad"]["value"], report["precision_bad"]["reason"]) == (None, "judge_flagged_none")
    assert report["recall_bad"]["value"] == 0.0
    assert said("agreement", "--run", run, "--basis", "all")["n"] == 2


def test_agreement_as_json_tells_what_every_view_tells(tmp_path):
    load_sample()
    found = said("agreement", "--run", 1, "--basis", "all", "--at-least", 0.85)
    assert found["claim"]["looks"] == [found["n"]]
    assert {g["name"] for g in found["groups"]["generator"]["groups"]} == {"Aster 1", "Borage 2", "Comfrey XL"}
    assert sum(g["cases"] for g in found["generators"]["generators"]) == 35
    views = ("items", "scores", "human_scores", "over_time", "versions", "comparison", "people", "anchoring", "planning",
             "alternative", "repeats")  # fmt: skip
    assert all(found[view]["words"] for view in views)


def test_a_report_is_one_file(tmp_path):
    load_sample()
    written = tmp_path / "report.html"
    found = said("report", "--run", 1, "-o", written)
    html = written.read_text(encoding="utf-8")
    assert found == {"run": 1, "file": str(written), "bytes": len(html.encode())}
    assert "randomly drawn cases" in html and "The most instructive disagreements" in html
    assert "cannot be written" in called("report", "--run", 1, "-o", tmp_path / "none" / "x.html", status=2)
    assert "There is no run 7" in called("report", "--run", 7, "-o", written, status=2)


@pytest.mark.parametrize("table", ["cases", "verdicts", "reviews", "agreement"])
def test_every_table_is_exported(table, shoes, server, tmp_path):
    run, out = run_at(server)["run"], tmp_path / "out.csv"
    report = said("export", table, "--dataset", "shoes", "--run", run, "-o", out)
    assert report == {"table": table, "format": "csv", "rows": 0 if table == "reviews" else 2, "file": str(out)}
    assert out.read_bytes().startswith(b"\xef\xbb\xbf")


def test_an_export_that_cannot_be_done_ends_with_2(shoes, tmp_path):
    assert "name it" in called("export", "agreement", "--dataset", "shoes", "-o", tmp_path / "x.csv", status=2)
    assert "There is no dataset" in called("export", "cases", "--dataset", "boots", "-o", tmp_path / "x.csv", status=2)
    assert not (tmp_path / "x.csv").exists()


def test_an_export_into_a_folder_that_is_not_there_ends_with_2(shoes, tmp_path):
    called("export", "cases", "--dataset", "shoes", "-o", tmp_path / "no" / "x.csv", status=2)


def test_backup_copies_and_refuses_to_overwrite(shoes, tmp_path):
    report = said("backup", tmp_path / "copy")
    assert report == {"folder": str(tmp_path / "copy"), "pictures": 2, "missing": 0}
    assert "is not empty" in called("backup", tmp_path / "copy", status=2)


def test_check_ends_with_1_when_something_is_wrong(shoes, home):
    assert said("check") == {"home": str(home), "problems": []}
    next((home / "images").rglob("*.png")).unlink()
    assert "is missing" in said("check", status=1)["problems"][0]


def test_the_sample_is_loaded_by_a_command_too():
    assert [dataset["cases"] for dataset in said("sample")["datasets"]] == [36, 14, 8, 6, 4, 4]


def test_usage_errors_end_with_2():
    called("import", status=2)
    called("frobnicate", status=2)
    called("resume", "seven", status=2)
    called("--help")


def test_the_command_works_as_a_program_and_never_prints_a_key(files, server, home):
    def program(*arguments: object) -> subprocess.CompletedProcess:
        command = [sys.executable, "cli.py", *map(str, arguments), "--json"]
        return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60)

    done = program("import", files[0], "--dataset", "shoes", "--images", files[1])
    assert (done.returncode, json.loads(done.stdout)["cases"]["new"], done.stderr) == (0, 2, "")
    done = program("run", "--dataset", "shoes", "--metric", "text_to_image", "--model", "tester", "--base-url",
                   server.url, "--api-key-env", "JUDGE_KEY")  # fmt: skip
    assert (done.returncode, json.loads(done.stdout)["ok"], done.stderr) == (0, 2, "")
    assert all(b"sk-judge" not in file.read_bytes() for file in home.rglob("*") if file.is_file())
    assert program("run", "--dataset", "shoes").returncode == 2


# --- costs, budgets, repeats -------------------------------------------------------------------------------------------


def test_a_dry_run_tells_what_it_would_take_and_asks_nothing(shoes, server):
    arguments = (
        "run",
        "--dataset",
        "shoes",
        "--metric",
        "text_to_image",
        "--model",
        "tester",
        "--base-url",
        server.url,
    )
    assert said(*arguments, "--dry-run")["new_calls"] == 4
    assert server.replies == 0
    assert "Tokens and cost are unknown" in called(*arguments, "--dry-run")
    said(*arguments)
    told = said(*arguments, "--dry-run", "--fresh", "--repeats", "2")
    assert (told["new_calls"], told["tokens"], told["cost"]) == (8, 960, None)
    assert "the judge has no price yet" in called(*arguments, "--dry-run", "--fresh")


def test_a_budget_stops_a_run_with_status_1_and_resume_takes_a_larger_one(shoes, server):
    stopped = said("run", "--dataset", "shoes", "--metric", "text_to_image", "--model", "tester", "--base-url", server.url,
                   "--concurrency", "1", "--max-calls", "2", status=1)  # fmt: skip
    assert (stopped["status"], stopped["calls"], stopped["budget"]) == ("stopped", 2, {"calls": 2})
    resumed = said("resume", stopped["run"], "--max-calls", "10")
    assert (resumed["status"], resumed["calls"], resumed["ok"]) == ("done", 4, 2)


def test_a_budget_in_money_without_a_price_is_refused(shoes, server):
    told = called("run", "--dataset", "shoes", "--metric", "text_to_image", "--model", "tester", "--base-url", server.url,
                  "--max-cost", "1", status=2)  # fmt: skip
    assert "needs the judge's prices" in told


def test_repeats_are_runs_and_their_agreement_is_told(shoes, server):
    told = said("run", "--dataset", "shoes", "--metric", "text_to_image", "--model", "tester", "--base-url", server.url,
                "--repeats", "3")  # fmt: skip
    assert server.replies == 12
    assert told["self_consistency"]["runs"] == [1, 2, 3]
    assert told["self_consistency"]["agreement"] == 1.0
    assert [run["repeat_of"] for run in said("runs")["runs"]] == [None, 1, 1]


def test_one_run_is_told_with_its_errors_and_its_slowest_calls(shoes, server):
    run_at(server)
    told = said("runs", 1)
    assert len(told["slowest_calls"]) == 4
    assert told["errors"] == []
    assert "cost unknown" in called("runs", 1)
    assert "There is no run 9" in called("runs", 9, status=2)


def test_a_claim_is_tested_on_the_labels_there_are(shoes, server):
    run = run_at(server)["run"]
    assert "is undecided" in called("agreement", "--run", run, "--at-least", "0.85")
    assert said("agreement", "--run", run, "--at-least", "0.85")["claim"]["answer"] == "undecided"
