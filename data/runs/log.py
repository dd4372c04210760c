"""A run's log: one line an event, `SECOND_LOOK_HOME/logs/run-N.log`, with the run and the case it is about."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from data.home import logs_folder

#: The case that the code running now works on; tasks inherit it.
current_case: ContextVar[str] = ContextVar("case", default="-")
_ROOMS = ("data", "evaluators")


class _OneLine(logging.Formatter):
    """`2026-11-30T12:00:00.123Z INFO run=3 case=shoe-17 SC answered in 0.83 s`; a traceback is put on the same line."""

    converter = time.gmtime
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self, run_id: int, redacted: Callable[[str], str]):
        super().__init__(f"%(asctime)s %(levelname)s run={run_id} case=%(case)s %(message)s")
        self._redacted = redacted

    def format(self, record: logging.LogRecord) -> str:
        record.case = "".join(c if c.isprintable() and not c.isspace() else "_" for c in current_case.get())
        return self._redacted(" | ".join(super().format(record).splitlines()))


@contextmanager
def run_log(run_id: int, redacted: Callable[[str], str]) -> Iterator[None]:
    """A block whose events go into the run's log. redacted: takes secrets out of a text."""
    logs_folder().mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(logs_folder() / f"run-{run_id}.log", encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(_OneLine(run_id, redacted))
    rooms = [logging.getLogger(name) for name in _ROOMS]
    levels = [room.level for room in rooms]
    for room in rooms:
        room.addHandler(handler)
        room.setLevel(logging.INFO)
    try:
        yield
    finally:
        for room, level in zip(rooms, levels, strict=True):
            room.removeHandler(handler)
            room.setLevel(level)
        handler.close()
