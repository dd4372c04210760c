"""Mappings that were kept for the next file."""

from __future__ import annotations

import json
from collections.abc import Mapping

from data.store.connection import now, row, rows, writing


def mappings() -> list[dict]:
    """All kept mappings, newest first: name, fields (column -> field), choices, created."""
    return rows("SELECT * FROM mappings ORDER BY created DESC, name")


def mapping_named(name: str) -> dict:
    """The mapping of that name.

    :raises KeyError: if there is none, with those that there are.
    """
    found = row("SELECT * FROM mappings WHERE name = ?", [name])
    if found is None:
        known = ", ".join(repr(kept["name"]) for kept in mappings()) or "none yet"
        raise KeyError(f"There is no kept mapping {name!r}; there are: {known}.")
    return found


def checked_name(name: str) -> str:
    """A mapping's name as it is kept.

    :raises ValueError: if it is empty or longer than 80 characters.
    """
    name = " ".join(name.split())
    if not 1 <= len(name) <= 80:
        raise ValueError("A mapping's name has 1 to 80 characters.")
    return name


def keep_mapping(name: str, fields: Mapping[str, str], choices: Mapping[str, object]) -> None:
    """Keep a mapping under a name; one of that name is replaced. fields: every column of the file, an unread one with "".

    :raises ValueError: if the name is empty or longer than 80 characters.
    """
    name = checked_name(name)
    with writing() as db:
        db.conn.execute(
            "INSERT INTO mappings (name, fields_json, choices_json, created) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE "
            "SET fields_json = excluded.fields_json, choices_json = excluded.choices_json, created = excluded.created",
            [name, json.dumps(dict(fields)), json.dumps(dict(choices)), now()],
        )
