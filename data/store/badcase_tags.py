"""What can be wrong with a badcase: a list that a team can change. Reviews keep the tags that they were given."""

from __future__ import annotations

import re
from collections.abc import Sequence

from data.store.connection import rows, writing

MAX_TAGS, MAX_WORDS = 26, 40


def offered_tags() -> dict[str, str]:
    """The tags that the desk offers, key -> words, in their order."""
    return {r["key"]: r["words"] for r in rows("SELECT * FROM badcase_tags WHERE place IS NOT NULL ORDER BY place")}


def tag_words() -> dict[str, str]:
    """All tags there ever were, key -> words."""
    return {r["key"]: r["words"] for r in rows("SELECT * FROM badcase_tags")}


def offer_tags(words: Sequence[str]) -> None:
    """Offer these tags from now on, in this order; others stay with the reviews that have them.

    :raises ValueError: if there are too many, or one of them is empty, too long or twice there; nothing is changed.
    """
    cleaned = [" ".join(text.split()) for text in words]
    keys = [_key(text) for text in cleaned]
    if len(keys) > MAX_TAGS:
        raise ValueError(f"There are {len(keys)} tags; each has a letter of its own, so at most {MAX_TAGS} fit.")
    for text, key in zip(cleaned, keys, strict=True):
        if not key or len(text) > MAX_WORDS:
            raise ValueError(
                f"{text!r} is no tag: a tag has 1 to {MAX_WORDS} characters, letters or digits among them."
            )
        if keys.count(key) > 1:
            raise ValueError(f"The tag {text!r} is in the list twice.")
    with writing() as db:
        db.conn.execute("UPDATE badcase_tags SET place = NULL")
        db.conn.executemany(
            "INSERT INTO badcase_tags (key, words, place) VALUES (?, ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET words = excluded.words, place = excluded.place",
            [(key, text, place) for place, (key, text) in enumerate(zip(keys, cleaned, strict=True))],
        )


def _key(words: str) -> str:
    return re.sub(r"\W+", "_", words.casefold()).strip("_")
