"""How often a claim about a judge was looked at: who looks until it holds claims falsely."""

from __future__ import annotations

from data.store.agreement import Basis
from data.store.connection import now, rows, writing


def look(basis: Basis, target: float, n: int) -> list[int]:
    """Write down that "agrees on at least `target`" (0-1) is tested on n labelled cases now; gives every such n so far,
    ascending. The same labels looked at again are the same look."""
    told = [basis.run_id, basis.name, basis.threshold, target]
    found = looks(basis, target)
    if n not in found:
        with writing() as db:
            db.conn.execute(
                "INSERT OR IGNORE INTO claim_looks (run_id, basis, threshold, target, n, created) VALUES (?, ?, ?, ?, ?, ?)",
                [*told, n, now()],
            )
        return looks(basis, target)
    return found


def looks(basis: Basis, target: float) -> list[int]:
    """At which numbers of labelled cases this claim was tested, ascending."""
    found = rows(
        "SELECT n FROM claim_looks WHERE run_id = ? AND basis = ? AND threshold = ? AND target = ? ORDER BY n",
        [basis.run_id, basis.name, basis.threshold, target],
    )
    return [r["n"] for r in found]
