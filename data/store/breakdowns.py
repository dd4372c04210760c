"""The counts of agreement by group of cases.

Cases of one prompt belong together, so what an interval needs of a group is how many of its prompts have the same counts:
a handful of rows, whatever the number of cases.
"""

from __future__ import annotations

from data.store.agreement import CELL_SUMS, CELLS, Basis
from data.store.connection import rows, value

#: The counts named in CELLS.
Cells = tuple[int, int, int, int, int, int]

# By grouping: what tells the group of a row of `pairs`, and the tables for it. A case is in as many groups as it has tags
# or flags, in each once, and in the group null when it has none.
_LISTED = """
JOIN {table} LEFT JOIN json_each(x.{column}) AS listed
ON NOT EXISTS (SELECT 1 FROM json_each(x.{column}) AS before WHERE before.value = listed.value AND before.key < listed.key)
"""
_GROUPS = {
    "generator": ("pairs.generator", ""),
    "tag": ("listed.value", _LISTED.format(table="cases x ON x.id = pairs.case_id", column="tags_json")),
    "flag": (
        "listed.value",
        _LISTED.format(table="verdicts x ON x.run_id = :run AND x.case_id = pairs.case_id", column="flags_json"),
    ),
    "images": (
        "(SELECT min(2, count(*)) FROM cases x JOIN parts p ON p.case_id = x.id AND p.revision = x.revision "
        "WHERE x.id = pairs.case_id AND p.role = 'input' AND p.kind = 'image')",
        "",
    ),
}

_JUDGED = """
SELECT c.generator, coalesce(sum(v.score < :threshold), 0) AS flagged, coalesce(sum(v.score >= :threshold), 0) AS passed,
    sum(v.score IS NULL OR :threshold IS NULL) AS unanswered
FROM verdicts v JOIN cases c ON c.id = v.case_id AND c.revision = v.revision
WHERE v.run_id = :run AND v.status != 'skipped' AND c.split = 'test' GROUP BY c.generator, c.cluster
"""


def cells_by_group(basis: Basis, by: str) -> dict[str | int | None, dict[Cells, int]]:
    """The counts of cases with a gold label by group: how many of its prompts have the same ones.

    by: generator, tag, flag (what the metric remarked on the verdict; None is the group of those without any), images (the
    number of input images; 2: two or more).

    :raises KeyError: for another grouping.
    """
    group, tables = _GROUPS[by]
    names = ", ".join(CELLS)
    found = rows(
        f'{basis.sql}, prompts AS (SELECT {group} AS "group", {CELL_SUMS} FROM pairs {tables} '
        f'WHERE pairs.gold IS NOT NULL GROUP BY 1, pairs.cluster) SELECT "group", {names}, count(*) AS prompts FROM prompts '
        f'GROUP BY "group", {names}',
        basis.parameters,
    )
    groups: dict[str | int | None, dict[Cells, int]] = {}
    for r in found:
        groups.setdefault(r["group"], {})[tuple(r[name] for name in CELLS)] = r["prompts"]
    return groups


def cells_by_text(basis: Basis) -> list[tuple[str, str, Cells]]:
    """The prompt's text ('' without one), the cluster and its counts, for each cluster that has a gold label."""
    found = rows(
        f"{basis.sql} SELECT prompt, cluster, {CELL_SUMS} FROM pairs WHERE gold IS NOT NULL GROUP BY prompt, cluster",
        basis.parameters,
    )
    return [(r["prompt"], r["cluster"], tuple(r[name] for name in CELLS)) for r in found]


def judged_by_generator(basis: Basis) -> dict[str, dict[tuple[int, int, int], int]]:
    """(flagged, passed, without a label) of all judged test cases by generator: how many of its prompts have the same."""
    found = rows(
        f"WITH prompts AS ({_JUDGED}) SELECT generator, flagged, passed, unanswered, count(*) AS prompts FROM prompts "
        "GROUP BY 1, 2, 3, 4",
        basis.parameters,
    )
    generators: dict[str, dict[tuple[int, int, int], int]] = {}
    for r in found:
        generators.setdefault(r["generator"], {})[r["flagged"], r["passed"], r["unanswered"]] = r["prompts"]
    return generators


def count_judged_prompts(basis: Basis) -> int:
    """How many prompts the judged test cases of the run have."""
    return value(
        "SELECT count(DISTINCT c.cluster) FROM verdicts v JOIN cases c ON c.id = v.case_id AND c.revision = v.revision "
        "WHERE v.run_id = :run AND v.status != 'skipped' AND c.split = 'test'",
        basis.parameters,
    )
