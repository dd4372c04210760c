"""ImagenHub's rater files: TASK_raterN.tsv, a column uid, and for each model a column of ratings `[SC, PQ]` in {0, 0.5, 1}.

By ImagenHub's rule a picture is a badcase if either rating is 0. The cases' ids are TASK/MODEL/UID, as VIEScore's result
folders give them (ImagenHub, eval/human_ratings).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from data.exchange.formats.rewriting import parsed, rewritten
from data.exchange.mapping import Choices
from data.exchange.proposing import Proposal
from data.exchange.reading import Table

_RATINGS = re.compile(r"\[\s*[\d.]+\s*,\s*[\d.]+\s*\]")
_RATER = re.compile(r"(.+?)[_-](rater\w{0,3})", re.IGNORECASE)
#: What VIEScore's result folders call a task or model otherwise than the rater files.
_TASKS = {"Text-To-Image": "Text-Guided_IG"}
_MODELS = {("Text-Guided_IG", "DALLE"): "DALLE2"}
_FIELDS = {
    "case_id": "case_id", "generator": "", "rater": "reviewer", "SC": "rating:SC", "PQ": "rating:PQ",
}  # fmt: skip


def recognise(table: Table) -> Proposal | None:
    """A proposal for a rater file: a row for each picture, the rater named as the file is."""
    models = [column for column in table.columns if column != "uid"]
    if table.columns[:1] != ("uid",) or not models:
        return None
    cells = [row.get(model, "") for row in table.sample(20) for model in models]
    if not any(cells) or not all(_RATINGS.fullmatch(cell.strip()) for cell in cells if cell.strip()):
        return None
    named = _RATER.fullmatch(table.source.stem)
    task, rater = named.groups() if named else (table.source.stem, "rater")

    def rewrite(row: Mapping[str, str]) -> Iterator[dict[str, str]]:
        for model in models:
            ratings = parsed(row.get(model, ""))
            if isinstance(ratings, list) and len(ratings) == 2:
                yield {
                    "case_id": case_name(task, model, row.get("uid", "")), "generator": model, "rater": rater,
                    "SC": str(ratings[0]), "PQ": str(ratings[1]),
                }  # fmt: skip

    choices = Choices(criterion="overall", rating_scale=1.0, blind=True)
    return rewritten(table, "ratings of ImagenHub", _FIELDS, rewrite, choices)


def case_name(task: str, model: str, uid: str) -> str:
    """The id of a case, the same for ratings and results."""
    task = _TASKS.get(task.removeprefix("ImagenHub_"), task.removeprefix("ImagenHub_"))
    return f"{task}/{_MODELS.get((task, model), model)}/{PurePath(uid).stem}"
