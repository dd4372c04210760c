"""How long writing a large dataset takes, and how much memory: `python -m benchmarks.export_size [ROWS]`.

A dataset of 100,000 cases with a judge's verdicts (four sub-scores each) and the labels of two people is built in a
temporary workspace; then each format is written in a process of its own, whose peak memory is reported.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

from tests.memory import peak_megabytes

KEYS = ("SC.semantic_consistency", "SC.prompt_following", "PQ.naturalness", "PQ.artifacts")
WRITTEN = (
    ("everything", "csv"), ("everything", "xlsx"), ("everything", "jsonl"), ("everything", "parquet"),
    ("verdicts", "csv"), ("reviews", "csv"), ("agreement", "csv"), ("cases", "coze"), ("cases", "labelstudio"),
    ("cases", "bundle"),
)  # fmt: skip


def build(rows: int) -> None:
    """A dataset of so many judged and twice labelled cases in the empty workspace."""
    from data.store.connection import now, writing
    from data.store.judges import save_recorded
    from data.store.reviews import reviewer_named

    judge, people, at = save_recorded("recorded", {}), [reviewer_named("Ada"), reviewer_named("陈")], now()
    numbers = range(1, rows + 1)
    with writing() as db:

        def put(table: str, columns: str, values) -> None:
            marks = ",".join("?" * (columns.count(",") + 1))
            db.conn.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", values)

        put("datasets", "id, name, created", [(1, "large", at)])
        put(
            "cases",
            "id, dataset_id, external_id, prompt, generator, tags_json, created",
            (
                (n, 1, f"case-{n}", f"一只蓝色的鞋子 number {n // 4}, on grass", f"model {n % 3}", '["shoes"]', at)
                for n in numbers
            ),
        )
        columns = "case_id, revision, role, position, kind, text, source, problem"
        put(
            "parts",
            columns,
            ((n, 1, "input", 0, "text", f"一只蓝色的鞋子 number {n // 4}, on grass", "", "") for n in numbers),
        )
        link = "https://pictures.example/{}.png"
        put("parts", columns, ((n, 1, "output", 0, "image", "", link.format(n), "not fetched yet") for n in numbers))
        put(
            "runs",
            "id, dataset_id, judge_id, judge_json, metric, metric_version, metric_settings_json, criterion, "
            "threshold, options_json, prompts_json, status, created",
            [
                (
                    1,
                    1,
                    judge,
                    json.dumps({"name": "recorded", "kind": "recorded"}),
                    "text_to_image",
                    "1",
                    "{}",
                    "overall",
                    0.5,
                    json.dumps({"flaky": False}),
                    "{}",
                    "done",
                    at,
                )
            ],
        )
        put("run_cases", "run_id, position, case_id, revision", ((1, n, n, 1) for n in numbers))
        put(
            "verdicts",
            "id, run_id, case_id, revision, status, score, reason, flags_json, problem, steps_json, seconds, created",
            (
                (
                    n,
                    1,
                    n,
                    1,
                    "ok",
                    (n * 7919 % 1000) / 999,
                    "The shoe is blue and stands on grass, as asked for. " * 3,
                    "[]",
                    "",
                    "[]",
                    1.5,
                    at,
                )
                for n in numbers
            ),
        )
        put(
            "items",
            'verdict_id, position, key, kind, "group", text, value, low, high',
            ((n, p, key, "sub_score", key[:2], "", n % 11, 0, 10) for n in numbers for p, key in enumerate(KEYS)),
        )
        put(
            "queue_draws",
            "id, queue, reviewer_id, case_id, criterion, stratum, pi, basis, created",
            (
                (n * 2 + i, "random", person, n, "overall", "all", 1.0, "random", at)
                for n in numbers
                for i, person in enumerate(people)
            ),
        )
        put("reviews", "token, case_id, revision, criterion, reviewer_id, label, tags_json, comment, blind, run_id, draw_id, "
            "basis, created",
            ((f"{n}/{person}", n, 1, "overall", person, "usable" if (n + i) % 5 else "badcase", '["artefact"]', "手不对" * (n % 2),
              1, 1, n * 2 + i, "random", at) for n in numbers for i, person in enumerate(people)))  # fmt: skip
    with writing() as db:
        db.conn.execute("ANALYZE")  # SQLite plans by what the tables hold


def written(table: str, format: str, path: str) -> dict[str, float]:
    """Write one file; gives seconds, megabytes of the file and peak megabytes of this process."""
    from data.exchange.writing import write

    began = time.perf_counter()
    run_id = 1 if table == "agreement" or format == "coze" else None
    rows = write(table, "large", Path(path), format=format, run_id=run_id)["rows"]
    seconds, peak = time.perf_counter() - began, peak_megabytes()
    return {"rows": rows, "seconds": seconds, "file MB": os.path.getsize(path) / 1e6, "peak MB": peak}


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="second-look-bench-") as folder:
        os.environ["SECOND_LOOK_HOME"] = f"{folder}/home"
        processes = get_context("spawn")
        with processes.Pool(1) as pool:
            pool.apply(build, (rows,))
        print(f"{'table':12} {'format':12} {'rows':>9} {'seconds':>8} {'file MB':>8} {'peak MB':>8}")
        for table, format in WRITTEN:
            with processes.Pool(1, maxtasksperchild=1) as pool:
                found = pool.apply(written, (table, format, f"{folder}/out"))
            shown = f"{found['rows']:9,} {found['seconds']:8.1f} {found['file MB']:8.1f} {found['peak MB']:8.0f}"
            print(f"{table:12} {format:12} {shown}", flush=True)


if __name__ == "__main__":
    main()
