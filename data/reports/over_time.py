"""Agreement along the labels: windows in the order in which gold was known, and which of them ask for a look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from data.reports.words import percent, without_labels
from data.store import compared, over_time
from data.store.agreement import CELLS, Basis, counts_by_prompt
from data.store.runs import run_by_id
from evaluators.agreement import SMALL, ClusterEstimate, Estimate, Watched, cluster_ratio, watch, wilson, window_size

#: So many other runs are drawn beside the one in question, the newest ones.
OTHERS = 3
_TP, _FP, _FN, _TN, _NO_BAD, _NO_USABLE = range(6)
#: The shares of a window: which cells count as hits, of which.
SHARES = {
    "accuracy": ((_TP, _TN), range(6), "no_data"),
    "recall_bad": ((_TP,), (_TP, _FN, _NO_BAD), "no_human_bad"),
    "specificity": ((_TN,), (_TN, _FP, _NO_USABLE), "no_human_usable"),
    "judge_bad_rate": ((_TP, _FP), (_TP, _FP, _FN, _TN), "judge_answered_none"),
    "human_bad_rate": ((_TP, _FN, _NO_BAD), range(6), "no_data"),
}

#: A prompt's six counts in a window, and how many prompts have the same there.
Pattern = tuple[Sequence[int], int]


def over_time_report(basis: Basis, others: int = OTHERS) -> dict:
    """A run's labels in windows of 50 or more in the order in which gold was known, as plain values; `words` in sentences.

    A run is a segment: judge, prompt and threshold stay the same within it, so nothing is joined or pooled across runs.
    segments: the run of `basis`, then the newest `others` runs of the same dataset and criterion that have a threshold. Each
    has run, judge, metric, metric_version, threshold, n, prompts, size (labels in a window), deff, baseline (the share right
    of its first labels, None below 300), baseline_labels, alarms (windows that ask for a look, counted from 1) and windows:
    number, first and last label, began, ended, n, right, is_full, small, is_baseline, the estimates of SHARES, and ewma with its
    limits ewma_lo and ewma_hi and is_alarm, None where it is not watched.
    """
    run = run_by_id(basis.run_id)
    versions = compared.versions(run["dataset_id"], run["criterion"])
    same = [v for v in versions if v["id"] != run["id"] and v["threshold"] is not None]
    report = {
        "run": run["id"],
        "basis": basis.name,
        "threshold": basis.threshold,
        "left_out": max(0, len(same) - others),
    }
    if basis.threshold is None:
        return {**report, "segments": [], "words": ["The run gives scores without labels: it takes a threshold."]}
    chosen = [(v, Basis(v["id"], v["threshold"], basis.name)) for v in (same[-others:] if others else [])]
    this = next(v for v in versions if v["id"] == run["id"])
    segments = [_segment(v, b) for v, b in [({**this, "threshold": basis.threshold}, basis), *chosen]]
    return {**report, "segments": segments, "words": _words(segments[0], basis)}


def _segment(run: Mapping, basis: Basis) -> dict:
    """One run's windows against its own baseline."""
    whole = _whole(basis)
    size = window_size(int(whole.n))
    found = [list(rows) for _place, rows in groupby(over_time.windows(basis, size), key=lambda row: row["place"])]
    windows = [_window(i, size, rows) for i, rows in enumerate(found)]
    # Of a single prompt it is not known how much its labels repeat each other.
    watched = watch([(w["right"], w["n"]) for w in windows] if whole.deff else [], size, whole.deff or 1.0)
    return {
        "run": run["id"],
        "judge": run["judge_name"],
        **{name: run[name] for name in ("metric", "metric_version", "threshold")},
        "n": int(whole.n),
        "prompts": whole.clusters,
        "size": size,
        "deff": whole.deff,
        "baseline": watched.baseline,
        "baseline_labels": watched.labels,
        "alarms": [place + 1 for place in watched.alarms],
        "windows": [_watched(window, watched, i) for i, window in enumerate(windows)],
    }


def _whole(basis: Basis) -> ClusterEstimate:
    """Agreement over the whole segment, for its design effect: how much labels of one prompt repeat each other."""
    prompts = counts_by_prompt(basis)
    n = sum(map(sum, prompts.values()))
    found = cluster_ratio([(p, cells[_TP] + cells[_TN], sum(cells), 1.0) for p, cells in prompts.items()], n)
    return replace(found, deff=1.0) if n and found.clusters == n else found


def _window(place: int, size: int, rows: Sequence[Mapping]) -> dict:
    patterns = [([row[name] for name in CELLS], row["prompts"]) for row in rows]
    n = sum(sum(cells) * prompts for cells, prompts in patterns)
    return {
        "number": place + 1,
        "first": place * size + 1,
        "last": place * size + n,
        "began": min(row["began"] for row in rows),
        "ended": max(row["ended"] for row in rows),
        "n": n,
        "prompts": sum(prompts for _cells, prompts in patterns),
        "right": sum((cells[_TP] + cells[_TN]) * prompts for cells, prompts in patterns),
        "is_full": n == size,
        "small": n < SMALL,
        **{name: share(patterns, *of).as_dict() for name, of in SHARES.items()},
    }


def share(patterns: Iterable[Pattern], hits: Sequence[int], of: Sequence[int], reason: str) -> Estimate:
    """A share of a window's cases with its interval, the prompts being known."""
    sums = [(sum(cells[i] for i in hits), sum(cells[i] for i in of), prompts) for cells, prompts in patterns]
    counted = sum(x * prompts for _y, x, prompts in sums)
    if not counted:
        return Estimate.undefined(reason)
    if all(x <= 1 for _y, x, _prompts in sums):
        return wilson(sum(y * prompts for y, _x, prompts in sums), counted)
    rows = (((i, j), y, x, 1.0) for i, (y, x, prompts) in enumerate(sums) for j in range(prompts))
    return cluster_ratio(rows, counted)


def _watched(window: dict, watched: Watched, place: int) -> dict:
    """The window with what its segment's watch says of it."""
    seen = watched.windows[place] if watched.windows else None
    return {
        **window,
        "is_baseline": window["last"] <= watched.labels,
        "ewma": seen.ewma if seen else None,
        "ewma_lo": seen.lo if seen else None,
        "ewma_hi": seen.hi if seen else None,
        "is_alarm": seen.signal if seen else None,
    }


def _words(segment: Mapping, basis: Basis) -> list[str]:
    """What a lead needs to know of the run in question."""
    if not segment["n"]:
        return [without_labels(basis, "There are no labels on cases of this run yet: nothing to see over time.")]
    windows, n = segment["windows"], segment["n"]
    words = [
        f"{n} labelled cases in the order in which people's label was settled, in windows of {segment['size']}."
        + ("" if windows[-1]["is_full"] else f" The last window is not full yet: it has {windows[-1]['n']} of them.")
    ]
    if segment["deff"] is None:
        words.append("All of them belong to one prompt: no window can be called unusual.")
    elif segment["baseline"] is None:
        words.append(
            f"With fewer than 300 labels there is no baseline yet ({n} are there): no window can be called unusual."
        )
    else:
        words += _watch_words(segment)
    words.append(
        "A run's verdicts are given once. What moves along its labels is the mix of cases, or how people label; whether the "
        "share of badcases or of flags moved with it tells which."
    )
    return words


def _watch_words(segment: Mapping) -> list[str]:
    baseline = f"{100 * segment['baseline']:.1f} %"
    words = [
        f"The baseline is the first {segment['baseline_labels']} labels: the judge agreed with people on {baseline}."
    ]
    watched = [window for window in segment["windows"] if window["is_alarm"] is not None]
    if not watched:
        return [*words, "No full window has come after them yet."]
    alarms = [window for window in watched if window["is_alarm"]]
    if not alarms:
        return [*words, f"None of the {len(watched)} full windows since then left its limits."]
    words += [_alarm_words(window) for window in alarms[:5]]
    if len(alarms) > 5:
        words.append(f"{len(alarms) - 5} more windows lie outside.")
    words.append(
        "That is a reason to look at these cases, not a result. The baseline is a sample as well: where nothing has changed, "
        "one of three stretches of 20 windows leaves its limits somewhere."
    )
    return words


def _alarm_words(window: Mapping) -> str:
    accuracy = Estimate(*(window["accuracy"][name] for name in ("value", "lo", "hi", "reason")))
    return (
        f"Window {window['number']} (labels {window['first']}–{window['last']}, {window['began'][:10]} to "
        f"{window['ended'][:10]}): the smoothed agreement of {100 * window['ewma']:.1f} % is "
        f"{'below' if window['ewma'] < window['ewma_lo'] else 'above'} the limits of {100 * window['ewma_lo']:.1f}–"
        f"{100 * window['ewma_hi']:.1f} %; in the window itself it is {percent(accuracy)}."
    )
