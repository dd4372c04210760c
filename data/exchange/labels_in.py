"""People's labels that come in: reviews like those given at the desk, with what is known of how they came about."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping

from data.exchange.facts import Facts
from data.exchange.import_report import FileReport, Problem
from data.exchange.mapping import Choices
from data.exchange.saying import RowWrong, SaidLabel, check_revision, number, shared_label
from data.exchange.times import utc
from data.store.badcase_tags import tag_words
from data.store.bulk import Known
from data.store.bulk_reviews import BulkReviews, DecisionRow, ReviewRow
from data.store.reviews import MAX_COMMENT
from evaluators.metrics import CRITERIA

QUEUE = "imported"
_BASES = ("random", "designed", "opportunistic")
_DRAWN = {
    "random": "on all cases or a random draw",
    "designed": "on a designed draw",
    "opportunistic": "on picked cases",
}
#: Labels with times that wait to be written in their order.
_MOST_WAITING = 200_000
_YES = frozenset({"1", "true", "yes", "是", "1.0"})


class Labels:
    """The labels of one file. Nobody is taken to have labelled a random draw unless the file or somebody says so."""

    def __init__(self, reviews: BulkReviews, choices: Choices, facts: Facts, report: FileReport):
        self._reviews, self._choices, self._facts, self._report = reviews, choices, facts, report
        self._is_random = bool(choices.random)
        criteria = {run.criterion for run in facts.runs.values()}
        self._criterion = choices.criterion or (criteria.pop() if len(criteria) == 1 else "overall")
        self._tags = {name.casefold(): key for key, words in tag_words().items() for name in (key, words)}
        self._waiting: list[ReviewRow] = []
        self._decisions: list[DecisionRow] = []
        self._is_rated = False
        self._counts: dict[str, int] = {}
        self._assumed: list[str] | None = None
        self._otherwise: Counter = Counter()
        self._gathers = False

    def take(self, row: int, case: Known, external_id: str, said: SaidLabel) -> None:
        """Take one label.

        :raises RowWrong: if it is not one that can be kept.
        """
        facts = said.facts
        check_revision(facts)
        reviewer = self._reviewer(said.reviewer)
        criterion = facts.get("criterion") or self._criterion
        if criterion not in CRITERIA:
            raise RowWrong("criterion", f"{criterion[:60]!r} is not a criterion: {', '.join(CRITERIA)}")
        tags, comment = self._remarks(facts)
        items = [(i.key, i.value, i.answer) for i in said.items]
        for key, rating in said.ratings:
            if not 0 <= rating <= self._facts.rating_scale:
                raise RowWrong(key, f"a rating of {rating:g} is outside 0-{self._facts.rating_scale:g}")
        items += [(key, value, None) for key, value in said.ratings]
        label, score = said.label, number(facts["human_score"]) if facts.get("human_score") else None
        is_rated = label is None and bool(said.ratings)
        if is_rated:
            label = shared_label(said.ratings, self._facts.rating_scale, self._choices.usable_from)
            score = min(value for _key, value in said.ratings) / self._facts.rating_scale
        if facts.get("undoes"):
            label = None
        blind = facts["blind"].lower() in _YES if facts.get("blind") else self._choices.blind
        basis, draw = self._draw(facts)
        told = (case.id, case.revision, criterion, reviewer, label, score, tags, comment, items, facts.get("undoes"))
        created = utc(facts.get("labelled", "")) or ""
        told = (*told, created) if created else told
        token = facts.get("token") or _token(case, told)
        if len(token) > 100:
            raise RowWrong("token", "the label's own id has more than 100 characters")
        self._waiting.append(
            ReviewRow(token, case, criterion, reviewer, label, score, tags, comment, blind, basis, draw, items,
                      created, facts.get("undoes", ""), row)
        )  # fmt: skip
        self._counts[said.reviewer] = self._counts.get(said.reviewer, 0) + 1
        self._gathers = self._gathers or "labelled" in facts or "undoes" in facts
        if self._assumed is None:
            self._assumed = self._assumptions(facts)
        if is_rated and not self._is_rated:
            self._is_rated = True
            least = self._choices.usable_from * self._facts.rating_scale
            self._report.note(
                f"Ratings are taken to be 0-{self._facts.rating_scale:g}; a label is usable if each is at least {least:g}."
            )

    def decide(self, row: int, case: Known, decision: Mapping[str, str]) -> None:
        """Take the lead's decision on a case.

        :raises RowWrong: as `take`.
        """
        check_revision(decision)
        who = self._reviewer(decision.get("adjudicated_by") or "lead")
        criterion = decision.get("criterion") or self._criterion
        label, reason = decision["adjudicated"], decision.get("adjudication_reason", "")
        told = (*case, criterion, who, label, reason, decision.get("adjudicated_at", ""))
        token = _token(case, told)
        self._gathers = self._gathers or "adjudicated_at" in decision
        created = utc(decision.get("adjudicated_at", "")) or ""
        self._decisions.append(DecisionRow(token, case, criterion, who, label, reason, created, row))

    def flush(self, is_last: bool = False) -> None:
        """Write what has gathered. Labels with times are written in their order, so they wait for the whole file, unless
        it is very long."""
        if self._gathers and not is_last and len(self._waiting) + len(self._decisions) < _MOST_WAITING:
            return
        if self._waiting:
            added = self._reviews.add(self._waiting)
            self._report.reviews["new"] += added.new - added.changed
            self._report.reviews["changed"] += added.changed
            self._report.reviews["rejected"] += len(added.wrong)
            self._report.reviews["unchanged"] += len(self._waiting) - added.new - len(added.wrong)
            for review, told in added.wrong:
                column = "undoes" if review.undoes else "labelled"
                self._report.problems.append(Problem(review.row, column, told, rejected=True))
            self._otherwise.update(added.otherwise)
            self._waiting.clear()
        if self._decisions:
            new, wrong = self._reviews.decide(self._decisions)
            self._report.adjudications += new
            told = "there is a later decision on the case here, which stays"
            self._report.problems += [Problem(d.row, "adjudicated_at", told, rejected=True) for d in wrong]
            self._decisions.clear()

    def end(self) -> None:
        self.flush(is_last=True)
        self._report.adjudications += self._reviews.decided_again
        again = self._reviews.end()
        self._report.reviews["changed"] += again
        self._report.reviews["unchanged"] -= again
        self._report.reviewers.update(self._counts)
        if self._report.reviews["new"] or self._report.reviews["changed"]:
            for sentence in self._assumed or ():
                self._report.note(sentence)
        for (blind, basis), count in self._otherwise.items():
            given = "without seeing the judge" if blind else "beside the verdict"
            self._report.note(f"{count} labels are here already as given {given}, {_DRAWN[basis]}: unchanged.")

    def _reviewer(self, name: str) -> int:
        name = " ".join(name.split())
        if not 1 <= len(name) <= 80:
            raise RowWrong("reviewer", "a reviewer's name has 1 to 80 characters")
        return self._reviews.reviewer(name)

    def _remarks(self, facts: Mapping[str, str]) -> tuple[list[str], str]:
        """Known tags by their keys, and the comment; tags that are not known go into the comment."""
        if not facts.get("human_tags"):
            return [], _checked(facts.get("comment", ""))
        told = json.loads(facts["human_tags"])
        known = [self._tags[tag.casefold()] for tag in told if tag.casefold() in self._tags]
        others = [tag for tag in told if tag.casefold() not in self._tags]
        comment = facts.get("comment", "")
        if others:
            comment = f"{comment}\n{', '.join(others)}".strip()
            self._report.note("Tags of labels that are not badcase tags here are kept in the comment.")
        return list(dict.fromkeys(known)), _checked(comment)

    def _draw(self, facts: Mapping[str, str]) -> tuple[str, tuple[str, str, float | None] | None]:
        """The basis of a label, and the draw that offered the case."""
        basis = facts.get("basis") or ("random" if self._is_random else "opportunistic")
        if basis not in _BASES:
            raise RowWrong("basis", f"{basis[:60]!r} is none of {', '.join(_BASES)}")
        queue, pi = facts.get("queue", ""), number(facts["pi"]) if facts.get("pi") else None
        if basis == "opportunistic" and not queue:
            return basis, None
        if pi is not None and not 0 < pi <= 1:
            raise RowWrong("pi", f"a chance of {pi:g} is outside 0-1")
        return basis, (
            queue or QUEUE,
            facts.get("stratum") or "all",
            pi if facts.get("pi") or basis != "random" else 1.0,
        )

    def _assumptions(self, facts: Mapping[str, str]) -> list[str]:
        """What is assumed of labels that do not say it themselves."""
        told = []
        if not facts.get("criterion") and not self._choices.criterion:
            told.append(f"Labels are taken to be on {self._criterion}: {CRITERIA[self._criterion]}.")
        if not facts.get("blind"):
            shown = "given beside the verdict, since nobody says otherwise"
            blind = "given without seeing the judge" if self._choices.blind else shown
            told.append(f"Labels are taken to be {blind}.")
        if not facts.get("basis"):
            drawn = "on all cases or a random draw, as was said"
            picked = (
                "on picked cases: they do not enter the figures; if nobody picked the cases, say that the labels are on "
                "all cases or a random draw (--labels-random)"
            )
            told.append(f"Labels are taken to be {drawn if self._is_random else picked}.")
        return told


def _token(case: Known, told: tuple) -> str:
    """The id of a label that has none: the same label of the same case gets the same, in whatever file it comes again.

    The case stands first, so that the store's index of ids grows at its end.
    """
    return f"imported-{case.id:09d}-{hashlib.sha256(repr(told).encode('utf-8', 'replace')).hexdigest()[:40]}"


def _checked(comment: str) -> str:
    if len(comment) > MAX_COMMENT:
        raise RowWrong("comment", f"the comment has {len(comment):,} characters, more than {MAX_COMMENT:,}")
    return comment
