"""What every test gets: a workspace of its own, no keys from outside, and a few small things to work with."""

from __future__ import annotations

import atexit
import io
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from data.home import home as home_folder
from data.images import Picture, keep, kept_part
from data.sample.load import load
from data.store import cases as case_store
from data.store import connection
from data.store import judges as judge_store
from evaluators.case import Case, Part
from evaluators.judges.settings import EndpointSettings
from tests.chat_server import ChatServer

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    """An empty workspace; nothing of the person's own settings reaches a test."""
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("SECOND_LOOK_HOME", str(folder))
    yield folder
    connection.close()


@pytest.fixture
def server():
    """A judge's server with its default answers."""
    with ChatServer() as running:
        yield running


def png(color: str | tuple[int, ...] = "red", size: tuple[int, int] = (8, 8), mode: str = "RGB") -> bytes:
    """A PNG of one colour."""
    buffer = io.BytesIO()
    Image.new(mode, size, color).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture
def picture(tmp_path) -> Callable[..., Path]:
    """Make a PNG file of one colour: picture("red")."""

    def make(color: str | tuple[int, ...] = "red", name: str = "", size: tuple[int, int] = (8, 8)) -> Path:
        path = tmp_path / (name or f"{color}.png")
        path.write_bytes(png(color, size))
        return path

    return make


def shade(number: int) -> tuple[int, int, int]:
    """A colour that differs for each number below 16 million."""
    return number % 256, number // 256 % 256, 40


def kept_case(case_id: str, color: str | tuple[int, ...] = "red", prompt: str = "a red square") -> tuple[Case, Picture]:
    """A text-to-image case whose picture is in the workspace."""
    picture = keep(png(color), f"{case_id}.png")
    part = kept_part(picture, f"{case_id}.png")
    return Case(id=case_id, input=(Part.of_text(prompt),), output=(part,)), picture


@pytest.fixture
def fill() -> Callable[..., int]:
    """Fill a dataset with N text-to-image cases, each with a picture of its own; gives the dataset's id."""

    def make(count: int, dataset: str = "shoes") -> int:
        made = [kept_case(f"c{i}", shade(i), f"square number {i}") for i in range(count)]
        case_store.save_cases(dataset, [case for case, _ in made], [kept for _, kept in made])
        return case_store.dataset_id(dataset)

    return make


@pytest.fixture
def judge_at() -> Callable[..., dict]:
    """Save a judge at a URL; gives its row."""

    def make(url: str, name: str = "tester", **settings) -> dict:
        judge_store.save_endpoint(name, EndpointSettings(model="tester", base_url=url, **settings))
        return judge_store.judge_named(name)

    return make


_samples: list[Path] = []


def load_sample() -> None:
    """The sample in this test's empty workspace: loaded the first time, copied from then on."""
    connection.close()
    if _samples:
        shutil.copytree(_samples[0], home_folder(), dirs_exist_ok=True)
        return
    load()
    connection.close()
    _samples.append(Path(tempfile.mkdtemp(prefix="second-look-sample-")))
    atexit.register(shutil.rmtree, _samples[0], ignore_errors=True)
    shutil.copytree(home_folder(), _samples[0], dirs_exist_ok=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser journeys come last: Playwright keeps an event loop running in this thread from its first test on."""
    items.sort(key=lambda item: "tests/browser/" in item.nodeid)
