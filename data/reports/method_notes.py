"""What the figures of a run rest on, as pairs of a name and a text: labels, judge, metric, prompts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from data.store.agreement import BASES, Basis
from data.store.how_labelled import how_drawn, how_labelled
from data.store.review_settings import review_settings
from data.store.runs import repeats, run_by_id
from evaluators.verdict import shown_score

#: How cases were drawn, in words.
DRAWN_WORDS = {
    "random": "in random order",
    "designed": "by an audit: each case with a chance known before the draw",
}
#: Labels and cases that do not count, in words.
LEFT_OUT_WORDS = {
    "picked": "labels on cases that somebody picked",
    "seen": "labels that were not given blind",
    "audited": "labels of this run's audits, which count over all judged cases only",
    "audited_elsewhere": "labels of other runs' audits",
    "stale": "labels on an earlier version of their case",
    "examples": "labelled cases that a prompt shows or that a judge was tuned on",
}

Notes = list[tuple[str, str]]


def method_notes(basis: Basis, report: Mapping) -> dict[str, Notes]:
    """Notes under the headings Labels, and Judge and metric. report: the run's `agreement_report` on that basis."""
    run = run_by_id(basis.run_id)
    return {"Labels": _label_notes(basis, report, run), "Judge and metric": _judge_notes(basis, run)}


def _label_notes(basis: Basis, report: Mapping, run: Mapping) -> Notes:
    found, settings = how_labelled(basis), review_settings(run["dataset_id"])
    notes = [("Which labels", BASES[basis.name])]
    if found["labels"]:
        notes += [
            ("How many", f"{found['labels']:,} labels on {found['cases']:,} cases by {found['reviewers']} reviewers, "
                         f"{found['first'][:10]} to {found['last'][:10]}"),
            ("How the cases were drawn", "; ".join(_drawn_words(queue) for queue in how_drawn(basis))),
            ("Blind", f"{100 * found['blind'] / found['labels']:.0f} % of these labels were given with the verdict hidden"),
        ]  # fmt: skip
    notes += [
        ("Blind or shown, as set", _blind_words(settings["blind_share"])),
        ("People per case, as set", f"{settings['overlap']}" if settings["overlap"] else "everybody labels every case"),
    ]
    left = {words: report["left_out"].get(key, 0) for key, words in LEFT_OUT_WORDS.items()}
    left["labelled cases without a majority"] = report["unresolved"]
    told = "; ".join(f"{count:,} {words}" for words, count in left.items() if count)
    return [
        *notes,
        ("Not counted", told or "nothing"),
        ("For whom it holds", "for this panel of reviewers and these prompts"),
    ]


def _drawn_words(queue: Mapping) -> str:
    name = f" ({queue['queue']})" if queue["queue"] not in ("", "random") else ""
    return f"{queue['labels']:,} {DRAWN_WORDS.get(queue['drawn'], queue['drawn'])}{name}"


def _blind_words(share: float | None) -> str:
    if share is None:
        return "each reviewer chooses"
    return {0.0: "the verdict is shown", 1.0: "the verdict is hidden"}.get(
        share, f"hidden on {100 * share:g} % of cases, drawn at random"
    )


def _judge_notes(basis: Basis, run: Mapping) -> Notes:
    judge, options = run["judge"], run["options"]
    settings = judge["settings"]
    notes = [
        ("Run", f"{run['id']}, {run['status']}: {run['done']:,} of {run['cases']:,} cases have a verdict"),
        ("Judged", f"{(run['started'] or run['created'])[:10]} to {(run['finished'] or 'now')[:10]}"),
        ("Metric", f"{run['metric']}, version {run['metric_version']}, criterion {run['criterion']}"),
        ("Metric settings", _json(run["metric_settings"])),
        ("Threshold", _threshold_words(basis, run)),
        ("Options", ", ".join(name for name, on in options.items() if on is True) or "none"),
        ("Judge", f"{judge['name']} ({judge['kind']})"),
        ("Model", str(settings.get("model", "unknown"))),
        ("Endpoint", str(settings.get("base_url") or settings.get("endpoint") or "unknown")),
        ("Parameters", _json(settings.get("parameters") or {})),
    ]
    if settings.get("image_side"):
        form = settings.get("image_format", "jpeg")
        notes.append(("Pictures as the judge saw them", f"at most {settings['image_side']} pixels a side, {form}"))
    prompts = [
        f"{name} {hashlib.sha256(_text(text).encode()).hexdigest()[:12]}" for name, text in run["prompts"].items()
    ]
    notes.append(("Prompts, by content", ", ".join(prompts) or "unknown"))
    measured = repeats(run["id"])
    if len(measured) > 1:
        notes.append(
            ("Measurements", f"{len(measured)}: runs {', '.join(map(str, measured))}; this report is about one")
        )
    return notes


def _threshold_words(basis: Basis, run: Mapping) -> str:
    if basis.threshold is None:
        return "none: scores without labels"
    tried = "" if basis.threshold == run["threshold"] else f", tried; the run's own is {_or_none(run['threshold'])}"
    return f"usable from a score of {_or_none(basis.threshold)}{tried}"


def _or_none(threshold: float | None) -> str:
    return "none" if threshold is None else shown_score(threshold)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if value else "none"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
