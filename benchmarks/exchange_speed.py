"""How fast files come in, against sqlite-utils alone: `python -m benchmarks.exchange_speed [ROWS]`.

One CSV of cases with two judges' verdicts (score, reason, a sub-score each) and two people's labels a row. Three times are
printed: the import into an empty workspace, sqlite-utils inserting the CSV's rows into one table without any of the
checks, and sqlite-utils inserting the rows that the import wrote, table by table. Each runs in a process of its own; the
import's peak memory is that process's.
"""

from __future__ import annotations

import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.memory import peak_megabytes

ROWS = 100_000
LIMIT, MEMORY = 3.0, 500


def make(path: Path, rows: int) -> None:
    """Write the CSV; the same for every run."""
    dice = random.Random(7)
    words = "red blue shoes table cat dog street night rain paper glass 红色 的 鞋子 在 桌子 上".split()  # noqa: SIM905
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        judges = [
            f"{judge}.{field}" for judge in ("gpt-4o", "qwen-vl") for field in ("score", "reason", "item:SC.match")
        ]
        writer.writerow(["case_id", "prompt", "result_image", "generator", "tags", *judges, "rater1", "rater2"])
        for number in range(rows):
            prompt = " ".join(dice.choices(words, k=14)) + f" {number % (rows // 20 or 1)}"
            said = [
                cell
                for _ in range(2)
                for cell in (round(dice.random(), 3), " ".join(dice.choices(words, k=30)), dice.randint(0, 10))
            ]
            labels = [dice.choice(("usable", "badcase", "可用")) for _ in range(2)]
            link = f"https://example.com/pictures/{number}.png"
            writer.writerow([f"case-{number}", prompt, link, f"model-{number % 7}", "hands", *said, *labels])


def imported(path: Path) -> dict:
    """Seconds and peak megabytes of the import."""
    from data.exchange.gathering import proposals_for
    from data.exchange.importing import run_import
    from data.exchange.reading import Source
    from data.store.connection import database

    database()
    started = time.perf_counter()
    report = run_import("benchmark", proposals_for([Source.of_path(path)])).report
    seconds = time.perf_counter() - started
    counts = {kind: report[kind]["new"] for kind in ("cases", "verdicts", "reviews")}
    return {
        "seconds": seconds,
        "megabytes": peak_megabytes(),
        "rows": report["rows"],
        **counts,
        "problems": len(report["problems"]),
    }


def flat(path: Path) -> dict:
    """sqlite-utils inserts the CSV's rows into one table."""
    import sqlite_utils

    db = sqlite_utils.Database(path.parent / "flat.db")
    db.enable_wal()
    started = time.perf_counter()
    with path.open(encoding="utf-8-sig", newline="") as file:
        db["rows"].insert_all(csv.DictReader(file), pk="case_id")
    return {"seconds": time.perf_counter() - started, "megabytes": peak_megabytes()}


def same_rows(path: Path) -> dict:
    """sqlite-utils inserts the rows that the import wrote, read from its database, into the same empty schema."""
    import sqlite_utils

    from data.store.connection import open_database
    from data.store.migrations import MIGRATIONS

    source = sqlite_utils.Database(Path(os.environ["SECOND_LOOK_HOME"]) / "second_look.db")
    target = open_database(path.parent / "same.db")
    MIGRATIONS.apply(target)
    for trigger in target.triggers:  # what keeps the counts up to date is no part of inserting rows
        target.conn.execute(f"DROP TRIGGER {trigger.name}")
    tables = ("datasets", "judges", "reviewers", "cases", "parts", "runs", "run_cases", "verdicts", "items", "queue_draws",
              "reviews", "review_items")  # fmt: skip
    seconds = 0.0
    for table in tables:
        rows = [{name: value for name, value in row.items() if name != "cluster"} for row in source[table].rows]
        started = time.perf_counter()
        target[table].insert_all(rows)
        seconds += time.perf_counter() - started
    return {"seconds": seconds, "rows": sum(target[table].count for table in tables)}


def _apart(part: str, path: Path, home: Path) -> dict:
    command = [sys.executable, "-m", "benchmarks.exchange_speed", "--part", part, str(path)]
    done = subprocess.run(
        command, env={**os.environ, "SECOND_LOOK_HOME": str(home)}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def main() -> None:
    if sys.argv[1:2] == ["--part"]:
        part = {"imported": imported, "flat": flat, "same": same_rows}[sys.argv[2]]
        print(json.dumps(part(Path(sys.argv[3]))))
        return
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with tempfile.TemporaryDirectory() as folder:
        path, home = Path(folder) / "cases.csv", Path(folder) / "home"
        make(path, rows)
        found = {part: _apart(part, path, home) for part in ("imported", "flat", "same")}
    ours, alone, same = found["imported"], found["flat"], found["same"]
    print(f"{rows:,} rows of CSV: {ours['cases']:,} cases, {ours['verdicts']:,} verdicts, {ours['reviews']:,} labels")
    print(f"import:                                      {ours['seconds']:6.1f} s, {ours['megabytes']:.0f} MB at most")
    print(f"sqlite-utils, the CSV into one table:        {alone['seconds']:6.1f} s, {alone['megabytes']:.0f} MB")
    print(f"sqlite-utils, the {same['rows']:,} rows of all tables: {same['seconds']:6.1f} s")
    times = [ours["seconds"] / one["seconds"] for one in (alone, same)]
    print(
        f"the import takes {times[0]:.1f} times the one table, {times[1]:.1f} times the same rows (at most {LIMIT:g})"
    )
    if times[1] > LIMIT or ours["megabytes"] > MEMORY or ours["problems"]:
        raise SystemExit("too slow, too large, or not everything came in")


if __name__ == "__main__":
    main()
