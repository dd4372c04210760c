"""A judge to test against: a real HTTP server that speaks the chat-completions protocol and looks at what it is sent.

Tests use it as a context manager:

    with ChatServer() as server:
        EndpointJudge(EndpointSettings(model="tester", base_url=server.url))

By hand, for the browser or to try the app without a key:

    python -m tests.chat_server --port 8123

Every request is checked: path, bearer key, model, messages, and every picture must decode. A request that is wrong is
answered 400 and kept in `wrong`. What is answered can be scripted: `answers` is a list used up in order, or a
function of the request; where it gives None, the default answer is a valid reply in the form that was asked for: scores,
elements, a rubric, answers to its questions, statements or a reason.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import hashlib
import io
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from PIL import Image

PATH = "/v1/chat/completions"
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


@dataclass(frozen=True)
class Answer:
    """One scripted answer. text: the reply; None is a null content. body: raw bytes instead of a completion.

    delay: seconds before answering. drop: close the connection without a word.
    """

    text: str | None = ""
    finish_reason: str = "stop"
    refusal: str | None = None
    usage: Mapping[str, object] | None = field(default_factory=lambda: dict(USAGE))
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, object] = field(default_factory=lambda: {"message": "scripted error"})
    body: bytes | None = None
    delay: float = 0.0
    drop: bool = False


@dataclass(frozen=True)
class Request:
    """A request that passed the checks. images: the decoded bytes of every picture, in order."""

    number: int
    key: str
    body: Mapping[str, object]
    system: str
    texts: tuple[str, ...]
    images: tuple[bytes, ...]
    at: float

    @property
    def mode(self) -> str:
        """json_schema, json_object or text: how the reply was to be constrained."""
        return (self.body.get("response_format") or {"type": "text"})["type"]

    @property
    def wanted(self) -> int:
        """How many scores the question asks for, as its first text shows."""
        listed = re.search(r'"score": \[([^\]]*)\]', self.texts[0])
        return len(listed[1].split(",")) if listed else 1

    @property
    def aspect(self) -> str:
        """SC when a prompt came along, PQ when the picture came alone."""
        return "SC" if len(self.texts) > 1 else "PQ"

    @property
    def wants(self) -> str:
        """What the reply is to hold, as the form in the first text says: scores, elements, questions, answers, …"""
        form = self.texts[0].partition("Reply with one JSON object")[2]
        kinds = ("elements", "questions", "answers", "statements", "score", "reason", "colour")
        return next((kind for kind in kinds if f'"{kind}"' in form), "")

    @property
    def parts(self) -> tuple[str | bytes, ...]:
        """Texts and the bytes of pictures in the order they were sent."""
        images = iter(self.images)
        return tuple(
            part["text"] if part["type"] == "text" else next(images) for part in self.body["messages"][1]["content"]
        )

    @property
    def frames(self) -> tuple[tuple[float, bytes], ...]:
        """(seconds, bytes) of the frames of a video, in the order they were sent."""
        found = zip(self.parts, self.parts[1:], strict=False)
        at = [(re.fullmatch(r"Frame at (\d+\.\d\d) s:", text), image) for text, image in found if isinstance(text, str)]
        return tuple((float(time[1]), image) for time, image in at if time and isinstance(image, bytes))

    @property
    def asked(self) -> tuple[tuple[int, str], ...]:
        """(number, text) of the questions of a rubric that this request puts."""
        return tuple((int(number), text) for number, text in re.findall(r"^(\d+)\. (.+)$", self.texts[2], re.MULTILINE))

    @property
    def is_retry(self) -> bool:
        return len(self.body["messages"]) > 2


Script = Callable[[Request], Answer | None]


def scores(*values: float, reasoning: str = "Looks fine.") -> Answer:
    """An answer as a well-behaved judge gives it."""
    return Answer(json.dumps({"reasoning": reasoning, "score": list(values)}, ensure_ascii=False))


def by_aspect(sc: Answer, pq: Answer) -> Script:
    """One answer for every SC question and one for every PQ question."""
    return lambda request: sc if request.aspect == "SC" else pq


def drawn_scores(request: Request) -> Answer:
    """Scores 2-10 that depend on nothing but the pictures and the texts."""
    digest = hashlib.sha256(b"\0".join([*(text.encode() for text in request.texts), *request.images])).digest()
    return scores(*(2 + digest[i] % 9 for i in range(request.wanted)), reasoning="Drawn from the request's bytes.")


def said(**reply: object) -> Answer:
    """An answer that is a JSON object: said(answers=[…])."""
    return Answer(json.dumps(reply, ensure_ascii=False))


def drawn(request: Request) -> Answer:
    """A valid reply in the form that was asked for; yes or no, letters and scores depend on the request's bytes alone."""
    digest = hashlib.sha256(b"\0".join([*(text.encode() for text in request.texts), *request.images])).digest()

    def word(number: int) -> str:
        return "yes" if digest[number % 32] % 4 else "no"

    match request.wants:
        case "elements":
            elements = [{"element": text, "answered": word(i)} for i, text in enumerate(_words(request.texts[2]))]
            return said(reasoning="Drawn.", elements=elements, contradiction="no", score=int(digest[0] % 2))
        case "questions":
            return _drawn_rubric(request.texts[2], is_video="a) …" in request.texts[0])
        case "answers":
            verdicts = [("abcd"[digest[i % 32] % 4] if request.frames else word(i)) for i in range(len(request.asked))]
            return said(
                answers=[
                    {"id": number, "question": text, "reasoning": "Drawn.", "verdict": verdict}
                    for (number, text), verdict in zip(request.asked, verdicts, strict=True)
                ]
            )
        case "statements":
            heads = [part if isinstance(part, str) else "" for part in request.parts]
            start = next(i for i, text in enumerate(heads) if text.startswith("The expected answer follows"))
            end = next(i for i, text in enumerate(heads) if text.startswith("The retrieved context follows"))
            texts = [text or f"picture {i}" for i, text in enumerate(heads[start + 1 : end], 1)]
            statements = [
                {"statement": t, "reason": "Drawn.", "node": 1, "verdict": word(i)} for i, t in enumerate(texts)
            ]
            return said(statements=statements)
        case "reason":
            return said(reason="Drawn: the context covers some of it.")
        case "colour":
            return said(colour="red")
        case _:
            return drawn_scores(request)


def _words(prompt: str) -> list[str]:
    """The first few words of a prompt, each once; a Chinese prompt is one word."""
    return list(dict.fromkeys(re.findall(r"\w+", prompt.casefold())))[:4] or [prompt]


def _drawn_rubric(prompt: str, is_video: bool) -> Answer:
    words = _words(prompt)
    questions = []
    for number, word in enumerate(words, 1):
        facts = {"id": number, "question": f"is {word} to be seen?"}
        if is_video:
            facts |= {"choices": ["a) yes", "b) no", "c) twice", "d) at the end"]}
        else:
            facts |= {"type": "object", "choices": ["yes", "no"]}
        questions.append({**facts, "justification": "Drawn.", "answer": "a" if is_video else "yes"})
    return said(keywords=" ".join(f"{{{i}}}[{word}]" for i, word in enumerate(words, 1)), questions=questions)


class ChatServer:
    """See the module's text. supports: the response formats that are taken; another one is turned down with a 400.

    bind_now: else nobody listens until the server is entered.
    """

    def __init__(
        self,
        answers: Script | Sequence[Answer | None] = (),
        *,
        port: int = 0,
        supports: Sequence[str] = ("json_schema", "json_object", "text"),
        model: str | None = None,
        bind_now: bool = True,
    ):
        self.requests: list[Request] = []
        self.wrong: list[str] = []
        self.most_in_flight = 0
        self.connections: set[socket.socket] = set()
        self.models = lambda: {"object": "list", "data": [{"id": "tester", "object": "model"}]}
        self._script = answers if callable(answers) else None
        self._canned = [] if callable(answers) else list(answers)
        self._supports, self._model = supports, model
        self._in_flight = 0
        self._lock = threading.Lock()
        server = self

        class Handler(_Handler):
            chat = server

        self.port, self._handler, self._http = port, Handler, None
        if bind_now:
            self._bind()

    def _bind(self) -> None:
        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), self._handler)
        self.port = self._http.server_address[1]
        self._http.daemon_threads = True
        self._http.handle_error = lambda *_: None  # a client that was killed is not this server's trouble
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        """The base URL for a judge."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def replies(self) -> int:
        """How many requests were taken."""
        return len(self.requests)

    def __enter__(self) -> ChatServer:
        if self._http is None:
            self._bind()
        self._thread.start()
        return self

    def go_away(self) -> None:
        """Close everything; nobody listens any more, and nobody is listened to."""
        if self._thread.is_alive():
            self._http.shutdown()
        self._http.server_close()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def __exit__(self, kind, *_: object) -> None:
        self.go_away()
        if kind is None:
            assert not self.wrong, f"the server was sent wrong requests: {self.wrong}"

    def answer_to(self, request: Request) -> Answer:
        """The scripted answer, else a drawn one."""
        if request.mode not in self._supports:
            return Answer(status=400, error={"message": f"response_format {request.mode} is not supported"})
        if self._script:
            scripted = self._script(request)
        else:
            with self._lock:
                scripted = self._canned.pop(0) if self._canned else None
        return scripted or drawn(request)

    def take(self, handler: BaseHTTPRequestHandler, content: bytes) -> Request:
        """Check a request and keep it.

        :raises ValueError: with what is wrong with it.
        """
        body, key = _checked(handler.path, handler.headers, content, self._model)
        user = body["messages"][1]["content"]
        with self._lock:
            request = Request(
                number=len(self.requests),
                key=key,
                body=body,
                system=body["messages"][0]["content"],
                texts=tuple(part["text"] for part in user if part["type"] == "text"),
                images=tuple(_picture(part) for part in user if part["type"] == "image_url"),
                at=time.monotonic(),
            )
            self.requests.append(request)
        return request

    @contextlib.contextmanager
    def in_flight(self):
        """Count a request while it is being answered."""
        with self._lock:
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            yield
        finally:
            with self._lock:
                self._in_flight -= 1


class _Handler(BaseHTTPRequestHandler):
    chat: ChatServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together: apart, each reply would wait 40 ms for an acknowledgement

    def setup(self) -> None:
        super().setup()
        self.chat.connections.add(self.connection)

    def finish(self) -> None:
        self.chat.connections.discard(self.connection)
        with contextlib.suppress(ConnectionError):
            super().finish()

    def log_message(self, *_: object) -> None:
        """Silent: the tests say what went wrong."""

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        content = self.rfile.read(length)
        if len(content) < length:  # whoever sent it was killed half-way
            self.close_connection = True
            return
        with self.chat.in_flight():
            try:
                request = self.chat.take(self, content)
            except ValueError as error:
                self.chat.wrong.append(str(error))
                self._send(400, {"error": {"message": f"wrong request: {error}"}})
                return
            answer = self.chat.answer_to(request)
            time.sleep(answer.delay)
        if answer.drop:
            # An immediate reset, as a crashed server gives it.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
        elif answer.body is not None:
            self._send_bytes(answer.status, answer.body, answer.headers)
        elif answer.status != 200:
            self._send(answer.status, {"error": dict(answer.error)}, answer.headers)
        else:
            self._send(200, _completion(request, answer), answer.headers)

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self._send(200, self.chat.models())
        else:
            self._send(404, {"error": {"message": f"no such path: {self.path}"}})

    def _send(self, status: int, body: dict, headers: Mapping[str, str] | None = None) -> None:
        self._send_bytes(status, json.dumps(body).encode(), headers)

    def _send_bytes(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        with contextlib.suppress(ConnectionError):
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)


def _completion(request: Request, answer: Answer) -> dict:
    message = {"role": "assistant", "content": answer.text}
    if answer.refusal is not None:
        message["refusal"] = answer.refusal
    body = {
        "id": f"chatcmpl-{request.number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}],
    }
    return body if answer.usage is None else {**body, "usage": answer.usage}


def _checked(path: str, headers: Mapping[str, str], content: bytes, model: str | None) -> tuple[dict, str]:
    """The body and the key of a request."""
    _require(path == PATH, f"the path is {path}, not {PATH}")
    key = re.fullmatch(r"Bearer (\S+)", headers.get("Authorization", ""))
    _require(key, "there is no bearer key")
    body = json.loads(content)
    _require(isinstance(body, dict), "the body is not an object")
    _require(isinstance(body.get("model"), str) and body["model"], "no model is named")
    _require(model in (None, body["model"]), f"the model is {body['model']!r}, not {model!r}")
    messages = body.get("messages")
    _require(isinstance(messages, list) and len(messages) >= 2, "there are fewer than two messages")
    roles = [message.get("role") for message in messages]
    _require(roles[:2] == ["system", "user"], f"the messages are from {roles}, not from system and user first")
    _require(roles[2:] in ([], ["assistant", "user"]), f"after the question come messages from {roles[2:]}")
    _require(isinstance(messages[0]["content"], str) and messages[0]["content"], "the system text is empty")
    parts = messages[1]["content"]
    _require(isinstance(parts, list) and parts, "the user's message is not a list of parts")
    for part in parts:
        kind = part.get("type")
        _require(kind in ("text", "image_url"), f"a part is a {kind}")
        if kind == "text":
            _require(isinstance(part.get("text"), str) and part["text"], "a text part is empty")
        else:
            _picture(part)
    if (body.get("response_format") or {}).get("type") == "json_schema":
        wrapped = body["response_format"]["json_schema"]
        _require(wrapped.get("strict") is True and wrapped.get("name"), "the schema has no name or is not strict")
        _check_strict(wrapped["schema"], "schema")
    return body, key[1]


def _check_strict(schema: object, where: str) -> None:
    """What strict structured output demands: every object closed, and every property of it required."""
    if isinstance(schema, list):
        for number, entry in enumerate(schema):
            _check_strict(entry, f"{where}[{number}]")
    elif isinstance(schema, dict):
        if schema.get("type") == "object":
            _require(schema.get("additionalProperties") is False, f"{where} is an open object")
            _require(
                schema.get("required") == list(schema["properties"]), f"{where} has properties that are not required"
            )
        for key, entry in schema.items():
            _check_strict(entry, f"{where}.{key}")


def _picture(part: Mapping[str, Mapping[str, str]]) -> bytes:
    url = part["image_url"]["url"]
    data = re.fullmatch(r"data:(image/[a-z]+);base64,([A-Za-z0-9+/=]+)", url)
    _require(data, f"a picture is not a data URL: {url[:40]}")
    content = base64.b64decode(data[2], validate=True)
    try:
        with Image.open(io.BytesIO(content)) as image:
            image.load()
            media_type = Image.MIME[image.format]
    except OSError as error:
        raise ValueError(f"a picture does not open: {error}") from error
    _require(media_type == data[1], f"a picture is {media_type} and is said to be {data[1]}")
    return content


def _require(fact: object, problem: str) -> None:
    if not fact:
        raise ValueError(problem)


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="A chat-completions server with made-up scores, for tests.")
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    arguments = parser.parse_args()

    def slowly(request: Request) -> Answer:
        time.sleep(arguments.delay)
        return drawn(request)

    with ChatServer(slowly, port=arguments.port) as server:
        print(f"listening on {server.url}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
        server.wrong.clear()


if __name__ == "__main__":
    main()
