"""Starting a run: what it needs, what it will ask, and the button."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from data.run_words import plan_lines
from data.runs import Budget, plan, start_worker
from data.store import judges, runs
from data.store.cases import CaseFilter, list_cases, load_cases
from evaluators.metrics import METRICS
from evaluators.metrics.base import Metric
from evaluators.verdict import Options
from pages.parts.plain import plain


def draw_start(dataset: Mapping) -> None:
    """The form that starts a run of a dataset."""
    able = {judge["id"]: judge for judge in reversed(judges.judges()) if judge["kind"] != "imported"}
    if not able:
        st.text("There is no judge yet.")
        st.page_link("pages/judges.py", label="Add a judge", icon=":material/gavel:")
        return
    what, who = st.columns(2)
    metric = METRICS[
        what.selectbox(
            "Metric", list(METRICS), _fitting(dataset), format_func=lambda name: METRICS[name].title,
            key=f"start-metric-{dataset['id']}",
        )
    ]  # fmt: skip
    what.text(f"Needs {metric.needs}.")
    judge = able[who.selectbox("Judge", list(able), format_func=lambda id_: able[id_]["name"], key="start-judge")]
    who.page_link("pages/judges.py", label="Add or test a judge", icon=":material/gavel:")
    at, perfect, scoring, some = st.columns(4, vertical_alignment="bottom")
    threshold = at.number_input("Usable from score", 0.0, 1.0, 0.5, 0.05, key="start-threshold")
    strict = perfect.toggle("Strict: only 1 is usable", key="start-strict")
    score_only = scoring.toggle("Score only, no label", key="start-score-only", disabled=strict)
    limit = some.number_input("Only the first N cases", 1, None, None, placeholder="all", key="start-limit")
    metric, switches = _draw_options(metric)
    options = Options(threshold=None if score_only and not strict else threshold, strict=strict, **switches)
    fresh, times, budget = _draw_measuring(judge)

    problem = _problem(judge, budget)
    if problem:
        st.warning(plain(problem))
    planned = plan(dataset["id"], metric, judge, options, limit, fresh=fresh, repeats=times)
    for line in plan_lines(planned):
        st.text(line)
    unknown = judge["kind"] == "recorded" and planned.known < planned.calls
    if unknown:
        st.warning(
            "This judge only replays stored replies and has none for some of these questions; choose one with an endpoint."
        )
    none_fit = planned.cases == sum(planned.unfit.values())
    if st.button(
        "Start", type="primary", key="start-run", disabled=bool(problem) or none_fit or (planned.known == 0 and unknown)
    ):
        run_id = runs.create_run(
            dataset["id"], metric, judge, options, limit=limit, fresh=fresh, budget=budget.as_dict()
        )  # fmt: skip
        start_worker(run_id, *(runs.repeat(run_id, as_measurement=True) for _ in range(times - 1)))
        st.query_params["run"] = str(run_id)
        st.rerun()


def _fitting(dataset: Mapping) -> int:
    """The place of the metric that fits most of the dataset's first cases."""
    first = list(load_cases([row["id"] for row in list_cases(CaseFilter(dataset_id=dataset["id"]), 20)]).values())
    fits = [sum(metric.lacks(case) is None for case in first) for metric in METRICS.values()]
    return fits.index(max(fits))


def _draw_options(metric: Metric) -> tuple[Metric, dict[str, bool]]:
    """The options that most runs leave alone: the metric with its settings, and the switches."""
    with st.expander("Options"):
        for name, value in metric.settings().items():
            field = f"start-{metric.name}-{name}"
            if isinstance(value, str):
                chosen = st.selectbox(
                    name, ["at_least", "above"], key=field, help="whether the coverage itself is enough"
                )
            elif isinstance(value, int):
                chosen = st.number_input(name, 1, 64, value, key=field, help="frames of the video that the judge sees")
            else:
                chosen = st.number_input(
                    name, 0.0, 1.0, value, 0.05, key=field, help="share of elements to be answered"
                )
            metric = metric.with_settings({name: chosen})
        switches = {
            "include_reason": st.toggle("Ask for reasons", True, key="start-reason"),
            "verbose": st.toggle("Keep the steps with each verdict", key="start-verbose"),
            "concurrent": st.toggle(
                "A case's calls at once", True, key="start-concurrent", help="else one after the other"
            ),
            "flaky": st.toggle("Flaky: report it, let it decide nothing", key="start-flaky"),
        }
    return metric, switches


def _draw_measuring(judge: Mapping) -> tuple[bool, int, Budget]:
    """Whether to ask anew, how often to measure, and the most that a run may take."""
    if judge["kind"] != "endpoint":
        return False, 1, Budget()
    with st.expander("Budget and repeats"):
        one, two, three = st.columns(3)
        calls = one.number_input("At most so many calls", 1, None, None, placeholder="no limit", key="start-max-calls")
        tokens = two.number_input(
            "At most so many tokens", 1, None, None, placeholder="no limit", key="start-max-tokens"
        )
        currency = judges.endpoint_settings(judge).currency
        money = three.number_input(
            f"At most so much {currency}",
            0.0001,
            None,
            None,
            placeholder="no limit",
            format="%.4f",
            key="start-max-cost",
        )
        one, two, _ = st.columns(3, vertical_alignment="bottom")
        fresh = one.toggle(
            "Ask anew what is known", key="start-fresh", help="Stored replies are not used; old and new are both kept."
        )
        times = two.number_input(
            "Measure so many times", 1, 20, 1, key="start-repeats",
            help="Each time is a run of its own that asks everything anew; how far they agree is told with the run.",
        )  # fmt: skip
    return fresh, int(times), Budget(calls, tokens, money)


def _problem(judge: Mapping, budget: Budget) -> str | None:
    if judge["kind"] != "endpoint":
        return None
    settings = judges.endpoint_settings(judge)
    return settings.problem() or budget.problem(settings)
