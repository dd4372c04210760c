"""Sections that look closer: by group of cases, by generator, along the labels, by version."""

from __future__ import annotations

from data.reports.charts.comparison import versions
from data.reports.charts.generators import rank_ranges, usable_rates
from data.reports.charts.groups import groups_chart
from data.reports.charts.over_time import agreement_over_time
from data.reports.generators import generators_report
from data.reports.groups import GROUP_FIGURES, groups_report
from data.reports.over_time import over_time_report
from data.reports.sections.section import Reported, Section, Table, shown
from data.reports.versions import versions_report


def groups_section(of: Reported, by: str) -> Section | None:
    """Agreement group by group; left out where all cases are in one."""
    report = groups_report(of.basis, by)
    if report["looks"] < 2:
        return None
    rows = [
        (row["name"], row["n"], row["prompts"], *(shown(row[figure], figure != "kappa") for figure in GROUP_FIGURES),
         "" if row["baseline"] is None else f"{100 * row['baseline']:.1f} %", "small" if row["small"] else "")
        for row in [*report["groups"], report["overall"]]
    ]  # fmt: skip
    table = Table(("Group", "Cases", "Prompts", *GROUP_FIGURES.values(), "Baseline", ""), rows)
    return Section(report["words"], [(groups_chart(report), f"Agreement with people by {report['by_words']}")], [table])


def generators_section(of: Reported) -> Section | None:
    """The true usable rate of each generator, and the places that it may have."""
    report = generators_report(of.basis)
    found = report["generators"]
    if not any(row["labelled"] for row in found):
        return None
    rows = [
        (row["name"], row["cases"], row["labelled"], *(shown(row[rate]) for rate in ("usable_rate", "judge_rate", "labels_only")),
         f"{row['rank']['best']}–{row['rank']['worst']}", "small" if row["small"] else "")
        for row in found
    ]  # fmt: skip
    table = Table(("Generator", "Judged", "Labelled", "True usable rate", "Judge's own rate", "Random labels alone", "Place", ""),
                  rows)  # fmt: skip
    charts = [(usable_rates(report), "Usable rates of the generators with their 95 % intervals")]
    if len(found) > 1:
        charts.append((rank_ranges(report), "Places of the generators, 95 % for all together"))
    return Section(report["words"], charts, [table])


def over_time_section(of: Reported) -> Section | None:
    """Agreement along the labels of this run; left out while they fill one window only."""
    report = over_time_report(of.basis, others=0)
    windows = report["segments"][0]["windows"] if report["segments"] else []
    if len(windows) < 2:
        return None
    rows = [
        (f"{window['first']}–{window['last']}", f"{window['began'][:10]} to {window['ended'][:10]}", shown(window["accuracy"]),
         shown(window["human_bad_rate"]), shown(window["judge_bad_rate"]), "to look at" if window["is_alarm"] else "")
        for window in windows
    ]  # fmt: skip
    table = Table(("Labels", "Settled", "Agreement", "People call badcase", "Judge flags", ""), rows)
    return Section(report["words"], [(agreement_over_time(report), "Agreement in windows of labels")], [table])


def versions_section(of: Reported) -> Section | None:
    """Every run of the dataset under this criterion; left out where there is one only."""
    report = versions_report(of.run["dataset_id"], of.run["criterion"], of.basis.name)
    found = report["versions"]
    if len(found) < 2:
        return None
    rows = [
        (row["run"], row["created"][:10], row["judge"], row["metric"], row["metric_version"], row["n"], shown(row["accuracy"]),
         shown(row["kappa"], share=False))
        for row in found
    ]  # fmt: skip
    table = Table(("Run", "Made", "Judge", "Metric", "Version", "Cases", "Agreement", "Kappa"), rows)
    return Section(report["words"], [(versions(report), "Agreement of each run; they are not joined")], [table])
