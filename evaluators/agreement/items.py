"""Judge against people piece by piece: answers by agreement, sub-scores by bias and error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import t as student


@dataclass(frozen=True)
class ScoreError:
    """How a judge's scores differ from people's, on their scale.

    bias: mean of judge minus people, with its 95 % interval (Student's t); mae, rmse: mean absolute and root mean square
    error; sd: standard deviation of the differences. None where n is too small, with a reason.
    """

    n: int
    bias: float | None
    lo: float | None
    hi: float | None
    mae: float | None
    rmse: float | None
    sd: float | None
    reason: str | None = None


def bias_mae(judge: Sequence[float], human: Sequence[float]) -> ScoreError:
    """Bias and error of paired scores.

    :raises ValueError: if the two have different lengths.
    """
    differences = [j - h for j, h in zip(judge, human, strict=True)]
    n = len(differences)
    if n == 0:
        return ScoreError(0, None, None, None, None, None, None, "no_data")
    bias = math.fsum(differences) / n
    mae = math.fsum(map(abs, differences)) / n
    rmse = math.sqrt(math.fsum(d * d for d in differences) / n)
    if n == 1:
        return ScoreError(1, bias, None, None, mae, rmse, None)
    sd = math.sqrt(math.fsum((d - bias) ** 2 for d in differences) / (n - 1))
    half = float(student.ppf(0.975, n - 1)) * sd / math.sqrt(n)
    return ScoreError(n, bias, bias - half, bias + half, mae, rmse, sd)
