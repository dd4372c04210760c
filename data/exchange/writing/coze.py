"""The table of Coze's evaluators, with score and reasoning filled: input_images, user_prompt, result_image."""

from __future__ import annotations

import json
from collections.abc import Iterator

from data.exchange.writing.long import case_cells
from data.exchange.writing.table import PICTURE, Table, columns_of
from data.store import export as store
from data.store.export_wide import verdicts_of
from data.store.snapshot import Snapshot

_COLUMNS = columns_of("input_images user_prompt result_image score:number reasoning")


def coze_table(of: Snapshot, dataset_id: int, run_id: int) -> Table:
    """One row a case as Coze's users know it, with what a run said: its score 0-1 and its reasoning, or why there is
    none. Pictures stand there by the link or the name that they came by; input_images is a JSON list."""

    def rows() -> Iterator[dict]:
        for chunk in store.chunks(store.cases(of, dataset_id)):
            said = {v["case_id"]: v for v in verdicts_of(of, [case["id"] for case in chunk], [run_id])}
            for case in chunk:
                cells, verdict = case_cells(case), said.get(case["id"], {})
                is_ok = verdict.get("status") == "ok"
                yield {
                    "input_images": json.dumps(cells["input_images"], ensure_ascii=False),
                    "user_prompt": cells["prompt"],
                    "result_image": cells["result_image"],
                    "score": verdict.get("score"),
                    "reasoning": verdict.get("reason") if is_ok or not verdict else _why(verdict),
                    PICTURE: cells[PICTURE],
                }

    return Table("cases", _COLUMNS, store.count_rows(of, "cases", dataset_id), rows())


def _why(verdict: dict) -> str:
    return f"{verdict['status']}: {verdict['problem']}"
