"""`make eval SET=reading`: which routes the reader chooses for questions that people asked of other videos."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.evaluation.datasets import UnreadableSet
from bench.evaluation.models import caption_models, unlimited_calls
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.presets import settings_with
from gpu_workers.engine.answering.reading.reading import read_question
from gpu_workers.engine.answering.understood import ROUTES
from gpu_workers.engine.ekg import stable_id
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import AnswerModels, Meter
from gpu_workers.engine.models.settings import E5

HOUR_MS = 3_600_000

READING_ARMS = ("small", "multilingual", "reasoner")
"""small: labelled examples over the embedded text embedder. multilingual: the same over the one for many languages.
reasoner: one call of the configured reasoner."""


@contextmanager
def reading_models(folder: Path, arm: str) -> Iterator[AnswerModels]:
    """Yield the models of an arm. Only `reasoner` asks one, which counts as capable whatever its size."""
    with ExitStack() as opened:
        if arm == "multilingual":
            opened.enter_context(patch.dict(os.environ, {"TEXT_EMBEDDER_MODEL": E5}))
        models = opened.enter_context(caption_models(folder, reasoner=arm == "reasoner"))
        if arm == "reasoner":
            models = replace(models, calibration=UNMEASURED)
        yield models


def reading_report(path: Path, models: AnswerModels, *, limit: int | None = None, seed: int = 0) -> dict[str, Any]:
    """Return precision and recall of each route and the accuracy over all, for a JSON list of {question, route, also,
    shape, time_words}. A route is right if it is `route` or `also`. Raises UnreadableSet."""
    rows = read_rows(path, ("question", "route", "also", "shape"))[:limit]
    read = [_read(row["question"], models, seed) for row in rows]
    chosen = [one["route"] for one in read]
    fitting = [{row["route"], row["also"]} for row in rows]
    right = sum(route in fits for route, fits in zip(chosen, fitting, strict=True))
    report: dict[str, Any] = {"set": "reading", "questions": len(rows), "accuracy": round(right / len(rows), 4)}
    for name in ROUTES:
        picked = [fits for route, fits in zip(chosen, fitting, strict=True) if route == name]
        true = [route in fits for route, fits, row in zip(chosen, fitting, rows, strict=True) if row["route"] == name]
        report[name] = {
            "chosen": len(picked),
            "precision": _share([name in fits for fits in picked]),
            "questions": len(true),
            "recall": _share(true),
        }
    report["shape"] = _share([one["shape"] == row["shape"] for one, row in zip(read, rows, strict=True)])
    if any(row.get("language") for row in rows):
        report["accuracy_by_language"] = {
            language: _share([route in fits for route, fits, row in zip(chosen, fitting, rows, strict=True)
                              if row.get("language") == language])
            for language in sorted({row.get("language", "") for row in rows})
        }  # fmt: skip
    return report


def read_rows(path: Path, fields: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the rows of a set. Raises UnreadableSet."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableSet(f"{path}: {error}") from error
    if not isinstance(rows, list) or not rows or not all(set(fields) <= row.keys() for row in rows):
        raise UnreadableSet(f"{path}: a JSON list of objects with {', '.join(fields)} is needed")
    return rows


def _read(question: str, models: AnswerModels, seed: int) -> dict[str, Any]:
    """Return what the deployed reader understands of a question about a video of an hour, whose clock nobody knows."""
    video = _one_hour()
    settings = settings_with("medium", models)
    asked = Asked(QuestionInput(question, seed=seed), video, models, settings, searched=question)
    calls = unlimited_calls(models, Meter(), in_flight=1)
    return read_question(asked, calls).understood.record()


def _one_hour() -> InMemoryGraph:
    return InMemoryGraph([MemoryVideo(stable_id("video", "an hour"), (), until_ms=HOUR_MS)])


def _share(right: Sequence[bool]) -> float | None:
    return round(sum(right) / len(right), 4) if right else None
