"""For which kind of case the judge is right: the same figures group by group."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace

from data.reports.prompt_kinds import LENGTHS, SCRIPTS, length_band, script
from data.reports.words import without_labels
from data.store import agreement as agreement_store
from data.store.agreement import Basis
from data.store.breakdowns import Cells, cells_by_group, cells_by_text
from data.store.elsewhere import runs_elsewhere
from data.store.runs import run_by_id
from evaluators.agreement import SMALL, WARNING_WORDS, GroupFigures, each_prompt, group_figures
from evaluators.verdict import FLAG_WORDS

#: What cases can be grouped by, with words.
GROUPINGS = {
    "generator": "generator",
    "tag": "tag",
    "length": "prompt length",
    "language": "script of the prompt",
    "images": "number of input images",
    "flag": "remark on the judge's reply",
    "dataset": "dataset",
}
#: What groups are compared by, with words.
GROUP_FIGURES = {
    "accuracy": "Agreement with people",
    "recall_bad": "Badcases found",
    "specificity": "Usable cases passed",
    "kappa": "Cohen's kappa",
}
#: So many groups are looked at, the largest.
MOST_GROUPS = 60

_IMAGES = ("no input image", "one input image", "two or more input images")
_NAMELESS = {"generator": "no generator named", "tag": "no tag", "flag": "no remark"}
_ASIDES = {
    "tag": "A case counts in each of its tags, so groups overlap.",
    "flag": "A case counts with each remark on its reply, so groups overlap.",
    "length": "A sign of Chinese says about as much as several letters: compare lengths within one script.",
    "language": "A prompt belongs to the script of most of its words; a Chinese, Japanese or Korean sign counts as a word.",
    "dataset": "Each row is this judge with the same metric, settings and threshold on another dataset; of several such "
    "runs on one the run with the most verdicts.",
}
#: By name, the counts of each prompt that the group has cases of.
_Groups = dict[str, dict[Hashable, Cells]]


def groups_report(basis: Basis, by: str) -> dict:
    """Agreement with people by group of cases, as plain values; `words` is a list of sentences.

    by: a key of GROUPINGS. overall: the figures of all cases (by dataset: of all datasets together). groups: largest
    first, or in the order of the bands; each with name, n, prompts, the figures of GROUP_FIGURES, baseline,
    baseline_label and `small` (n < 30). looks: how many groups have labels; left_out: how many smaller ones are not listed.

    :raises KeyError: for another grouping.
    """
    report = {
        "run": basis.run_id,
        "basis": basis.name,
        "threshold": basis.threshold,
        "by": by,
        "by_words": GROUPINGS[by],
    }
    if basis.threshold is None:
        nothing = {"overall": _row("all cases", {}), "groups": [], "looks": 0, "left_out": 0, "exploratory": False}
        return {**report, **nothing, "words": [WARNING_WORDS["no_threshold"]]}
    groups = _groups(basis, by)
    everything = _pooled(groups.values()) if by == "dataset" else agreement_store.counts_by_prompt(basis)
    kept = sorted(groups, key=lambda name: -_size(groups[name]))[:MOST_GROUPS]
    rows = [_row(name, groups[name]) for name in groups if name in set(kept)]
    if by not in ("length", "language", "images"):
        rows.sort(key=lambda row: (-row["n"], row["name"]))
    report |= {
        "overall": _row("all cases", everything),
        "groups": rows,
        "looks": sum(row["n"] > 0 for row in rows),
        "left_out": len(groups) - len(rows),
    }
    return {**report, "exploratory": report["looks"] > 1, "words": groups_words(report, basis)}


def groups_words(report: Mapping, basis: Basis) -> list[str]:
    """What one must know to read the groups, in sentences. No group is named as a finding: which is worst may be chance."""
    if not report["looks"]:
        return [without_labels(basis, WARNING_WORDS["no_data"])]
    labelled, looks = report["overall"]["n"], report["looks"]
    if looks == 1:
        [name] = [row["name"] for row in report["groups"] if row["n"]]
        words = [f"All {labelled} labelled cases are in one group ({name}): there is nothing to compare it with."]
    else:
        words = [
            f"Exploratory: {labelled} labelled cases by {report['by_words']}, {looks} groups looked at; one of 20 intervals "
            "misses by chance alone. A group that stands out is a question for new labels, not a finding."
        ]
    if report["by"] in _ASIDES:
        words.append(_ASIDES[report["by"]])
    small = sum(row["small"] for row in report["groups"])
    if small:
        words.append(
            f"Marked small: {small} of {len(report['groups'])} groups, with fewer than {SMALL} labelled cases each; their figures "
            "are first impressions."
        )
    if report["left_out"]:
        words.append(f"Not listed: the smallest groups, {report['left_out']} in number.")
    return words


def _row(name: str, cells: Mapping[Hashable, Cells]) -> dict:
    """A group's figures as plain values."""
    found: GroupFigures = group_figures(cells)
    return {
        "name": name,
        "n": found.n,
        "prompts": found.prompts,
        **{figure: getattr(found, figure).as_dict() for figure in GROUP_FIGURES},
        "baseline": found.baseline,
        "baseline_label": found.baseline_label,
        "small": found.small,
    }


def _groups(basis: Basis, by: str) -> _Groups:
    """The counts of each group by its name, those with an order of their own in it."""
    if by == "dataset":
        return _by_dataset(basis)
    if by == "length":
        return _by_text(basis, length_band, {words: words for _most, words in LENGTHS})
    if by == "language":
        return _by_text(basis, script, SCRIPTS)
    found = {value: each_prompt(alike) for value, alike in cells_by_group(basis, by).items()}
    if by == "images":
        return {words: found[count] for count, words in enumerate(_IMAGES) if count in found}
    nameless = _NAMELESS[by]
    while nameless in found:  # people have a tag of that name
        nameless = f"({nameless})"
    names = FLAG_WORDS if by == "flag" else {}
    return {names.get(value, value) if value else nameless: cells for value, cells in found.items()}


def _by_text(basis: Basis, kind: Callable[[str], str], words: Mapping[str, str]) -> _Groups:
    """The groups of what `kind` says of each prompt, in the order of `words` and under these."""
    found: _Groups = {}
    for text, cluster, cells in cells_by_text(basis):
        found.setdefault(kind(text), {})[cluster] = cells
    return {name: found[key] for key, name in words.items() if key in found}


def _by_dataset(basis: Basis) -> _Groups:
    """This run's counts, and those of the same judging on each other dataset; datasets without labels as well."""
    chosen = {}
    for run in runs_elsewhere(basis.run_id):
        known = chosen.get(run["dataset"])
        if known is None or run["done"] >= known["done"]:
            chosen[run["dataset"]] = run
    runs = [run_by_id(basis.run_id), *chosen.values()]
    return {run["dataset"]: _by_prompt(replace(basis, run_id=run["id"]), run["dataset"]) for run in runs}


def _by_prompt(basis: Basis, dataset: str) -> dict[Hashable, Cells]:
    """The counts of each prompt; a case without one stands for itself, whatever a case of another dataset is called."""
    return {(dataset, cluster) if text == "" else cluster: cells for text, cluster, cells in cells_by_text(basis)}


def _pooled(groups: Iterable[Mapping[Hashable, Cells]]) -> dict[Hashable, Cells]:
    """The counts of several datasets together; what they have of one prompt is one cluster."""
    pooled: dict[Hashable, Cells] = {}
    for cells in groups:
        for cluster, counts in cells.items():
            before = pooled.get(cluster)
            pooled[cluster] = counts if before is None else tuple(map(sum, zip(before, counts, strict=True)))
    return pooled


def _size(cells: Mapping[Hashable, Cells]) -> int:
    return sum(map(sum, cells.values()))
