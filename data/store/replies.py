"""Every reply that a judge ever gave, under the key of its question. The same question is never paid for twice."""

from __future__ import annotations

from data.store.connection import insert, now, row, writing
from evaluators.judges.question import Question, Reply


def stored_reply(key: str, run_id: int | None = None, *, fresh: bool = False) -> Reply | None:
    """The newest reply to that very question; None if it was never asked.

    It counts as cached unless it was `run_id` itself that asked for it, before its worker was killed. fresh: only a
    reply that `run_id` asked for.
    """
    found = row(
        "SELECT * FROM replies WHERE key = ? AND (NOT ? OR run_id = ?) ORDER BY id DESC LIMIT 1", [key, fresh, run_id]
    )
    if found is None:
        return None
    return Reply(
        text=found["text"], finish_reason=found["finish_reason"], refusal=found["refusal"],
        input_tokens=found["input_tokens"], output_tokens=found["output_tokens"],
        image_tokens=found["image_tokens"], sent_bytes=found["sent_bytes"], model=found["model"],
        mode=found["mode"], seconds=found["seconds"], cached=run_id is None or found["run_id"] != run_id,
        reply_id=found["id"],
    )  # fmt: skip


def store_reply(key: str, question: Question, reply: Reply, run_id: int | None = None) -> int:
    """Keep a reply as soon as it is there; gives its id."""
    with writing() as db:
        return insert(
            db, "replies", key=key, run_id=run_id, metric=question.metric, aspect=question.aspect, model=reply.model,
            mode=reply.mode, text=reply.text, finish_reason=reply.finish_reason, refusal=reply.refusal,
            input_tokens=reply.input_tokens, output_tokens=reply.output_tokens,
            image_tokens=reply.image_tokens, sent_bytes=reply.sent_bytes, seconds=reply.seconds, created=now(),
        )  # fmt: skip
