"""What stands in report.html, in order."""

from __future__ import annotations

from functools import partial

from data.reports.groups import GROUPINGS
from data.reports.sections import breakdowns, first, people, scores
from data.reports.sections.section import Maker, Reported, Section

#: The sections: a title, and what makes the section from what is reported on, or None to leave it out. To add one, add a line.
SECTIONS: list[tuple[str, Maker]] = [
    ("The figures", first.figures_section),
    ("Judge against people", first.confusion_section),
    ("Over all judged cases", first.all_judged_section),
    ("Generators", breakdowns.generators_section),
    *((f"By {words}", partial(breakdowns.groups_section, by=by)) for by, words in GROUPINGS.items()),
    ("Scores and thresholds", scores.scores_section),
    ("Judge's scores against people's", scores.human_scores_section),
    ("Item by item", scores.items_section),
    ("People among themselves", people.people_section),
    ("Blind and shown labels", people.anchoring_section),
    ("Over time", breakdowns.over_time_section),
    ("Versions", breakdowns.versions_section),
    ("The judge against itself", first.steadiness_section),
]


def made(of: Reported) -> list[tuple[str, Section]]:
    """The sections that have something to say, with their titles."""
    return [(title, section) for title, maker in SECTIONS if (section := maker(of)) is not None]
