"""Generators: how many of their cases are truly usable, in which order, and what labels elsewhere say."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from data.reports.charts.generators import rank_ranges, usable_rates
from data.reports.elsewhere import usable_rate_from_elsewhere
from data.reports.generators import generators_report
from data.store.elsewhere import runs_elsewhere
from evaluators.agreement import WARNING_WORDS
from pages.parts.agreement.view import Chosen, cached, columns, draw_chart, draw_table
from pages.parts.choices import choose

_RATES = {"usable_rate": "True usable rate", "judge_rate": "Judge's own rate", "labels_only": "Random labels alone"}


def draw(chosen: Chosen) -> None:
    """The true usable rate of each generator, the ranking that it supports, and the rate from labels elsewhere."""
    st.subheader("Generators")
    report = cached(generators_report, chosen.basis)
    for words in report["words"]:
        st.text(words)
    if any(row["usable_rate"]["lo"] is not None for row in report["generators"]):
        draw_chart("generators", usable_rates(report), _table(report), "Usable rates of the generators, 95 % intervals")
        if len(report["generators"]) > 1:
            st.subheader("Which order the labels support")
            places = pd.DataFrame(
                {"Generator": row["name"], "Best place": row["rank"]["best"], "Worst place": row["rank"]["worst"],
                 "Shown to be better": row["rank"]["better"], "Shown to be worse": row["rank"]["worse"]}
                for row in report["generators"]
            )  # fmt: skip
            draw_chart("places", rank_ranges(report), places, "Places of the generators, 95 % for all together")
    _draw_elsewhere(chosen)


def _draw_elsewhere(chosen: Chosen) -> None:
    """The rate of the whole dataset from labels on another one, where the same judging was done there."""
    st.subheader("From labels on another dataset")
    others = runs_elsewhere(chosen.run["id"])
    if not others:
        st.text("No run judges in the same way (judge, metric, settings, threshold) on another dataset.")
        return
    if chosen.run["threshold"] is None:
        st.text(f"{WARNING_WORDS['no_threshold']} So nothing can be told from labels elsewhere.")
        return
    if chosen.basis.threshold != chosen.run["threshold"]:
        st.text("At the run's own threshold, whatever is tried above.")
    options = {
        str(run["id"]): f"{run['dataset']} (run {run['id']}, {run['done']} verdicts)" for run in reversed(others)
    }
    other = choose("elsewhere", "Labels on cases of", options)
    found = cached(usable_rate_from_elsewhere, chosen.run["id"], int(other), chosen.basis.name)
    for words in found["words"]:
        st.text(words)
    names = {"usable_rate": "From labels there", "own": "From labels here", "labels_here": "Random labels here alone",
             "judge_rate": "Judge's own rate here"}  # fmt: skip
    draw_table("elsewhere", pd.DataFrame({"Rate": words, **columns(found[name])} for name, words in names.items()))


def _table(report: Mapping) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Generator": row["name"], "Judged cases": row["cases"], "Without a label": row["unanswered"],
            "Prompts": row["prompts"], "Labelled": row["labelled"], "Labelled at random": row["labelled_at_random"],
            "Small": row["small"],
            **{column: value for rate, words in _RATES.items() for column, value in columns(row[rate], words).items()},
        }
        for row in report["generators"]
    )  # fmt: skip
