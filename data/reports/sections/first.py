"""The first sections: the figures, the table of labels, all judged cases, the judge against itself."""

from __future__ import annotations

from data.reports.charts.confusion import LABELS, cells, confusion
from data.reports.charts.forest import forest
from data.reports.figure_words import ALL_JUDGED_FIGURES, FIGURES
from data.reports.repeats import consistency_report
from data.reports.sections.section import INK, Reported, Section, Table, shown
from data.store.runs import repeats
from evaluators.agreement import WARNING_WORDS


def figures_section(of: Reported) -> Section | None:
    """The first figures with their intervals, and the constant judge beside them."""
    report = of.report
    if not report["n"] or report["threshold"] is None:
        return None
    rows = [
        (words, shown(report[name], name != "kappa"), f"{report[name]['n']:g}", report[name]["method"], meaning)
        for name, (words, meaning) in FIGURES.items()
    ]
    said, reached = report["baseline_label"], f"{100 * report['baseline']:.1f} %"
    rows.insert(1, (f"A judge that always says “{said}”", reached, report["n"], "", "share that it would reach"))
    people = report["human"]
    if people["agreement"]["value"] is not None:
        beside = "on cases that two or more people labelled"
        for words, name in (("People among themselves", "agreement"), ("People's kappa", "kappa")):
            told = people[name]
            rows.append((words, shown(told, name != "kappa"), people["cases"], told["method"], beside))
    drawn = [{"name": words, **report[name]} for name, (words, _meaning) in FIGURES.items()]
    chart = forest(drawn, report["baseline"], f"always {said}", share=False)
    words = []
    if report["prompts"] < report["n"] and report["accuracy"].get("n_eff"):
        words.append(
            f"The {report['n']} cases belong to {report['prompts']} prompts. Pictures of one prompt are alike; for agreement "
            f"they are worth about {report['accuracy']['n_eff']:.0f} independent cases, and the intervals know it."
        )
    table = Table(("Figure", "Value [95 % interval]", "Cases", "Method", "Meaning"), rows)
    return Section(words, [(chart, "The figures with their 95 % intervals")], [table])


def confusion_section(of: Reported) -> Section | None:
    """The 2x2 table of labels."""
    if not of.report["answered"]:
        return None
    counts = cells(of.report)
    table = Table(
        ("", *(f"judge: {label}" for label in LABELS)),
        [(f"people: {label}", *row) for label, row in zip(LABELS, counts, strict=True)],
    )
    silent = of.report["n"] - of.report["answered"]
    words = f"Cases without a label of the judge, not in this table: {silent}. Elsewhere they count as disagreements."
    return Section(
        [words] if silent else (), [(confusion(of.report, INK), "People's labels down, the judge's across")], [table]
    )


def all_judged_section(of: Reported) -> Section | None:
    """The judge over all cases that it labelled, and the true share of usable ones."""
    found = of.report["all_judged"]
    if found is None or not found["labelled"]:
        return None
    words = [found["words"], *(WARNING_WORDS[code] for code in found["warnings"] if code != "no_data")]
    words.append(
        f"From {found['labelled']} random and audit labels: within each of the judge's labels a random draw, and how many "
        f"cases it flagged is known. The judge itself passed {100 * found['judge_usable']:.1f} %, which is not the true share."
    )
    rows = [
        (name_words, shown(found[name]), f"{found[name]['n']:g}", found[name]["method"])
        for name, name_words in ALL_JUDGED_FIGURES.items()
    ]
    return Section(words, (), [Table(("Figure", "Value [95 % interval]", "Labels", "Method"), rows)])


def steadiness_section(of: Reported) -> Section | None:
    """How far the judge agrees with itself, where it was measured more than once."""
    run_id = of.basis.run_id
    return Section([consistency_report(run_id)["words"]]) if len(repeats(run_id)) > 1 else None
