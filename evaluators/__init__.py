"""How images and judges are evaluated: metrics, judges, agreement. Imports neither streamlit nor data.

>>> from evaluators import Case, METRICS
>>> METRICS["text_to_image"].lacks(Case.build("a blue pair of shoes"))
'needs exactly 1 result image, found 0'
"""

from evaluators.case import Case, Part
from evaluators.judges.endpoint import EndpointJudge
from evaluators.judges.settings import EndpointSettings
from evaluators.metrics import CRITERIA, METRICS, metric_named
from evaluators.rubric import Rubric, RubricQuestion, RubricsInMemory
from evaluators.verdict import Item, Options, Verdict, label_of, shown_score

__all__ = [
    "CRITERIA",
    "METRICS",
    "Case",
    "EndpointJudge",
    "EndpointSettings",
    "Item",
    "Options",
    "Part",
    "Rubric",
    "RubricQuestion",
    "RubricsInMemory",
    "Verdict",
    "label_of",
    "metric_named",
    "shown_score",
]
