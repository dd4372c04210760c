"""The disagreements that teach most, and what people wrote on them."""

from __future__ import annotations

from collections.abc import Sequence

from data.store.agreement import Basis
from data.store.connection import rows

# How far the score is past the threshold, of the way that it could be: 0 at the threshold, 1 at the end of the scale.
_SURENESS = """CASE judge WHEN 'usable' THEN coalesce((score - :threshold) / nullif(1.0 - :threshold, 0), 0)
    ELSE (:threshold - score) / :threshold END"""
_ORDER = "unanimous DESC, sureness DESC, voters DESC, case_id"


def confident_disagreements(basis: Basis, each: int) -> list[dict]:
    """Cases on which judge and people differ, in each direction at most `each`, at most one a prompt and direction.

    First those on which all labels are against the judge, then by how sure the judge's score was, then by the number of
    labels. case_id, cluster, gold, judge, score, bad, usable (votes), adjudicated, unanimous, sureness (0-1), place (1 the
    first of its direction). Cases that the judge left without a label are not among them.
    """
    return rows(
        f"""{basis.sql}, apart AS (
            SELECT case_id, cluster, gold, judge, score, bad, usable, adjudicated, {_SURENESS} AS sureness,
                CASE gold WHEN 'badcase' THEN usable = 0 ELSE bad = 0 END AS unanimous, bad + usable AS voters
            FROM pairs WHERE gold IS NOT NULL AND judge != gold
        ), firsts AS (
            SELECT *, row_number() OVER (PARTITION BY judge, cluster ORDER BY {_ORDER}) AS of_prompt FROM apart
        ), placed AS (
            SELECT *, row_number() OVER (PARTITION BY judge ORDER BY {_ORDER}) AS place FROM firsts WHERE of_prompt = 1
        )
        SELECT case_id, cluster, gold, judge, score, bad, usable, adjudicated, unanimous, sureness, place
        FROM placed WHERE place <= :each ORDER BY place, judge""",
        {**basis.parameters, "each": each},
    )


def remarks(case_ids: Sequence[int], criterion: str) -> dict[int, list[dict]]:
    """What people's standing reviews of these cases say beside the label, by case id: label, tags, comment; in order."""
    marks = ",".join("?" * len(case_ids))
    found: dict[int, list[dict]] = {case_id: [] for case_id in case_ids}
    for said in rows(
        "SELECT r.case_id, r.label, r.tags_json, r.comment FROM standing_reviews r "
        f"WHERE r.criterion = ? AND r.case_id IN ({marks}) AND r.id = (SELECT max(s.id) FROM standing_reviews s "
        "WHERE s.case_id = r.case_id AND s.criterion = r.criterion AND s.reviewer_id = r.reviewer_id) ORDER BY r.id",
        [criterion, *case_ids],
    ):
        found[said["case_id"]].append(said)
    return found
