"""How fast the desk is: from a key to the next picture on the screen, and to the server's word that it is saved.

    python -m benchmarks.desk_speed [--cases 10000] [--steps 200] [--memory-steps 2000] [--only a,b,c]

(a) one reviewer alone, (b) one among ten, the nine others simulated by `desk_others`, (c) one while the worker judges
2,000 others at `quick_server`. Headless Chromium at the desk in the mode `Verdict shown`, image editing: two 1024 x 1024
PNGs of about 1.4 MB a case. Times are taken in the page, from the key's own time stamp to the change of the desk's
`data-painted` and `data-waiting`; keys come about 400 ms after the picture. (a) and (c) take turns, so that a machine that
gets slower slows both; compare their ratio. At last one sitting of 2,000 cases without thinking, on a server of its own,
and what the server's memory does meanwhile. Server, worker, judge, the others and the browser are processes of their own.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, sync_playwright

from benchmarks.desk_cases import JUDGED_DATASET, fill
from benchmarks.desk_others import COOKIE
from tests.browser.chromium import chromium
from tests.browser.conftest import App

REPOSITORY = Path(__file__).resolve().parent.parent
#: Milliseconds from a painted picture to the next key.
THINK = (300, 500)
TURNS = 4
WARM_UP = 5
LOADS = 5
_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-precise-memory-info",
]  # fmt: skip

#: In the page, before anything else: when a key was pressed, and when the desk said `painted` and `saved`.
WATCH = """
(() => {
  let desk = null
  let last = null // the newest key
  let unsaved = [] // keys whose entries the server has not acknowledged, oldest first
  let told = () => {}
  const started = Promise.withResolvers()

  function find(root) {
    for (const one of root.querySelectorAll("*")) {
      const found = one.matches(".desk") ? one : one.shadowRoot && find(one.shadowRoot)
      if (found) return found
    }
    return null
  }

  function notice() {
    const now = performance.now()
    const { painted, waiting } = desk.dataset
    if (painted) started.resolve(now)
    if (last && last.painted === null && painted && painted !== last.from) last.painted = now - last.at
    while (unsaved.length > Number(waiting)) {
      const key = unsaved.shift()
      key.saved = now - key.at
    }
    told()
  }

  function look() {
    desk = find(document)
    if (!desk) return requestAnimationFrame(look)
    new MutationObserver(notice).observe(desk, { attributeFilter: ["data-painted", "data-waiting"] })
    notice()
  }

  window.addEventListener("keydown", (event) => {
    last = { at: event.timeStamp, from: desk.dataset.painted, painted: null, saved: null }
    unsaved.push(last)
  }, { capture: true })

  window.watch = {
    first: started.promise,
    // The newest key, once what is asked for has happened to it.
    key: (what) => new Promise((done, fail) => {
      const state = () => JSON.stringify({ ...desk.dataset, connected: desk.isConnected, last, unsaved: unsaved.length })
      const late = setTimeout(() => fail(new Error(`no ${what} within 30 s: ${state()}`)), 30000)
      told = () => {
        if (last.painted === null || last[what] === null) return
        clearTimeout(late)
        told = () => {}
        done(last)
      }
      told()
    }),
  }
  if (document.documentElement) look()
  else requestAnimationFrame(look)
})()
"""


# --- the processes around the desk ---------------------------------------------------------------------------------------


@contextmanager
def served(home: Path) -> Iterator[App]:
    """The app on a workspace. What its log tells of an error is an error here."""
    app = App(home).start()
    try:
        yield app
    finally:
        app.stop()
    log = app.log.read_text()
    if "Traceback" in log or "A page failed" in log:
        raise RuntimeError(f"the server met an error:\n{log[-4000:]}")


@contextmanager
def colleagues(app: App, query: str, count: int = 9) -> Iterator[subprocess.Popen]:
    """Others who review at the same time; ends with an error if one of them met one."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.desk_others", app.url, query, "--count", str(count)],
        cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        if process.stdout.readline().strip() != "ready":
            raise RuntimeError("the simulated reviewers did not get to the desk")
        yield process
        process.stdin.close()
        told = process.stdout.read()
        if process.wait(60) != 0:
            raise RuntimeError("a simulated reviewer met an error, see above")
        taken = json.loads(told)["milliseconds"]
        note(f"The {count} others decided {len(taken)} times; acknowledged within {quantile(taken, 0.5):.0f} ms (p50), "
             f"{quantile(taken, 0.95):.0f} ms (p95).")  # fmt: skip
    finally:
        process.kill()


@contextmanager
def judge_at(delay: float) -> Iterator[str]:
    """A judge that answers after so many seconds; gives its base URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.quick_server", "--delay", str(delay)],
        cwd=REPOSITORY, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()


@contextmanager
def judging(url: str, rates: list[float]) -> Iterator[None]:
    """A run of 2,000 cases, all asked anew, under way by the worker that the app starts; cancelled at the end.

    It goes on during the whole block, or the block ends with an error. rates gets its cases a second.
    """
    from data.runs import start_worker
    from data.store import cases as case_store
    from data.store import judges as judge_store
    from data.store import run_figures
    from data.store import runs as run_store
    from evaluators import METRICS, EndpointSettings, Options

    judge_store.save_endpoint("quick", EndpointSettings("quick", url, mode="json_schema"))
    judge, metric = judge_store.judge_named("quick"), METRICS["image_editing"]
    run_id = run_store.create_run(case_store.dataset_id(JUDGED_DATASET), metric, judge, Options(), fresh=True)

    def until(is_so) -> dict:
        for _ in range(300):
            run = run_store.run_by_id(run_id)
            if is_so(run):
                return run
            time.sleep(0.1)
        raise RuntimeError(f"the run is {run['status']} with {run['done']} cases: {run['problem']}")

    start_worker(run_id)
    try:
        before, started = until(lambda run: run["done"] >= 10)["done"], time.perf_counter()
        yield
        run, seconds = run_store.run_by_id(run_id), time.perf_counter() - started
        summary = run_figures.summary(run_id)
        if run["status"] != "running" or summary["ok"] < run["done"]:
            raise RuntimeError(f"the run did not last, or its judge failed: {summary}")
        rates.append((run["done"] - before) / seconds)
    finally:
        run_store.request_cancel(run_id)
        until(lambda run: run["status"] != "running")
        time.sleep(1)  # for the process to be gone


def memory_of(app: App) -> float:
    """The server's resident memory in MB."""
    status = Path(f"/proc/{app.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


# --- the desk in a browser -----------------------------------------------------------------------------------------------


class Desk:
    """The desk in a browser of its own, with nothing in its cache, opened by a person."""

    def __init__(self, browser: Browser, app: App, query: str, person: str):
        self.context = browser.new_context(viewport={"width": 1440, "height": 900})
        self.context.add_cookies([{"name": COOKIE, "value": quote(person), "url": app.url}])
        self.context.add_init_script(WATCH)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"{app.url}/review?{query}", wait_until="commit")
        self.first_load: float = self.page.evaluate("watch.first")

    def press(self, wanted: str) -> dict[str, float]:
        """Label the case; gives the milliseconds to `painted` and, if that is `wanted`, to `saved`."""
        self.page.keyboard.press(random.choice("ub"))
        key = self.page.evaluate("what => watch.key(what)", wanted)
        if self.errors:
            raise RuntimeError(f"the page met an error: {self.errors[0]}")
        return key

    def think(self) -> None:
        self.page.wait_for_timeout(random.uniform(*THINK))

    def close(self) -> None:
        self.context.close()


@dataclass
class Figures:
    """What was measured under one condition, in milliseconds."""

    painted: list[float] = field(default_factory=list)
    saved: list[float] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)

    def step(self, desk: Desk, steps: int, others: subprocess.Popen | None = None) -> None:
        """So many decisions at the pace of a person."""
        for number in range(WARM_UP + steps):
            desk.think()
            key = desk.press("saved")
            if number >= WARM_UP:
                self.painted.append(key["painted"])
                self.saved.append(key["saved"])
            if others and others.poll() is not None:
                raise RuntimeError("a simulated reviewer met an error, see above")

    def load(self, browser: Browser, app: App, query: str, times: int = LOADS) -> None:
        """Open the desk so often, each time in a new browser, by a person who has been there before."""
        Desk(browser, app, query, "Newcomer").close()
        for _ in range(times):
            opened = Desk(browser, app, query, "Newcomer")
            self.loads.append(opened.first_load)
            opened.close()


def quantile(found: Sequence[float], share: float) -> float:
    """The smallest of the values that so large a share of them does not exceed."""
    return sorted(found)[max(0, math.ceil(share * len(found)) - 1)]


# --- what is measured ----------------------------------------------------------------------------------------------------


def alone_and_judging(browser: Browser, app: App, query: str, arguments: argparse.Namespace) -> dict[str, Figures]:
    """(a) and (c), in turns, with the same person in the same browser."""
    found = {which: Figures() for which in "ac" if which in arguments.only}
    desk = Desk(browser, app, query, "Ada")
    note(f"The very first load of a person, whose order of the cases is drawn then: {desk.first_load:.0f} ms.")
    steps, rates = math.ceil(arguments.steps / TURNS), []
    with judge_at(arguments.judge_delay) as url:
        for turn in range(TURNS):
            if "a" in found:
                found["a"].step(desk, steps)
                if turn == 0:
                    found["a"].load(browser, app, query)
            if "c" in found:
                with judging(url, rates):
                    found["c"].step(desk, steps)
                    if turn == 0:
                        found["c"].load(browser, app, query)
    if rates:
        note(f"The run judged {min(rates):.0f} to {max(rates):.0f} cases a second during the turns of (c).")
    desk.close()
    return found


def among_ten(browser: Browser, app: App, query: str, steps: int) -> Figures:
    """(b)."""
    found = Figures()
    desk = Desk(browser, app, query, "Bea")
    with colleagues(app, query) as others:
        found.step(desk, steps, others)
        found.load(browser, app, query)
    desk.close()
    return found


def long_sitting(browser: Browser, home: Path, query: str, steps: int) -> list[tuple[int, float, float]]:
    """One sitting as fast as the keys go; gives decisions, the server's MB and those of the page's scripts, now and then."""
    with served(home) as app:
        desk = Desk(browser, app, query, "Cleo")
        found = []
        for number in range(steps + 1):
            if number:
                desk.press("painted")
            if number in {steps * quarter // 4 for quarter in range(5)}:
                heap = desk.page.evaluate("performance.memory.usedJSHeapSize") / 1e6
                found.append((number, memory_of(app), heap))
        desk.press("saved")
        desk.close()
    return found


# --- the table -----------------------------------------------------------------------------------------------------------


_notes: list[str] = []


def note(sentence: str) -> None:
    """Something to print below the table."""
    _notes.append(sentence)


CONDITIONS = {"a": "(a) alone", "b": "(b) among ten", "c": "(c) during a run"}
MEASURES = {"painted": "key to next picture painted", "saved": "key to saved", "loads": "first load"}
TARGETS = {
    ("a", "painted"): "p50 <= 40, p95 <= 80",
    ("b", "painted"): "p95 <= 100",
    ("c", "painted"): "p50 of (a) + less than 20 %",
    ("a", "saved"): "p95 <= 300",
}


def tell(found: dict[str, Figures], memory: Sequence[tuple[int, float, float]]) -> None:
    """Print what was measured."""
    print("| | | n | p50 ms | p95 ms | target |\n| --- | --- | --- | --- | --- | --- |")
    for measure, words in MEASURES.items():
        for which in sorted(found):
            times = getattr(found[which], measure)
            print(f"| {words} | {CONDITIONS[which]} | {len(times)} | {quantile(times, 0.5):.0f} | "
                  f"{quantile(times, 0.95):.0f} | {TARGETS.get((which, measure), '')} |")  # fmt: skip
    if {"a", "c"} <= set(found):
        for measure in ("painted", "saved"):
            alone, during = (quantile(getattr(found[which], measure), 0.5) for which in "ac")
            target = "< 1.20" if measure == "painted" else ""
            print(f"| {MEASURES[measure]} | (c) / (a) | | {during / alone:.2f} | | {target} |")
    if memory:
        print("\n| decisions in one sitting | server MB | scripts in the page MB |\n| --- | --- | --- |")
        for number, server, heap in memory:
            print(f"| {number} | {server:.0f} | {heap:.0f} |")
        print(f"| growth of the server, target: flat | {memory[-1][1] - memory[0][1]:+.0f} | |")
    if _notes:
        print("\n" + "\n".join(_notes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=200, help="decisions measured under each condition")
    parser.add_argument("--memory-steps", type=int, default=2000, help="decisions of the long sitting, 0 for none")
    parser.add_argument("--only", default="a,b,c", help="which conditions")
    parser.add_argument("--judge-delay", type=float, default=0.2, help="seconds that the judge takes in (c)")
    arguments = parser.parse_args()
    arguments.only = arguments.only.split(",")
    needed = max(2 * (arguments.steps + TURNS * (WARM_UP + 1)), arguments.memory_steps + 1) + 10
    if arguments.cases < needed:
        parser.error(f"so many steps need {needed} cases")
    folder = Path(tempfile.mkdtemp(prefix="second-look-desk-"))
    home = folder / "home"
    os.environ["SECOND_LOOK_HOME"] = str(home)
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(1)
    )  # ended from outside: the processes around the desk end as well
    try:
        measure(home, arguments)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(home: Path, arguments: argparse.Namespace) -> None:
    """Fill a workspace, measure what is wanted, print."""
    started = time.perf_counter()
    query = fill(arguments.cases)
    note(f"Filled with {arguments.cases:,} cases in {time.perf_counter() - started:.0f} s.")
    found: dict[str, Figures] = {}
    memory: list[tuple[int, float, float]] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=_FLAGS)
        if set("abc") & set(arguments.only):
            with served(home) as app:
                if set("ac") & set(arguments.only):
                    found |= alone_and_judging(browser, app, query, arguments)
                if "b" in arguments.only:
                    found["b"] = among_ten(browser, app, query, arguments.steps)
        if arguments.memory_steps:
            memory = long_sitting(browser, home, query, arguments.memory_steps)
        browser.close()
    print(f"{os.cpu_count()} cores; {arguments.cases:,} cases of two pictures; the judge of (c) takes "
          f"{arguments.judge_delay * 1000:.0f} ms a call; {time.perf_counter() - started:.0f} s in all\n")  # fmt: skip
    tell(found, memory)


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main()
