"""What a run would do and cost, without asking anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from data.store import cases as case_store
from data.store import judges as judge_store
from data.store import replies as reply_store
from data.store import rubrics as rubric_store
from data.store import run_figures
from evaluators.judges.question import question_key
from evaluators.metrics.base import Metric
from evaluators.verdict import Options


@dataclass(frozen=True)
class Plan:
    """What a run would do: cases in the dataset, why some will be skipped, calls in all, and calls known already.

    tokens, cost: of the calls to be made, by what `history` earlier calls of this metric with this model took; None
    when there were none, or without a price. currency: of the cost.
    """

    cases: int
    unfit: Mapping[str, int]
    calls: int
    known: int
    tokens: int | None = None
    cost: float | None = None
    currency: str = ""
    history: int = 0

    @property
    def new_calls(self) -> int:
        """Calls to be made and paid for, if every reply can be read."""
        return self.calls - self.known


def plan(
    dataset_id: int, metric: Metric, judge: Mapping, options: Options, limit: int | None = None, *,
    fresh: bool = False, repeats: int = 1,
) -> Plan:  # fmt: skip
    """What a run, and the runs that repeat it, would do."""
    identity = judge["settings"] if judge["kind"] == "recorded" else judge_store.endpoint_settings(judge).identity
    unfit: dict[str, int] = {}
    asked: set[str] = set()
    total = calls = known = 0
    for case in _all_cases(dataset_id, limit):
        total += 1
        lacking = metric.lacks(case)
        if lacking:
            unfit[lacking] = unfit.get(lacking, 0) + 1
            continue
        rubric = rubric_store.latest(case.prompt, metric.rubric_medium) if metric.rubric_medium else None
        calls += metric.later_calls(case, options, rubric)
        for question in metric.opening_questions(case, options, rubric):
            key = question_key(question, identity)
            if key not in asked:  # the same question is asked once, however many cases ask it
                asked.add(key)
                calls += 1
                known += not fresh and reply_store.stored_reply(key) is not None
    return _priced(Plan(total, unfit, calls * repeats, known), metric, judge)


def _priced(planned: Plan, metric: Metric, judge: Mapping) -> Plan:
    """The plan with tokens and cost, where history and prices tell them."""
    if judge["kind"] != "endpoint":
        return planned
    settings = judge_store.endpoint_settings(judge)
    usual = run_figures.usual_call(metric.name, settings)
    if usual is None:
        return planned
    times = planned.new_calls
    each = settings.cost(usual["input_tokens"], usual["output_tokens"], usual["image_tokens"])
    return Plan(
        planned.cases, planned.unfit, planned.calls, planned.known,
        tokens=round(times * (usual["input_tokens"] + usual["output_tokens"])),
        cost=None if each is None else each * times, currency=settings.currency, history=usual["calls"],
    )  # fmt: skip


def _all_cases(dataset_id: int, limit: int | None, step: int = 200):
    wanted, offset = case_store.CaseFilter(dataset_id=dataset_id), 0
    while found := case_store.list_cases(wanted, step if limit is None else min(step, limit - offset), offset):
        yield from case_store.load_cases([row["id"] for row in found]).values()
        offset += len(found)
