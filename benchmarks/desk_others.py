"""Reviewers without a browser: sessions that speak Streamlit's protocol and do what the desk's scripts do.

python -m benchmarks.desk_others http://127.0.0.1:8501 "dataset=1&run=1&mode=shown" --count 9

It prints `ready` once all of them sit before their first case, and goes on until its input ends; then it prints how
often they decided and how long the server took to acknowledge that, as JSON. Whatever goes wrong for one of them ends
it with a traceback.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import random
import secrets
import sys
import time
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

import websockets
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

COOKIE = "second_look_reviewer"
#: Seconds that they look at a case.
THINK = (1.0, 2.0)
_PATIENCE = 30.0


class WentWrong(RuntimeError):  # noqa: N818 - it names what happened
    """The server said something that a reviewer should never read."""


class Reviewer:
    """One session: a name, a websocket, a connection for pictures, and the outbox."""

    def __init__(self, base: str, query: str, name: str):
        self.base, self.query, self.name = base, query, name
        self.decided: set[int] = set()
        self.entries: list[dict] = []
        self.round = 0
        self.seconds: list[float] = []
        self.data: dict = {}
        self.desk_id = self.page_hash = ""
        self.kept: dict[str, ForwardMsg] = {}  # messages that the server need not send again
        self.fetched: set[str] = set()
        self.pictures = http.client.HTTPConnection(urlsplit(base).netloc, timeout=_PATIENCE)
        self.ready = asyncio.Event()

    async def sit(self, stop: asyncio.Event) -> None:
        """Open the desk and decide case after case until told to stop."""
        async with websockets.connect(
            f"{self.base.replace('http', 'ws', 1)}/_stcore/stream", subprotocols=["streamlit"], origin=self.base,
            additional_headers={"Cookie": f"{COOKIE}={quote(self.name)}"}, max_size=None,
        ) as self.socket:  # fmt: skip
            await self.rerun()
            await asyncio.to_thread(self.fetch_pictures)
            self.ready.set()
            while not stop.is_set():
                await asyncio.sleep(random.uniform(*THINK))
                await self.decide()
                await asyncio.to_thread(self.fetch_pictures)

    async def decide(self) -> None:
        """Label the next case as `enter` in desk.js does; wait until the server holds it."""
        case = next((c for c in self.data["cases"] if c["id"] not in self.decided), None)
        if case is None:
            raise WentWrong(f"{self.name} was offered nothing new")
        self.decided.add(case["id"])
        self.entries.append(
            {
                "kind": "review", "reviewer": self.data["reviewer"], "case_id": case["id"],
                "revision": case["revision"], "draw_id": case["draw_id"], "run_id": self.data["run_id"],
                "criterion": self.data["criterion"], "label": random.choice(("usable", "badcase")), "items": {},
                "tags": [], "comment": "", "blind": case["verdict"] is None, "dwell_ms": 1500,
                "token": secrets.token_hex(16), "place": self.round + 1, "decided": datetime.now(UTC).isoformat(),
            }
        )  # fmt: skip
        self.round += 1
        started = time.perf_counter()
        await self.rerun({"outbox": {"round": self.round, "entries": self.entries}})
        self.seconds.append(time.perf_counter() - started)
        self.entries = [entry for entry in self.entries if entry["token"] not in self.data["settled"]]
        if self.entries or self.data["refused"] or self.data["trouble"]:
            raise WentWrong(f"{self.name}: not settled {self.entries}, refused {self.data['refused']}, "
                            f"trouble {self.data['trouble']!r}")  # fmt: skip

    async def rerun(self, state: dict | None = None) -> None:
        """Ask for a run of the page's script and take in all that comes of it."""
        asked = BackMsg()
        asked.rerun_script.query_string, asked.rerun_script.page_name = self.query, "review"
        asked.rerun_script.page_script_hash = self.page_hash
        asked.rerun_script.cached_message_hashes.extend(self.kept)
        if state is not None:
            widget = asked.rerun_script.widget_states.widgets.add()
            widget.id, widget.json_value = self.desk_id, json.dumps(state)
        await self.socket.send(asked.SerializeToString())
        while True:
            message = ForwardMsg.FromString(await asyncio.wait_for(self.socket.recv(), _PATIENCE))
            if message.WhichOneof("type") == "ref_hash":
                message = self.kept[message.ref_hash]
            elif message.metadata.cacheable:
                self.kept[message.hash] = message
            kind = message.WhichOneof("type")
            if kind == "navigation":
                self.page_hash = message.navigation.page_script_hash
            elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                self.take(message.delta.new_element)
            elif kind == "script_finished":
                if message.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
                    raise WentWrong(f"{self.name}: the script ended as {message.script_finished}")
                break
        self.forget()
        if not self.data:
            raise WentWrong(f"{self.name} was shown no desk")

    def take(self, element) -> None:
        """One element of the page: the desk's data, or an error, which is not what a reviewer came for."""
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise WentWrong(f"{self.name}: {element.exception.type} {element.exception.message}")
        if kind == "alert" and element.alert.format == Alert.ERROR:
            raise WentWrong(f"{self.name}: {element.alert.body}")
        if kind == "bidi_component" and element.bidi_component.component_name.endswith("second_look_desk"):
            self.desk_id, self.data = element.bidi_component.id, json.loads(element.bidi_component.json)

    def forget(self) -> None:
        """Keep the few newest messages only: the desk's own is another one each time."""
        self.kept = dict(list(self.kept.items())[-8:])

    def fetch_pictures(self) -> None:
        """What the desk holds ready: the pictures of the first cases that have not been fetched yet."""
        coming = [case for case in self.data["cases"] if case["id"] not in self.decided][:6]
        wanted = [picture["url"] for case in coming for picture in (*case["inputs"], *case["results"])]
        for url in wanted:
            if url in self.fetched:
                continue
            self.pictures.request("GET", url)
            answer = self.pictures.getresponse()
            if answer.status != 200 or not answer.read():
                raise WentWrong(f"{self.name}: {url} answered {answer.status}")
        self.fetched = set(wanted)


async def review(base: str, query: str, count: int) -> None:
    """Let so many reviewers work until the input ends; print how it went."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin, lambda: (loop.remove_reader(sys.stdin), stop.set()))
    everybody = [Reviewer(base, query, f"Colleague {number}") for number in range(1, count + 1)]
    async with asyncio.TaskGroup() as group:
        for one in everybody:
            group.create_task(one.sit(stop))
        for one in everybody:
            await one.ready.wait()
        print("ready", flush=True)
    idle = [one.name for one in everybody if not one.seconds]
    if idle:
        raise WentWrong(f"decided nothing: {', '.join(idle)}")
    print(json.dumps({"milliseconds": [1000 * taken for one in everybody for taken in one.seconds]}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="where the app is")
    parser.add_argument("query", help="the address of the desk after the question mark")
    parser.add_argument("--count", type=int, default=9)
    arguments = parser.parse_args()
    asyncio.run(review(arguments.base, arguments.query, arguments.count))
