"""How steady a judge is: a run and its repeats."""

from __future__ import annotations

from dataclasses import asdict

from data.reports.words import percent
from data.store.run_figures import clusters_of, repeated_scores
from data.store.runs import repeats
from evaluators.agreement import self_consistency


def consistency_report(run_id: int) -> dict:
    """How far a run and its repeats agree with each other, as plain values; `words` says it in a sentence."""
    ids = repeats(run_id)
    scores, clusters = repeated_scores(ids), clusters_of(ids)
    found = self_consistency(list(scores.values()), [clusters[case_id] for case_id in scores])
    words = f"Measured {found.measurements} times: "
    if found.agreement is None:
        words += "no case has a label in every measurement, so how steady the judge is cannot be told."
    else:
        words += (
            f"{found.stable} of {found.cases} cases got the same label every time; two measurements agree on "
            f"{percent(found.same)} of labels; scores scatter by {found.score_sd:.3f} (standard deviation within a case)."
        )
    return {**asdict(found), "runs": ids, "words": words}
