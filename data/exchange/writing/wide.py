"""The wide tables: one row a case, with what each run and each person said of it side by side.

`everything` has, after the case's own columns: for each run `JUDGE METRIC (run N).FIELD`; for each person and
criterion `NAME (CRITERION).FIELD`; for each criterion `gold (CRITERION)` and the lead's decision. So every name can be
taken apart from its right end, whatever judges and people are called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from data.exchange.writing.long import case_cells, case_columns
from data.exchange.writing.table import Column, Table, columns_of, item_cells, item_columns
from data.store import export as store
from data.store import export_wide as wide
from data.store.snapshot import Snapshot
from evaluators.agreement import majority
from evaluators.verdict import label_of

_RUN = columns_of(
    "status label score:number threshold:number reason problem flags:list revision:whole metric_version "
    "rubric_version:whole created:time gold_blind gold_all"
)
_PERSON = columns_of(
    "first_label first_blind:yes first_time:time first_pi:number first_basis label blind:yes time:time pi:number basis "
    "tags:list comment"
)
_GOLD = columns_of("gold adjudicated adjudicated_by adjudicated_at:time adjudication_reason")
_AGREEMENT = columns_of(
    "case_id prompt generator revision:whole judge metric status score:number threshold:number judge_label adjudicated "
    "adjudicated_by adjudicated_at:time adjudication_reason final_label final_label_blind final_label_all"
)
_VOTES = {"badcase": 1, "usable": 0}
_LABELS = {1: "badcase", 0: "usable", None: None}


def everything_table(of: Snapshot, dataset_id: int, run_id: int | None = None) -> Table:
    """One row a case: parts, every run's verdict with its items, each person's first and current label, gold."""
    runs = store.runs(of, dataset_id, run_id)
    wide.prepare(of, runs)
    people = wide.people(of, dataset_id)
    criteria = sorted({criterion for criterion, _ in people} | set(wide.decided_criteria(of, dataset_id)))
    prefixes = {run["id"]: f"{run['judge_name']} {run['metric']} (run {run['id']})." for run in runs}
    corrected = store.corrected_kinds(of, dataset_id)
    columns = [*case_columns()]
    for run in runs:
        fields = (*_RUN, *item_columns("item:", "items", store.item_kinds(of, dataset_id, run["id"])))
        columns += [Column(prefixes[run["id"]] + field.name, field.kind) for field in fields]
    for criterion, person in people:
        fields = (*_PERSON, *item_columns("item:", "items", corrected))
        columns += [Column(_person(person, criterion) + field.name, field.kind) for field in fields]
    for criterion in criteria:
        columns += [Column(f"{field.name} ({criterion})", field.kind) for field in _GOLD]
    names = {column.name for column in columns}

    def rows() -> Iterator[dict]:
        for chunk in store.chunks(store.cases(of, dataset_id)):
            found = {case["id"]: case_cells(case) for case in chunk}
            _add_verdicts(of, found, runs, prefixes, names)
            _add_people(of, found, names)
            yield from found.values()

    return Table("everything", tuple(columns), store.count_rows(of, "cases", dataset_id), rows())


def agreement_table(of: Snapshot, dataset_id: int, run_id: int) -> Table:
    """One row a case of a run: the judge's label, each person's, and the final one.

    final_label is the lead's decision, else the majority of everybody's current labels, picked ones included;
    final_label_blind and final_label_all are what the figures of either basis count.
    """
    (run,) = store.runs(of, dataset_id, run_id)
    wide.prepare(of, [run])
    people = [name for _, name in wide.people(of, dataset_id, run["criterion"])]
    labels = [Column(f"{which}:{name}") for which in ("first_label", "label") for name in people]
    count = of.value(
        "SELECT count(*) FROM verdicts v JOIN cases c ON c.id = v.case_id AND c.revision = v.revision WHERE v.run_id = ?",
        [run_id],
    )

    def rows() -> Iterator[dict]:
        for chunk in store.chunks(wide.judged_cases(of, run_id)):
            yield from _agreement_rows(of, {case["id"]: case for case in chunk}, run)

    return Table("agreement", (*_AGREEMENT, *labels), count, rows())


def _agreement_rows(of: Snapshot, cases: Mapping[int, dict], run: Mapping) -> Iterator[dict]:
    said = {case_id: {} for case_id in cases}
    votes: dict[int, list] = {case_id: [] for case_id in cases}
    for which, kept in (("first_label", "firsts"), ("label", "currents")):
        for review in _of_criterion(wide.labels_of(of, list(cases), kept), run):
            said[review["case_id"]][f"{which}:{review['reviewer']}"] = review["label"]
            if which == "label":
                votes[review["case_id"]].append(_VOTES.get(review["label"]))
    decisions = {d["case_id"]: d for d in _of_criterion(wide.decisions_of(of, list(cases)), run)}
    gold = wide.gold_of(of, list(cases), run["id"])
    for case_id, case in cases.items():
        decision = _decision(decisions.get(case_id))
        yield {
            **case,
            "judge": run["judge_name"],
            "metric": run["metric"],
            "threshold": run["threshold"],
            "judge_label": label_of(case["score"], run["threshold"]),
            **decision,
            "final_label": decision["adjudicated"] or _LABELS[majority(votes[case_id])],
            **{f"final_label_{basis}": gold[basis].get(case_id) for basis in gold},
            **said[case_id],
        }


def _of_criterion(found: Iterator[dict], run: Mapping) -> Iterator[dict]:
    return (row for row in found if row["criterion"] == run["criterion"])


def _decision(found: Mapping | None) -> dict[str, object]:
    found = found or {}
    return {
        "adjudicated": found.get("label"),
        "adjudicated_by": found.get("reviewer"),
        "adjudicated_at": found.get("created"),
        "adjudication_reason": found.get("reason"),
    }


def _add_verdicts(of: Snapshot, cases: dict, runs: list[dict], prefixes: dict, names: set[str]) -> None:
    thresholds = {run["id"]: run for run in runs}
    for verdict in wide.verdicts_of(of, list(cases), list(prefixes)):
        run, prefix = thresholds[verdict["run_id"]], prefixes[verdict["run_id"]]
        facts = verdict | {
            "label": label_of(verdict["score"], run["threshold"]),
            "threshold": run["threshold"],
            "metric_version": run["metric_version"],
        }
        cells = {prefix + field.name: facts[field.name] for field in _RUN if field.name in facts}
        cells |= item_cells(f"{prefix}item:", f"{prefix}items", verdict["items"], names)
        cases[verdict["case_id"]].update(cells)
    for run in runs:
        for basis, gold in wide.gold_of(of, list(cases), run["id"]).items():
            for case_id, label in gold.items():
                cases[case_id][f"{prefixes[run['id']]}gold_{basis}"] = label


def _add_people(of: Snapshot, cases: dict, names: set[str]) -> None:
    """Labels, and gold: the lead's decision, else the majority of the current labels."""
    votes: dict[tuple[int, str], list] = {}
    for which, fields in (("firsts", _first_fields), ("currents", _current_fields)):
        for review in wide.labels_of(of, list(cases), which):
            prefix = _person(review["reviewer"], review["criterion"])
            cells = {prefix + name: value for name, value in fields(review).items()}
            if which == "currents":
                cells |= item_cells(f"{prefix}item:", f"{prefix}items", review["items"], names)
                votes.setdefault((review["case_id"], review["criterion"]), []).append(_VOTES.get(review["label"]))
            cases[review["case_id"]].update(cells)
    for (case_id, criterion), of_case in votes.items():
        cases[case_id][f"gold ({criterion})"] = _LABELS[majority(of_case)]
    for decision in wide.decisions_of(of, list(cases)):
        facts = _decision(decision) | {"gold": decision["label"]}
        cases[decision["case_id"]].update({f"{name} ({decision['criterion']})": value for name, value in facts.items()})


def _first_fields(review: Mapping) -> dict[str, object]:
    return {
        "first_label": review["label"],
        "first_blind": bool(review["blind"]),
        "first_time": review["created"],
        "first_pi": review["pi"],
        "first_basis": review["basis"],
    }


def _current_fields(review: Mapping) -> dict[str, object]:
    facts = {name: review[name] for name in ("label", "pi", "basis", "tags", "comment")}
    return facts | {"blind": bool(review["blind"]), "time": review["created"]}


def _person(name: str, criterion: str) -> str:
    return f"{name} ({criterion})."
