"""The page of explanations: complete, its links lead somewhere, and its examples are what the estimators give."""

from __future__ import annotations

import re

import pytest

from data.reports.words import number, percent
from evaluators.agreement import (
    REASON_WORDS,
    WARNING_WORDS,
    Estimate,
    alpha,
    binary_metrics,
    claim,
    ewma,
    headline,
    human_agreement,
    mcnemar,
    n_for_claim,
    n_for_halfwidth,
    n_paired,
    two_phase,
    two_prop_diff,
    wilson,
)
from pages.parts.methods.sections import SECTIONS, code_lines, section_of

TEXTS = {section.anchor: " ".join(section.text.split()) for section in SECTIONS}
EXAMPLE = headline(tp=36, fp=23, fn=14, tn=227)
OVER_ALL = two_phase(300, 700, wilson(120, 150), wilson(67, 70))


@pytest.mark.parametrize("code", sorted({*REASON_WORDS, *WARNING_WORDS}))
def test_every_reason_and_warning_is_explained_once(code: str):
    explained = [section for section in SECTIONS if code in section.codes]
    assert len(explained) == 1
    assert section_of(code) == explained[0].anchor
    lines = "\n".join(code_lines(explained[0]))
    for words in (REASON_WORDS, WARNING_WORDS):
        assert words.get(code, "") in lines
    assert len(explained[0].codes[code]) > 30


def test_nothing_is_explained_that_is_never_said():
    assert {code for section in SECTIONS for code in section.codes} <= {*REASON_WORDS, *WARNING_WORDS}
    assert section_of("no such code") == ""


def test_anchors_differ_and_links_lead_to_them():
    anchors = [section.anchor for section in SECTIONS]
    assert len(set(anchors)) == len(anchors)
    assert all(re.fullmatch(r"[a-z-]+", anchor) for anchor in anchors)
    linked = {anchor for text in TEXTS.values() for anchor in re.findall(r"\]\(#([^)]*)\)", text)}
    assert linked and linked <= set(anchors)


def test_every_figure_of_the_headline_has_an_example():
    for section in SECTIONS:
        assert re.search(r"\d", section.text), section.anchor


def pair(estimate: Estimate, factor: float = 100) -> str:
    """83.5–90.9."""
    return f"{factor * estimate.lo:.1f}–{factor * estimate.hi:.1f}"


@pytest.mark.parametrize(
    ("anchor", "said"),
    [
        ("agreement", percent(EXAMPLE.accuracy)),
        ("baseline", f"{100 * EXAMPLE.baseline:.1f} %"),
        ("baseline", f"{100 * EXAMPLE.baseline_diff.diff:.1f} points more"),
        ("baseline", f"−{-100 * EXAMPLE.baseline_diff.lo:.1f} to {100 * EXAMPLE.baseline_diff.hi:.1f} points"),
        ("badcases-found", percent(EXAMPLE.recall_bad)),
        ("badcases-found", percent(EXAMPLE.specificity)),
        ("flags-right", percent(EXAMPLE.answered.precision_bad)),
        ("balanced-accuracy", percent(EXAMPLE.balanced_accuracy)),
        ("kappa", number(EXAMPLE.answered.kappa)),
        ("interval", percent(wilson(85, 100))),
        ("interval", f"[{pair(wilson(255, 300))}]"),
        ("interval", f"[{pair(wilson(5, 5))}]"),
        ("prompts", f"[{pair(wilson(0.85 * 100 / 2.3, 100 / 2.3))}]"),
        ("blind", f"{-100 * two_prop_diff(78, 100, 91, 100).value:.0f} points"),
        ("blind", f"[{-100 * two_prop_diff(78, 100, 91, 100).hi:.1f}–{-100 * two_prop_diff(78, 100, 91, 100).lo:.1f}]"),
        ("claims", f"surely above {100 * claim(wilson(92, 100), 0.85).lower:.1f} %, passes"),
        ("claims", f"surely below {100 * claim(wilson(70, 100), 0.85).upper:.1f} %, fails"),
        ("claims", "between {:.1f} % and {:.1f} %, undecided".format(
            *(100 * bound for bound in (claim(wilson(88, 100), 0.85).lower, claim(wilson(88, 100), 0.85).upper)))),
        ("claims", f"“at least {100 * claim(wilson(85, 100), 0.85).lower:.1f} %”"),
        ("all-judged", percent(OVER_ALL.accuracy)),
        ("all-judged", percent(OVER_ALL.usable_rate)),
        ("all-judged", f"{100 * 187 / 220:.1f} %"),
        ("planning", f"**{n_for_halfwidth(0.85, 0.05)}** labels; in the worst case, 50 %: {n_for_halfwidth(0.5, 0.05)}"),
        ("planning", f"**{n_for_claim(0.85, 0.9)}**"),
        ("planning", f"{n_for_halfwidth(0.8, 0.1)} *badcases*, which are **{10 * n_for_halfwidth(0.8, 0.1)}**"),
        ("planning", f"**{n_paired(0.05, 0.2)}**; on 10 %: {n_paired(0.05, 0.1)}"),
        ("people", f"kappa **{human_agreement({0: [(2, 2, 20), (2, 0, 65), (2, 1, 15)]}).kappa.value:.2f}**"),
        ("alpha", f"**{alpha([[1, 1]] * 20 + [[0, 0]] * 65 + [[0, 1]] * 15).value:.2f}**"),
        ("comparing", f"{100 * mcnemar(30, 15, 300).diff:.1f} points [{100 * mcnemar(30, 15, 300).lo:.1f}–"
                      f"{100 * mcnemar(30, 15, 300).hi:.1f}]"),
        ("comparing", f"{100 * mcnemar(30, 15, 300).p_midp:.1f} % of cases"),
        ("groups", f"{100 * (1 - 0.95**20):.0f} % of cases"),
    ],
)  # fmt: skip
def test_the_examples_are_what_the_estimators_give(anchor: str, said: str):
    assert said in TEXTS[anchor]


def test_the_example_of_the_alarm():
    windows = ewma([(44, 50), (42, 50), (38, 50), (36, 50)], 0.88)
    assert [window.signal for window in windows] == [False, False, False, True]
    assert ", ".join(f"{100 * window.ewma:.1f}" for window in windows) + " %" in TEXTS["over-time"]
    assert f"the limit of {100 * windows[3].lo:.1f} %" in TEXTS["over-time"]


def test_a_few_badcases_say_little():
    [said] = [section.codes["few_human_bad"] for section in SECTIONS if "few_human_bad" in section.codes]
    few = binary_metrics(4, 0, 1, 20).recall_bad
    assert f"from {100 * few.lo:.0f} % to {100 * few.hi:.0f} %" in said
