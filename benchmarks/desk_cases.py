"""The cases that the desk is timed over: photograph-like pictures, all judged, and a second dataset for a run."""

from __future__ import annotations

import hashlib
import io
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from data.images import Picture
    from evaluators.metrics.viescore import VieScore
    from evaluators.verdict import Verdict

DATASET, JUDGED_DATASET = "photographs", "to be judged"
PICTURES = 300
SIDE = 1024
JUDGED = 2000


def photograph(number: int, grain: np.ndarray) -> bytes:
    """A PNG of about 1.4 MB with what makes photographs large: shapes of all sizes, and grain."""
    draw = np.random.default_rng(number)
    scene = np.zeros((SIDE, SIDE, 3), "float32")
    for cells, strength in ((4, 110), (16, 55), (64, 26), (256, 10)):
        small = Image.fromarray(draw.integers(0, 256, (cells, cells, 3), dtype="uint8"))
        scene += np.asarray(small.resize((SIDE, SIDE), Image.Resampling.BICUBIC), "float32") * (strength / 255)
    x, y = draw.integers(0, 256, 2)
    scene += grain[y : y + SIDE, x : x + SIDE]
    buffer = io.BytesIO()
    Image.fromarray(scene.clip(0, 255).astype("uint8")).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def fill(cases: int) -> str:
    """A dataset of that many cases, all of them judged, and one for the run of (c); gives the address of the first one's
    desk after the question mark."""
    from data.images import keep, kept_part
    from data.store import cases as case_store
    from data.store import judges as judge_store
    from data.store import runs as run_store
    from data.store import verdicts as verdict_store
    from evaluators import METRICS, Case, EndpointSettings, Options, Part

    grain = np.random.default_rng(0).normal(0, 1.4, (SIDE + 256, SIDE + 256, 3)).astype("float32")
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        kept = list(threads.map(lambda n: keep(photograph(n, grain), f"{n}.png"), range(min(PICTURES, 2 * cases))))
    prompt = "Replace the sky by an evening sky and leave all else as it is, number"
    for start in range(0, cases, 1000):
        made, pictures = [], []
        for number in range(start, min(cases, start + 1000)):
            both = [_another(kept[n % len(kept)], n) for n in (2 * number, 2 * number + 1)]
            source, result = (kept_part(picture, f"{number}.png") for picture in both)
            made.append(Case(f"c{number}", (Part.of_text(f"{prompt} {number}"), source), (result,)))
            pictures += both
        case_store.save_cases(DATASET, made, pictures)
    # The worker looks whether a file is what its name says, so these cases have the pictures themselves.
    parts, made = [kept_part(picture, f"{number}.png") for number, picture in enumerate(kept)], []
    for number in range(JUDGED):
        source, result = (parts[n % len(parts)] for n in (number, 2 * number + 1))
        made.append(Case(f"j{number}", (Part.of_text(f"{prompt} {number}"), source), (result,)))
    case_store.save_cases(JUDGED_DATASET, made, kept)
    dataset = case_store.dataset_id(DATASET)
    judge_store.save_endpoint("filled", EndpointSettings("filled", "http://127.0.0.1:1/v1"))
    metric = METRICS["image_editing"]
    run_id = run_store.create_run(dataset, metric, judge_store.judge_named("filled"), Options())
    run_store.claim(run_id, "filler")
    chosen = run_store.open_cases(run_id)
    for start in range(0, cases, 1000):
        said = [(case_id, revision, _verdict(metric, case_id)) for case_id, revision in chosen[start : start + 1000]]
        verdict_store.save_verdicts(run_id, said)
    run_store.finish(run_id, "filler", "done")
    return f"dataset={dataset}&run={run_id}&mode=shown"


def _another(picture: Picture, number: int) -> Picture:
    """The same file under a name of its own: a browser that has fetched one of them has to fetch the other one too, as
    with 20,000 pictures, which would fill 28 GB."""
    from data.images import original_path

    other = replace(picture, sha256=hashlib.sha256(b"%d" % number).hexdigest())
    path = original_path(other.sha256, other.extension)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.hardlink_to(original_path(picture.sha256, picture.extension))
    return other


def _verdict(metric: VieScore, number: int) -> Verdict:
    from evaluators.metrics.viescore import PQ_NAMES, SUB_SCORE_WORDS
    from evaluators.verdict import Item, Verdict

    named = [("SC", name) for name in metric.sc_names] + [("PQ", name) for name in PQ_NAMES]
    items = tuple(
        Item(f"{group}.{name}", "sub_score", SUB_SCORE_WORDS.get(name, name), group, float((number * 7 + place) % 11))
        for place, (group, name) in enumerate(named)
    )
    reason = "The sky is another one, but a halo is left around the trees. " * 4
    return Verdict(f"c{number}", metric.name, "ok", metric.score(items), 0.5, reason, items)
