"""Sections about the people: how far they agree with each other, and what seeing the verdict does to them."""

from __future__ import annotations

from data.reports.anchoring import anchoring_report
from data.reports.charts.people import pairs_chart, reviewers_chart
from data.reports.people import people_report
from data.reports.sections.section import INK, Reported, Section, Table, shown


def people_section(of: Reported) -> Section | None:
    """The reviewers among themselves, and the judge with each of them."""
    report = people_report(of.basis)
    if not report["cases"]:
        return None
    people = [
        (person["name"], person["labels"], shown(person["judge"]), shown(person["others"]), shown(person["adjudicated"]),
         shown(person["bad"]), shown(person["unsure"]), "small" if person["small"] else "")
        for person in report["reviewers"]
    ]  # fmt: skip
    header = ("Reviewer", "Labels", "With the judge", "With the others' majority", "With a lead's decisions", "Says badcase",
              "Says unsure", "")  # fmt: skip
    tables = [Table(header, people)]
    pairs = [
        (pair["one"], pair["other"], pair["n"], shown(pair["agreement"]), shown(pair["kappa"], share=False),
         "small" if pair["small"] else "")
        for pair in report["pairs"]
    ]  # fmt: skip
    if pairs:
        tables.append(Table(("Reviewer", "Reviewer", "Common cases", "Agreement", "Kappa", ""), pairs))
    charts = [(reviewers_chart(report), "The judge with each person")]
    if pairs:
        charts.insert(0, (pairs_chart(report, INK), "Every two people on the cases that both labelled"))
    return Section(report["words"], charts, tables)


def anchoring_section(of: Reported) -> Section | None:
    """Labels given blind beside labels given with the verdict in sight; left out where there is one kind only."""
    report = anchoring_report(of.basis.run_id)
    return Section(report["words"]) if report["blind"]["n"] and report["shown"]["n"] else None
