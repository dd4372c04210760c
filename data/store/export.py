"""What the long tables that go out are made of, row by row from a snapshot.

Every row says which revision of its case it is about, and shows that prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from data.store.snapshot import Snapshot

#: Cases, verdicts or reviews whose pieces are looked up at once.
CHUNK = 500

#: The prompt of a case in the revision that a row is about.
_PROMPT = (
    "(SELECT group_concat(p.text, char(10)) FROM (SELECT text FROM parts WHERE case_id = c.id AND revision = {of}.revision "
    "AND role = 'input' AND kind = 'text' ORDER BY position) p) AS prompt"
)
_CASE = f'c.id AS "case", c.external_id AS case_id, {_PROMPT}, c.generator, c.revision AS current_revision'


def chunks(found: Iterable[dict], size: int = CHUNK) -> Iterator[list[dict]]:
    """Rows in lists of at most `size`."""
    coming = iter(found)
    while chunk := list(islice(coming, size)):
        yield chunk


def marks(values: Sequence) -> str:
    """As many question marks as there are values."""
    return ",".join("?" * len(values))


def count_rows(of: Snapshot, table: str, dataset_id: int, run_id: int | None = None) -> int:
    """How many rows a table has: cases, verdicts, reviews, adjudications, draws, run_cases, seen, items, parts."""
    by_case = "SELECT count(*) FROM {} x JOIN cases c ON c.id = x.case_id WHERE c.dataset_id = :dataset"
    by_run = "JOIN runs r ON r.id = v.run_id WHERE r.dataset_id = :dataset AND (:run IS NULL OR r.id = :run)"
    queries = {
        "cases": "SELECT count(*) FROM cases WHERE dataset_id = :dataset",
        "verdicts": f"SELECT count(*) FROM verdicts v {by_run}",
        "items": f"SELECT count(*) FROM items i JOIN verdicts v ON v.id = i.verdict_id {by_run}",
        "corrections": "SELECT count(*) FROM review_items i JOIN reviews r ON r.id = i.review_id "
        "JOIN cases c ON c.id = r.case_id WHERE c.dataset_id = :dataset",
        "draws": by_case.format("queue_draws"),
        "run_cases": by_case.format("run_cases"),
        "seen": by_case.format("seen_verdicts"),
        **{name: by_case.format(name) for name in ("reviews", "adjudications", "parts")},
    }
    return of.value(queries[table], {"dataset": dataset_id, "run": run_id})


def cases(of: Snapshot, dataset_id: int) -> Iterator[dict]:
    """The cases of a dataset in the order they came in, as they are now: their row with `parts`, in order."""
    found = of.rows("SELECT * FROM cases WHERE dataset_id = ? ORDER BY id", [dataset_id])
    for chunk in chunks(found):
        parts: dict[int, list[dict]] = {case["id"]: [] for case in chunk}
        for part in of.rows(
            "SELECT p.case_id, p.role, p.kind, p.text, p.source, p.sha256, i.extension FROM parts p "
            "JOIN cases c ON c.id = p.case_id AND c.revision = p.revision LEFT JOIN images i ON i.sha256 = p.sha256 "
            f"WHERE p.case_id IN ({marks(parts)}) ORDER BY p.case_id, p.role, p.position",
            list(parts),
        ):
            parts[part["case_id"]].append(part)
        yield from ({**case, "parts": parts[case["id"]]} for case in chunk)


def parts(of: Snapshot, dataset_id: int) -> Iterator[dict]:
    """Every part of every revision of the cases of a dataset."""
    return of.rows(
        "SELECT c.external_id AS case_id, p.revision, p.role, p.position, p.kind, p.text, p.source, p.sha256, i.extension, "
        "p.problem FROM parts p JOIN cases c ON c.id = p.case_id LEFT JOIN images i ON i.sha256 = p.sha256 "
        "WHERE c.dataset_id = ? ORDER BY c.id, p.revision, p.role, p.position",
        [dataset_id],
    )


def pictures(of: Snapshot, dataset_id: int) -> Iterator[dict]:
    """The pictures (sha256, extension) that the cases of a dataset show, older revisions included; each once."""
    return of.rows(
        "SELECT DISTINCT i.sha256, i.extension FROM parts p JOIN cases c ON c.id = p.case_id "
        "JOIN images i ON i.sha256 = p.sha256 WHERE c.dataset_id = ? ORDER BY i.sha256",
        [dataset_id],
    )


def item_kinds(of: Snapshot, dataset_id: int, run_id: int | None = None) -> dict[str, str]:
    """The keys of the items of verdicts in the order in which they first came: `sub_score`, `number` or `text`."""
    found = of.rows(
        "SELECT i.key, min(i.kind = 'sub_score') AS is_sub_score, max(i.answer IS NOT NULL) AS is_text FROM items i "
        "JOIN verdicts v ON v.id = i.verdict_id JOIN runs r ON r.id = v.run_id "
        "WHERE r.dataset_id = ? AND (? IS NULL OR v.run_id = ?) GROUP BY i.key ORDER BY min(i.rowid)",
        [dataset_id, run_id, run_id],
    )
    return {r["key"]: "text" if r["is_text"] else "sub_score" if r["is_sub_score"] else "number" for r in found}


def corrected_kinds(of: Snapshot, dataset_id: int) -> dict[str, str]:
    """The keys of the items that people corrected in a dataset: `number` or `text`."""
    found = of.rows(
        "SELECT i.key, max(i.answer IS NOT NULL) AS is_text FROM review_items i JOIN reviews r ON r.id = i.review_id "
        "JOIN cases c ON c.id = r.case_id WHERE c.dataset_id = ? GROUP BY i.key ORDER BY min(i.rowid)",
        [dataset_id],
    )
    return {r["key"]: "text" if r["is_text"] else "number" for r in found}


def verdicts(of: Snapshot, dataset_id: int, run_id: int | None) -> Iterator[dict]:
    """Verdicts of a dataset, or of one run, with their items as key -> value or answer, their tokens and raw replies."""
    found = of.rows(
        f"SELECT v.id, {_CASE.format(of='v')}, v.revision, v.run_id AS run, j.name AS judge, r.metric, r.criterion, "
        "r.metric_version, r.threshold, v.status, v.score, v.reason AS reasoning, v.problem, v.flags_json, v.created, "
        "v.seconds, v.steps_json, g.version AS rubric_version, "
        "(SELECT sum(p.input_tokens) FROM verdict_replies vr JOIN replies p ON p.id = vr.reply_id "
        "  WHERE vr.verdict_id = v.id) AS input_tokens, "
        "(SELECT sum(p.output_tokens) FROM verdict_replies vr JOIN replies p ON p.id = vr.reply_id "
        "  WHERE vr.verdict_id = v.id) AS output_tokens, "
        "(SELECT json_group_array(json_object('aspect', vr.aspect, 'attempt', vr.attempt, 'text', p.text, "
        "  'finish_reason', p.finish_reason, 'refusal', p.refusal)) FROM verdict_replies vr "
        "  JOIN replies p ON p.id = vr.reply_id WHERE vr.verdict_id = v.id) AS raw_replies_json "
        "FROM runs r JOIN judges j ON j.id = r.judge_id JOIN verdicts v ON v.run_id = r.id "
        "JOIN cases c ON c.id = v.case_id LEFT JOIN rubrics g ON g.id = v.rubric_id "
        "WHERE r.dataset_id = ? AND (? IS NULL OR r.id = ?) ORDER BY r.id, c.id",
        [dataset_id, run_id, run_id],
    )
    for chunk in chunks(found):
        said = items_of(of, [verdict["id"] for verdict in chunk])
        yield from ({**verdict, "items": said.get(verdict["id"], {})} for verdict in chunk)


def items_of(of: Snapshot, verdict_ids: Sequence[int]) -> dict[int, dict[str, float | str | None]]:
    """By verdict: its items, key -> value or answer."""
    return _by(
        of.rows(
            "SELECT verdict_id, key, coalesce(value, answer) AS said FROM items "
            f"WHERE verdict_id IN ({marks(verdict_ids)}) ORDER BY verdict_id, position",
            list(verdict_ids),
        ),
        "verdict_id",
    )


def items(of: Snapshot, dataset_id: int, run_id: int | None) -> Iterator[dict]:
    """Every item of every verdict with all that is known of it."""
    return of.rows(
        'SELECT c.external_id AS case_id, v.run_id AS run, i.position, i.key, i.kind, i."group", i.text, i.value, i.low, '
        "i.high, i.answer, i.expected, i.choices_json, i.node FROM runs r JOIN verdicts v ON v.run_id = r.id "
        "JOIN cases c ON c.id = v.case_id JOIN items i ON i.verdict_id = v.id "
        "WHERE r.dataset_id = ? AND (? IS NULL OR r.id = ?) ORDER BY v.id, i.position",
        [dataset_id, run_id, run_id],
    )


def reviews(of: Snapshot, dataset_id: int) -> Iterator[dict]:
    """Everything people said in a dataset, in the order they said it, with corrected items."""
    found = of.rows(
        f"SELECT r.*, {_CASE.format(of='r')}, w.name AS reviewer, d.queue, d.stratum, d.pi, "
        "(SELECT u.token FROM reviews u WHERE u.id = r.undoes) AS undoes, "
        "(SELECT u.created FROM reviews u WHERE u.undoes = r.id) AS undone, "
        "r.id IN (SELECT id FROM first_reviews) AS first, r.id IN (SELECT id FROM current_reviews) AS stands "
        "FROM reviews r JOIN cases c ON c.id = r.case_id "
        "JOIN reviewers w ON w.id = r.reviewer_id LEFT JOIN queue_draws d ON d.id = r.draw_id "
        "WHERE c.dataset_id = ? ORDER BY r.id",
        [dataset_id],
    )
    for chunk in chunks(found):
        said = corrections_of(of, [review["id"] for review in chunk])
        yield from ({**review, "items": said.get(review["id"], {})} for review in chunk)


def corrections_of(of: Snapshot, review_ids: Sequence[int]) -> dict[int, dict[str, float | str]]:
    """By review: the items that it corrected, key -> value or answer."""
    return _by(
        of.rows(
            "SELECT review_id, key, coalesce(value, answer) AS said FROM review_items "
            f"WHERE review_id IN ({marks(review_ids)})",
            list(review_ids),
        ),
        "review_id",
    )


def corrections(of: Snapshot, dataset_id: int) -> Iterator[dict]:
    """Every item that a person corrected, by the token of the review: a value or an answer."""
    return of.rows(
        "SELECT r.token, i.key, i.value, i.answer FROM reviews r JOIN cases c ON c.id = r.case_id "
        "JOIN review_items i ON i.review_id = r.id WHERE c.dataset_id = ? ORDER BY r.id, i.rowid",
        [dataset_id],
    )


def adjudications(of: Snapshot, dataset_id: int) -> Iterator[dict]:
    """Every decision of a lead in a dataset, in the order they came."""
    return of.rows(
        f"SELECT {_CASE.format(of='a')}, a.revision, a.criterion, w.name AS reviewer, a.label, a.reason, a.token, a.created "
        "FROM adjudications a JOIN cases c ON c.id = a.case_id JOIN reviewers w ON w.id = a.reviewer_id "
        "WHERE c.dataset_id = ? ORDER BY a.id",
        [dataset_id],
    )


def draws(of: Snapshot, dataset_id: int) -> Iterator[dict]:
    """Every case that was drawn for somebody in a dataset, in the order of the draws, labelled or not."""
    return of.rows(
        "SELECT d.queue, w.name AS reviewer, c.external_id AS case_id, d.criterion, d.stratum, d.pi, d.basis, d.created "
        "FROM queue_draws d JOIN cases c ON c.id = d.case_id JOIN reviewers w ON w.id = d.reviewer_id "
        "WHERE c.dataset_id = ? ORDER BY d.id",
        [dataset_id],
    )


def seen(of: Snapshot, dataset_id: int) -> Iterator[dict]:
    """Who has been shown a verdict on which revision of a case of a dataset, and when."""
    return of.rows(
        "SELECT w.name AS reviewer, c.external_id AS case_id, s.revision, s.seen FROM seen_verdicts s "
        "JOIN cases c ON c.id = s.case_id JOIN reviewers w ON w.id = s.reviewer_id WHERE c.dataset_id = ? "
        "ORDER BY s.reviewer_id, s.case_id, s.revision",
        [dataset_id],
    )


def runs(of: Snapshot, dataset_id: int, run_id: int | None = None) -> list[dict]:
    """The rows of the runs of a dataset with judge_name, oldest first; or of one."""
    return list(
        of.rows(
            "SELECT r.*, j.name AS judge_name FROM runs r JOIN judges j ON j.id = r.judge_id "
            "WHERE r.dataset_id = ? AND (? IS NULL OR r.id = ?) ORDER BY r.id",
            [dataset_id, run_id, run_id],
        )
    )


def run_cases(of: Snapshot, dataset_id: int) -> Iterator[dict]:
    """Which cases in which revision each run of a dataset was to judge, in order."""
    return of.rows(
        "SELECT rc.run_id AS run, rc.position, c.external_id AS case_id, rc.revision FROM runs r "
        "JOIN run_cases rc ON rc.run_id = r.id JOIN cases c ON c.id = rc.case_id WHERE r.dataset_id = ? "
        "ORDER BY r.id, rc.position",
        [dataset_id],
    )


def workspace_words(of: Snapshot, dataset_id: int) -> dict:
    """How a dataset is reviewed, and what its tags say: name, blind_share, overlap, badcase_tags (key, words, place)."""
    (found,) = of.rows("SELECT name, created, blind_share, overlap FROM datasets WHERE id = ?", [dataset_id])
    return {**found, "badcase_tags": list(of.rows("SELECT key, words, place FROM badcase_tags ORDER BY place"))}


def _by(found: Iterable[Mapping], owner: str) -> dict[int, dict]:
    grouped: dict[int, dict] = {}
    for r in found:
        grouped.setdefault(r[owner], {})[r["key"]] = r["said"]
    return grouped
