"""Verdicts that come in: each judge's of a file make one run, whose accuracy against people is measured like any other's."""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict

from data.exchange.facts import Facts, RunKey, RunSettings, lowest_item
from data.exchange.import_report import FileReport, Problem
from data.exchange.saying import RowWrong, SaidItem, SaidVerdict, check_revision
from data.exchange.times import utc
from data.store.bulk import Bulk, Known, VerdictRow
from evaluators.metrics.wording import key_of
from evaluators.verdict import Options


class Verdicts:
    """The verdicts of one file. What they all say is hashed without regard to their order, so that the same verdicts of
    the same cases never make a second run."""

    def __init__(self, bulk: Bulk, facts: Facts, report: FileReport):
        self._bulk, self._facts, self._report = bulk, facts, report
        self._runs: dict[RunKey, int] = {}
        self._digests: dict[RunKey, int] = defaultdict(int)
        self._cases: dict[RunKey, set[int]] = defaultdict(set)
        self._waiting: dict[RunKey, list[VerdictRow]] = defaultdict(list)
        self._aspects: dict[tuple[RunKey, Known, str], dict[str, SaidVerdict]] = {}
        self._rows: dict[tuple[RunKey, Known, str], int] = {}

    def take(self, number: int, case: Known, external_id: str, said: SaidVerdict) -> None:
        """Take one verdict, or one aspect of one.

        :raises RowWrong: if the case has one of this run already, or it is about an earlier revision of the case.
        """
        check_revision(said.shared)
        key = (said.judge, said.run)
        if said.aspect:
            aspects = self._aspects.setdefault((key, case, external_id), {})
            self._rows.setdefault((key, case, external_id), number)
            if said.aspect in aspects:
                raise RowWrong("aspect", f"{said.judge} has a row on {said.aspect} of {external_id[:100]} already")
            aspects[said.aspect] = said
        else:
            self._add(key, case, external_id, self._row(self._facts.runs[key], case, said))

    def flush(self) -> None:
        """Write what has gathered."""
        for key, waiting in self._waiting.items():
            if waiting:
                if key not in self._runs:
                    self._runs[key] = self._start(key)
                self._bulk.add_verdicts(self._runs[key], waiting)
                waiting.clear()

    def end(self) -> None:
        """Write the rest, and close the runs."""
        for (key, case, external_id), aspects in self._aspects.items():
            try:
                self._add(key, case, external_id, self._combined(self._facts.runs[key], case, aspects))
            except RowWrong as error:
                row = self._rows[key, case, external_id]
                self._report.verdicts["rejected"] += 1
                self._report.problems.append(Problem(row, error.column, str(error), rejected=True))
        self._aspects.clear()
        self._rows.clear()
        self.flush()
        for key, run_id in self._runs.items():
            settings, count = self._facts.runs[key], len(self._cases[key])
            known = self._bulk.end_run(run_id, f"{self._digests[key]:064x}")
            self._report.verdicts["unchanged" if known else "new"] += count
            self._report.runs.append(
                {"run": known or (run_id if run_id > 0 else None), "judge": settings.judge, "verdicts": count,
                 "known": known is not None, "criterion": settings.criterion, "threshold": settings.threshold}
            )  # fmt: skip
            for sentence in settings.noted:
                self._report.note(sentence)

    def _start(self, key: RunKey) -> int:
        settings = self._facts.runs[key]
        facts = {
            "metric": settings.metric,
            "criterion": settings.criterion,
            "threshold": settings.threshold,
            "options_json": Options(threshold=settings.threshold).as_dict(),
        }
        told = {"file": self._report.file, "scale": settings.scale}
        run = [key[1]] if key[1] else []  # its own name tells it from another of the same verdicts
        self._digests[key] += _hash(settings.judge, settings.metric, settings.criterion, repr(settings.threshold), *run)
        return self._bulk.start_run(settings.judge, facts, told, self._report.file)

    def _add(self, key: RunKey, case: Known, external_id: str, row: VerdictRow) -> None:
        if case.id in self._cases[key]:
            raise RowWrong("", f"{key[0]} has a verdict on {external_id[:100]} in an earlier row already")
        self._cases[key].add(case.id)
        self._digests[key] += _hash(*map(repr, (case.id, case.revision, row.status, row.score, row.reason, row.items)))
        self._waiting[key].append(row)

    def _row(self, settings: RunSettings, case: Known, said: SaidVerdict) -> VerdictRow:
        score, items, problem = said.score, list(said.items), said.problem
        if settings.from_labels:
            if score is not None:
                items.append(SaidItem("score", score))
            score = {"usable": 1.0, "badcase": 0.0}.get(said.label)
        elif score is not None:
            score = scaled(score, settings.scale)
        elif said.label:
            score = {"usable": 1.0, "badcase": 0.0}[said.label]
        status = said.status or ("ok" if score is not None else "unreadable")
        if status == "ok" and score is None:
            status, problem = "unreadable", problem or "the file gives neither a score nor a label"
        if status != "ok":
            score, problem = None, problem or "the file says so"
        rows = tuple(_item(item, settings) for item in _unique(items))
        return VerdictRow(case, status, score, said.reason, problem, (), rows, utc(said.created) or "")

    def _combined(self, settings: RunSettings, case: Known, aspects: dict[str, SaidVerdict]) -> VerdictRow:
        """One verdict of several aspects; without one of them there is no score."""
        scores, items, reasons = [], [], []
        for name in settings.aspects:
            said = aspects.get(name)
            if said is None:
                continue
            score = said.score if said.score is not None else lowest_item(said)
            scores.append(None if score is None else scaled(score, settings.scale))
            items += [item._replace(key=f"{name}.{item.key}") for item in said.items]
            reasons += [f"{name}: {said.reason}"] if said.reason else []
        lacking = [name for name in settings.aspects if name not in aspects]
        problem = f"the file has no row on {', '.join(lacking)}" if lacking else ""
        whole = None if lacking or None in scores else combined(scores, settings.combine)
        if whole is None and not problem:
            problem = "the file gives no score"
        rows = tuple(_item(item, settings) for item in _unique(items))
        return VerdictRow(
            case, "unreadable" if whole is None else "ok", whole, "\n".join(reasons), problem, (), rows, ""
        )  # fmt: skip


def scaled(score: float, scale: float) -> float:
    """A score 0-1.

    :raises RowWrong: if it is outside its scale.
    """
    if not 0 <= score <= scale:
        raise RowWrong("score", f"a score of {score:g} is outside 0-{scale:g}")
    return score / scale


def combined(scores: list[float], how: str) -> float:
    """The scores 0-1 of the aspects as one.

    >>> combined([0.5, 0.5], "viescore"), combined([0.2, 0.8], "lowest"), combined([0.2, 0.8], "mean")
    (0.5, 0.2, 0.5)
    """
    if how == "lowest":
        return min(scores)
    if how == "mean":
        return math.fsum(scores) / len(scores)
    return math.sqrt(math.prod(scores)) if len(scores) == 2 else math.prod(scores) ** (1 / len(scores))


def _unique(items: list[SaidItem]) -> list[SaidItem]:
    """Items with keys of their own: a second one of a key gets a number behind it."""
    seen: dict[str, int] = {}
    found = []
    for item in items:
        seen[item.key] = seen.get(item.key, 0) + 1
        found.append(item if seen[item.key] == 1 else item._replace(key=f"{item.key} ({seen[item.key]})"))
    return found


def _item(item: SaidItem, settings: RunSettings) -> tuple:
    """A row of the table items, without its verdict and place."""
    if item.value is not None:
        group, dot, name = item.key.partition(".")
        text = item.text or (name if dot else item.key).replace("_", " ")
        return (
            item.key,
            "sub_score",
            group if dot else "",
            text,
            item.value,
            0.0,
            settings.item_scale,
            None,
            None,
            "[]",
        )
    key = key_of("question", item.text) if item.text else item.key
    choices = ("yes", "no") if (item.expected or item.answer) in ("yes", "no") else ()
    return (
        key, "question", "question", item.text or item.key, None, None, None, item.answer, item.expected, json.dumps(choices)
    )  # fmt: skip


def _hash(*told: str) -> int:
    return int.from_bytes(hashlib.blake2b("\x1f".join(told).encode("utf-8", "replace"), digest_size=24).digest())
