"""Whether anything in the workspace has changed, whoever changed it: for what is computed once and kept."""

from __future__ import annotations

import sqlite3
import threading

from data.home import database_path
from data.store.connection import database
from data.store.counts import refresh

_watching: dict = {"path": None, "connection": None, "times": 0}
_lock = threading.Lock()


def state() -> tuple[str, int, int]:
    """Other than before when anything was committed since, by any thread or process; good within this process only.

    SQLite tells a connection whether others wrote to the file. So one that never writes is kept for asking: nothing needs
    to know which tables a figure is made of.
    """
    database()  # created and migrated
    refresh()  # or the first to compute something would change what it is kept under
    path = database_path()
    with _lock:
        if _watching["path"] != path:
            if _watching["connection"]:
                _watching["connection"].close()
            _watching["connection"] = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            _watching["path"], _watching["times"] = path, _watching["times"] + 1
        version = _watching["connection"].execute("PRAGMA data_version").fetchone()[0]
        return str(path), _watching["times"], version
