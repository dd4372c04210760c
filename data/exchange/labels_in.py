"""People's labels that come in: reviews like those given at the desk, with what is known of how they came about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from data.exchange.facts import Facts
from data.exchange.import_report import FileReport
from data.exchange.mapping import Choices, MappingWrong
from data.exchange.saying import RowWrong, SaidLabel, check_revision, number, shared_label
from data.exchange.times import utc
from data.store.badcase_tags import tag_words
from data.store.bulk import Bulk, Known
from data.store.bulk_reviews import BulkReviews, ReviewRow
from data.store.reviews import MAX_COMMENT
from evaluators.metrics import CRITERIA

QUEUE = "imported"
_BASES = ("random", "designed", "opportunistic")
_YES = frozenset({"1", "true", "yes", "是", "1.0"})


class Labels:
    """The labels of one file. is_complete: every case of the dataset has a label in it, so that nobody picked cases."""

    def __init__(self, bulk: Bulk, choices: Choices, facts: Facts, report: FileReport, is_complete: bool):
        self._reviews, self._choices, self._facts, self._report = BulkReviews(bulk), choices, facts, report
        self._is_random = is_complete if choices.random is None else choices.random
        criteria = {run.criterion for run in facts.runs.values()}
        self._criterion = choices.criterion or (criteria.pop() if len(criteria) == 1 else "overall")
        self._tags = {name.casefold(): key for key, words in tag_words().items() for name in (key, words)}
        self._waiting: list[ReviewRow] = []
        self._decisions: list[tuple] = []
        self._counts: dict[str, int] = {}
        self._is_told = False

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
        items += [(key, value, None) for key, value in said.ratings]
        label, score = said.label, number(facts["human_score"]) if facts.get("human_score") else None
        if label is None and said.ratings:
            label = shared_label(said.ratings, self._facts.rating_scale, self._choices.usable_from)
            score = min(value for _key, value in said.ratings) / self._facts.rating_scale
        if facts.get("undoes"):
            label = None
        blind = facts["blind"].lower() in _YES if facts.get("blind") else self._choices.blind
        basis, draw = self._draw(facts)
        told = (case.id, case.revision, criterion, reviewer, label, score, tags, comment, items, facts.get("undoes"))
        token = facts.get("token") or _token(case, told)
        if len(token) > 100:
            raise RowWrong("token", "the label's own id has more than 100 characters")
        self._waiting.append(
            ReviewRow(token, case, criterion, reviewer, label, score, tags, comment, blind, basis, draw, items,
                      utc(facts.get("labelled", "")) or "", facts.get("undoes", ""))
        )  # fmt: skip
        self._counts[said.reviewer] = self._counts.get(said.reviewer, 0) + 1
        if not self._is_told:
            self._tell(facts)

    def decide(self, case: Known, decision: Mapping[str, str]) -> None:
        """Take the lead's decision on a case.

        :raises RowWrong: as `take`.
        """
        check_revision(decision)
        who = self._reviewer(decision.get("adjudicated_by") or "lead")
        criterion = decision.get("criterion") or self._criterion
        label, reason = decision["adjudicated"], decision.get("adjudication_reason", "")
        told = (*case, criterion, who, label, reason, decision.get("adjudicated_at", ""))
        token = _token(case, told)
        self._decisions.append(
            (token, case, criterion, who, label, reason, utc(decision.get("adjudicated_at", "")) or "")
        )

    def flush(self) -> None:
        """Write what has gathered."""
        if self._waiting:
            try:
                new, changed = self._reviews.add(self._waiting)
            except LookupError as error:
                raise MappingWrong(f"{self._report.file}: {error}") from error
            self._report.reviews["new"] += new - changed
            self._report.reviews["changed"] += changed
            self._report.reviews["unchanged"] += len(self._waiting) - new
            self._waiting.clear()
        if self._decisions:
            self._report.adjudications += self._reviews.decide(self._decisions)
            self._decisions.clear()

    def end(self) -> None:
        self.flush()
        self._report.reviewers.update(self._counts)

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

    def _tell(self, facts: Mapping[str, str]) -> None:
        """Say once what is assumed of the labels."""
        self._is_told = True
        if not facts.get("blind"):
            shown = "given beside the verdict, since nobody says otherwise"
            blind = "given without seeing the judge" if self._choices.blind else shown
            self._report.note(f"Labels are taken to be {blind}.")
        if not facts.get("basis"):
            why = "every case has one" if self._choices.random is None else "as was said"
            picked = "on picked cases: they do not enter the figures"
            self._report.note(
                f"Labels are taken to be {f'on all cases or a random draw ({why})' if self._is_random else picked}."
            )


def _token(case: Known, told: tuple) -> str:
    """The id of a label that has none: the same label of the same case gets the same, in whatever file it comes again.

    The case stands first, so that the store's index of ids grows at its end.
    """
    return f"imported-{case.id:09d}-{hashlib.sha256(repr(told).encode('utf-8', 'replace')).hexdigest()[:40]}"


def _checked(comment: str) -> str:
    if len(comment) > MAX_COMMENT:
        raise RowWrong("comment", f"the comment has {len(comment):,} characters, more than {MAX_COMMENT:,}")
    return comment
