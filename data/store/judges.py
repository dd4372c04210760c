"""Judges: who can be asked. A key is only ever the name of an environment variable."""

from __future__ import annotations

from dataclasses import asdict

from data.store.connection import insert, now, row, rows, update, writing
from evaluators.judges.settings import EndpointSettings


def judges() -> list[dict]:
    """All judges, oldest first: id, name, kind (endpoint, recorded or imported), settings, mode."""
    return rows("SELECT * FROM judges ORDER BY id")


def judge_named(name: str) -> dict | None:
    """The judge of that name, or None."""
    return row("SELECT * FROM judges WHERE name = ?", [name])


def save_endpoint(name: str, settings: EndpointSettings) -> int:
    """Save a judge with an endpoint; gives its id. Saving a known name changes its settings for runs to come, and how it
    replies is found out anew.

    :raises ValueError: if the settings hold a secret or something unusable, or the name is that of a recorded judge.
    """
    wrong = settings.unfit_to_save()
    if wrong:
        raise ValueError(wrong)
    facts = asdict(settings)
    mode = facts.pop("mode")
    known = judge_named(name)
    with writing() as db:
        if known is None:
            return insert(db, "judges", name=name, kind="endpoint", settings_json=facts, mode=mode, created=now())
        if known["kind"] != "endpoint":
            raise ValueError(f"{name!r} is the name of a {known['kind']} judge; choose another name.")
        if known["settings"] != facts or known["mode"] != mode:
            update(db, "judges", known["id"], settings_json=facts, mode=mode)
    return known["id"]


def save_recorded(name: str, identity: dict) -> int:
    """Save a judge that replays stored replies; `identity` is the one that their keys were made with."""
    known = judge_named(name)
    if known is not None:
        return known["id"]
    with writing() as db:
        return insert(db, "judges", name=name, kind="recorded", settings_json=identity, created=now())


def remember_mode(judge_id: int, mode: str, settings: dict | None = None) -> None:
    """Remember which reply form an endpoint can do; not if the judge has other settings by now than those named."""
    with writing() as db:
        known = row("SELECT settings_json FROM judges WHERE id = ?", [judge_id])
        if settings is None or known["settings"] | {"base_url": settings["base_url"]} == settings:
            update(db, "judges", judge_id, mode=mode)


def endpoint_settings(judge: dict) -> EndpointSettings:
    """The settings of an endpoint judge's row."""
    return EndpointSettings(**judge["settings"], mode=judge["mode"])
