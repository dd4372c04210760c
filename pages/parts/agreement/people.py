"""People: how far reviewers agree with each other, the judge with each of them, and what seeing the verdict does."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from data.reports.alternative import EPS, alt_report
from data.reports.anchoring import anchoring_report
from data.reports.charts.people import pairs_chart, reviewers_chart
from data.reports.people import ACCORDS, people_report
from data.store.agreement import Basis
from pages.parts.agreement.view import Chosen, cached, columns, draw_chart, draw_table, text_color

#: The shares told of each reviewer, with words.
_SHARES = {
    "judge": "Judge agrees",
    "others": "Agrees with the others' majority",
    "adjudicated": "Agrees with the lead's decision",
    "bad": "Says badcase",
    "unsure": "Says unsure",
}


def draw(chosen: Chosen) -> None:
    """The panel of reviewers: without knowing how far people agree, no agreement of a judge can be read."""
    st.subheader("How far people agree with each other")
    report = cached(people_report, chosen.basis)
    for words in report["words"]:
        st.text(words)
    if report["cases"]:
        draw_table("accords", _accords(report), "How each case got its label")
        _draw_pairs(report)
        _draw_reviewers(report)
    st.subheader("Does seeing the verdict change what people say?")
    for words in (anchoring := cached(anchoring_report, chosen.run["id"]))["words"]:
        st.text(words)
    if anchoring["blind"]["n"] or anchoring["shown"]["n"]:
        draw_table("anchoring", _anchoring(anchoring))
    _draw_stand_in(chosen.basis)


def _draw_pairs(report: Mapping) -> None:
    """Every two reviewers."""
    if not report["pairs"]:
        return
    st.subheader("Every two people on the cases that both labelled")
    table = pd.DataFrame(
        {"One": pair["one"], "Other": pair["other"], "Common cases": pair["n"], "Small": pair["small"],
         **columns(pair["agreement"], "Agreement"), **columns(pair["kappa"], "Cohen's kappa")}
        for pair in report["pairs"]
    )  # fmt: skip
    draw_chart("pairs", pairs_chart(report, text_color()), table, "Agreement and Cohen's kappa of every two reviewers")


def _draw_reviewers(report: Mapping) -> None:
    """Each person: the judge with them, they with the others, how they label."""
    st.subheader("The judge with each person")
    st.text(
        "Each person's labels alone against the judge's. Cases that a lead decided are mostly the disputed ones: there "
        "everybody agrees less."
    )
    table = pd.DataFrame(
        {"Person": person["name"], "Labels": person["labels"], "Usable or badcase": person["votes"], "Small": person["small"],
         "Seconds a case (median of the latest)": person["seconds"],
         **{column: value for share, words in _SHARES.items() for column, value in columns(person[share], words).items()}}
        for person in report["reviewers"]
    )  # fmt: skip
    if any(person["judge"]["lo"] is not None for person in report["reviewers"]):
        draw_chart(
            "reviewers", reviewers_chart(report), table, "How far the judge agrees with each person, 95 % intervals"
        )
    else:
        draw_table("reviewers", table)


@st.fragment
def _draw_stand_in(basis: Basis) -> None:
    """The alternative annotator test, for who asks for it."""
    st.subheader("Could the judge stand in for a person?")
    if not st.toggle("Compute the alternative annotator test", key="alt-test"):
        st.text(
            "An optional test on the cases that several people labelled. It is no gate: the judge may lose and still pass."
        )
        return
    eps = st.selectbox(
        "The judge may lose by", list(EPS), 1, format_func=lambda eps: f"{100 * eps:g} points, against {EPS[eps]}", key="alt-eps",
        width=360,
    )  # fmt: skip
    report = cached(alt_report, basis, eps)
    for words in report["words"]:
        st.text(words)
    if report["reason"]:
        return
    constant = report["constant"]
    judges = [("The judge", report), (f"Always {constant['label']}", constant)]
    draw_table("alternative", pd.DataFrame(
        {"Who": who, "Wins against (share of people)": found["winning_rate"], "At least as close (share of cases)": found["rho"],
         "Passes": found["passed"], "May lose by": report["eps"]}
        for who, found in judges
    ), "The judge and the constant judge", expanded=True)  # fmt: skip
    draw_table("alternative-people", pd.DataFrame(
        {"Person": one["reviewer"], "Cases": one["n"], "Person closer minus judge closer": one["difference"],
         "Judge at least as close": one["judge_as_good"], "p (not adjusted)": one["p"], "Judge wins": one["beaten"]}
        for one in report["reviewers"]
    ), "Person by person")  # fmt: skip


def _accords(report: Mapping) -> pd.DataFrame:
    return pd.DataFrame(
        {"Label": accord, "Meaning": ACCORDS[accord], "Cases": share["n"], "Share": share["share"]}
        for accord, share in report["shares"].items()
    )


def _anchoring(report: Mapping) -> pd.DataFrame:
    names = {"blind": "Given blind, agrees with the judge", "shown": "Verdict on the screen, agrees with the judge",
             "difference": "Difference (shown minus blind)", "revised": "Blind disagreements changed to the judge's"}  # fmt: skip
    return pd.DataFrame(
        {"Labels": words, **columns(report[name])} for name, words in names.items() if report[name] is not None
    )
