"""How fast the worker judges, against a bare loop with the same client: `make bench`, or

    python -m benchmarks.run_speed [--sizes 200,1000,5000] [--rounds 3]

text_to_image (two calls a case) on 512 x 512 PNGs of about 400 kB, against a server of our own that answers 200 ms
after it has the whole request. Server and worker are processes of their own. The floor sends the same requests, put
together beforehand, as plain arguments of the client's call: no store, no pictures to prepare, no replies to read. All
figures of a table are of one call of this program; compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from tests.memory import peak_megabytes

REPOSITORY = Path(__file__).resolve().parent.parent
DELAY = 0.2
CALLS_PER_CASE = 2


# --- the cases ---------------------------------------------------------------------------------------------------------


def picture(number: int) -> bytes:
    """A PNG of about 400 kB; every number gives other bytes, every 50th the same pixels."""
    if number % 50 not in _pictures:
        import numpy as np
        from PIL import Image

        noise = np.random.default_rng(number % 50).normal(0, 3.2, (512, 512, 3))
        slope = np.linspace(0, 200, 512)[None, :, None] * 0.5 + np.linspace(0, 200, 512)[:, None, None] * 0.5
        buffer = io.BytesIO()
        Image.fromarray((slope + 25 + noise).clip(0, 255).astype("uint8")).save(buffer, "PNG", compress_level=1)
        _pictures[number % 50] = buffer.getvalue()
    content, note = _pictures[number % 50], b"tEXtnumber\0%d" % number
    chunk = struct.pack(">I", len(note) - 4) + note + struct.pack(">I", zlib.crc32(note))
    return content[:-12] + chunk + content[-12:]


_pictures: dict[int, bytes] = {}


def fill(cases: int) -> int:
    """A dataset of that many cases in the workspace; gives its id."""
    from data.images import keep, kept_part
    from data.store import cases as case_store
    from evaluators import Case, Part

    name = f"{cases} cases"
    for start in range(0, cases, 500):
        made, kept = [], []
        for number in range(start, min(cases, start + 500)):
            kept.append(keep(picture(number), f"{number}.png"))
            result = kept_part(kept[-1], f"{number}.png")
            made.append(Case(f"c{number}", (Part.of_text(f"a gradient, number {number}"),), (result,)))
        case_store.save_cases(name, made, kept)
    return case_store.dataset_id(name)


# --- what is measured: each in a process of its own ----------------------------------------------------------------------


def measured_engine(url: str, cases: int, concurrency: int) -> dict:
    """A whole run by the worker, from claim to the last verdict."""
    from data.runs import judge_run
    from data.store import cases as case_store
    from data.store import judges as judge_store
    from data.store import run_figures
    from data.store import runs as run_store
    from evaluators import METRICS, EndpointSettings, Options

    name = f"quick {time.time()}"
    judge_store.save_endpoint(name, EndpointSettings("quick", url, mode="json_schema", concurrency=concurrency))
    dataset, judge = case_store.dataset_id(f"{cases} cases"), judge_store.judge_named(name)
    run_id = run_store.create_run(dataset, METRICS["text_to_image"], judge, Options(), fresh=True)
    with Stopwatch() as watch:
        judge_run(run_id)
    found = run_figures.summary(run_id)
    assert (found["status"], found["ok"], found["calls"]) == ("done", cases, cases * CALLS_PER_CASE), found
    return watch.figures | {
        "sent_bytes": found["sent_bytes"] / cases,
        "tokens": (found["input_tokens"] + found["output_tokens"]) / cases,
    }


def measured_floor(url: str, cases: int, concurrency: int) -> dict:
    """The same requests in a bare loop with the same client."""
    import openai

    from evaluators.judges.endpoint import EndpointJudge, EndpointSettings

    async def send() -> Stopwatch:
        bodies = await _requests(EndpointJudge(EndpointSettings("quick", url, mode="json_schema")), cases)
        client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
        free = asyncio.Semaphore(concurrency)

        async def call(body: dict) -> None:
            async with free:
                assert (await client.chat.completions.create(**body)).choices[0].message.content

        with Stopwatch() as watch:
            await asyncio.gather(*(call(body) for body in bodies))
        await client.close()
        return watch

    return asyncio.run(send()).figures


async def _requests(judge, cases: int) -> list[dict]:
    from data.store import cases as case_store
    from evaluators import METRICS, Options

    ids = [
        row["id"]
        for row in case_store.list_cases(case_store.CaseFilter(case_store.dataset_id(f"{cases} cases")), cases)
    ]
    questions = [
        question
        for case in case_store.load_cases(ids).values()
        for question in METRICS["text_to_image"].opening_questions(case, Options())
    ]
    bodies = [await judge.request(question) for question in questions]
    return [{**body, **body.pop("extra_body")} for body in bodies]  # as anybody would call the client


class Stopwatch:
    """Wall and CPU seconds of a block, and the most memory the process ever had, in MB."""

    def __enter__(self) -> Stopwatch:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.figures = {
            "wall": time.perf_counter() - self._wall, "cpu": time.process_time() - self._cpu, "memory": peak_megabytes(),
        }  # fmt: skip


def apart(what: str, *arguments: object) -> dict:
    """One measurement in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.run_speed", "--measure", what, *map(str, arguments)],
        cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


# --- the table -----------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="200,1000,5000", help="cases, for time and memory by size")
    parser.add_argument("--rounds", type=int, default=3, help="how often engine and floor take turns")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        what, url, cases, concurrency = arguments.measure
        measure = {"engine": measured_engine, "floor": measured_floor}[what]
        print(json.dumps(measure(url, int(cases), int(concurrency))))
        return
    sizes = [int(size) for size in arguments.sizes.split(",")]
    os.environ["SECOND_LOOK_HOME"] = home = tempfile.mkdtemp(prefix="second-look-bench-")
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.quick_server", "--delay", str(DELAY)],
        cwd=REPOSITORY, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        tell(server.stdout.readline().strip(), sizes, arguments.rounds)
    finally:
        server.kill()
        shutil.rmtree(home, ignore_errors=True)


def tell(url: str, sizes: list[int], rounds: int) -> None:
    """Measure and print."""
    fill(200)
    print(f"{os.cpu_count()} cores; 200 cases, {CALLS_PER_CASE} calls each, {DELAY * 1000:.0f} ms a call; "
          f"medians of {rounds} rounds")  # fmt: skip
    print("| in flight | | wall s | wall / ideal | CPU s | peak MB | kB sent a case | tokens a case |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for concurrency in (20, 40):
        ideal = 200 * CALLS_PER_CASE * DELAY / concurrency
        taken: dict[str, list[dict]] = {"floor": [], "engine": []}
        for _ in range(rounds):
            for what, found in taken.items():
                found.append(apart(what, url, 200, concurrency))
        middle = {what: _median(found) for what, found in taken.items()}
        for what, m in middle.items():
            sent = f"{m['sent_bytes'] / 1000:.0f} | {m['tokens']:.0f}" if what == "engine" else "the same | the same"
            print(f"| {concurrency} | {what} | {m['wall']:.2f} | {m['wall'] / ideal:.2f} | {m['cpu']:.2f} | "
                  f"{m['memory']:.0f} | {sent} |")  # fmt: skip
        engine, floor = middle["engine"], middle["floor"]
        print(f"| {concurrency} | engine / floor | {engine['wall'] / floor['wall']:.2f} | | "
              f"{engine['cpu'] / floor['cpu']:.2f} | | | |", flush=True)  # fmt: skip
    print("\n| cases, 40 in flight | wall s | ms a case | CPU ms a case | peak MB |\n| --- | --- | --- | --- | --- |")
    for cases in sizes:
        fill(cases)
        m = apart("engine", url, cases, 40)
        print(f"| {cases} | {m['wall']:.1f} | {m['wall'] / cases * 1000:.1f} | {m['cpu'] / cases * 1000:.1f} | "
              f"{m['memory']:.0f} |", flush=True)  # fmt: skip


def _median(found: list[dict]) -> dict:
    return {name: statistics.median(one[name] for one in found) for name in found[0]}


if __name__ == "__main__":
    main()
