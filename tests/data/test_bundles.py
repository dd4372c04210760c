"""A dataset that was written whole comes back whole, in another workspace and to the last digit."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.backup import check
from data.exchange.bundles import BundleRefused, _list, bring_in, is_bundle
from data.exchange.columns import as_typed, join_list
from data.exchange.writing import write
from data.exchange.writing.table import cell_text
from data.reports.headline import agreement_report
from data.reports.items import item_report
from data.store import cases as case_store
from data.store import connection, queues, reviews
from data.store import judges as judge_store
from data.store import runs as run_store
from data.store import verdicts as verdict_store
from data.store.connection import rows, value
from data.store.queues import Queue
from data.store.reviews import Review
from evaluators import METRICS, Case, Item, Options, Part, Verdict
from tests.conftest import kept_case, shade


@pytest.fixture
def bundle(judge_at, tmp_path) -> Path:
    """Forty cases, audited and randomly labelled by two people who take back and revise, decided and changed in part."""
    dice = random.Random(1)
    made = [kept_case(f"c{i}", shade(i), f"提示，prompt {i // 3}\n=second line") for i in range(40)]
    case_store.save_cases("shoes", [case for case, _ in made], [kept for _, kept in made])
    shoes = case_store.dataset_id("shoes")
    run = run_store.create_run(
        shoes, METRICS["text_to_image"], judge_at("http://localhost:1/v1"), Options(threshold=0.45)
    )
    for i in range(40):
        items = (
            Item("SC.a", "sub_score", "follows", "SC", i / 7),
            Item("q", "question", "?", answer="7", expected="7"),
        )
        ok = Verdict("", "text_to_image", "ok", score=dice.random(), reason=" =r\n", items=items, steps=(" a\n", "[b]"))
        verdict_store.save_verdicts(
            run, [(i + 1, 1, ok if i % 9 else Verdict("", "text_to_image", "refused", problem="no"))]
        )
    number = 0
    for name in ("Ada", "陈"):
        person = reviews.reviewer_named(name)
        for queue in (Queue("audit", run_id=run, passed_share=0.3), Queue()):
            for row in queues.next_cases(shoes, "overall", person, 12, queue=queue):
                number += 1
                said = (
                    {"items": {"SC.a": 3, "q": "7"}, "tags": ["artefact"], "comment": "'=x"} if number % 4 == 0 else {}
                )
                label, facts = dice.choice(["usable", "badcase", "unsure"]), {"draw_id": row["draw_id"], "run_id": run}
                reviews.save_review(
                    Review(
                        f"t{number}",
                        row["case_id"],
                        1,
                        "overall",
                        person,
                        label,
                        blind=dice.random() < 0.8,
                        **facts,
                        **said,
                    )
                )
                if number % 7 == 0:
                    reviews.undo_review(f"u{number}", f"t{number}", person)
        reviews.save_review(Review(f"picked {name}", 5, 1, "overall", person, "badcase"))
    for token, label in (("d1", "usable"), ("d2", "badcase")):
        reviews.adjudicate(token, 3, "overall", reviews.reviewer_named("Lead"), label, "因为")
    case_store.save_cases("shoes", [Case("c7", (Part.of_text("changed"),), tags=("a, b", " c "))])
    reviews.saw_verdicts(reviews.reviewer_named("Ada"), [30, 31])
    write("cases", "shoes", tmp_path / "shoes.zip", format="bundle")
    return tmp_path / "shoes.zip"


def figures(dataset: str) -> list:
    """All that is told of the runs of a dataset, without names and ids."""
    told = []
    for run in run_store.runs(case_store.dataset_id(dataset)):
        for basis in ("blind", "all"):
            report = agreement_report(run["id"], basis)
            told.append({name: found for name, found in report.items() if name not in ("run", "dataset")})
        told.append({name: found for name, found in item_report(run["id"]).items() if name != "run"})
    return told


def elsewhere(monkeypatch, tmp_path: Path) -> None:
    connection.close()
    monkeypatch.setenv("SECOND_LOOK_HOME", str(tmp_path / "new"))


def test_the_figures_are_the_same_to_the_last_digit_in_an_empty_home(bundle, tmp_path, monkeypatch):
    before = figures("shoes")
    assert before[0]["n"] > 10 and before[0]["left_out"]["audited"] and before[0]["left_out"]["stale"]
    elsewhere(monkeypatch, tmp_path)
    report = bring_in(bundle)
    assert (report["dataset"], report["cases"], report["verdicts"], report["problems"]) == ("shoes", 40, 40, [])
    assert figures("shoes") == before
    assert [problem for problem in check() if not problem.startswith("Run")] == []


def test_everything_that_was_said_is_there_as_it_was(bundle, tmp_path, monkeypatch):
    queries = (
        "SELECT token, label, score, tags_json, comment, blind, basis, decided, created FROM reviews ORDER BY id",
        "SELECT key, value, answer FROM review_items ORDER BY rowid",
        "SELECT token, label, reason, created FROM adjudications ORDER BY id",
        "SELECT status, score, reason, problem, steps_json FROM verdicts ORDER BY id",
        'SELECT key, kind, "group", text, value, answer, expected FROM items ORDER BY rowid',
        "SELECT external_id, revision, prompt, tags_json FROM cases ORDER BY id",
        "SELECT revision, role, position, kind, text, sha256, source FROM parts ORDER BY case_id, revision, role, position",
        "SELECT queue, stratum, pi, basis FROM queue_draws ORDER BY id",
        "SELECT w.name, s.case_id, s.revision, s.seen FROM seen_verdicts s JOIN reviewers w ON w.id = s.reviewer_id "
        "ORDER BY w.name, s.case_id",
        "SELECT metric, metric_version, threshold, json_extract(judge_json, '$.settings.model') AS model, prompts_json, "
        "options_json FROM runs ORDER BY id",
    )
    before = [rows(query) for query in queries]
    assert all(before)
    elsewhere(monkeypatch, tmp_path)
    bring_in(bundle)
    assert [rows(query) for query in queries] == before
    write("cases", "shoes", tmp_path / "again.zip", format="bundle")
    with zipfile.ZipFile(bundle) as one, zipfile.ZipFile(tmp_path / "again.zip") as two:
        assert one.read("reviews.csv").decode() == two.read("reviews.csv").decode()


def test_a_bundle_that_does_not_say_who_saw_what_is_read(bundle, tmp_path, monkeypatch):
    path = bundle.with_name("older.zip")
    with zipfile.ZipFile(bundle) as old, zipfile.ZipFile(path, "w") as new:
        for member in old.namelist():
            if member != "seen.csv":
                new.writestr(member, old.read(member))
    elsewhere(monkeypatch, tmp_path)
    assert bring_in(path)["cases"] == 40 and value("SELECT count(*) FROM seen_verdicts") == 0


def test_a_dataset_that_is_here_is_left_alone_and_another_name_makes_another_one(bundle):
    before = figures("shoes")
    with pytest.raises(BundleRefused, match="There is a dataset 'shoes' already"):
        bring_in(bundle)
    report = bring_in(bundle, "boots")
    assert report["dataset"] == "boots" and figures("boots") == before == figures("shoes")
    audits = {row["queue"] for row in rows("SELECT queue FROM queue_draws WHERE queue LIKE 'audit/%'")}
    assert {queue.split("/")[1] for queue in audits} == {"run 1", "run 2"}


def test_a_judge_comes_in_without_its_address_and_cannot_be_asked(bundle, tmp_path, monkeypatch, judge_at):
    path = changed(bundle, "runs.jsonl", lambda content: content.replace(b'"status": "queued"', b'"status": "stopped"'))
    elsewhere(monkeypatch, tmp_path)
    mine = judge_at("http://localhost:2/v1")
    bring_in(path)
    (run,) = run_store.runs(case_store.dataset_id("shoes"))
    judges = {judge["name"]: judge for judge in judge_store.judges()}
    assert judges["tester"] == mine and judges["tester (2)"]["kind"] == run["judge"]["kind"] == "imported"
    assert run["judge_id"] == judges["tester (2)"]["id"] and run["judge"]["name"] == "tester (2)"
    for settings in (judges["tester (2)"]["settings"], run["judge"]["settings"]):
        assert settings["model"] == "tester" and not {"base_url", "key_variable"} & set(settings)
    bring_in(path, "boots")
    assert len(judge_store.judges()) == 2


def test_a_judge_that_is_the_same_here_stays_one_that_can_be_asked(bundle):
    bring_in(bundle, "boots")
    first, second = rows("SELECT judge_id, judge_json FROM runs ORDER BY id")
    assert first == second and len(judge_store.judges()) == 1


def changed(bundle: Path, name: str, change) -> Path:
    """The bundle with one member changed."""
    path = bundle.with_name("changed.zip")
    with zipfile.ZipFile(bundle) as old, zipfile.ZipFile(path, "w") as new:
        for member in old.namelist():
            content = old.read(member)
            new.writestr(member, change(content) if member == name else content)
    return path


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("dataset.json", lambda content: content.replace(b'"form": 1', b'"form": 99'), "newer version"),
        ("dataset.json", lambda content: b"{", "is damaged or no bundle"),
        ("dataset.json", lambda content: b"{}", "lacks 'form'"),
        ("dataset.json", lambda content: b"[1]", "dataset.json does not hold an object"),
        ("dataset.json", lambda content: b'{"form": 1, "name": 7}', "its name in dataset.json is not one"),
        ("dataset.json", lambda content: content + b" " * 6_000_000, "dataset.json would unpack to 6,"),
        ("runs.jsonl", lambda content: b"[1]", "runs, row 1: it is no object with a judge"),
        (
            "runs.jsonl",
            lambda content: content.replace(b'"metric": "text_to_image"', b'"metric": "beauty"', 1),
            "runs, row 1: metric 'beauty' is not one that this version knows",
        ),
        (
            "reviews.csv",
            lambda content: content.replace(b",overall,", b",taste,", 1),
            "reviews, row 1: criterion 'taste' is not one of match, overall, recall",
        ),
        (
            "verdicts.csv",
            lambda content: content.replace(b",ok,0.", b",ok,57.", 1),
            r"verdicts, row \d+: score 57\.\d+ is not a number from 0 to 1",
        ),
        ("cases.csv", lambda content: content + b"x", "cases, row 41: it has fewer cells than the header"),
        (
            "run_cases.csv",
            lambda content: content.replace(b",1,", b"," + b"9" * 30 + b",", 1),
            r"run_cases, row \d+: Python int too large",
        ),
        (
            "reviews.csv",
            lambda content: content.replace(b",usable,", b",splendid,", 1),
            r"reviews, row \d+: CHECK constraint",
        ),
        (
            "verdicts.csv",
            lambda content: content.replace(b"c3,", b"nobody,"),
            r"verdicts, row \d+: 'nobody' is not known",
        ),
        ("runs.jsonl", lambda content: content[:50], "runs, row 1"),
        ("draws.csv", lambda content: b"queue\r\nrandom\r\n", "draws, row 1: 'reviewer' is not known"),
        ("items.csv", lambda content: content.replace(b",0.0,", b",zero,", 1), r"items, row \d+: could not convert"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_nothing_is_saved(name, change, told, bundle, tmp_path, monkeypatch):
    path = changed(bundle, name, change)
    elsewhere(monkeypatch, tmp_path)
    with pytest.raises(BundleRefused, match=told):
        bring_in(path)
    assert case_store.datasets() == [] and value("SELECT count(*) FROM reviewers") == 0


def test_a_picture_that_was_changed_or_is_missing_is_a_problem_of_its_case(bundle, tmp_path, monkeypatch):
    with zipfile.ZipFile(bundle) as archive:
        first = next(name for name in archive.namelist() if name.startswith("images/"))
    path = changed(bundle, first, lambda content: content[:-20])
    elsewhere(monkeypatch, tmp_path)
    report = bring_in(path)
    assert len(report["problems"]) == 1 and report["pictures"] == 39
    assert value("SELECT count(*) FROM parts WHERE problem LIKE '%was missing from the bundle'") == 1


def test_a_damaged_zip_is_refused_or_read_and_never_a_traceback(bundle, tmp_path, monkeypatch):
    whole, dice = bundle.read_bytes(), random.Random(5)
    elsewhere(monkeypatch, tmp_path)
    for n in range(15):
        damaged = bytearray(whole)
        damaged[dice.randrange(len(whole))] ^= 0x5A
        (tmp_path / "damaged.zip").write_bytes(damaged)
        try:
            bring_in(tmp_path / "damaged.zip", f"try {n}")
        except BundleRefused:
            assert case_store.dataset_id(f"try {n}") is None


def test_what_is_a_bundle_is_told_by_what_is_in_it(bundle, tmp_path):
    assert is_bundle(bundle)
    (tmp_path / "a.txt").write_text(json.dumps({}))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("cases.csv", "")
    assert not is_bundle(tmp_path / "a.txt") and not is_bundle(tmp_path / "b.zip") and not is_bundle(tmp_path)


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=8), max_size=3
    )
)
def test_a_list_in_a_cell_is_read_as_it_was(entries):
    assert _list(as_typed(str(cell_text(entries)))) == entries
    assert join_list(entries) == as_typed(str(cell_text(entries)))
