"""The metrics. To add one: write its file, and add it to the table here."""

from evaluators.metrics.base import CRITERIA, Answers, Metric
from evaluators.metrics.contextual_recall import CONTEXTUAL_RECALL
from evaluators.metrics.gecko import GECKO_IMAGE, GECKO_VIDEO
from evaluators.metrics.image_text_match import IMAGE_TEXT_MATCH
from evaluators.metrics.imported import IMPORTED
from evaluators.metrics.viescore import TASKS

METRICS: dict[str, Metric] = {
    metric.name: metric for metric in (*TASKS, IMAGE_TEXT_MATCH, GECKO_IMAGE, GECKO_VIDEO, CONTEXTUAL_RECALL)
}


def metric_named(name: str) -> Metric:
    """The metric of that name; `imported` stands for those of verdicts that came from a file.

    :raises KeyError: with a sentence that lists the names there are.
    """
    if name == IMPORTED.name:
        return IMPORTED
    try:
        return METRICS[name]
    except KeyError:
        raise KeyError(f"There is no metric {name!r}; there are: {', '.join(METRICS)}.") from None


__all__ = ["CRITERIA", "METRICS", "Answers", "Metric", "metric_named"]
