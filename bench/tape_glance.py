"""Frames that `videoagent` sees on a tape of ten hours, against as many evenly spaced ones.

The tape is ActivityNet's (docs/lab/evaluation.md): one annotator's sentences stand for the frames of their seconds, the
other annotator's sentences are asked about. The reasoner is a stand-in that knows nothing of the tape: it asks for the
sentence itself, in segments drawn by lot, and is satisfied with eight frames.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bench.evaluation.captions import CaptionIndex
from bench.evaluation.datasets import Tape, TapeQuery, UnreadableSet, first_items, read_tape
from bench.evaluation.models import caption_models
from bench.evaluation.statistics import wilson
from bench.figures import Figures, at_least, show_progress
from bench.instant_models import EqualTexts
from gpu_workers.engine.answering.answer import answer_question
from gpu_workers.engine.answering.contract import QuestionInput
from gpu_workers.engine.answering.methods.videoagent.moments import glance
from gpu_workers.engine.ekg import FrameRow
from gpu_workers.engine.memory_graph import InMemoryGraph, MemoryVideo
from gpu_workers.engine.models import weights
from gpu_workers.engine.models.calibration import UNMEASURED
from gpu_workers.engine.models.roles import AnswerModels, ChatCapabilities, ChatModel, Message, Meter, Sample

FRAMES, QUESTIONS = 8, 300
"""Frames of each side, and questions asked of videoagent. Evenly spaced frames need no asking: all questions count."""
DATA = "AVA_EVALUATION_DATA"
"""Environment variable with the folder of the question sets; the default is ../shared/data/text."""

_SEEN = re.compile(r"^F\d+ \(E\d+\) (\d+):(\d\d):(\d\d)", re.MULTILINE)


def glance_vs_uniform() -> Figures:
    """Yield the share of questions of which a seen frame touches the answer's span, over that of uniform frames."""
    try:
        tape = read_tape("activitynet", Path(os.environ.get(DATA, "../shared/data/text")), seed=0)
    except UnreadableSet as error:
        show_progress(f"glance_vs_uniform is left out: {error}; {DATA} names the folder")
        return
    folder = weights.cache_dir() / "evaluation"
    with caption_models(folder, reasoner=False) as models:
        memory = CaptionIndex(models.text_embedder, models.similarity, folder=folder / "indexes").of_events(
            f"{tape.name}-0", tape.events
        )
        graph = InMemoryGraph([with_frames(memory)])
        models = AnswerModels(
            Onlooker(), models.text_embedder, models.frame_embedder, EqualTexts(), UNMEASURED
        )  # fmt: skip
        asked = first_items(tape.queries, QUESTIONS, seed=0)
        seen = [seen_by_videoagent(query, graph, models) for query in tqdm(asked, unit="question")]
    spaced = glance(tape.duration_ms, FRAMES)
    ours = sum(touches(query, at) for query, at in zip(asked, seen, strict=True))
    uniform = sum(touches(query, spaced) for query in tape.queries)
    n, everything = len(asked), len(tape.queries)
    low, high = wilson(ours, n)
    yield at_least(
        "glance_vs_uniform",
        (ours / n) / (max(1, uniform) / everything),
        5,
        f"{ours} of {n} questions ({ours / n:.1%}, 95 % {low:.1%} to {high:.1%}) by videoagent with at most "
        f"{max(map(len, seen))} frames, {uniform} of {everything} ({uniform / everything:.1%}) by {FRAMES} evenly "
        f"spaced frames, on "
        f"{_hours(tape):.1f} h of ActivityNet; segments are drawn by lot",
    )


def with_frames(memory: MemoryVideo) -> MemoryVideo:
    """Return the tape with a frame a second, each with the vector of the shortest sentence about that second."""
    shortest: dict[int, tuple[int, FrameRow]] = {}
    for record in memory.events:
        span = record.event.span
        for ms in range(-(-span.start_ms // 1_000) * 1_000, span.end_ms, 1_000):
            known = shortest.get(ms)
            if known is None or span.duration_ms < known[0]:
                row = FrameRow(ms, record.event.summary.encode(), record.event.embedding)
                shortest[ms] = span.duration_ms, row
    frames = [shortest[ms][1] for ms in sorted(shortest)]
    return MemoryVideo(memory.video_id, memory.events, memory.chunks, frames)


def seen_by_videoagent(query: TapeQuery, graph: InMemoryGraph, models: AnswerModels) -> list[int]:
    """Return the times in ms of the frames that the method saw for a question about the query's sentence."""
    onlooker = models.reasoner
    assert isinstance(onlooker, Onlooker)
    onlooker.look_for(query.text)
    answer_question(QuestionInput(f"When does this happen: {query.text}", method="videoagent"), graph, models)
    return onlooker.seen


def touches(query: TapeQuery, moments: Sequence[int]) -> bool:
    return any(query.span.contains(ms) for ms in moments)


def _hours(tape: Tape) -> float:
    return tape.duration_ms / 3_600_000


class Onlooker(ChatModel):
    """A reasoner that looks for one sentence in segments drawn by lot. seen: times of the frames shown, in ms."""

    name = "onlooker"
    capabilities = ChatCapabilities(32_768)

    def __init__(self) -> None:
        self.seen: list[int] = []
        self._sentence = ""
        self._lot = random.Random(0)

    def look_for(self, sentence: str) -> None:
        self.seen, self._sentence, self._lot = [], sentence, random.Random(sentence)

    def sample(
        self,
        messages: Sequence[Message],
        *,
        stage: str,
        meter: Meter,
        schema: Mapping[str, Any] | None = None,
        n: int = 1,
        **other: Any,
    ) -> list[Sample]:
        text = "\n".join(part for message in messages for part in message.parts if isinstance(part, str))
        shown = {1000 * (3600 * int(h) + 60 * int(m) + int(s)) for h, m, s in _SEEN.findall(text)}
        if len(shown) > len(self.seen):
            self.seen = sorted(shown)
        return [Sample(json.dumps(self._reply(stage, schema or {})))] * n

    def _reply(self, stage: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        if stage == "reflect":
            return {"reasoning": "Counted.", "confidence": 3 if len(self.seen) >= FRAMES else 1}
        if stage == "find":
            items = schema["properties"]["items"]
            numbers = items["items"]["properties"]["segment"]["enum"]
            count = min(len(numbers), items["maxItems"], FRAMES - len(self.seen))
            drawn = self._lot.sample(numbers, count)
            wanted = [{"segment": number, "description": self._sentence} for number in drawn]
            return {"missing": self._sentence, "items": wanted}
        return {"reasoning": "It is shown.", "answer": "It is shown.", "evidence": []}

    def count_tokens(self, text: str) -> int:
        return -(-len(text) // 4)
