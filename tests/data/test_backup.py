"""A workspace can be copied while people work, brought back elsewhere, and looked over."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from data.backup import BackupUnusable, backup, check, restore
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


@pytest.mark.parametrize("name", ["copy", "copy.zip"])
def test_a_backup_comes_back_in_an_empty_home(name, fill, tmp_path, monkeypatch):
    fill(3)
    ada = reviews.reviewer_named("Ada")
    reviews.save_review(reviews.Review("t", 1, 1, "overall", ada, "usable"))
    before = everything()
    assert backup(tmp_path / name) == {"pictures": 3, "missing": 0}
    elsewhere(monkeypatch, tmp_path)
    assert restore(tmp_path / name) == {"pictures": 3, "problems": []}
    assert everything() == before
    assert check() == []
    assert [path.name for path in (tmp_path / "new").iterdir() if path.name.startswith(".")] == []


def everything() -> list:
    """All rows of all tables that people and judges write."""
    tables = ("workspace", "datasets", "cases", "parts", "images", "reviewers", "reviews")
    return [connection.rows(f"SELECT * FROM {table}") for table in tables]


def elsewhere(monkeypatch, tmp_path: Path) -> Path:
    """A home that is not there yet."""
    connection.close()
    monkeypatch.setenv("SECOND_LOOK_HOME", str(tmp_path / "new"))
    return tmp_path / "new"


def test_a_folder_that_was_copied_by_hand_comes_back_with_what_its_log_holds(fill, tmp_path, home, monkeypatch):
    fill(2)
    shutil.copytree(home, tmp_path / "by hand")  # the connection is open: the last rows are in the log
    assert (tmp_path / "by hand" / "second_look.db-wal").stat().st_size
    elsewhere(monkeypatch, tmp_path)
    assert restore(tmp_path / "by hand") == {"pictures": 2, "problems": []}
    assert len(case_store.load_cases([1, 2])) == 2


def test_a_home_with_something_in_it_is_left_alone(fill, tmp_path):
    fill(1)
    backup(tmp_path / "copy.zip")
    before = everything()
    with pytest.raises(FileExistsError, match="is not empty; set SECOND_LOOK_HOME"):
        restore(tmp_path / "copy.zip")
    assert everything() == before


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2000])


def _scribble(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[5000:60_000] = bytes(random.Random(7).randbytes(55_000))
    path.write_bytes(content)


def _execute(statement: str):
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA foreign_keys=OFF")
            db.execute(statement)
            db.commit()

    return change


NEWER = "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('second_look', 'm999_later', '2099')"
DAMAGE = {
    "a database cut off": (_cut, "."),
    "a database scribbled over": (_scribble, "Nothing was restored"),
    "no database at all": (lambda path: path.unlink(), "is no backup of a workspace"),
    "another file": (lambda path: path.write_text("hello"), "Nothing was restored"),
    "an empty file": (lambda path: path.write_bytes(b""), "Nothing was restored"),
    "another program's database": (_execute("DROP TABLE _sqlite_migrations"), "Nothing was restored"),
    "a newer version's": (_execute(NEWER), r"newer version of Second Look \(it knows m999_later\)"),
    "a row that names nothing": (
        _execute("DELETE FROM datasets"),
        "names a datasets that is gone. Nothing was restored",
    ),
    "a picture that climbs": (_execute("UPDATE images SET extension = '../../../x'"), "which is none"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_backup_that_cannot_be_used_restores_nothing_and_says_why(what, fill, tmp_path, monkeypatch):
    fill(30)
    backup(tmp_path / "copy")
    damage, told = DAMAGE[what]
    damage(tmp_path / "copy" / "second_look.db")
    home = elsewhere(monkeypatch, tmp_path)
    with pytest.raises(BackupUnusable, match=told):
        restore(tmp_path / "copy")
    assert not home.exists()


def test_a_backup_without_its_table_of_pictures_is_refused_in_a_sentence(tmp_path, monkeypatch):
    backup(tmp_path / "copy")
    _execute("DROP TABLE images")(tmp_path / "copy" / "second_look.db")
    home = elsewhere(monkeypatch, tmp_path)
    with pytest.raises(BackupUnusable, match=r"holds no whole workspace: no such table: images\. Nothing was restored"):
        restore(tmp_path / "copy")
    assert not home.exists()


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04 and nothing else"])
def test_a_file_that_is_no_zip_is_said_to_be_none(content, tmp_path, monkeypatch):
    (tmp_path / "copy.zip").write_bytes(content)
    elsewhere(monkeypatch, tmp_path)
    with pytest.raises(BackupUnusable, match="neither a folder nor a zip file"):
        restore(tmp_path / "copy.zip")


def test_a_zip_that_is_damaged_anywhere_restores_all_or_says_what_is_wrong(fill, tmp_path, monkeypatch):
    fill(2)
    backup(tmp_path / "whole.zip")
    whole, dice = (tmp_path / "whole.zip").read_bytes(), random.Random(3)
    home = elsewhere(monkeypatch, tmp_path)
    for _ in range(25):
        damaged = bytearray(whole)
        damaged[dice.randrange(len(whole))] ^= 0x5A
        (tmp_path / "copy.zip").write_bytes(damaged)
        try:
            report = restore(tmp_path / "copy.zip")
        except BackupUnusable:
            assert not home.exists()
            continue
        assert report["pictures"] + len(report["problems"]) == 2
        connection.close()
        shutil.rmtree(home)


def test_pictures_that_are_missing_or_changed_are_left_out_and_named(fill, tmp_path, monkeypatch):
    fill(3)
    one, two, _ = (case.result_images[0] for case in case_store.load_cases([1, 2, 3]).values())
    backup(tmp_path / "copy")
    (tmp_path / "copy" / "images" / one.sha256[:2] / f"{one.sha256}.png").unlink()
    (tmp_path / "copy" / "images" / two.sha256[:2] / f"{two.sha256}.png").write_bytes(b"scribbled over")
    elsewhere(monkeypatch, tmp_path)
    report = restore(tmp_path / "copy")
    assert report["pictures"] == 1
    assert sorted("missing" in p or "changed" in p for p in report["problems"]) == [True, True]
    assert "its file is missing" in case_store.load_cases([2])[2].result_images[0].problem
    assert not original_path(two.sha256, "png").exists()


def test_names_in_a_zip_that_lead_elsewhere_are_not_even_looked_at(fill, tmp_path, monkeypatch):
    fill(1)
    backup(tmp_path / "copy.zip")
    with zipfile.ZipFile(tmp_path / "copy.zip", "a") as archive:
        archive.writestr("../../evil.txt", "x")
        archive.writestr("images/../../evil.txt", "x")
    home = elsewhere(monkeypatch, tmp_path)
    assert restore(tmp_path / "copy.zip")["problems"] == []
    assert sorted(path.name for path in home.iterdir() if not path.name.startswith("second_look.db-")) == [
        "images", "second_look.db",
    ]  # fmt: skip
    assert not list(tmp_path.rglob("evil.txt"))


def test_a_zip_that_is_there_is_not_overwritten(fill, tmp_path):
    fill(1)
    (tmp_path / "copy.zip").write_text("mine")
    with pytest.raises(FileExistsError, match="is there already"):
        backup(tmp_path / "copy.zip")


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
