"""A judge that only replays replies that were given before. It needs no key and no network."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evaluators.errors import JudgeFailed
from evaluators.judges.question import Question, Reply, question_key


class RecordedJudge:
    """Answers from a look-up of key -> reply (see `question_key`)."""

    def __init__(self, identity: Mapping[str, object], lookup: Callable[[str], Reply | None]):
        self.identity = dict(identity)
        self._lookup = lookup

    async def ask(self, question: Question) -> Reply:
        """The recorded reply.

        :raises JudgeFailed: if this very question was never recorded.
        """
        reply = self._lookup(question_key(question, self.identity))
        if reply is None:
            raise JudgeFailed(
                f"no recorded reply for this question ({question.metric}, {question.aspect}); "
                "a recorded judge only replays what was stored: choose a judge with an endpoint"
            )
        return reply
