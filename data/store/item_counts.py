"""Items in counts: a judge's answers and sub-scores beside people's, by item and prompt."""

from __future__ import annotations

from typing import NamedTuple

from data.store.connection import database
from data.store.counts import refresh
from data.store.score_counts import ANSWERED, SPOKEN

_SAID = "CASE WHEN x.key IS NULL THEN a.answer ELSE x.answer END"


class AnswerCount(NamedTuple):
    """What judge and people answer to an item, over the cases of a prompt.

    n: answers by people on so many cases; agreed: the judge's is the same, a missing one agrees with nobody. tp, fp, fn, tn: of
    a question with two answers that both gave: who finds it wrong, not the expected one (tp both, fp only the judge, fn only
    the person).
    """

    kind: str
    group: str
    key: str
    text: str
    cluster: str
    n: int
    cases: int
    agreed: int
    tp: int
    fp: int
    fn: int
    tn: int


def answer_counts(run_id: int) -> list[AnswerCount]:
    """What judge and people answer, one row an item and prompt. Who speaks of an item, and where: as in sub_score_counts."""
    refresh()
    found = database().conn.execute(
        'SELECT kind, "group", key, max(text) AS text, cluster, count(*) AS n, count(DISTINCT case_id) AS cases, '
        "coalesce(sum(judge = person), 0) AS agreed, coalesce(sum(judge_wrong AND person_wrong), 0) AS tp, "
        "coalesce(sum(judge_wrong AND NOT person_wrong), 0) AS fp, coalesce(sum(NOT judge_wrong AND person_wrong), 0) AS fn, "
        "coalesce(sum(NOT judge_wrong AND NOT person_wrong), 0) AS tn FROM ("
        f'SELECT i.kind, i."group", i.key, i.text, c.cluster, c.id AS case_id, i.answer AS judge, {_SAID} AS person, '
        "CASE WHEN json_array_length(i.choices_json) = 2 THEN i.answer != i.expected END AS judge_wrong, "
        f"CASE WHEN json_array_length(i.choices_json) = 2 THEN {_SAID} != i.expected END AS person_wrong "
        f"{SPOKEN} {ANSWERED} WHERE r.id = :run AND i.kind != 'sub_score'"
        ') WHERE person IS NOT NULL OR judge IS NULL GROUP BY kind, "group", key, cluster ORDER BY kind, "group", key, cluster',
        {"run": run_id},
    )
    return [AnswerCount._make(row) for row in found]
