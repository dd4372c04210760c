"""Tables and workspaces out of the terminal's door, and links in: what the commands print, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from cli import cli
from commands.exporting import export
from data.store import cases as case_store
from data.store import connection
from data.store import links as link_store
from evaluators.case import Case, Part


def ended(command, *arguments: object, status: int = 0) -> Result:
    """A command that has run; it must end as expected, and never with a traceback."""
    done = CliRunner().invoke(command, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == status, done.output
    return done


def said(command, *arguments: object, status: int = 0) -> dict:
    return json.loads(ended(command, *arguments, "--json", status=status).stdout)


def test_the_ending_of_the_file_says_the_format(fill, tmp_path):
    fill(3)
    report = said(export, "everything", "--dataset", "shoes", "-o", tmp_path / "a.xlsx", "--thumbnails")
    assert report == {
        "table": "everything", "format": "xlsx", "rows": 3, "cut": 0, "file": str(tmp_path / "a.xlsx"),
    }  # fmt: skip
    assert len(openpyxl.load_workbook(tmp_path / "a.xlsx").active._images) == 3
    assert said(export, "cases", "--dataset", "shoes", "-o", tmp_path / "a.parquet")["format"] == "parquet"
    assert pq.read_table(tmp_path / "a.parquet").num_rows == 3
    assert said(export, "cases", "--dataset", "shoes", "-o", tmp_path / "a.dat")["format"] == "csv"
    assert said(export, "bundle", "--dataset", "shoes", "-o", tmp_path / "a.zip")["pictures"] == 3
    assert (
        said(export, "cases", "--format", "labelstudio", "--dataset", "shoes", "-o", tmp_path / "a.json")["rows"] == 3
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("agreement", "--dataset", "shoes"), "name it"),
        (("coze", "--dataset", "shoes"), "Coze's table has the scores of one run; name it."),
        (("cases", "--dataset", "boots"), "There is no dataset 'boots'."),
        (("verdicts", "--dataset", "shoes", "--run", 9), "Run 9 is not a run of 'shoes'."),
        (("reviews", "--dataset", "shoes", "--format", "labelstudio"), "labelstudio holds whole cases"),
        (("bundle", "--dataset", "shoes", "--format", "csv"), "bundle is a format of its own"),
        (("cases", "--dataset", "shoes", "--thumbnails"), "Thumbnails go into Excel files only."),
        (("pictures", "--dataset", "shoes"), "is not one of"),
    ],
)
def test_what_cannot_be_written_is_said_and_no_file_is_there(arguments, told, fill, tmp_path):
    fill(1)
    assert told in ended(export, *arguments, "-o", tmp_path / "a.csv", status=2).output
    assert not (tmp_path / "a.csv").exists()


def test_a_folder_that_is_not_there_is_a_sentence(fill, tmp_path):
    fill(1)
    output = ended(export, "cases", "--dataset", "shoes", "-o", tmp_path / "no" / "a.csv", status=2).output
    assert "cannot be written: No such file or directory." in output


def test_a_backup_is_restored_by_command(fill, tmp_path, monkeypatch):
    fill(2)
    assert said(cli, "backup", tmp_path / "copy.zip")["pictures"] == 2
    assert "is there already" in ended(cli, "backup", tmp_path / "copy.zip", status=2).output
    assert "is not empty" in ended(cli, "restore", tmp_path / "copy.zip", status=2).output
    connection.close()
    monkeypatch.setenv("SECOND_LOOK_HOME", str(tmp_path / "new"))
    report = said(cli, "restore", tmp_path / "copy.zip")
    assert report == {"home": str(tmp_path / "new"), "pictures": 2, "problems": []}
    assert ended(cli, "check").output.startswith("Nothing wrong")


def test_a_restored_workspace_without_its_pictures_ends_with_status_1(fill, tmp_path, monkeypatch):
    fill(1)
    said(cli, "backup", tmp_path / "copy")
    (picture,) = (tmp_path / "copy").rglob("*.png")
    picture.unlink()
    connection.close()
    monkeypatch.setenv("SECOND_LOOK_HOME", str(tmp_path / "new"))
    assert (
        f"The picture {picture.name} is missing from the backup."
        in ended(cli, "restore", tmp_path / "copy", status=1).output
    )


def test_links_that_cannot_be_fetched_are_told(tmp_path: Path):
    part = Part("image", source="http://127.0.0.1:9/a.png", problem=link_store.NOT_FETCHED)
    case_store.save_cases("shoes", [Case("a", (Part.of_text("p"),), (part,))])
    report = said(cli, "fetch", "--dataset", "shoes", status=1)
    assert (report["failed"], report["waiting"], len(report["problems"])) == (1, 0, 1)
    output = ended(cli, "fetch", "--retry", status=1).output
    assert "0 pictures fetched, 1 links failed." in output and "SECOND_LOOK_ALLOW_PRIVATE_LINKS=1" in output
    assert "There is no dataset 'boots'" in ended(cli, "fetch", "--dataset", "boots", status=2).output
