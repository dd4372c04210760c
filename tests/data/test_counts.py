"""The kept counts say, after whatever was said in whatever order, what a fresh count of all rows says."""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest

from data.store import agreement, queues, reviews
from data.store import cases as case_store
from data.store import verdicts as verdict_store
from data.store.agreement import Basis
from data.store.connection import rows, value, writing
from data.store.queues import Queue
from data.store.review_settings import set_review_settings
from evaluators import Verdict
from tests.conftest import kept_case
from tests.data.test_queues import judged, label


def counted_by_hand(run: int, basis: str, with_audits: bool) -> dict[int, tuple[str | None, int, int]]:
    """(gold, badcase votes, usable votes) of the run's labelled cases, straight from the reviews."""
    cases = {c["id"]: c for c in rows("SELECT c.*, s.overlap FROM cases c JOIN datasets s ON s.id = c.dataset_id")}
    said = rows("SELECT * FROM reviews WHERE criterion = 'overall' ORDER BY id")
    draws = {d["id"]: d for d in rows("SELECT * FROM queue_draws")}
    undone = {r["undoes"]: r["blind"] for r in said if r["undoes"]}
    reach: dict[tuple, int] = {}
    for r in said:
        if r["label"] and r["basis"] == "random" and cases[r["case_id"]]["overlap"] is None:
            where = (r["reviewer_id"], draws[r["draw_id"]]["queue"])
            reach[where] = max(reach.get(where, 0), r["draw_id"])

    def counts(r: dict) -> bool:
        if r["basis"] == "random":
            return True
        if r["basis"] == "opportunistic":
            return False
        if with_audits and draws[r["draw_id"]]["queue"].startswith(f"audit/run {run}/"):
            return True
        return any(
            d["case_id"] == r["case_id"] and d["reviewer_id"] == r["reviewer_id"] and d["basis"] == "random"
            and d["id"] < reach.get((d["reviewer_id"], d["queue"]), 0)
            for d in draws.values()
        )  # fmt: skip

    votes: dict[int, Counter] = {}
    for case_id, case in cases.items():
        for reviewer in {r["reviewer_id"] for r in said}:
            own = [r for r in said if (r["case_id"], r["reviewer_id"]) == (case_id, reviewer) and r["label"]
                   and r["revision"] == case["revision"]]  # fmt: skip
            if basis == "all":
                own = [r for r in own if r["id"] not in undone][-1:]
            else:
                own = [r for r in own if not undone.get(r["id"])]
                own = [r for r in sorted(own, key=lambda r: r["basis"] == "opportunistic")[:1] if r["blind"]]
            for r in filter(counts, own):
                votes.setdefault(case_id, Counter())[r["label"]] += 1
    decided = {}
    for a in rows("SELECT * FROM adjudications ORDER BY id"):
        decided[a["case_id"]] = a["label"] if a["revision"] == cases[a["case_id"]]["revision"] else None
    judged_now = {v["case_id"] for v in rows("SELECT * FROM verdicts WHERE run_id = ? AND status != 'skipped'", [run])
                  if v["revision"] == cases[v["case_id"]]["revision"]}  # fmt: skip
    found = {}
    for case_id in votes.keys() & judged_now:
        bad, usable = votes[case_id]["badcase"], votes[case_id]["usable"]
        gold = decided.get(case_id) or ("badcase" if bad > usable else "usable" if usable > bad else None)
        found[case_id] = (gold, bad, usable)
    return found


def told(basis: Basis) -> dict[int, tuple[str | None, int, int]]:
    pairs = rows(f"{basis.sql} SELECT case_id, gold, bad, usable FROM pairs", basis.parameters)
    return {p["case_id"]: (p["gold"], p["bad"], p["usable"]) for p in pairs}


@pytest.mark.parametrize("seed", range(6))
def test_counts_follow_whatever_is_said(seed, home):
    """Labels from three queues, undone, seen, adjudicated; cases that change, overlaps set and taken back."""
    chance = random.Random(seed)
    made = [kept_case(f"c{i}", (i, 0, 0), f"prompt {i % 4}" if i % 5 else "") for i in range(1, 16)]
    case_store.save_cases("shoes", [case for case, _picture in made], [picture for _case, picture in made])
    scores = {i: chance.choice([0.1, 0.4, 0.6, 0.9, None]) for i in range(1, 13)}
    runs = [judged(1, scores, "one"), judged(1, {i: chance.random() for i in scores}, "two")]
    people = [reviews.reviewer_named(name) for name in ("Ada", "Ben")]
    drawn_by = [Queue("audit", runs[0], flagged_share=1.0, passed_share=0.5), Queue(), Queue(), None]
    tokens: list[tuple[str, int]] = []
    for step in range(60):
        reviewer, case_id = chance.choice(people), chance.randint(1, 15)
        match chance.choice(["label"] * 12 + ["undo", "undo", "see", "decide", "change", "overlap", "judge"]):
            case "label":
                queue = chance.choice(drawn_by)
                offered = queues.next_cases(1, "overall", reviewer, 3, queue=queue) if queue else []
                draw = chance.choice(offered) if offered else {"case_id": case_id, "draw_id": None}
                revision = case_store.revision_of(draw["case_id"])
                token = os.urandom(8).hex()
                reviews.save_review(reviews.Review(
                    token, draw["case_id"], revision, "overall", reviewer, chance.choice(["badcase", "usable", "unsure"]),
                    blind=chance.random() < 0.7, draw_id=draw["draw_id"],
                ))  # fmt: skip
                tokens.append((token, reviewer))
            case "undo" if tokens:
                token, by = tokens.pop(chance.randrange(len(tokens)))
                reviews.undo_review(os.urandom(8).hex(), token, by)
            case "see":
                reviews.saw_verdicts(reviewer, [case_id])
            case "decide":
                said = chance.choice(["badcase", "usable"])
                reviews.adjudicate(os.urandom(8).hex(), case_id, "overall", reviewer, said, "looked again")
            case "change":
                case, picture = kept_case(f"c{case_id}", (case_id, chance.choice([0, 9]), 0), f"prompt {case_id % 4}")
                case_store.save_cases("shoes", [case], [picture])
            case "overlap":
                set_review_settings(1, None, chance.choice([None, 2]))
            case "judge":
                verdict = Verdict("c13", "text_to_image", "ok", score=chance.random(), threshold=0.5)
                verdict_store.save_verdicts(runs[0], [(13, case_store.revision_of(13), verdict)])
        if step % 4 == 0 or step == 59:
            for run in runs:
                for name in ("blind", "all"):
                    for with_audits in (False, True):
                        basis = Basis(run, 0.5, name, with_audits)
                        by_hand = counted_by_hand(run, name, with_audits)
                        assert told(basis) == by_hand, (seed, step, basis)
                        assert sum(agreement.counts(basis).values()) == sum(g is not None for g, *_ in by_hand.values())
                        # The kept counts, against the rows at a threshold that differs from the run's own in nothing.
                        assert agreement.counts_by_prompt(basis) == agreement.counts_by_prompt(
                            Basis(run, 0.5 + 1e-12, name, with_audits)
                        )
                        assert agreement.judged_by_prompt(basis) == agreement.judged_by_prompt(
                            Basis(run, 0.5 + 1e-12, name, with_audits)
                        )


def test_only_what_changed_is_counted_anew(fill):
    dataset = fill(4)
    run, ada = judged(dataset, {i: 0.9 for i in range(1, 5)}), reviews.reviewer_named("Ada")
    for one in queues.next_cases(dataset, "overall", ada, 3):
        label(one["case_id"], ada, "usable", one["draw_id"])
    assert agreement.counts(Basis(run, 0.5, "all"))["tn"] == 3
    assert value("SELECT count(*) FROM stale_clusters") == 0
    with writing() as db:  # a mark that only counting anew would wipe out
        db.conn.execute("UPDATE agreement_counts SET n = n + 100")
    (last,) = queues.next_cases(dataset, "overall", ada, 3)
    label(last["case_id"], ada, "usable", last["draw_id"])
    assert value("SELECT count(*) FROM stale_clusters") == 1
    own = value("SELECT cluster FROM cases WHERE id = ?", [last["case_id"]])
    cells = agreement.counts_by_prompt(Basis(run, 0.5, "all"))
    assert {prompt for prompt, found in cells.items() if sum(found) > 100} == cells.keys() - {own}


def test_cases_that_a_prompt_shows_as_examples_measure_nothing(fill):
    dataset = fill(3)
    run, ada = judged(dataset, {1: 0.9, 2: 0.9, 3: 0.1}), reviews.reviewer_named("Ada")
    for one in queues.next_cases(dataset, "overall", ada, 3):
        label(one["case_id"], ada, "usable", one["draw_id"])
    basis = Basis(run, 0.5, "all")
    assert (agreement.counts(basis)["tn"], agreement.counts(basis)["fp"]) == (2, 1)
    with writing() as db:
        db.conn.execute("UPDATE cases SET split = 'prompt_examples' WHERE id = 1")
    assert (agreement.counts(basis)["tn"], agreement.counts(basis)["fp"]) == (1, 1)
    assert agreement.left_out(basis)["examples"] == 1
    assert agreement.judged_by_prompt(basis).keys() == set(agreement.counts_by_prompt(basis))
