"""In which order cases are offered to a reviewer, and with what chance.

A queue writes its order down for each reviewer before the first case is shown (table queue_draws); cases that come later
are put behind. What a label on a case is worth for an estimate follows from how the case was drawn:

random       every case, shuffled: whatever part of it somebody gets through is a simple random sample (basis random)
audit        of a run's cases a share of those that the judge flagged and a share of those it passed, each case with a
             chance known before the draw (basis designed; `agreement.md` 2.2)
the others   what looks worst first; never in an estimate (basis opportunistic)

A queue that is filtered is opportunistic as well. A label on a case that somebody picked does not take it out of a drawn
queue: picked are the suspicious ones, and a sample without them would flatter the judge.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from data.home import database_path
from data.store.connection import insert_many, now, row, rows, value, writing

RANDOM = "random"
#: Kinds of queue, with their words; all but the first need a run.
KINDS = {
    RANDOM: "random order",
    "audit": "audit: a share of the flagged, a share of the passed",
    "disagreement": "disagreements first",
    "nearest": "nearest to the threshold first",
    "flagged": "flagged first",
    "lowest": "lowest score first",
}
#: The smallest chance that an audit may give a case: with less, its weight would ruin the estimate.
LEAST_SHARE = 0.02
#: Seconds for which a case is somebody's, after the desk last asked for it.
LEASE_SECONDS = 600.0


@dataclass(frozen=True)
class Filters:
    """Which cases a queue is about; empty fields do not filter. label: the judge's label in the queue's run. labelled_by:
    only cases with a standing label of that reviewer (its id)."""

    generator: str = ""
    tag: str = ""
    label: str = ""
    labelled_by: int | None = None

    @property
    def words(self) -> str:
        return ", ".join(f"{f.name}={getattr(self, f.name)}" for f in fields(self) if getattr(self, f.name))


@dataclass(frozen=True)
class Queue:
    """An order of cases. run_id: the run whose verdicts it goes by. seed: another random order. flagged_share,
    passed_share: chances 0.02-1 of an audit."""

    kind: str = RANDOM
    run_id: int | None = None
    seed: int = 0
    flagged_share: float = 0.5
    passed_share: float = 0.1
    filters: Filters = Filters()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"there is no queue {self.kind!r}: {', '.join(KINDS)}")
        if self.run_id is None and (self.kind != RANDOM or self.filters.label):
            raise ValueError(f"a queue of kind {self.kind} goes by a run's verdicts; name the run")
        for share in (self.flagged_share, self.passed_share):
            if not LEAST_SHARE <= share <= 1:
                raise ValueError(f"a share of {share} is outside {LEAST_SHARE}-1")

    @property
    def name(self) -> str:
        """What the queue is called where its draws are stored."""
        told = [self.kind]
        if self.kind != RANDOM or self.filters.label:
            told.append(f"run {self.run_id}")
        if self.kind == "audit":
            told.append(f"{self.flagged_share:g} of flagged, {self.passed_share:g} of passed")
        if self.seed:
            told.append(f"seed {self.seed}")
        return "/".join(told + ([self.filters.words] if self.filters.words else []))

    @property
    def basis(self) -> str:
        """What its labels are worth: random, designed or opportunistic."""
        if self.filters.words:
            return "opportunistic"
        return {RANDOM: "random", "audit": "designed"}.get(self.kind, "opportunistic")


def next_cases(
    dataset_id: int, criterion: str, reviewer_id: int, count: int, skipped: Sequence[int] = (),
    queue: Queue | None = None,
) -> list[dict]:  # fmt: skip
    """The next cases of a queue that this person has not labelled when drawn: case_id, draw_id, in order.

    Cases in `skipped` come last. In a dataset with an overlap the cases are this person's for a while: nobody else is
    offered them, and those that have labels of enough people are left out. Labels from queues of another basis do not
    count there, or what one person audits would be missing from the random sample of the others.
    """
    queue = queue or Queue()
    _draw(queue, dataset_id, criterion, reviewer_id)
    overlap = value("SELECT overlap FROM datasets WHERE id = ?", [dataset_id])
    asked = {
        "queue": queue.name, "reviewer": reviewer_id, "criterion": criterion, "dataset": dataset_id, "count": count,
        "now": time.time(), "overlap": overlap, "picked": queue.basis == "opportunistic",
    }  # fmt: skip
    if overlap is None:
        return rows(_NEXT.format(others="", first="", skipped=_last(skipped)), asked)
    with writing() as db:
        found = rows(_NEXT.format(others=_OTHERS, first=_FIRST, skipped=_last(skipped)), asked)
        db.conn.executemany(
            "INSERT INTO leases (case_id, criterion, reviewer_id, until) VALUES (:case_id, :criterion, :reviewer, :until) "
            "ON CONFLICT (case_id, criterion) DO UPDATE SET reviewer_id = excluded.reviewer_id, until = excluded.until",
            [{"case_id": r["case_id"], **asked, "until": asked["now"] + LEASE_SECONDS} for r in found],
        )
    return found


# A person's drawn cases that they have not labelled: a label on a picked case counts for opportunistic queues only.
_NEXT = """
SELECT d.case_id, d.id AS draw_id FROM queue_draws d JOIN cases c ON c.id = d.case_id
WHERE d.queue = :queue AND d.reviewer_id = :reviewer AND d.criterion = :criterion AND c.dataset_id = :dataset
AND NOT EXISTS (
    SELECT 1 FROM reviews r WHERE r.case_id = d.case_id AND r.criterion = d.criterion AND r.reviewer_id = d.reviewer_id
    AND r.revision = c.revision AND r.label IS NOT NULL AND (:picked OR r.basis != 'opportunistic')
    AND NOT EXISTS (SELECT 1 FROM reviews u WHERE u.undoes = r.id)) {others}
ORDER BY {skipped} {first} d.id LIMIT :count
"""
_LABELLERS = (
    "(SELECT count(DISTINCT o.reviewer_id) FROM standing_reviews o WHERE o.case_id = d.case_id "
    "AND o.criterion = d.criterion AND o.reviewer_id != d.reviewer_id AND o.basis = d.basis)"
)
_OTHERS = (
    f"AND {_LABELLERS} < :overlap AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.case_id = d.case_id "
    "AND l.criterion = d.criterion AND l.reviewer_id != d.reviewer_id AND l.until > :now)"
)
#: Cases that others have begun come first, so that they get done.
_FIRST = f"{_LABELLERS} DESC,"


def _last(case_ids: Sequence[int]) -> str:
    """An order that puts these cases last; nothing for none, since sorting all would take longer than finding the first."""
    return f"d.case_id IN ({','.join(str(int(case_id)) for case_id in case_ids)})," if case_ids else ""


def held_by_others(dataset_id: int, criterion: str, reviewer_id: int) -> int:
    """How many cases of a dataset other people are looking at now."""
    return value(
        "SELECT count(*) FROM leases l JOIN cases c ON c.id = l.case_id "
        "WHERE c.dataset_id = ? AND l.criterion = ? AND l.reviewer_id != ? AND l.until > ?",
        [dataset_id, criterion, reviewer_id, time.time()],
    )


def draw_of(case_id: int, criterion: str, reviewer_id: int) -> int | None:
    """The id of the draw that has a case in this person's random queue, or None."""
    return value(
        "SELECT id FROM queue_draws WHERE queue = ? AND reviewer_id = ? AND criterion = ? AND case_id = ?",
        [RANDOM, reviewer_id, criterion, case_id],
    )


def progress(dataset_id: int, criterion: str) -> list[dict]:
    """Who got how far: reviewer, queue, drawn, labelled (of those drawn), a row for each reviewer and queue."""
    return rows(
        "SELECT p.name AS reviewer, d.queue, count(*) AS drawn, sum(EXISTS (SELECT 1 FROM standing_reviews r "
        "  WHERE r.case_id = d.case_id AND r.criterion = d.criterion AND r.reviewer_id = d.reviewer_id)) AS labelled "
        "FROM queue_draws d JOIN reviewers p ON p.id = d.reviewer_id JOIN cases c ON c.id = d.case_id "
        "WHERE c.dataset_id = ? AND d.criterion = ? GROUP BY d.reviewer_id, d.queue ORDER BY p.name, d.queue",
        [dataset_id, criterion],
    )


# --- drawing -----------------------------------------------------------------------------------------------------------

# The cases that are not in this person's queue yet, with what the orders go by.
_UNDRAWN = """
SELECT c.id, v.score, r.threshold, v.status, v.flags_json != '[]' AS is_flagged, {differs} AS differs,
    CASE WHEN v.score IS NULL OR r.threshold IS NULL THEN NULL WHEN v.score >= r.threshold THEN 'usable' ELSE 'badcase' END
        AS label
FROM cases c LEFT JOIN runs r ON r.id = :run
LEFT JOIN verdicts v ON v.run_id = r.id AND v.case_id = c.id AND v.revision = c.revision
WHERE c.dataset_id = :dataset AND NOT EXISTS (
    SELECT 1 FROM queue_draws d
    WHERE d.queue = :queue AND d.reviewer_id = :reviewer AND d.case_id = c.id AND d.criterion = :criterion)
"""
# Another judge of the same criterion, or somebody's standing label, says something else than this run's verdict.
_DIFFERS = """(v.score IS NOT NULL AND r.threshold IS NOT NULL AND (EXISTS (
    SELECT 1 FROM verdicts w JOIN runs s ON s.id = w.run_id WHERE w.case_id = c.id AND w.revision = c.revision
    AND s.criterion = r.criterion AND w.score IS NOT NULL AND s.threshold IS NOT NULL
    AND (w.score >= s.threshold) != (v.score >= r.threshold)) OR EXISTS (
    SELECT 1 FROM current_reviews p WHERE p.case_id = c.id AND p.criterion = r.criterion AND p.label != 'unsure'
    AND (p.label = 'usable') != (v.score >= r.threshold))))"""
_FILTERS = {
    "generator": "c.generator = :generator",
    "tag": "EXISTS (SELECT 1 FROM json_each(c.tags_json) t WHERE t.value = :tag)",
    "label": "label = :label",
    "labelled_by": (
        "EXISTS (SELECT 1 FROM current_reviews q WHERE q.case_id = c.id AND q.criterion = :criterion "
        "AND q.reviewer_id = :labelled_by)"
    ),
}


def _state(queue: Queue) -> dict:
    """What the cases of a queue depend on, as numbers that grow with it."""
    return row(
        "SELECT (SELECT max(id) FROM cases) AS cases, (SELECT max(id) FROM verdicts) AS verdicts, "
        "(SELECT max(id) FROM reviews WHERE ?) AS reviews",
        [queue.filters.labelled_by is not None],
    )


#: At which state of the data a queue was drawn here: as long as that stays, there is nothing new to look for.
_drawn_at: dict[tuple, dict] = {}


def _draw(queue: Queue, dataset_id: int, criterion: str, reviewer_id: int) -> None:
    """Write down the order of the cases that are not in this person's queue yet."""
    sql = _UNDRAWN.format(differs=_DIFFERS if queue.kind == "disagreement" else "0")
    given = {name: getattr(queue.filters, name) for name in _FILTERS if getattr(queue.filters, name)}
    sql += "".join(f" AND {_FILTERS[name]}" for name in given)
    if queue.kind != RANDOM:
        sql += " AND v.id IS NOT NULL"  # a case without a verdict has no place yet
    asked = {
        "queue": queue.name, "reviewer": reviewer_id, "criterion": criterion, "dataset": dataset_id,
        "run": queue.run_id, **given,
    }  # fmt: skip
    drawn_for = (database_path(), queue.name, dataset_id, criterion, reviewer_id)
    state = _state(queue)
    if _drawn_at.get(drawn_for) == state:
        return
    with writing() as db:  # what another tab has drawn meanwhile is not undrawn any more
        drawn = _ordered(queue, rows(sql, asked), dataset_id, criterion, reviewer_id)
        columns = ("queue", "reviewer_id", "case_id", "criterion", "stratum", "pi", "basis", "created")
        drawn_at = now()
        values = [
            (queue.name, reviewer_id, case_id, criterion, stratum, pi, queue.basis, drawn_at)
            for case_id, stratum, pi in drawn
        ]
        insert_many(db, "queue_draws", columns, values)
    _drawn_at[drawn_for] = state


def _ordered(
    queue: Queue, found: list[dict], dataset_id: int, criterion: str, reviewer_id: int
) -> list[tuple[int, str, float | None]]:
    """(case_id, stratum, chance) of new cases, in the order in which they are offered."""
    found.sort(key=lambda case: case["id"])
    match queue.kind:
        case "random" | "audit":
            seed = f"{RANDOM}/{dataset_id}/{criterion}/{reviewer_id}/{len(found)}" + (
                f"/{queue.seed}" if queue.seed else ""
            )
            random.Random(seed).shuffle(found)
        case "disagreement":
            found.sort(key=lambda case: not case["differs"])
        case "nearest":
            found.sort(key=_distance)
        case "flagged":
            found.sort(key=lambda case: (not case["is_flagged"], case["label"] != "badcase"))
        case "lowest":
            found.sort(key=lambda case: (case["score"] is None, case["score"] or 0.0))
    if queue.kind == "audit":
        chances = [(case, _chance(queue, case)) for case in found]
        return [(case["id"], _stratum(case), pi) for case, pi in chances if pi]
    pi = 1.0 if queue.basis == "random" else None
    return [(case["id"], "all" if queue.kind == RANDOM else _stratum(case), pi) for case in found]


def _distance(case: Mapping) -> float:
    if case["score"] is None or case["threshold"] is None:
        return float("inf")
    return abs(case["score"] - case["threshold"])


def _stratum(case: Mapping) -> str:
    """What the judge said, as a stratum."""
    return {"badcase": "flagged", "usable": "passed"}.get(case["label"], "no label")


def _chance(queue: Queue, case: Mapping) -> float | None:
    """The chance with which an audit draws a case, if it draws it, else None.

    Each case has a number 0-1 of its own that never changes; it is drawn if that is below the chance of its stratum. So
    everybody audits the same cases, and those judged later are drawn with the same chance (Poisson sampling with
    permanent random numbers; Ohlsson 1995).
    """
    chance = {"flagged": queue.flagged_share, "passed": queue.passed_share, "no label": 1.0}[_stratum(case)]
    digest = hashlib.sha256(f"audit/{queue.run_id}/{queue.seed}/{case['id']}".encode()).digest()
    return chance if int.from_bytes(digest[:8]) < chance * 2**64 else None
