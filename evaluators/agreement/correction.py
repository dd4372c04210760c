"""The true share of usable images from a judge's verdicts, when the labels that say how it errs come from elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evaluators.agreement.estimate import Estimate
from evaluators.agreement.proportions import normal_quantile


@dataclass(frozen=True)
class Corrected(Estimate):
    """A corrected share. raw: before it was cut at 0-1; youden: TPR + TNR - 1 of the judge, how much it tells, -1..1."""

    raw: float | None = None
    youden: float | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Keys of WARNING_WORDS."""
        return () if self.raw is None or 0 <= self.raw <= 1 else ("calibration_misfit",)


def rogan_gladen(k: int, N: int, tpr_k: int, tpr_n: int, tnr_k: int, tnr_n: int) -> Corrected:  # noqa: N803
    """(p + TNR - 1) / (TPR + TNR - 1) (Rogan & Gladen 1978), interval of Lang & Reiczigel 2014.

    Only for labels from another mix of cases, on the assumption that the judge errs there as here; labels from the same
    run make two_phase both right and narrower. k of N: cases that the judge passes. tpr_k of tpr_n: passed among the
    calibration cases that people call usable; tnr_k of tnr_n: flagged among those that they call badcase.

    Undefined: no cases (`no_data`), a class missing among the labels (`no_human_usable`, `no_human_bad`), a judge with
    TPR + TNR <= 1 (`judge_at_chance`). So few labels that the smoothed rates are no better than chance: 0-1,
    `interval_undefined`. The interval is widened to hold the value, which is cut at 0-1; one wholly outside 0-1 is none
    (`calibration_misfit`).
    """
    if not N:
        return Corrected.undefined("no_data")
    if not tpr_n or not tnr_n:
        return Corrected.undefined("no_human_bad" if tpr_n else "no_human_usable", N)
    youden = tpr_k / tpr_n + tnr_k / tnr_n - 1
    # In whole numbers: 1/3 + 2/3 is chance.
    if tpr_k * tnr_n + tnr_k * tpr_n <= tpr_n * tnr_n:
        return Corrected(None, reason="judge_at_chance", n=N, youden=youden)
    raw = (k / N + tnr_k / tnr_n - 1) / youden
    value = min(1.0, max(0.0, raw))
    z = normal_quantile()
    passes, flags = (tpr_k + 1) / (tpr_n + 2), (tnr_k + 1) / (tnr_n + 2)
    if passes + flags <= 1:
        return Corrected(value, 0.0, 1.0, "interval_undefined", N, raw=raw, youden=youden)
    cases = N + z * z
    rate = (k + z * z / 2) / cases
    tells = passes + flags - 1
    share = (rate + flags - 1) / tells
    of_passes, of_flags = passes * (1 - passes) / (tpr_n + 2), flags * (1 - flags) / (tnr_n + 2)
    centre = share + 2 * z * z * (share * of_passes - (1 - share) * of_flags)
    half = z * math.sqrt(rate * (1 - rate) / cases + share**2 * of_passes + (1 - share) ** 2 * of_flags) / tells
    if centre + half <= 0 or centre - half >= 1:
        return Corrected(value, reason="calibration_misfit", n=N, raw=raw, youden=youden)
    lo, hi = (min(1.0, max(0.0, end)) for end in (centre - half, centre + half))
    return Corrected(value, min(lo, value), max(hi, value), n=N, method="Lang-Reiczigel", raw=raw, youden=youden)
