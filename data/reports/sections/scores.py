"""Sections about what the judge says in detail: its scores, and each of its items."""

from __future__ import annotations

from data.reports.charts.items import reliability
from data.reports.charts.scores import distribution, judge_and_people, roc, sweep
from data.reports.human_scores import FIGURES as BESIDE
from data.reports.human_scores import OVERALL, human_scores_report
from data.reports.items import item_report
from data.reports.scores import FIGURES, scores_report
from data.reports.sections.section import Reported, Section, Table, shown


def scores_section(of: Reported) -> Section | None:
    """What the score tells at any threshold, and what a tuned threshold is worth on new cases; never how it does on these."""
    report = scores_report(of.basis)
    if not report["n"]:
        return None
    named = {"held_out": "tuned, on new cases", "now": "at the present threshold"}
    told = {words: report[key] for key, words in named.items() if report[key]}
    rows = [(words, *(shown(found[figure]) for found in told.values())) for figure, words in FIGURES.items()]
    words = [*report["words"], "The curves are of these very labels: their best points flatter."]
    charts = [
        (roc(report), "Badcases found against usable cases flagged, over all thresholds (ROC)"),
        (sweep(report), "What each threshold finds and passes"),
        (distribution(report), "Scores by people's label"),
    ]
    return Section(words, charts, [Table(("Figure", *told), rows)] if told else ())


def human_scores_section(of: Reported) -> Section | None:
    """The judge's scores beside people's; left out where people gave none."""
    report = human_scores_report(of.basis.run_id)
    found = report["scores"]
    if not found:
        return None
    names = {score["key"]: "The verdict's score" if score["key"] == OVERALL else score["key"] for score in found}
    rows = [
        (names[score["key"]], words, f"0 to {score['largest']}", shown(score[figure], share=False), score["n"],
         score["corrected"], "small" if score["small"] else "")
        for score in found
        for figure, words in BESIDE.items()
    ]  # fmt: skip
    header = ("Score", "Figure", "Scale", "Value [95 % interval]", "Cases", "Corrected", "")
    charts = [(judge_and_people(score), f"Judge and people: {names[score['key']]}") for score in found]
    return Section(report["words"], charts, [Table(header, rows)])


def items_section(of: Reported) -> Section | None:
    """Agreement by question type and by sub-score; left out where people said nothing of items."""
    report = item_report(of.basis.run_id)
    if not report["groups"]:
        return None
    lines = [*report["groups"], *([report["pooled"]] if report["pooled"] else [])]
    rows = [
        (line["item"], line["kind"], line["n"], line["prompts"], shown(line["agreement"]),
         shown(line["bias"], share=False) if "bias" in line else "",
         f"{100 * line['baseline']:.1f} %" if "baseline" in line else "", "small" if line["small"] else "")
        for line in lines
    ]  # fmt: skip
    header = ("Item", "Kind", "Said by people", "Prompts", "Agreement", "Bias (judge - people)", "Baseline", "")
    return Section(
        report["words"], [(reliability(report), "Agreement by question type and sub-score")], [Table(header, rows)]
    )
