"""The desk's server side: the next cases down, decisions up, and what the store has committed.

The component paints the next case from memory and keeps each decision until it is settled here; see outbox.js.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from data.store import cases as case_store
from data.store import queues, reviews, rubrics, runs, verdicts
from data.store.badcase_tags import offered_tags
from data.store.conflicts import adjudicated_count, conflicts, count_conflicts, labels_on
from data.store.connection import StoreError, workspace_id
from data.store.review_settings import blind_cases, review_settings
from evaluators.case import Case, Part
from evaluators.metrics import CRITERIA
from evaluators.verdict import FLAG_WORDS, STATUS_WORDS
from pages.parts.pictures import for_desk

#: Cases held ready in the browser.
WINDOW = 8
_KEPT = 200

#: How the verdict is shown; the key is stored in the address, the words are on the screen.
MODES = {
    "reveal": "Blind, then revealed",
    "blind": "Blind",
    "shown": "Verdict shown",
    "mixed": "Some blind, some shown",
    "adjudicate": "Adjudicate conflicts",
}
GROUP_WORDS = {"SC": "Semantic consistency", "PQ": "Perceptual quality", "contradiction": "",
               "elements": "Elements", "statements": "Statements", "question": "Questions"}  # fmt: skip
_ITEM_FIELDS = ("key", "kind", "group", "text", "value", "low", "high", "answer", "expected", "choices", "node")

_FOLDER = Path(__file__).parent
_SCRIPTS = (
    "outbox.js", "decided.js", "score.js", "pictures.js", "look.js", "swipe.js", "film.js", "verdict.js", "tags.js",
    "people.js", "face.js", "keys.js", "actions.js", "desk.js",
)  # fmt: skip


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


_component = st.components.v2.component(
    "second_look_desk", html=_text("desk.html"), css=_text("desk.css"), js="\n".join(map(_text, _SCRIPTS))
)


@dataclass(frozen=True)
class Sitting:
    """What is reviewed by whom: a dataset under a criterion, beside a run's verdicts or none; first_case_id: a case that
    was opened by its link and comes before the queue."""

    dataset_id: int
    criterion: str
    reviewer_id: int
    run_id: int | None
    mode: str
    queue: queues.Queue
    first_case_id: int | None = None

    @property
    def key(self) -> str:
        facts = (self.dataset_id, self.criterion, self.reviewer_id, self.run_id, self.mode, self.first_case_id)
        return "desk-" + "-".join(map(str, (*facts, self.queue.name)))


def draw_desk(sitting: Sitting) -> None:
    """The desk for a sitting.

    Not a fragment: a restarted server knows no fragments, and would turn down what a browser still has to send.
    """
    memory = _memory(sitting)
    _component(
        key=sitting.key,
        data=_data(sitting, memory),
        on_outbox_change=lambda: _take_outbox(sitting),
        on_skipped_change=lambda: memory.update(skipped=list(st.session_state[sitting.key].skipped or [])),
    )


def _memory(sitting: Sitting) -> dict:
    """What this session knows beyond the store: settled and refused tokens, cases just labelled, skipped cases."""
    fresh = {"settled": [], "refused": {}, "revealed": [], "skipped": [], "trouble": ""}
    return st.session_state.setdefault(f"{sitting.key}-memory", fresh)


def _take_outbox(sitting: Sitting) -> None:
    """Commit what the browser sent, in its order. What is refused stays there, apart, with the reason; what the store
    could not take now stays in the outbox and is sent again."""
    memory = _memory(sitting)
    memory["trouble"] = ""
    sent = st.session_state[sitting.key].outbox or {}
    for entry in sent.get("entries", []):
        token = str(entry.get("token"))
        if token in memory["settled"] or token in memory["refused"]:
            continue
        try:
            _commit(sitting, entry)
        except StoreError as error:
            memory["trouble"] = f"The store cannot take it now, it is tried again: {error}"
            return
        except Exception as error:
            # One entry that nobody foresaw must not stop the others; the browser keeps it and shows why.
            if not isinstance(error, reviews.ReviewRefused):
                logging.getLogger(__name__).exception("outbox entry %s", token)
            memory["refused"][token] = str(error) or type(error).__name__
        else:
            memory["settled"].append(token)
            if entry["kind"] != "undo" and entry["case_id"] not in memory["revealed"]:
                memory["revealed"].append(entry["case_id"])
    memory["settled"], memory["revealed"] = memory["settled"][-_KEPT:], memory["revealed"][-_KEPT:]


def _commit(sitting: Sitting, entry: Mapping) -> None:
    if entry["reviewer"] != sitting.reviewer_id:
        raise reviews.ReviewRefused("It was given under another name.")
    if entry["kind"] == "undo":
        reviews.undo_review(entry["token"], entry["undoes"], sitting.reviewer_id)
        return
    case_id, items = int(entry["case_id"]), dict(entry["items"])
    if entry["kind"] == "adjudication":
        reviews.adjudicate(
            entry["token"], case_id, entry["criterion"], sitting.reviewer_id, entry["label"], entry["comment"],
            int(entry["revision"]),
        )  # fmt: skip
        return
    reviews.save_review(
        reviews.Review(
            token=entry["token"],
            case_id=case_id,
            revision=int(entry["revision"]),
            criterion=entry["criterion"],
            reviewer_id=sitting.reviewer_id,
            label=entry["label"],
            items=items,
            score=_corrected_score(entry["run_id"], case_id, items),
            tags=tuple(entry["tags"]),
            comment=entry["comment"],
            blind=bool(entry["blind"]),
            shown=not entry["blind"] and entry["run_id"] is not None,
            run_id=entry["run_id"],
            draw_id=entry["draw_id"],
            decided=entry["decided"],
            dwell_ms=entry["dwell_ms"],
        )
    )


def _corrected_score(run_id: int | None, case_id: int, items: Mapping) -> float | None:
    """The score that the corrected items come to."""
    run = runs.run_by_id(run_id) if run_id is not None and items else None
    verdict = verdicts.verdicts_of_run(run_id, [case_id]).get(case_id) if run else None
    return verdicts.corrected_score(run, verdict["items"], items) if verdict else None


def _data(sitting: Sitting, memory: Mapping) -> dict:
    offered = _offered(sitting, memory["skipped"])
    if sitting.first_case_id is not None:
        offered = [o for o in offered if o["case_id"] != sitting.first_case_id]
        offered.insert(0, {"case_id": sitting.first_case_id, "draw_id": None})
    wanted = [o["case_id"] for o in offered]
    run = runs.run_by_id(sitting.run_id) if sitting.run_id is not None else None
    found = verdicts.verdicts_of_run(sitting.run_id, [*wanted, *memory["revealed"][-3:]]) if run else {}
    facts = {case_id: _verdict(run, verdict) for case_id, verdict in found.items()}
    hidden = _hidden_cases(sitting, wanted)
    visible = {case_id: verdict for case_id, verdict in facts.items() if case_id in wanted and case_id not in hidden}
    reveals = sitting.mode in ("reveal", "mixed")
    just_labelled = [i for i in memory["revealed"][-3:] if i in facts] if reveals else []
    # What is sent now makes no label blind later: a verdict, or what others said.
    reviews.saw_verdicts(sitting.reviewer_id, [*(wanted if sitting.mode == "adjudicate" else visible), *just_labelled])
    cases = case_store.load_cases(wanted)
    people = labels_on(wanted, sitting.criterion) if sitting.mode == "adjudicate" else {}
    done, total = _extent(sitting)
    return {
        "workspace": workspace_id(),
        "reviewer": sitting.reviewer_id,
        "reviewer_name": st.session_state["reviewer"]["name"],
        "run_id": sitting.run_id,
        "has_run": run is not None,
        "mode": sitting.mode,
        "window": WINDOW,
        "criterion": sitting.criterion,
        "question": CRITERIA[sitting.criterion],
        "reveal": reveals and run is not None,
        "tags": offered_tags(),
        "cases": [
            _case(o, cases[o["case_id"]], visible.get(o["case_id"]), _mine(sitting, o["case_id"]))
            | {"has_verdict": o["case_id"] in facts, "people": people.get(o["case_id"], [])}
            for o in offered
        ],
        "revealed": {case_id: facts[case_id] for case_id in just_labelled},
        "settled": memory["settled"],
        "refused": memory["refused"],
        "trouble": memory["trouble"],
        "held": 0 if offered else queues.held_by_others(sitting.dataset_id, sitting.criterion, sitting.reviewer_id),
        "adjudicates": sitting.mode == "adjudicate",
        "done": done,
        "total": total,
    }


def _offered(sitting: Sitting, skipped: list[int]) -> list[dict]:
    if sitting.mode == "adjudicate":
        found = conflicts(sitting.dataset_id, sitting.criterion, WINDOW, skipped)
        return [{"case_id": case_id, "draw_id": None} for case_id in found]
    asked = (sitting.dataset_id, sitting.criterion, sitting.reviewer_id)
    return queues.next_cases(*asked, WINDOW, skipped, sitting.queue)


def _extent(sitting: Sitting) -> tuple[int, int]:
    """How many cases this person has done here, of how many."""
    if sitting.mode == "adjudicate":
        done = adjudicated_count(sitting.dataset_id, sitting.criterion)
        return done, done + count_conflicts(sitting.dataset_id, sitting.criterion)
    done = reviews.reviewed_count(sitting.dataset_id, sitting.criterion, sitting.reviewer_id)
    return done, case_store.count_cases(case_store.CaseFilter(dataset_id=sitting.dataset_id))


def _hidden_cases(sitting: Sitting, case_ids: list[int]) -> set[int]:
    """Those of the cases whose verdict is hidden until they are labelled."""
    if sitting.mode != "mixed":
        return set() if sitting.mode in ("shown", "adjudicate") else set(case_ids)
    share = review_settings(sitting.dataset_id)["blind_share"]
    return blind_cases(case_ids, sitting.criterion, sitting.reviewer_id, share)


def _mine(sitting: Sitting, case_id: int) -> dict | None:
    """What this person said of the case opened by its link; the cases of the queue have no label of theirs."""
    if case_id != sitting.first_case_id:
        return None
    return reviews.current_review(case_id, sitting.criterion, sitting.reviewer_id)


def _case(offered: Mapping, case: Case, verdict: dict | None, mine: dict | None) -> dict:
    return {
        "id": offered["case_id"],
        "draw_id": offered["draw_id"],
        "revision": case_store.revision_of(offered["case_id"]),
        "name": case.id,
        "generator": case.generator,
        "prompt": case.prompt or "(no prompt)",
        "inputs": [for_desk(part, f"input {n}") for n, part in enumerate(case.input_images, 1)],
        "results": [for_desk(part, "result") for part in case.output if part.kind != "text"],
        "output_texts": [part.text for part in case.output if part.kind == "text"],
        "expected": [_entry(part, f"expected {n}") for n, part in enumerate(case.expected, 1)],
        "context": [_entry(part, f"context {n}") for n, part in enumerate(case.context, 1)],
        "verdict": verdict,
        "mine": mine,
    }


def _entry(part: Part, alt: str) -> dict:
    """One entry of a list of texts and pictures."""
    return {"text": part.text} if part.kind == "text" else for_desk(part, alt)


def _verdict(run: Mapping, verdict: Mapping) -> dict:
    metric = runs.metric_of(run)
    return {
        "score": verdict["score"],
        "threshold": verdict["threshold"],
        "strict": run["options"]["strict"],
        "label": verdict["label"],
        "status_words": STATUS_WORDS[verdict["status"]].capitalize(),
        "problem": verdict["problem"],
        "reason": verdict["reason"],
        "flags": [*(FLAG_WORDS[flag] for flag in verdict["flags"]), *_rubric_words(verdict)],
        "score_rule": metric.score_rule,
        "items": [
            {
                **{name: item[name] for name in _ITEM_FIELDS},
                "group_words": GROUP_WORDS.get(item["group"], item["group"]),
            }
            for item in verdict["items"]
        ],
    }


def _rubric_words(verdict: Mapping) -> list[str]:
    """That a verdict answered an older rubric than the one that is asked now."""
    if verdict["rubric_id"] is None:
        return []
    answered = rubrics.rubric_by_id(verdict["rubric_id"])
    newest = rubrics.latest(answered.prompt, answered.medium)
    if newest.version == answered.version:
        return []
    return [f"This verdict answered version {answered.version} of the rubric; it is at version {newest.version} now."]
