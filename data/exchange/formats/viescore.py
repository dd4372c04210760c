"""VIEScore's result folders: results_JUDGE/TASK/MODEL/SC.json and PQ.json.

Each file is an object: a picture's name -> score (a list of sub-scores 0-10), reasoning, prompt_input and vision_input
(the links that the judge was shown, the result last). The instruction stands at the end of prompt_input behind a label
such as "Editing instruction:" or "Text Prompt:". A sub-score outside 0-10 is a reply that was read wrongly: such a
verdict is unreadable, and the numbers stay in its reason (VIEScore, _answers/).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from data.exchange.formats.imagenhub import case_name
from data.exchange.formats.rewriting import parsed, rewritten, text
from data.exchange.mapping import Choices
from data.exchange.proposing import Proposal
from data.exchange.reading import Table

TITLE = "results of VIEScore"
_INSTRUCTION = re.compile(r"(?:instruction|prompt|subject)\s*:\s*([^\n]+)\s*$", re.IGNORECASE)
_FIELDS = {
    "case_id": "case_id", "prompt": "prompt", "input_images": "input_images", "result_image": "result_image",
    "generator": "generator", "judge": "judge", "aspect": "aspect", "sub_scores": "items", "reasoning": "reason",
    "problem": "problem",
}  # fmt: skip


def recognise(table: Table) -> Proposal | None:
    """A proposal for one of the two files; `gathering.gather` makes one table of all in a folder."""
    if not {"key", "score", "reasoning"} <= set(table.columns) or table.source.stem not in ("SC", "PQ"):
        return None
    place = table.source.at.resolve().parts if isinstance(table.source.at, Path) else ()
    judge = next((part.removeprefix("results_") for part in reversed(place) if part.startswith("results_")), "VIEScore")

    def rewrite(row: Mapping[str, str]) -> Iterator[dict[str, str]]:
        links = parsed(row.get("vision_input", ""))
        links = [text(link) for link in links] if isinstance(links, list) else []
        shown = [part for part in urlsplit(links[-1]).path.split("/") if part] if links else []
        task, model = shown[-3:-1] if len(shown) >= 3 else place[-3:-1] if len(place) >= 3 else ("", "")
        told = _INSTRUCTION.search(row.get("prompt_input", ""))
        scores = parsed(row.get("score", ""))
        scores = scores if isinstance(scores, list) else [scores] if isinstance(scores, int | float) else []
        is_read = scores and all(isinstance(s, int | float) and 0 <= s <= 10 for s in scores)
        yield {
            "case_id": case_name(task, model, row["key"]),
            "prompt": told[1].strip() if told else "",
            "input_images": text(links[:-1]) if len(links) > 1 and table.source.stem == "SC" else "",
            "result_image": links[-1] if links else "",
            "generator": model,
            "judge": judge,
            "aspect": table.source.stem,
            "sub_scores": text(scores) if is_read else "",
            "reasoning": row.get("reasoning", "")
            if is_read
            else f"{row.get('reasoning', '')} {json.dumps(scores)}".strip(),
            "problem": "" if is_read else "the file's sub-scores are not numbers from 0 to 10",
        }

    return rewritten(table, TITLE, _FIELDS, rewrite, Choices(criterion="overall", combine="viescore", scale=10.0))
