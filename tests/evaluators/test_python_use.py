"""Python use without the app: build a case, measure it, get a frozen verdict."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import subprocess
import sys

import pytest

from evaluators import METRICS, Case, EndpointJudge, EndpointSettings, Options, Part
from evaluators.rubric import RubricsInMemory
from tests.chat_server import ChatServer
from tests.conftest import REPOSITORY, png
from tests.evaluators.videos import greys, video

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with the files that the examples name."""
    for name in ("shoes.png", "source.png", "result.png"):
        (tmp_path / name).write_bytes(png("blue"))
    (tmp_path / "film.mp4").write_bytes(video(greys(10)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cases() -> dict[str, Case]:
    """A case for each metric, as short as it can be."""
    inputs = {name: len(METRICS[name].input_roles) for name in METRICS if hasattr(METRICS[name], "input_roles")}
    made = {
        name: Case.build("a blue pair of shoes", "result.png", ["source.png"] * count) for name, count in inputs.items()
    }
    made["image_text_match"] = Case.build("图1的鞋子放在草地上", "result.png", ["source.png"])
    made["gecko_image"] = Case.build("a blue pair of shoes", "result.png")
    made["gecko_video"] = Case("film", (Part.of_text("a wall grows lighter"),), (Part.of_video("film.mp4"),))
    made["contextual_recall"] = Case(
        "recall",
        input=(Part.of_text("What is it?"),),
        expected=(Part.of_text("Shoes."),),
        context=(Part.of_image("source.png"),),
    )
    return made


@pytest.mark.parametrize("mode", ["json_schema", "json_object", "text"])
@pytest.mark.parametrize("name", METRICS)
def test_every_metric_measures_a_case_whatever_form_of_reply_the_endpoint_can_do(name, mode, folder):
    with ChatServer(supports=[mode]) as server:
        judge = EndpointJudge(EndpointSettings(model="tester", base_url=server.url))
        verdict = METRICS[name].measure(cases()[name], judge)
    assert (verdict.status, verdict.problem, verdict.metric) == ("ok", "", name)
    assert 0 <= verdict.score <= 1 and verdict.label in ("usable", "badcase")
    assert verdict.items and verdict.reason and judge.mode == mode


def test_there_is_an_example_for_every_metric(folder):
    assert set(cases()) == set(METRICS)


@pytest.mark.parametrize("name", METRICS)
def test_metrics_cases_and_verdicts_are_frozen_and_nothing_is_kept_between_cases(name, folder):
    metric, case = METRICS[name], cases()[name]
    before = repr(metric)
    with ChatServer() as server:
        first, second = (
            metric.measure(case, EndpointJudge(EndpointSettings(model="tester", base_url=server.url))) for _ in range(2)
        )
    assert (first.score, first.items, first.reason) == (second.score, second.items, second.reason)
    assert repr(metric) == before
    for frozen, field in ((first, "score"), (case, "id"), (first.items[0], "answer"), (Options(), "strict")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(frozen, field, None)
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
        metric.last_verdict = first


def test_one_judge_measures_several_cases_one_after_the_other(folder):
    with ChatServer() as server:
        judge = EndpointJudge(EndpointSettings(model="tester", base_url=server.url, attempts=1))
        rubrics = RubricsInMemory()
        verdicts = [
            METRICS[name].measure(case, judge, rubrics=rubrics) for name, case in cases().items() for _ in range(2)
        ]
    assert [verdict.problem for verdict in verdicts] == [""] * len(verdicts)


def test_measure_works_inside_a_running_event_loop(folder):
    async def notebook():
        judge = EndpointJudge(EndpointSettings(model="tester", base_url=server.url))
        return [METRICS["image_text_match"].measure(cases()["image_text_match"], judge) for _ in range(2)]

    with ChatServer() as server:
        assert [verdict.status for verdict in asyncio.run(notebook())] == ["ok", "ok"]


def test_one_judge_is_asked_about_many_cases_at_once(folder):
    async def together():
        judge = EndpointJudge(EndpointSettings(model="tester", base_url=server.url))
        try:
            return await asyncio.gather(*(METRICS[name].evaluate(case, judge) for name, case in cases().items()))
        finally:
            await judge.close()

    with ChatServer() as server:
        verdicts = asyncio.run(together())
    assert {verdict.metric: verdict.status for verdict in verdicts} == dict.fromkeys(METRICS, "ok")


def test_a_metric_with_another_setting_is_another_metric_and_the_first_stays_as_it_was():
    match = METRICS["image_text_match"]
    assert match.with_settings({"coverage": 0.8}).coverage == 0.8
    assert (match.coverage, METRICS["image_text_match"] is match) == (0.6, True)


def test_a_judge_without_a_key_says_which_variable_is_missing():
    from evaluators.errors import JudgeFailed

    with pytest.raises(JudgeFailed, match="OPENAI_API_KEY is not set"):
        EndpointJudge(EndpointSettings(model="gpt-4o"))


EXAMPLES = [
    block for block in re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL) if ">>>" not in block
]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_the_examples_of_the_readme_run_as_they_stand(number, folder):
    """In a process of their own, as somebody would paste them."""
    (folder / "example.py").write_text(EXAMPLES[number], encoding="utf-8")
    with ChatServer(model="gpt-4o") as server:
        environment = {"PATH": "", "PYTHONPATH": str(REPOSITORY), "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-test",
                       "PYTHONUTF8": "1"}  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-W", "error::RuntimeWarning", "example.py"],
            cwd=folder, env=environment, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert server.replies and done.stdout.startswith("ok ")


def test_the_readme_shows_python_use():
    assert EXAMPLES
