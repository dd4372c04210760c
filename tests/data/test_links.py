"""Links are fetched once, from public addresses only, within limits; a case waits for its picture without a hurry."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import httpcore2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import links
from data.links import fetching, worker
from data.links.network import AddressRefused, PublicOnly, _not_looked_up, is_public
from data.store import cases as case_store
from data.store import links as store
from data.store import reviews
from data.store.reviews import Review
from evaluators.case import Case, Part
from tests.conftest import REPOSITORY, png


class Pictures(BaseHTTPRequestHandler):
    """Answers by path; counts what is asked, and how many ask at once."""

    protocol_version = "HTTP/1.1"
    asked: Counter
    most = at_once = 0
    lock = threading.Lock()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        with self.lock:
            self.asked[self.path] += 1
            type(self).at_once += 1
            type(self).most = max(self.most, self.at_once)
        try:
            self._answer(path)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with self.lock:
                type(self).at_once -= 1

    def _answer(self, path: str) -> None:
        if path.startswith("/slow"):
            time.sleep(0.15)
        if path == "/flaky.png" and self.asked[self.path] == 1:
            return self._send(503, b"busy")
        if path in ("/moved.png", "/loop", "/out"):
            where = {"/moved.png": "/red.png?x=1", "/loop": "/loop", "/out": "ftp://elsewhere.example/a.png"}[path]
            return self._send(302, b"", Location=where)
        if path == "/endless.png":
            self.send_response(200)
            self.end_headers()
            for _ in range(10_000):
                self.wfile.write(b"x" * 100_000)
            return None
        found = {"/page.png": b"<!doctype html><p>log in", "/cut.png": png("red", (300, 300))[:200], "/empty.png": b""}
        if path.endswith(".png"):
            return self._send(200, found.get(path, png("red" if path == "/red.png" else "blue")))
        return self._send(404, b"no such page")

    def _send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def served():
    """A server of pictures: its handler class and its address."""

    class Handler(Pictures):
        asked: ClassVar = Counter()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Handler, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch):
    monkeypatch.setattr(fetching, "PAUSES", (0.05, 0.05))


@pytest.fixture
def allowed(monkeypatch):
    """Links to this machine are allowed."""
    monkeypatch.setenv(links.ALLOW_PRIVATE, "1")


def linked(case_id: str, link: str, prompt: str = "a square") -> Case:
    return Case(case_id, (Part.of_text(prompt),), (Part("image", source=link, problem=store.NOT_FETCHED),))


def given_links(*addresses: str) -> int:
    """A dataset with a case for each link: c0, c1, …"""
    case_store.save_cases("shoes", [linked(f"c{n}", address) for n, address in enumerate(addresses)])
    return case_store.dataset_id("shoes")


def results() -> list[Part]:
    ids = [row["id"] for row in case_store.list_cases(case_store.CaseFilter(), 1000)]
    return [case.output[0] for case in case_store.load_cases(ids).values()]


# --- which addresses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fe80::1%eth0",
        "fc00::1", "fd12::1", "ff02::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::",
        "::127.0.0.1", "fec0::1", "feff::1", "nonsense", "",
    ],
)  # fmt: skip
def test_addresses_behind_our_door_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]
)
def test_addresses_of_the_open_internet_are_public(address):
    assert is_public(address)


@given(st.integers(0, 2**32 - 1))
def test_an_address_is_as_public_as_what_is_wrapped_in_it(number):
    plain = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    assert is_public(f"::ffff:{plain}") == is_public(plain)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0"])
def test_this_machine_is_not_asked_however_it_is_written(host, served):
    handler, address = served
    given_links(f"http://{host}:{address.rpartition(':')[2]}/red.png")
    assert links.fetch_links() == {"fetched": 0, "failed": 1}
    assert "not a public address; set SECOND_LOOK_ALLOW_PRIVATE_LINKS=1" in results()[0].problem
    assert not handler.asked


def test_a_name_is_looked_up_once_and_the_checked_address_is_asked(served, allowed):
    """The second answer of a name server that changes its mind is never asked for."""
    _, address = served
    answers = [["127.0.0.1"], ["203.0.113.7"]]

    async def resolve(host: str, port: int) -> list[str]:
        assert host == "pictures.example"
        return answers.pop(0)

    async def fetch(file) -> None:
        async with httpcore2.AsyncConnectionPool(network_backend=PublicOnly(resolve)) as pool:
            await fetching.fetch(f"http://pictures.example:{address.rpartition(':')[2]}/red.png", pool, file)

    with tempfile.TemporaryFile() as file:
        asyncio.run(fetch(file))
        file.seek(0)
        assert file.read() == png("red")
    assert len(answers) == 1


def test_a_name_with_one_private_address_is_refused():
    async def resolve(host: str, port: int) -> list[str]:
        return ["93.184.216.34", "10.0.0.1"]

    with pytest.raises(AddressRefused, match=r"is at 10\.0\.0\.1"):
        asyncio.run(PublicOnly(resolve).connect_tcp("pictures.example", 80))


def test_every_hop_of_a_redirect_is_checked(served, allowed, monkeypatch):
    """While the first answer is given, addresses of this network stop being allowed."""

    class Redirecting(served[0]):
        def _answer(self, path: str) -> None:
            monkeypatch.delenv(links.ALLOW_PRIVATE)
            self._send(302, b"", Location="http://169.254.169.254/latest/meta-data")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Redirecting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    given_links(f"http://127.0.0.1:{server.server_port}/a.png")
    links.fetch_links()
    server.shutdown()
    server.server_close()
    assert "169.254.169.254, which is not a public address" in results()[0].problem


# --- what comes --------------------------------------------------------------------------------------------------------


def test_a_link_is_fetched_once_for_all_cases_that_name_it(served, allowed):
    handler, address = served
    given_links(*[f"{address}/red.png"] * 3, f"{address}/blue.png")
    assert links.fetch_links() == {"fetched": 2, "failed": 0}
    assert [(part.problem, part.path.read_bytes() == png("red"), part.source) for part in results()] == [
        ("", True, f"{address}/red.png"), ("", True, f"{address}/red.png"), ("", True, f"{address}/red.png"),
        ("", False, f"{address}/blue.png"),
    ]  # fmt: skip
    case_store.save_cases("boots", [linked("later", f"{address}/red.png")])
    assert links.fetch_links() == {"fetched": 1, "failed": 0}
    assert handler.asked == {"/red.png": 1, "/blue.png": 1}
    assert store.progress() == {"links": 2, "fetched": 2, "failed": 0, "waiting": 0, "alive": False}


def test_a_fetched_picture_completes_the_case_and_changes_nothing_else(served, allowed):
    _, address = served
    dataset = given_links(f"{address}/red.png")
    ada = reviews.reviewer_named("Ada")
    reviews.save_review(Review("t", 1, 1, "overall", ada, "usable"))
    links.fetch_links()
    assert case_store.revision_of(1) == 1 and reviews.reviewed_count(dataset, "overall", ada) == 1
    again = [linked("c0", f"{address}/red.png")]
    assert case_store.compare("shoes", again) == case_store.save_cases("shoes", again) == case_store.Saved(unchanged=1)
    assert results()[0].sha256
    changed = [linked("c0", f"{address}/red.png", "another prompt")]
    assert case_store.save_cases("shoes", changed) == case_store.Saved(changed=1, set_aside=1)
    assert case_store.revision_of(1) == 2 and results()[0].sha256


def test_a_file_given_for_a_link_completes_the_case_as_well(served):
    from data.images import keep

    given_links("https://pictures.example/red.png")
    picture = keep(png("red"), "red.png")
    part = Part("image", sha256=picture.sha256, source="https://pictures.example/red.png")
    case = Case("c0", (Part.of_text("a square"),), (part,))
    assert case_store.save_cases("shoes", [case], [picture]) == case_store.Saved(changed=1)
    assert (case_store.revision_of(1), results()[0].sha256) == (1, picture.sha256)
    assert store.waiting() == []


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/none", "answered 404 (Not Found)"),
        ("/page.png", "is a web page (HTML), not a picture"),
        ("/cut.png", "is a broken picture"),
        ("/empty.png", "is an empty file"),
        ("/loop", "redirects more than 5 times"),
        ("/out", "leads to ftp://elsewhere.example/a.png, which is no http or https link"),
        ("/endless.png", "has more than 30,000,000 bytes"),
    ],
)
def test_what_gives_no_picture_says_why(path, problem, served, allowed, home):
    handler, address = served
    given_links(address + path)
    assert links.fetch_links() == {"fetched": 0, "failed": 1}
    (part,) = results()
    assert problem in part.problem and part.problem.startswith(address)
    assert not (home / "images").exists()
    assert handler.asked[path] <= 6


@pytest.mark.parametrize(
    "link", ["http://127.0.0.1:9/a.png", "https://no-such-host.invalid/a.png", "http://[::1", "http://"]
)
def test_what_cannot_be_reached_says_so(link, allowed):
    given_links(link)
    assert links.fetch_links() == {"fetched": 0, "failed": 1}
    assert results()[0].problem.startswith(link)


def test_a_host_that_answers_nothing_is_given_up_and_others_are_not(served, allowed):
    _, address = served
    given_links(*[f"http://127.0.0.1:9/{n}.png" for n in range(30)], f"{address}/red.png")
    assert links.fetch_links() == {"fetched": 1, "failed": 30}
    given_up = [part for part in results() if "its host did not answer 5 other links" in part.problem]
    assert 20 <= len(given_up) <= 25 and given_up[0].problem.startswith(given_up[0].source)


def test_a_host_that_answers_with_errors_is_asked_for_every_link(served, allowed):
    handler, address = served
    given_links(*[f"{address}/gone{n}" for n in range(12)])
    assert links.fetch_links()["failed"] == 12
    assert all(handler.asked[f"/gone{n}"] for n in range(12))


def test_a_name_that_is_not_looked_up_this_time_is_tried_again():
    answers = [_not_looked_up("pictures.example", socket.gaierror(socket.EAI_AGAIN, "try again"))] * 2
    answers.append(_not_looked_up("pictures.example", socket.gaierror(socket.EAI_NONAME, "unknown")))

    async def resolve(host: str, port: int) -> list[str]:
        raise answers.pop(0)

    async def fetch() -> None:
        async with httpcore2.AsyncConnectionPool(network_backend=PublicOnly(resolve)) as pool:
            with tempfile.TemporaryFile() as file:
                await fetching.fetch("http://pictures.example/red.png", pool, file)

    with pytest.raises(fetching.NotFetched, match=r"there is no host pictures\.example"):
        asyncio.run(fetch())
    assert not answers


def test_redirects_are_followed_and_a_busy_server_is_asked_again(served, allowed):
    handler, address = served
    given_links(f"{address}/moved.png", f"{address}/flaky.png", f"{address}/图 片.png")
    assert links.fetch_links() == {"fetched": 3, "failed": 0}
    assert handler.asked["/red.png?x=1"] == 1 and handler.asked["/flaky.png"] == 2
    assert handler.asked["/%E5%9B%BE%20%E7%89%87.png"] == 1


def test_a_server_that_says_nothing_is_given_up(allowed, monkeypatch):
    monkeypatch.setattr(fetching, "MAX_SECONDS", 0.3)
    silent = ThreadingHTTPServer(("127.0.0.1", 0), Pictures)  # it listens, and nobody answers
    given_links(f"http://127.0.0.1:{silent.server_port}/a.png")
    began = time.monotonic()
    assert links.fetch_links()["failed"] == 1
    silent.server_close()
    assert "took longer than" in results()[0].problem and time.monotonic() - began < 5


def test_what_failed_stays_until_somebody_asks_to_try_again(served, allowed):
    handler, address = served
    dataset = given_links(f"{address}/none")
    links.fetch_links()
    assert links.fetch_links() == {"fetched": 0, "failed": 0}
    (failed,) = store.failed(dataset)
    assert (failed["url"], failed["cases"]) == (f"{address}/none", 1)
    assert store.progress(dataset)["failed"] == 1
    assert store.try_again(dataset) == 1
    assert results()[0].problem == store.NOT_FETCHED
    links.fetch_links(dataset)
    assert handler.asked["/none"] == 2


def test_one_host_is_not_asked_for_everything_at_once(served, allowed):
    handler, address = served
    given_links(*(f"{address}/slow{n}.png" for n in range(20)))
    assert links.fetch_links()["fetched"] == 20
    assert 1 < handler.most <= worker.AT_ONCE_A_HOST


# --- the process -------------------------------------------------------------------------------------------------------


def started(served) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "cli.py", "fetch", "--dataset", "shoes"], cwd=REPOSITORY, text=True, stdout=subprocess.PIPE,
        env={**os.environ, links.ALLOW_PRIVATE: "1"},
    )  # fmt: skip


def until(true, seconds: float = 15.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_killed_worker_loses_nothing_and_the_next_one_goes_on(served, monkeypatch):
    handler, address = served
    given_links(*(f"{address}/slow{n}.png" for n in range(60)))
    with started(served) as process:
        until(lambda: store.progress()["fetched"] > 4)
        process.kill()
    assert store.progress()["alive"]  # as far as anybody knows
    with pytest.raises(links.FetchRefused, match="being fetched already"):
        links.fetch_links()
    monkeypatch.setattr(store, "HEARTBEAT_LIMIT", 0.0)
    monkeypatch.setenv(links.ALLOW_PRIVATE, "1")
    links.fetch_links()
    assert store.progress()["fetched"] == 60
    assert sum(handler.asked.values()) <= 60 + worker.AT_ONCE_A_HOST


def test_a_worker_that_is_told_to_stop_says_goodbye(served):
    _, address = served
    given_links(*(f"{address}/slow{n}.png" for n in range(200)))
    with started(served) as process:
        until(lambda: store.progress()["fetched"] > 1)
        process.send_signal(signal.SIGTERM)
        process.wait(10)
    assert not store.is_alive() and 0 < store.progress()["waiting"] < 200


def test_the_app_starts_the_worker_and_reviewing_goes_on(served, allowed):
    _, address = served
    given_links(f"{address}/red.png", f"{address}/none")
    links.start_fetching("shoes")
    assert reviews.save_review(Review("t", 1, 1, "overall", reviews.reviewer_named("Ada"), "badcase"))
    until(lambda: store.progress()["waiting"] == 0)
    assert (store.progress()["fetched"], store.progress()["failed"]) == (1, 1)
    worker._started.pop().wait(10)
