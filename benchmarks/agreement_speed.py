"""How fast the Agreement page is over many reviews.

    python -m benchmarks.agreement_speed [--reviews 1000,10000,100000] [--prompts 2000] [--loads 7]

For each number of reviews a workspace of its own: as many cases (5 pictures a prompt at most, so that more reviews mean more
prompts; then the same reviews over at most --prompts prompts), all judged, each labelled blind by one of eight people, a
tenth by two. Told: counting everything anew after an import (once), counting what ten more labels changed, the report of the
page's first view, and the page itself: in headless Chromium from a click on Agreement to the sentence on the screen, median
of --loads clicks in a session that was elsewhere. Compare the columns of one run, not figures of two machines.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.chromium import chromium
from tests.browser.conftest import App

PEOPLE = 8
IMAGES_A_PROMPT = 5


def fill(reviews_wanted: int, prompts: int) -> int:
    """A workspace with that many reviews; gives the run."""
    from data.store import judges as judge_store
    from data.store import reviews
    from data.store import runs as run_store
    from data.store.connection import insert, insert_many, now, writing
    from evaluators import METRICS, Options

    chance, cases = random.Random(reviews_wanted), round(reviews_wanted / 1.1)
    judge_store.save_recorded("judge", {"model": "judge"})
    people = [reviews.reviewer_named(f"person {i}") for i in range(PEOPLE)]
    with writing() as db:
        dataset = insert(db, "datasets", name="many", created=now())
        columns = ("dataset_id", "external_id", "prompt", "generator", "tags_json", "created")
        insert_many(db, "cases", columns, [
            (dataset, f"c{i}", f"A prompt of some length about thing number {i % prompts}", f"generator {i % 5}", [], now())
            for i in range(cases)
        ])  # fmt: skip
        run = run_store.create_run(dataset, METRICS["text_to_image"], judge_store.judge_named("judge"), Options())
        db.conn.execute("UPDATE runs SET status = 'done' WHERE id = ?", [run])
        chosen = [case_id for case_id, _revision in run_store.open_cases(run)]
        flagged = {case_id: chance.random() < 0.2 for case_id in chosen}
        columns = ("run_id", "case_id", "revision", "status", "score", "reason", "flags_json", "problem", "steps_json",
                   "seconds", "created")  # fmt: skip
        insert_many(db, "verdicts", columns, [
            (run, case_id, 1, "ok", round(chance.uniform(0, 0.49) if flagged[case_id] else chance.uniform(0.5, 1), 2), "", [],
             "", [], 0.0, now())
            for case_id in chosen
        ])  # fmt: skip
        said = [(case_id, people[case_id % PEOPLE]) for case_id in chosen]
        said += [(case_id, people[(case_id + 1) % PEOPLE]) for case_id in chosen[: reviews_wanted - cases]]
        columns = ("queue", "reviewer_id", "case_id", "criterion", "stratum", "pi", "basis", "created")
        insert_many(db, "queue_draws", columns, [
            ("random", reviewer, case_id, "overall", "all", 1.0, "random", now()) for case_id, reviewer in said
        ])  # fmt: skip
        first = db.conn.execute("SELECT min(id) FROM queue_draws").fetchone()[0]
        columns = ("token", "case_id", "revision", "criterion", "reviewer_id", "label", "tags_json", "comment", "blind",
                   "draw_id", "basis", "created")  # fmt: skip
        insert_many(db, "reviews", columns, [
            (f"t{i}", case_id, 1, "overall", reviewer,
             "badcase" if flagged[case_id] == (chance.random() < 0.88) else "usable", [], "", 1, first + i, "random", now())
            for i, (case_id, reviewer) in enumerate(said)
        ])  # fmt: skip
    return run


def timed(what) -> tuple[float, object]:
    """Seconds, and what came of it."""
    started = time.perf_counter()
    found = what()
    return time.perf_counter() - started, found


def measure(reviews_wanted: int, prompts: int, loads: int) -> dict[str, float]:
    """Seconds by what took them, in an empty workspace."""
    from data.reports.headline import agreement_report
    from data.store import connection, counts, reviews
    from data.store.connection import rows, value

    with tempfile.TemporaryDirectory() as folder:
        os.environ["SECOND_LOOK_HOME"] = str(Path(folder) / "home")
        run = fill(reviews_wanted, prompts)
        anew, _ = timed(counts.refresh)
        for case in rows("SELECT id FROM cases ORDER BY id LIMIT 10"):
            reviews.undo_review(f"undo {case['id']}", f"t{case['id'] - 1}", case["id"] % PEOPLE + 1)
        a_little, _ = timed(counts.refresh)
        report, found = timed(lambda: agreement_report(run))
        told = {
            "reviews": value("SELECT count(*) FROM reviews WHERE label IS NOT NULL"), "prompts": found["prompts"],
            "count all anew": anew, "count ten labels": a_little, "report": report,
        }  # fmt: skip
        connection.close()
        app = App(Path(folder) / "home").start()
        try:
            return told | {"page": opened(app.url, loads)}
        finally:
            app.stop()


def opened(url: str, loads: int) -> float:
    """Seconds from the click on Agreement to the headline, the median."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        page = browser.new_page()
        page.goto(url)
        page.get_by_label("Your name").fill("Lead")
        page.get_by_role("button", name="Start").click()
        page.get_by_role("heading", name="What to do next").wait_for()
        took = []
        for _ in range(loads):
            page.get_by_test_id("stSidebarNavItems").get_by_role("link", name="Judges").click()
            page.get_by_role("heading", name="Judges").first.wait_for()
            page.wait_for_timeout(500)
            link = page.get_by_test_id("stSidebarNavItems").get_by_role("link", name="Agreement")
            took.append(
                timed(lambda link=link: (link.click(), page.get_by_text("blind, randomly drawn cases").wait_for()))[0]
            )
        browser.close()
    return statistics.median(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reviews", default="1000,10000,100000")
    parser.add_argument("--prompts", type=int, default=2000)
    parser.add_argument("--loads", type=int, default=7)
    asked = parser.parse_args()
    sizes = [int(n) for n in asked.reviews.split(",")]
    print(
        f"{'reviews':>9} {'prompts':>9} {'count all anew':>15} {'count ten labels':>17} {'report':>8} {'page':>8}   seconds"
    )
    for limit in (None, asked.prompts):
        for size in sizes:
            most = max(1, size // IMAGES_A_PROMPT)
            found = measure(size, most if limit is None else min(limit, most), asked.loads)
            print(
                f"{found['reviews']:>9,} {found['prompts']:>9,} {found['count all anew']:>15.2f} "
                f"{found['count ten labels']:>17.3f} {found['report']:>8.3f} {found['page']:>8.3f}"
            )


if __name__ == "__main__":
    main()
