"""Load the sample workspace: cases, a recorded judge with its replies and runs, and what the two reviewers said.

It goes in by the same doors as anybody's data. Loading it again changes nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

from data.exchange import case_table
from data.exchange.pictures import Pictures
from data.exchange.tables import read_table
from data.runs import judge_run
from data.store import cases as case_store
from data.store import judges as judge_store
from data.store import queues, replies, reviews, runs
from evaluators.judges.question import Question, Reply, question_key
from evaluators.metrics import metric_named
from evaluators.metrics.wording import key_of
from evaluators.verdict import Options

FOLDER = Path(__file__).parent
JUDGE = "Sample judge (recorded)"
IDENTITY = {"model": "sample-judge", "endpoint": "recorded", "parameters": {}}
#: Dataset name by metric; the metric's name is also that of its table.
DATASETS = {
    "text_to_image": "Sample: text to image",
    "image_editing": "Sample: image editing",
    "image_text_match": "Sample: 图文匹配 (image-text match)",
    "gecko_image": "Sample: Gecko rubrics, images",
    "gecko_video": "Sample: Gecko rubrics, videos",
    "contextual_recall": "Sample: contextual recall",
}


def is_wanted() -> bool:
    """Whether the workspace is empty, or loading the sample into it was cut short."""
    there = {dataset["name"] for dataset in case_store.datasets()}
    if not there & set(DATASETS.values()):
        return not there
    return not all(_is_loaded(name) for name in DATASETS.values())


def load() -> None:
    """Fill the workspace with the sample datasets, as far as they are not there."""
    judge_store.save_recorded(JUDGE, IDENTITY)
    recorded = _recorded_replies()
    said = [json.loads(line) for line in _lines("reviews.jsonl")]
    for metric, dataset in DATASETS.items():
        if _is_loaded(dataset):
            continue
        table = FOLDER / f"{metric}.csv"
        rows = read_table(table.read_bytes(), table.name)
        case_table.save(dataset, case_table.match(rows, Pictures.at(FOLDER / "pictures")))
        _record(dataset, metric, recorded)
        run_id = _run(dataset, metric)
        for line in said:
            _review(dataset, metric, line, run_id)
        judge_run(run_id)


def _is_loaded(dataset: str) -> bool:
    """Judging comes last: once the run is done, so is the dataset."""
    known = case_store.dataset_id(dataset)
    return known is not None and any(run["status"] == "done" for run in runs.runs(known))


class _Script:
    """Plays the written replies once, so that each is stored under the key of the question it answers."""

    identity = IDENTITY

    def __init__(self, case_id: str, recorded: dict[tuple[str, str, int], Reply]):
        self._case_id, self._recorded = case_id, recorded

    async def ask(self, question: Question) -> Reply:
        attempt = 2 if question.retry_of else 1
        reply = self._recorded[self._case_id, question.aspect, attempt]
        key = question_key(question, IDENTITY)
        if replies.stored_reply(key) is None:
            replies.store_reply(key, question, reply)
        return reply


def _record(dataset: str, metric: str, recorded: dict[tuple[str, str, int], Reply]) -> None:
    wanted = case_store.CaseFilter(dataset_id=case_store.dataset_id(dataset))
    ids = [row["id"] for row in case_store.list_cases(wanted, 10_000)]
    for case in case_store.load_cases(ids).values():
        metric_named(metric).measure(case, _Script(case.id, recorded))


def _run(dataset: str, metric: str) -> int:
    """The run of a dataset, not judged yet; loading may have been broken off after it was written down."""
    dataset_id, judge = case_store.dataset_id(dataset), judge_store.judge_named(JUDGE)
    known = runs.runs(dataset_id)
    return known[0]["id"] if known else runs.create_run(dataset_id, metric_named(metric), judge, Options())


def _review(dataset: str, metric: str, line: dict, run_id: int) -> None:
    case_id = case_store.find_case(dataset, line["case_id"])
    if case_id is None:
        return  # it is about a case of another dataset
    criterion, reviewer_id = metric_named(metric).criterion, reviews.reviewer_named(line["reviewer"])
    queues.next_cases(case_store.dataset_id(dataset), criterion, reviewer_id, 1)
    reviews.save_review(
        reviews.Review(
            token=f"sample/{line['reviewer']}/{line['case_id']}",
            case_id=case_id,
            revision=1,
            criterion=criterion,
            reviewer_id=reviewer_id,
            label=line["label"],
            items={_item_key(name): corrected for name, corrected in line["items"].items()},
            tags=line["tags"],
            comment=line["comment"],
            blind=line["blind"],
            shown=not line["blind"],
            run_id=run_id,
            draw_id=queues.draw_of(case_id, criterion, reviewer_id),
            created=line["created"].replace("+00:00", ".000000Z"),
        )
    )


def _item_key(name: str) -> str:
    """`element:TEXT`, `question:TEXT` and `statement:TEXT` are written with their text; the store knows them by its hash."""
    kind, colon, text = name.partition(":")
    return key_of(kind, text) if colon else name


def _recorded_replies() -> dict[tuple[str, str, int], Reply]:
    found = {}
    for line in map(json.loads, _lines("replies.jsonl")):
        reply = Reply(line["text"], finish_reason=line.get("finish_reason", "stop"), refusal=line.get("refusal"))
        found[line["case_id"], line["aspect"], line["attempt"]] = reply
    return found


def _lines(name: str) -> list[str]:
    return (FOLDER / name).read_text(encoding="utf-8").splitlines()
