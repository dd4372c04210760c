"""May one say that the judge agrees with people on at least so many cases?"""

from __future__ import annotations

from dataclasses import asdict

from data.store import claims
from data.store.agreement import Basis
from data.store.runs import run_by_id
from evaluators.agreement import Headline, claim


def claim_report(basis: Basis, figures: Headline, target: float, planned: int | None = None) -> dict:
    """The claim "agrees with people on at least `target`" (0-1) tested, as plain values and in words.

    planned: how many labelled cases were planned for the test. Before they are there the answer is `interim`, which says
    nothing and costs nothing. Any other look is written down, and each later one must show more: who may look k times
    passes by luck k times as easily (`agreement.md` 1.3).
    """
    said = f"“At least {100 * target:g} %”"
    untested = _why_not(basis, figures, planned)
    if untested:
        answer, words = untested
        looks = claims.looks(basis.run_id)
        return {"target": target, "answer": answer, "planned": planned, "looks": looks, "words": f"{said} {words}"}
    looks = claims.look(basis, target, figures.n)
    found = claim(figures.accuracy, target, len(looks))
    words = {
        "pass": f"{said} holds",
        "fail": f"{said} does not hold",
        "undecided": f"{said} is undecided",
    }[found.answer]
    if found.lower is not None:
        words += (
            f" (each bound is {100 * (1 - found.alpha):g} % sure: above {100 * found.lower:.1f} %, "
            f"below {100 * found.upper:.1f} %)"
        )
    words += "."
    if len(looks) > 1:
        words += (
            f" Claims about this run have been tested {len(looks)} times, at {_listed(looks)} labelled cases. Each is another "
            f"chance to pass by luck, so the bounds are taken stricter each time; over all of them luck passes a judge that is not "
            f"good enough in at most {100 * found.risk:.0f} % of such tests. Plan the number of labels and look once."
        )
    if found.more:
        words += f" About {found.more:,} more labels would decide it, if the judge is as good as it looks."
    elif found.reason == "few_clusters":
        words += " All of these cases belong to one prompt: label cases of other prompts."
    elif found.answer == "undecided":
        words += " What is seen so far is not better than that: more labels will hardly show it."
    return {**asdict(found), "planned": planned, "looks": looks, "words": words}


def _why_not(basis: Basis, figures: Headline, planned: int | None) -> tuple[str, str] | None:
    """The answer, and why a claim is not tested now, if it is not."""
    own = run_by_id(basis.run_id)["threshold"]
    if own is not None and basis.threshold != own:
        return "untested", (
            f"is tested at the run's own threshold {own:g} only: this one was chosen on the labels that would test it."
        )
    if not figures.n:
        return "undecided", "is undecided: it is tested on labels from the random order, and there are none."
    if planned is not None and figures.n < planned:
        return (
            "interim",
            f"is interim: {figures.n} of {planned} planned labels are there. It is tested once, when all are.",
        )
    return None


def _listed(numbers: list[int]) -> str:
    """10, 20 and 30; the first and the last ones of many."""
    told = [f"{n:,}" for n in numbers]
    if len(told) > 6:
        told = [*told[:3], "…", *told[-2:]]
    return f"{', '.join(told[:-1])} and {told[-1]}"
