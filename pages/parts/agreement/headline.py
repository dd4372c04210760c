"""The headline: the sentence that a lead reads aloud, its figures, its warnings, the claim."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from data.reports.charts.confusion import LABELS, cells, confusion
from data.reports.charts.forest import forest
from data.reports.figure_words import ALL_JUDGED_FIGURES, FIGURES
from data.reports.headline import agreement_report
from evaluators.agreement import REASON_WORDS, WARNING_WORDS
from pages.parts.agreement.view import Chosen, draw_chart, draw_table, shown_interval, shown_share, text_color
from pages.parts.methods.sections import section_of


def draw(chosen: Chosen) -> None:
    """The first view: may we trust this judge, and how sure are we?"""
    top, asked = st.container(), st.container(border=True)
    with asked:
        target, planned = _ask_claim()
    basis = chosen.basis
    report = agreement_report(basis.run_id, basis.name, basis.threshold, target, planned)
    with top:
        with st.container(border=True):
            st.text(report["words"][0])
        if report["n"] and not report["by_audit"]:
            _draw_tiles(report)
        for code in report["warnings"]:
            st.warning(WARNING_WORDS[code])
            st.page_link(
                "pages/methods.py", label="What this means", icon=":material/help:",
                query_params={"section": section_of(code)},
            )  # fmt: skip
        for aside in _asides(report):
            st.text(aside)
    if report["claim"]:
        asked.text(report["claim"]["words"])
    _draw_all_judged(report["all_judged"])
    if report["n"] == 0 or report["by_audit"]:
        st.page_link(
            "pages/review.py", label="Label cases of this run", icon=":material/rate_review:",
            query_params={"dataset": str(chosen.dataset["id"]), "run": str(chosen.run["id"])},
        )  # fmt: skip
        return
    st.subheader("The figures")
    _draw_figures(report)
    st.subheader("Judge against people")
    table = pd.DataFrame(cells(report), columns=[f"judge {label}" for label in LABELS])
    table.insert(0, "", [f"people {label}" for label in LABELS])
    draw_chart("confusion", confusion(report, text_color()), table, "Confusion matrix")


def _ask_claim() -> tuple[float | None, int | None]:
    """The share that is claimed, 0-1, and on how many labelled cases it is to be tested."""
    left, right = st.columns(2)
    percent = left.number_input(
        "Test a claim: agrees with people on at least … %", 1.0, 100.0, None, 1.0, format="%.1f", key="claim",
        bind="query-params", placeholder="e.g. 85", help="Each look at new labels is another chance to pass by luck: looks are "
        "counted, and the test gets stricter with each.",
    )  # fmt: skip
    planned = right.number_input(
        "… on so many labelled cases, as planned", 1, None, None, 10, key="planned", bind="query-params",
        placeholder="e.g. 300", disabled=percent is None, help="Before they are there nothing is tested and no look is "
        "counted.",
    )  # fmt: skip
    return None if percent is None else percent / 100, planned


def _asides(report: Mapping) -> list[str]:
    """What else one must know of these labels, in sentences."""
    left_out = report["left_out"]
    found = {
        f"{report['unresolved']} labelled cases have no majority and are left out; they are listed under “Where they part”, "
        "to adjudicate.": report["unresolved"],
        f"{left_out['picked']} labels are on cases that somebody picked; they never count.": left_out["picked"],
        f"{left_out['seen']} labels were not given blind; “current labels, blind or not” counts them.": left_out[
            "seen"
        ],
        f"{left_out['audited']} labels come from this run's audits; until the random order passes them they count over all "
        "judged cases only.": left_out["audited"],
        f"{left_out['audited_elsewhere']} labels come from audits of other runs, which drew cases by what those judges said; "
        "they do not count here.": left_out["audited_elsewhere"],
        f"{left_out['stale']} labels are about an earlier version of their case and no longer count.": left_out[
            "stale"
        ],
        _prompts_words(report): report["prompts"] < report["n"],
        f"The judge gave no label on {report['n'] - report['answered']} of the {report['n']} cases; they count as "
        "disagreements.": report["n"] - report["answered"],
    }
    return [words for words, count in found.items() if count]


def _prompts_words(report: Mapping) -> str:
    """What the cases are worth, since pictures of one prompt are alike."""
    worth = report["accuracy"].get("n_eff")
    if worth is None:
        return f"The {report['n']} cases belong to one prompt: nothing can be said beyond it."
    return (
        f"The {report['n']} cases belong to {report['prompts']} prompts; pictures of one prompt are alike, and the intervals "
        f"know it: for agreement they are worth about {worth:.0f} independent cases."
    )


def _draw_tiles(report: Mapping) -> None:
    """The first figures with their intervals, the constant judge beside accuracy."""
    tiles = st.columns(5)
    accuracy = report["accuracy"]
    plain = dict(delta_color="off", delta_arrow="off")
    tiles[0].metric("Agreement with people", shown_share(accuracy), shown_interval(accuracy), **plain,
                    help=f"Over {report['n']} cases. Interval: {accuracy['method']}, 95 %.")  # fmt: skip
    tiles[1].metric(f"Always “{report['baseline_label']}”", f"{100 * report['baseline']:.1f} %",
                    help="The share that a judge would reach by giving everything the more frequent label.")  # fmt: skip
    for tile, name in zip(tiles[2:4], ("recall_bad", "precision_bad"), strict=True):
        words, meaning = FIGURES[name]
        tile.metric(
            words,
            shown_share(report[name]),
            shown_interval(report[name]),
            **plain,
            help=_on_hover(report[name], meaning),
        )
    people, kappa = report["human"], report["kappa"]
    theirs = people["kappa"]["value"]
    between = shown_interval(kappa, 1, 2) + ("" if theirs is None else f" · people {theirs:.2f}")
    tiles[4].metric("Cohen's kappa", "undefined" if kappa["value"] is None else f"{kappa['value']:.2f}", between,
                    **plain, help=_on_hover(kappa, FIGURES["kappa"][1]))  # fmt: skip


def _draw_figures(report: Mapping) -> None:
    """All first figures as a chart and a table."""
    rows = [{"name": words, **report[name]} for name, (words, _meaning) in FIGURES.items()]
    table = pd.DataFrame(
        {
            "Figure": words, "Value": report[name]["value"], "From": report[name]["lo"], "To": report[name]["hi"],
            "Cases": report[name]["n"], "Method": report[name]["method"],
            "Undefined because": REASON_WORDS.get(report[name]["reason"], ""), "Meaning": meaning,
        }
        for name, (words, meaning) in FIGURES.items()
    )  # fmt: skip
    line_words = f"always {report['baseline_label']}"
    draw_chart(
        "figures", forest(rows, report["baseline"], line_words, share=False), table, "Figures with 95 % intervals"
    )


def _on_hover(estimate: Mapping, meaning: str) -> str:
    """What a figure means, what it rests on, how its interval was made."""
    made = f"; interval: {estimate['method']}, 95 %" if estimate["method"] else ""
    return f"{meaning[0].upper()}{meaning[1:]}. Over {estimate['n']:g} cases{made}."


def _draw_all_judged(found: Mapping | None) -> None:
    """The judge over all cases that it labelled, and the true share of usable ones."""
    if found is None or not found["labelled"]:
        return
    st.subheader("Over all judged cases")
    st.text(found["words"])
    st.text(
        f"From {found['labelled']} random and audit labels: within each of the judge's labels a random draw, and how many "
        f"cases it flagged is known. The judge itself passed {100 * found['judge_usable']:.1f} %, which is not the true share."
    )
    for code in found["warnings"]:
        st.text(WARNING_WORDS[code])
    draw_table("all-judged", pd.DataFrame(
        {"Figure": words, "Value": found[name]["value"], "From": found[name]["lo"], "To": found[name]["hi"],
         "Labels": found[name]["n"], "Method": found[name]["method"],
         "Undefined because": REASON_WORDS.get(found[name]["reason"], "")}
        for name, words in ALL_JUDGED_FIGURES.items()
    ))  # fmt: skip
