"""Tables of Coze's evaluator "图生图-图文匹配度": input_images, user_prompt, result_image, and once judged score and reasoning.

score is 1 (usable as far as text and picture match) or 0; so the criterion is match.
"""

from __future__ import annotations

from data.exchange.mapping import Choices
from data.exchange.proposing import Proposal, guessed
from data.exchange.reading import Table

_NEEDED = {"user_prompt", "result_image"}


def recognise(table: Table) -> Proposal | None:
    """A proposal for a table with Coze's column names; other columns are taken for what they look like."""
    if not set(table.columns) >= _NEEDED:
        return None
    return Proposal(table, guessed(table), Choices(criterion="match", judge="Coze"), "a table of a Coze evaluator")
