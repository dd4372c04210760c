"""Reading a judge's reply: what a careful person finds in it, and nothing that is not there."""

from __future__ import annotations

import json
import math
import multiprocessing
import re
import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluators.errors import UnreadableReply
from evaluators.replies import image_flags, read_object, read_scores, read_yes_no, scale_flags
from tests.conftest import REPOSITORY

ONE = ("prompt_following",)
TWO = ("naturalness", "artifacts")
PROBLEM_WITH = {1: ONE, 2: TWO}


def scores(text: str, count: int = 1) -> tuple[float, ...] | None:
    """The scores read, None when the reply is unreadable."""
    try:
        return read_scores(text, PROBLEM_WITH[count]).scores
    except UnreadableReply:
        return None


@pytest.mark.parametrize(
    "reply",
    [
        '{"reasoning": "fine", "score": [7]}',
        '  {"score": [7]}\n',
        '{"score": [7]} and that is my answer, } or not {',
        'Braces { in } prose first: {"score": [7]}',
        'A { that never closes, then {"score": [7]}',
        '{{"score": [7]}}',
        'As JSON:\n```json\n{"score": [7]}\n```\nDone.',
        '<think>{"score": [3]} is too low</think>\n{"score": [7]}',
        '<THINK>3\n\n4</THINK>{"score": [7]}',
        '{"note": "no score here"} {"score": [7]}',
        '{"score": [7]} {"score": [3]}',
        '{"score": [7,],}',
        "{'reasoning': 'it\\'s fine', 'score': [7]}",
        "{reasoning: 'fine', score: [7]}",
        '{"score": 7}',
        '{"score": "7"}',
        '{"score": ["7"]}',
        '{"score": "7/10"}',
        '{"score": "7 / 10"}',
        '{"score": "７"}',
        '{"score": "7分"}',
        '{"score"：[7]}',
        '{"Score": [7]}',
        '{"评分": [7]}',
        '{"score": {"prompt_following": 7}}',
        '{"Prompt Following": 7}',
        "[7]",
        "7",
        "7.0",
        "７",
        "7/10",
        "７／10",
    ],
)
def test_one_score_is_read_however_it_is_written(reply):
    assert scores(reply) == (7.0,)


@pytest.mark.parametrize(
    "reply",
    [
        '{"score": [6, 0]}',
        '{"score": {"artifacts": 0, "naturalness": 6}}',
        '{"naturalness": 6, "artifacts": 0}',
        "[6, 0]",
        "6, 0",
        "6 0",
        "naturalness 6 artifacts 0",
        "naturalness: 6\nartifacts: 0",
        "naturalness, artifacts = 6, 0",
        "natuarlness 6, artifacts 0",
        "score1: 6, score2: 0",
        "naturalness 6/10, artifacts 0/10",
    ],
)
def test_two_scores_keep_the_order_that_was_asked_for(reply):
    assert scores(reply, 2) == (6.0, 0.0)


@pytest.mark.parametrize(
    ("reply", "count"),
    [
        ("", 1),
        ("I would rather not say.", 1),
        ('{"score": []}', 1),
        ('{"score": [7]}', 2),
        ('{"score": 7}', 2),
        ('{"score": [7, 8, 9]}', 2),
        ('{"score": [7, 8]}', 1),
        ('{"score": null}', 1),
        ('{"score": [null]}', 1),
        ('{"score": [true]}', 1),
        ('{"score": true}', 1),
        ('{"score": [[7]]}', 1),
        ('{"score": "seven"}', 1),
        ('{"score": "8 or 9"}', 1),
        ('{"score": "8-9"}', 1),
        ('{"score": [8-9]}', 1),
        ('{"score": "7,5"}', 1),
        ('{"score": "70%"}', 1),
        ('{"score": "4/5"}', 1),
        ('{"score": 4/5}', 1),
        ('{"score": 0x7}', 1),
        ('{"score": 1_0}', 1),
        ('{"score": "½"}', 1),
        ("4/5", 1),
        ("3 tiered cake", 1),
        ("8k photo, 3d", 1),
        ("1.2.3", 1),
        ("10 and 9 for naturalness", 2),
        ("artifacts 3 naturalness 7", 2),
        ("[1, 10], [1, 10]", 2),
        ("[score1, score2]", 2),
        ("7 8 9", 2),
    ],
)
def test_what_a_person_could_not_be_sure_of_is_unreadable(reply, count):
    assert scores(reply, count) is None


@pytest.mark.parametrize(
    ("reply", "count"),
    [
        ('{"score": 8 or 9}', 1),
        ('{"score": 9 8}', 1),
        ('{"score": [3], "score": [8]}', 1),
        ('{"score": [1', 1),
        ('{"reasoning": "both are good", "score": [8, 1', 2),
    ],
    ids=["either of two", "two side by side", "given twice", "cut off: 1 or 10", "cut off at the second"],
)
def test_an_answer_that_could_be_two_numbers_is_unreadable(reply, count):
    assert scores(reply, count) is None


def test_a_number_thought_of_is_not_the_answer_when_the_opening_tag_was_swallowed_by_the_chat_template():
    assert scores('At first {"score": [3]}, but no.</think>{"score": [7]}') == (7.0,)


def test_a_number_thought_of_is_not_the_answer_when_the_thinking_never_ended():
    assert scores('<think>maybe {"score": [3]}, or rather') is None


def test_a_reply_that_is_json_is_read_as_it_is_even_if_the_picture_shows_a_think_tag():
    assert scores('{"reasoning": "a sign says <think>", "score": [7], "note": "</think>"}') == (7.0,)


def test_chinese_quotes_around_keys_are_quotes():
    assert scores("{“score”: [7]}") == (7.0,)
    assert scores("{“score”：[７]}") == (7.0,)


def test_full_width_brackets_are_brackets():
    assert scores("{“score”：［７］}") == (7.0,)


@pytest.mark.parametrize(
    "value", ["-1", "-0.5", "10.01", "11", "100", "1e999", "-1e999", "NaN", "Infinity", "-Infinity"]
)
def test_a_value_outside_the_scale_is_unreadable_and_never_clamped(value):
    assert scores(f'{{"score": [{value}]}}') is None
    assert scores(value) is None


def test_a_zero_is_only_read_where_a_zero_stands():
    assert scores('{"score": [0]}') == (0.0,)
    assert scores('{"score": "none"}') is None


def test_the_ends_of_the_scale_are_on_it():
    assert scores('{"score": [0, 10]}', 2) == (0.0, 10.0)


def test_another_scale_is_kept_to():
    assert read_scores('{"score": [1]}', ONE, 0, 1).scores == (1.0,)
    with pytest.raises(UnreadableReply):
        read_scores('{"score": [7]}', ONE, 0, 1)


def test_a_comma_inside_a_reason_survives_because_nothing_is_repaired_that_parses():
    said = 'it reads "a, ]", then {b, }'
    reply = read_scores(json.dumps({"reasoning": said, "score": [7]}), ONE)
    assert (reply.reasoning, reply.scores) == (said, (7.0,))


def test_the_message_says_what_was_wrong_so_that_the_judge_can_mend_it():
    with pytest.raises(UnreadableReply, match=r"found 1 score\(s\), 2 were asked for \(naturalness, artifacts\)"):
        read_scores('{"score": [7]}', TWO)
    with pytest.raises(UnreadableReply, match="prompt_following is 11, outside 0-10"):
        read_scores('{"score": [11]}', ONE)


@pytest.mark.parametrize(
    ("values", "suspect"),
    [
        ([0.8], True),
        ([0.5, 1], True),
        ([0, 0.5], True),
        ([1], False),
        ([0], False),
        ([0, 0], False),
        ([1, 0], False),
        ([1.0, 1.0], False),
        ([0.8, 7], False),
        ([1.5], False),
    ],
)
def test_scores_that_look_like_a_0_to_1_scale_are_pointed_out(values, suspect):
    flags = read_scores(json.dumps({"score": values}), PROBLEM_WITH[len(values)]).flags
    assert ("suspect_scale" in flags) == suspect


def test_on_a_0_to_1_scale_nothing_is_suspect():
    assert scale_flags([0.5], 1) == ()


@pytest.mark.parametrize(
    "reasoning",
    [
        "No image was provided.",
        "No image.",
        "There is no image attached to judge.",
        "I'm unable to view the image.",
        "I cannot see any images here.",
        "I can’t see the picture you mention.",
        "The images were not attached.",
        "The image has not been provided.",
        "Without an image, I cannot evaluate.",
        "您没有提供图片。",
        "未收到图片，无法评分",
        "我看不到图片",
    ],
)
def test_a_judge_that_says_it_saw_no_image_is_pointed_out(reasoning):
    reply = read_scores(json.dumps({"reasoning": reasoning, "score": [7]}), ONE)
    assert "says_no_image" in reply.flags


@pytest.mark.parametrize(
    "reasoning",
    [
        "The image wasn't provided, so I cannot judge.",
        "The image isn’t visible to me.",
        "I don't see an image in your message.",
        "I can't view images directly.",
        "I do not have access to the image.",
        "I am not able to see the image.",
        "图片未提供，无法判断。",
    ],
)
def test_everyday_ways_to_say_that_no_image_came_are_recognised(reasoning):
    assert image_flags(reasoning) == ("says_no_image",)


@pytest.mark.parametrize(
    "reasoning",
    [
        "",
        "there is no image of a dog on the wall",
        "no images of people appear",
        "The image is not realistic.",
        "No picture hangs on the wall.",
        "There is no image noise.",
        "The cube is not visible in the image.",
        "The wall is empty, there are no pictures on it.",
        "The images are not identical.",
        "The image has not been changed.",
        "没有提供更多细节，图像清晰",
    ],
)
def test_a_judge_that_describes_what_an_image_does_not_show_saw_it(reasoning):
    assert image_flags(reasoning) == ()


@pytest.mark.parametrize(
    "word", ["yes", "Yes.", "**Yes**", "`yes`", "YES, it does", "True", "是", "是的", "ｙｅｓ", '"yes"', " yes\n", True]
)
def test_words_that_say_yes(word):
    assert read_yes_no(word) is True


@pytest.mark.parametrize("word", ["no", "No.", "**No**", "_no_", "no, it is missing", "false", "否", "否。", False])
def test_words_that_say_no(word):
    assert read_yes_no(word) is False


@pytest.mark.parametrize(
    "word",
    [
        "", " ", "not sure", "unknown", "yes|no", "yes | no", "yes/no", "no/yes", "是|否", "maybe", "yesterday", "nothing",
        "n/a", "y", "1", 1, 0, None, [], ["yes"], {}, 0.0, "不确定",
    ],
)  # fmt: skip
def test_anything_else_is_missing_and_never_a_match(word):
    assert read_yes_no(word) is None


@pytest.mark.parametrize("word", ["yes or no", "是否", "是不是", "是或否"])
def test_a_template_that_is_repeated_is_not_an_answer(word):
    assert read_yes_no(word) is None


def test_the_object_of_a_reply_is_found_in_prose():
    assert read_object('Sure! {"a": {"b": 1}} Anything else?') == {"a": {"b": 1}}
    with pytest.raises(UnreadableReply):
        read_object("no object here")


FORK = multiprocessing.get_context("fork")


def timed(reply: str) -> tuple[object, float]:
    """What is read (an error is given by its name) and the seconds that it took."""
    started = time.perf_counter()
    try:
        found = scores(reply)
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    return found, time.perf_counter() - started


@pytest.mark.parametrize(
    "reply",
    [
        "{" * 100_000,
        "{" * 50_000 + "}" * 50_000,
        '{"a":' * 3_000,
        '{"a" ' * 5_000,
        '"{' * 10_000,
        '{"a": ' + "[" * 5_000 + "]" * 5_000 + "}",
        "[" * 100_000,
        "<think>" * 5_000,
        "[1]" + " " * 20_000 + "!",
        '{"reasoning": "' + "a" * 50_000,
        '{"score": [' + "9" * 5_000 + "]}",
        "9" * 100_000,
        "{}" * 20_000,
        "1 and " * 20_000 + "x",
        "naturalness 1 " * 10_000,
    ],
    ids=lambda reply: f"{reply[:12]}…{len(reply)}",
)
def test_a_hostile_reply_is_unreadable_within_a_second(reply):
    # In a process of its own, so that one that takes for ever can be ended.
    near, far = FORK.Pipe()
    reader = FORK.Process(target=lambda: far.send(timed(reply)), daemon=True)
    reader.start()
    answered = near.poll(3)
    reader.kill()
    assert answered, "it took longer than 3 seconds"
    found, seconds = near.recv()
    assert found is None
    assert seconds < 1


# --- whatever comes in -------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [*'{}[]",:\'', "\n", " ", "score", '"score"', '"reasoning"', "naturalness", "artifacts", "prompt_following", "score1",
     "1", "7", "0.5", "10", "-3", "1e5", "NaN", "/", "/10", "８", "٧", "“", "”", "，", "：", "and", "or", "<think>", "</think>",
     "```", "true", "null", "for", "both", "\\", "\\u", "\x00", "分", "½", "①"]
)  # fmt: skip
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-20, 20)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["7", "8/10"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["score", "scores", "reasoning", "naturalness", "artifacts", "a"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@st.composite
def damaged_json(draw) -> str:
    """A JSON reply with a few characters lost, added or swapped, as truncation and sampling do it."""
    text = list(json.dumps({"reasoning": draw(st.text(max_size=10)), "score": draw(JSON_VALUES)}, ensure_ascii=False))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(text)))
        text[at : at + draw(st.integers(0, 2))] = draw(
            st.sampled_from(["", "{", "}", '"', ",", "[", "]", "'", "9", "\\", " "])
        )
    return "".join(text)


REPLIES = (
    st.text(max_size=80) | st.lists(PIECES, max_size=25).map("".join) | JSON_VALUES.map(json.dumps) | damaged_json()
)


def written_numbers(text: str) -> set[float]:
    """Every number that some stretch of the text can be read as: a reader that uses any other one made it up."""
    found = set()
    for run in re.findall(r"[-+\d.eE]+", unicodedata.normalize("NFKC", text)):
        for start in range(len(run)):
            for end in range(start + 1, len(run) + 1):
                try:
                    found.add(float(run[start:end]))
                except ValueError:
                    continue
    return found


@settings(max_examples=600, deadline=None)
@given(text=REPLIES, count=st.sampled_from([1, 2]))
@example(text='{"score": 1_0}', count=1)
@example(text='{"score": [7 8]}', count=2)
@example(text='{"score": 10%}', count=1)
def test_no_reply_breaks_the_reader_and_no_number_is_made_up(text, count):
    try:
        reply = read_scores(text, PROBLEM_WITH[count])
    except UnreadableReply as problem:
        assert str(problem)
        return
    assert len(reply.scores) == count
    assert all(math.isfinite(value) and 0 <= value <= 10 for value in reply.scores)
    assert set(reply.scores) <= written_numbers(text)


@settings(max_examples=200, deadline=None)
@given(text=REPLIES)
def test_no_reply_breaks_the_search_for_an_object(text):
    try:
        assert isinstance(read_object(text), dict)
    except UnreadableReply as problem:
        assert str(problem)


@settings(max_examples=200, deadline=None)
@given(word=st.text(max_size=20) | JSON_VALUES)
def test_no_word_breaks_the_yes_no_reader(word):
    assert read_yes_no(word) in (True, False, None)


@given(values=st.lists(st.integers(0, 10) | st.floats(0, 10), min_size=1, max_size=2), reasoning=st.text(max_size=40))
def test_every_well_formed_reply_is_read_exactly(values, reasoning):
    reply = read_scores(json.dumps({"reasoning": reasoning, "score": values}), PROBLEM_WITH[len(values)])
    assert (list(reply.scores), reply.reasoning) == (values, reasoning)


# --- replies of real models --------------------------------------------------------------------------------------------

REAL = REPOSITORY.parent / "shared" / "data" / "unparsed_replies.jsonl"


@pytest.mark.skipif(not REAL.exists(), reason="the real replies are not beside the project")
def test_every_real_reply_that_another_tool_could_not_read_is_read_right():
    lines = [json.loads(line) for line in REAL.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 252
    differing = []
    for line in lines:
        try:
            found = list(read_scores(line["raw"], line["sub_score_names"]).scores)
        except UnreadableReply:
            found = "none"
        if found != line["right_parse"]:
            differing.append((line["raw"], line["right_parse"], found))
    assert differing == []
