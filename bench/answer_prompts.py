"""What reaches the prompts of a question over events as long as a VLM writes them."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.answer_calls import CHOICES
from bench.figures import Figures, at_least, at_most
from bench.instant_models import EqualTexts, InstantEmbedder, vector_of
from bench.long_day import filler
from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import Effort, QuestionInput
from gpu_workers.engine.ekg import CHUNK_MS, Event, EventRecord, Span, Vector, stable_id, unit
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models.calibration import (
    EMBEDDED_REASONER,
    EMBEDDED_TEXT_EMBEDDER,
    UNMEASURED,
    Calibration,
    calibration_of,
)
from gpu_workers.engine.models.roles import AnswerModels, ChatCapabilities, ChatModel, Message, Meter, Sample

WORDS = 150
WINDOW = 32_768
CASES = 500
SMALL = calibration_of(reasoner=EMBEDDED_REASONER, similarity=EqualTexts.name, text_embedder=EMBEDDED_TEXT_EMBEDDER)


class Kindred(InstantEmbedder):
    """Turns texts into directions that all lie near each other, as those of one recording do."""

    def embed(self, texts: Sequence[str], *, meter: Meter) -> NDArray[np.float32]:
        return np.stack([self.embed_query(text, meter=meter) for text in texts])

    def embed_query(self, text: str, *, meter: Meter) -> Vector:
        return unit(vector_of("one recording") + vector_of(text))


EMBEDDER = Kindred()


class Reading(ChatModel):
    """Answers every prompt at once, and keeps the lines of the events that it read, by stage."""

    name = "reading"

    def __init__(self, window: int) -> None:
        self.capabilities = ChatCapabilities(window)
        self.read: list[tuple[str, list[str]]] = []

    def sample(
        self, messages: Sequence[Message], *, stage: str, meter: Meter, n: int = 1, **other: Any
    ) -> list[Sample]:
        text = "\n".join(str(part) for message in messages for part in message.parts)
        events = text.rsplit("<events>", 1)[-1].split("</events>")[0] if "<events>" in text else ""
        self.read.append((stage, [line for line in events.splitlines() if line.partition(" ")[2].strip()]))
        if stage == "judge":
            return [Sample("yes", first={"yes": math.log(0.7), "no": math.log(0.3)})]
        queries = {"keywords": "walks", "entity": "person", "scene": "street", "sub_query": "walks", "missing": ""}
        return [Sample(json.dumps({"reasoning": "it is so", "answer": "A", "evidence": [1], **queries}))] * n

    def count_tokens(self, text: str) -> int:
        return len(text.encode()) // 3 + 1


def events() -> Figures:
    efforts: Sequence[Effort] = ("low", "medium", "high")
    counts = {effort: _shown(effort) for effort in efforts}
    yield at_least(
        "answer_events",
        counts["medium"],
        12,
        f"whole events of {WORDS} words in the first answer's prompt at medium, with a reasoner of {WINDOW:,} tokens; "
        f"{counts['low']} at low, {counts['high']} at high",
    )


def judgements() -> Figures:
    empty = made = 0
    fewest: list[int] = []
    chance = random.Random(0)
    for case in range(CASES):
        total = chance.randint(1, 24)
        long = [chance.choice([1, 5, 14, 60, 150, 600]) for _ in range(total)]
        reasoner = Reading(chance.choice([128, 512, 1_024, 2_048, 8_192]))
        effort: Effort = chance.choice(["medium", "high"])
        asked = f"Where does person {case} go {filler(chance, chance.choice([10, 200, 900]))}?"
        answer_question(QuestionInput(asked, CHOICES, effort=effort), _video(long, case), _models(reasoner, SMALL))
        lines = [len(read) for stage, read in reasoner.read if stage == "judge"]
        made += len(lines)
        empty += sum(not count for count in lines)
        fewest += [count for count in lines if count < min(4, total)]
    yield at_most(
        "judged_without_events",
        empty,
        0,
        f"judgements of a choice that saw no event, of {made} in {CASES} random cases (events of 1 to 600 words, "
        f"windows of 128 to 8,192 tokens); {len(fewest)} saw fewer than 4 of more events, because the "
        "window has no more room",
    )


def _shown(effort: Effort) -> int:
    reasoner = Reading(WINDOW)
    question = QuestionInput("Where does the person go after the bell?", CHOICES, effort=effort)
    answer_question(question, _video([WORDS] * 60, 0), _models(reasoner, UNMEASURED))
    first = next(read for stage, read in reasoner.read if stage == "answer")
    return sum(len(line.split()) >= WORDS for line in first)


def _models(reasoner: ChatModel, calibration: Calibration) -> AnswerModels:
    return AnswerModels(reasoner, EMBEDDER, EMBEDDER, EqualTexts(), calibration)


def _video(lengths: Sequence[int], seed: int) -> InMemoryGraph:
    """Return a video with an event of so many words each."""
    said = random.Random(seed)
    video_id = stable_id("video", "lengths", seed)
    records = []
    for n, length in enumerate(lengths):
        words = (filler(said, 8 * length + 8).split() * 2)[:length]
        summary = " ".join(words)
        span = Span(n * CHUNK_MS, (n + 1) * CHUNK_MS)
        event = Event(
            stable_id("event", video_id, n), n, span, n, n + 1, summary, EMBEDDER.embed_query(summary, meter=Meter())
        )
        records.append(EventRecord(event, (), (), ()))
    return InMemoryGraph([MemoryVideo(video_id, records)])
