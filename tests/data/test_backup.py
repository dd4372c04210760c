"""A workspace can be copied while people work, and looked over."""

from __future__ import annotations

import subprocess
import sys

import pytest

from data.backup import backup, check
from data.images import original_path
from data.store import cases as case_store
from data.store import connection, reviews
from tests.conftest import REPOSITORY


def test_a_backup_is_a_workspace(fill, tmp_path, monkeypatch):
    fill(3)
    reviews.reviewer_named("Ada")
    copy = tmp_path / "copy"
    assert backup(copy) == {"pictures": 3, "missing": 0}
    monkeypatch.setenv("SECOND_LOOK_HOME", str(copy))
    assert check() == []
    assert [case.result_images[0].path.exists() for case in case_store.load_cases([1, 2, 3]).values()] == [True] * 3
    assert [p["name"] for p in reviews.reviewers()] == ["Ada"]


def test_a_backup_made_while_somebody_writes_is_whole(fill, tmp_path, monkeypatch):
    fill(2)
    code = (
        "from data.store.reviews import Review, reviewer_named, save_review\n"
        "ada = reviewer_named('Ada'); print('writing', flush=True)\n"
        "for i in range(100_000): save_review(Review(f't{i}', 1, 1, 'overall', ada, 'usable', items={'SC.x': 3}))"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "writing\n"
        backup(tmp_path / "copy")
        writer.kill()
    monkeypatch.setenv("SECOND_LOOK_HOME", str(tmp_path / "copy"))
    assert check() == []
    assert connection.value("SELECT count(*) FROM reviews") == connection.value("SELECT count(*) FROM review_items")


def test_nothing_is_overwritten(fill, tmp_path):
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "diary.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="is not empty"):
        backup(tmp_path / "copy")


def test_missing_and_changed_pictures_are_found(fill, tmp_path):
    fill(3)
    one, two, _ = (case.result_images[0] for case in case_store.load_cases([1, 2, 3]).values())
    original_path(one.sha256, "png").unlink()
    original_path(two.sha256, "png").write_bytes(b"scribbled over")
    found = check()
    assert any(one.sha256 in sentence and "is missing" in sentence for sentence in found)
    assert any(two.sha256 in sentence and "has been changed" in sentence for sentence in found)
    assert len(found) == 2
    assert backup(tmp_path / "copy") == {"pictures": 2, "missing": 1}
