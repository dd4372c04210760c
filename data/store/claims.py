"""How often claims about a judge were tested: who tests until one holds claims falsely, at whichever target."""

from __future__ import annotations

from data.store.agreement import Basis
from data.store.connection import now, rows, writing


def look(basis: Basis, target: float, n: int) -> list[int]:
    """Write down that "agrees on at least `target`" (0-1) is tested on n labelled cases now; gives the n of every look at
    this run so far, ascending. The same labels at the same threshold are the same look, whatever the target: the bound
    does not depend on it."""
    with writing() as db:
        db.conn.execute(
            "INSERT OR IGNORE INTO claim_looks (run_id, basis, threshold, target, n, created) VALUES (?, ?, ?, ?, ?, ?)",
            [basis.run_id, basis.name, basis.threshold, target, n, now()],
        )
    return looks(basis.run_id)


def looks(run_id: int) -> list[int]:
    """At which numbers of labelled cases claims about a run were tested, ascending: on all bases and thresholds."""
    return [r["n"] for r in rows("SELECT n FROM claim_looks WHERE run_id = ? ORDER BY n", [run_id])]
