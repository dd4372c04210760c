"""The small family of things that can go wrong when a judge is asked. Each message is a sentence for people."""


class EvaluationError(Exception):
    """Base of all errors here; its text can be shown to people."""


class CaseUnfit(EvaluationError):  # noqa: N818 - it names a state of the case
    """The case lacks what the metric needs; decided before any call."""


class UnreadableReply(EvaluationError):  # noqa: N818 - it names what the reply is
    """The judge's text holds no valid answer. Never a zero."""


class RefusedReply(EvaluationError):  # noqa: N818 - it names what the reply is
    """The judge declined to answer."""


class JudgeFailed(EvaluationError):  # noqa: N818 - it names what happened
    """The provider answered with an error or not at all; `status` is its HTTP status if there was one."""

    def __init__(self, message: str, status: int | None = None):
        super().__init__(message)
        self.status = status


class JudgeDown(JudgeFailed):
    """The provider has been of no use for so long, or for so much longer, that it makes no sense to ask on now."""
