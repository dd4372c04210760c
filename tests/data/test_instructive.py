"""The most instructive disagreements: which ones, in which order."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.reports.instructive import _in_turn, instructive_disagreements
from data.store import queues, reviews
from data.store.agreement import Basis
from data.store.cases import dataset_id, save_cases
from data.store.how_labelled import how_drawn, how_labelled
from data.store.queues import Queue
from tests.conftest import kept_case, shade
from tests.data.test_queues import judged


def say(dataset: int, who: str, said: dict[int, str], comment: str = "", queue: Queue | None = None) -> None:
    """Blind labels on cases of a queue, by case id."""
    reviewer = reviews.reviewer_named(who)
    drawn = {o["case_id"]: o["draw_id"] for o in queues.next_cases(dataset, "overall", reviewer, 10_000, queue=queue)}
    for case_id, word in said.items():
        reviews.save_review(reviews.Review(f"{who}/{case_id}", case_id, 1, "overall", reviewer, word, blind=True,
                                           comment=comment, draw_id=drawn.get(case_id)))  # fmt: skip


def ids(basis: Basis, most: int = 10) -> list[int]:
    return [case["case_id"] for case in instructive_disagreements(basis, most)]


def test_unanimous_people_against_a_sure_judge_come_first_both_directions_in_turn(fill):
    dataset = fill(8)
    run = judged(dataset, {1: 0.6, 2: 0.9, 3: 0.99, 4: 0.4, 5: 0.05, 6: 0.9, 7: 0.1, 8: None})
    say(dataset, "Ada", {i: "badcase" if i in (1, 2, 3, 7, 8) else "usable" for i in range(1, 9)})
    say(dataset, "Ben", {3: "badcase", 1: "badcase"})
    say(dataset, "Cleo", {3: "usable"})  # 2 : 1, so it is not all of them
    # The judge passed 1, 2, 3, which people call badcase; it flagged 4 and 5, which they call usable. 8 has no label of it.
    assert ids(Basis(run, 0.5)) == [2, 5, 1, 4, 3]
    assert ids(Basis(run, 0.5), 3) == [2, 5, 1]
    assert ids(Basis(run, 0.95)) == [3, 5, 4, 6]  # a tried threshold: only 3 is passed, and 6 just flagged
    first = instructive_disagreements(Basis(run, 0.5))[0]
    assert (first["gold"], first["judge"], first["unanimous"], first["sureness"]) == (
        "badcase",
        "usable",
        1,
        pytest.approx(0.8),
    )


def test_a_prompt_is_shown_once(fill):
    made = [kept_case(f"c{i}", shade(i), f"prompt {i // 2}") for i in range(6)]
    save_cases("shoes", [case for case, _ in made], [kept for _, kept in made])
    dataset = dataset_id("shoes")
    run = judged(dataset, {1: 0.9, 2: 0.1, 3: 0.8, 4: 0.85, 5: 0.1, 6: 0.9})
    say(dataset, "Ada", {1: "badcase", 2: "usable", 3: "badcase", 4: "badcase", 5: "badcase", 6: "usable"})
    # Prompt 0 is wrong in both directions, prompt 1 twice in one, prompt 2 not at all.
    assert ids(Basis(run, 0.5)) == [1, 4]


def test_there_is_nothing_without_labels_or_without_a_threshold(fill):
    run = judged(fill(2), {1: 0.9, 2: 0.1})
    assert ids(Basis(run, 0.5)) == ids(Basis(run, None)) == []


def test_what_judge_and_people_wrote_stands_beside_the_case(fill):
    dataset = fill(1)
    run = judged(dataset, {1: 0.9})
    say(dataset, "Ada", {1: "badcase"}, "a hand has six fingers")
    [case] = instructive_disagreements(Basis(run, 0.5))
    assert [(r["label"], r["comment"]) for r in case["said"]] == [("badcase", "a hand has six fingers")]
    assert case["reason"] == ""


@given(
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from(["usable", "badcase"])), max_size=30, unique=True),
    st.integers(1, 12),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_as_many_as_there_are_prompts_no_prompt_twice(cases, most):
    found = [{"case_id": i, "cluster": cluster, "judge": judge} for i, (cluster, judge) in enumerate(cases)]
    chosen = _in_turn(found, most)
    prompts = [case["cluster"] for case in chosen]
    assert len(set(prompts)) == len(prompts) == min(most, len({cluster for cluster, _judge in cases}))


def test_how_the_labels_were_drawn_and_given(fill):
    dataset = fill(20)
    run = judged(dataset, {i: 0.1 if i <= 10 else 0.9 for i in range(1, 21)})
    nothing = how_labelled(Basis(run, 0.5))
    assert (nothing["labels"], nothing["reviewers"], nothing["first"]) == (0, 0, None)
    say(dataset, "Ada", {1: "badcase", 2: "usable", 11: "usable"})
    say(dataset, "Ben", {1: "badcase"})
    audit = Queue("audit", run, flagged_share=1.0)
    say(dataset, "Cleo", {3: "badcase"}, queue=audit)
    reviews.save_review(reviews.Review("picked", 4, 1, "overall", reviews.reviewer_named("Dan"), "badcase", blind=True))
    found = how_labelled(Basis(run, 0.5))
    assert (found["labels"], found["cases"], found["reviewers"], found["blind"]) == (5, 4, 3, 5)
    assert [(r["queue"], r["drawn"], r["labels"]) for r in how_drawn(Basis(run, 0.5))] == [
        ("random", "random", 4), (audit.name, "designed", 1),
    ]  # fmt: skip
