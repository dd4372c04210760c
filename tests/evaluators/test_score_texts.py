"""Numbers in plain text: which stand for a score."""

from __future__ import annotations

import pytest

from evaluators.score_texts import number_of, numbers_in, scores_in_prose

THREE = ["prompt_following", "concept1_resemblance", "concept2_resemblance"]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (8, 8.0),
        (8.5, 8.5),
        ("8", 8.0),
        (" 8 ", 8.0),
        ("８．５", 8.5),
        ("8分", 8.0),
        ("8/10", 8.0),
        ("8 out of 10", 8.0),
        ("8/5", None),
        ("8 of 9", None),
        ("1e400", float("inf")),
        ("", None),
        ("eight", None),
        ("8 9", None),
        ("1.2.3", None),
        (True, None),
        (None, None),
        ([8], None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
    ],
)
def test_what_one_value_says(value, number):
    assert number_of(value, 10) == number


def test_numbers_are_found_wherever_they_stand():
    assert numbers_in("v2 scored -1.5 and ７, 1e2") == {2, -1.5, 7, 100}


@pytest.mark.parametrize(
    ("text", "names", "values"),
    [
        ("8 for the prompt, 6 for the first picture, and 5 for the second.", THREE, [8, 6, 5]),
        ("[9, 8], scoring 9 because it is sharp", ["naturalness", "artifacts"], [9, 8]),
        ("naturalness and artifacts: 9 for both", ["naturalness", "artifacts"], None),
        ("9 for both naturalness and artifacts", ["naturalness", "artifacts"], [9, 9]),
        ("7 and 8 respectively", ["naturalness", "artifacts"], [7, 8]),
        ("7 of the 8 people are naturalness", ["naturalness", "artifacts"], None),
        ("naturalness 7 naturalness 8 artifacts 3", ["naturalness", "artifacts"], None),
        ("naturalness 7", ["naturalness", "artifacts"], None),
    ],
)
def test_a_sentence_counts_only_when_every_number_has_its_place(text, names, values):
    assert scores_in_prose(text, names, 10) == values
