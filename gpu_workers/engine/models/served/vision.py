"""Describer and checker played by a vision-language model behind the OpenAI protocol (AVA, sections 4.2 and 5.3)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Chunk
from gpu_workers.engine.models.pictures import jpeg_of
from gpu_workers.engine.models.roles import (
    ChatModel,
    CheckRequest,
    ChunkView,
    Image,
    Message,
    Meter,
    ModelError,
    ObserveRequest,
    Sample,
    SegmentDescription,
    SegmentView,
)
from gpu_workers.engine.models.served.structured import ask_object, clean
from gpu_workers.engine.prompts import load

FRAMES_PER_CHUNK = 6
HIGH_COST = 4
"""Cost of a full picture, in thumbnails: about 1,200 tokens at 1280x720 on Qwen2.5-VL."""
Item = TypeVar("Item")

_DESCRIPTION_SCHEMA: Mapping[str, Any] = {
    "title": "chunk_description",
    "type": "object",
    "properties": {
        "start_s": {"type": "number"},
        "end_s": {"type": "number"},
        "description": {"type": "string"},
        "on_screen_clock": {"type": "string"},
        "on_screen_text": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["start_s", "end_s", "description", "on_screen_clock", "on_screen_text"],
    "additionalProperties": False,
}


def spread(items: Sequence[Item], limit: int) -> list[Item]:
    """Return at most limit of items, evenly spread, in order; the middle of each of limit equal parts."""
    if len(items) <= limit:
        return list(items)
    return [items[int((k + 0.5) * len(items) / limit)] for k in range(limit)]


class VlmDescriber:
    """A roles.Describer. Each chunk is one request with at most `frames` pictures; several are in flight at once.

    A chunk that cannot be described becomes a gap: no_frames, model_refused, invalid_output, output_truncated,
    context_exceeded or another ModelError code. A chunk that failed for a temporary reason is requested again, alone,
    after each of `pauses_s`. If no chunk could be described for such a reason (endpoint down), the error is raised, so
    that the whole segment is retried later.
    """

    sample_fps = 2.0

    def __init__(
        self,
        model: ChatModel,
        *,
        concurrency: int = 4,
        frames: int = FRAMES_PER_CHUNK,
        max_tokens: int = 512,
        pauses_s: Sequence[float] = (2.0, 15.0),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = model.name
        self._pauses, self._sleep = tuple(pauses_s), sleep
        self._model = model
        self._concurrency, self._frames = concurrency, frames
        self._max_tokens = max_tokens

    def describe(self, view: SegmentView, *, meter: Meter) -> SegmentDescription:
        focus = load("describe_focus", view.profile).template
        system = Message("system", (load("describe", view.profile).substitute(focus=focus),))

        def outcome_of(chunk: ChunkView) -> Chunk | ModelError:
            try:
                return self._describe_chunk(chunk, system, view.instructions, meter)
            except ModelError as error:
                return error

        outcomes: dict[int, Chunk | ModelError] = {}
        waiting = view.chunks
        with ThreadPoolExecutor(self._concurrency) as pool:
            for pause in (*self._pauses, None):
                outcomes.update(zip((chunk.n for chunk in waiting), pool.map(outcome_of, waiting), strict=True))
                waiting = tuple(chunk for chunk in waiting if _may_pass(outcomes[chunk.n]))
                if waiting and not any(isinstance(outcome, Chunk) and not outcome.gap for outcome in outcomes.values()):
                    raise next(o for o in outcomes.values() if isinstance(o, ModelError) and o.retryable)
                if not waiting or pause is None:
                    break
                self._sleep(pause)
        return SegmentDescription(
            tuple(
                _gap(chunk, outcome.code) if isinstance(outcome, ModelError) else outcome
                for chunk in view.chunks
                for outcome in [outcomes[chunk.n]]
            )
        )

    def _describe_chunk(self, chunk: ChunkView, system: Message, instructions: str, meter: Meter) -> Chunk:
        if not chunk.frames:
            return _gap(chunk, "no_frames")
        frames = spread(chunk.frames, self._frames)
        span = chunk.span
        text = load("describe_view").substitute(
            frames=len(frames),
            start=clock(span.start_ms),
            end=clock(span.end_ms),
            start_s=f"{span.start_ms / 1000:g}",
            end_s=f"{span.end_ms / 1000:g}",
            speech=clean(" ".join(line.text for line in chunk.transcript)) or "nothing",
            instructions=clean(instructions) or "nothing in particular",
        )
        images = tuple(Image(jpeg_of(frame.picture), f"Frame at {frame.ms / 1000:.1f} s:") for frame in frames)

        def read(answer: dict[str, Any]) -> Chunk:
            description = clean(answer["description"])
            if not description:
                raise ValueError("description is empty")
            texts = [clean(item, limit=200) for item in answer.get("on_screen_text") or []]
            shown = clean(answer.get("on_screen_clock"), limit=60)
            if shown and shown not in description:
                description = f"{description} The on-screen clock reads {shown}."
            on_screen = tuple(dict.fromkeys(item for item in [*texts, shown] if item))
            return Chunk(chunk.n, span, description, on_screen_text=on_screen, transcript=chunk.transcript)

        return ask_object(
            self._model,
            [system, Message("user", (*images, text))],
            schema=_DESCRIPTION_SCHEMA,
            read=read,
            stage="description",
            meter=meter,
            max_tokens=self._max_tokens,
        )


def _may_pass(outcome: Chunk | ModelError) -> bool:
    return isinstance(outcome, ModelError) and outcome.retryable


class VlmChecker:
    """A roles.Checker that shows frames to a model, as many as its window takes.

    max_frames: maximum number of frames shown. image_tokens: tokens of one frame in the window. The prompt says how
    many of the offered frames, evenly spread, are shown.
    """

    sees = True

    def __init__(
        self, model: ChatModel, *, max_frames: int = 64, image_tokens: int = 300, max_tokens: int = 768
    ) -> None:
        self.name = model.name
        self.max_frames = max_frames
        self._model = model
        self._image_tokens = image_tokens
        self._max_tokens = max_tokens

    def check(
        self,
        request: CheckRequest,
        *,
        n: int,
        schema: Mapping[str, Any],
        meter: Meter,
        timeout_s: float | None = None,
    ) -> list[Sample]:
        system = load("check").substitute()
        frames = spread(request.frames, self._fitting(system + check_text(request, evidence=""), self._image_tokens))
        evidence = f"You see {len(frames)} of {len(request.frames)} frames, in order of time."
        images = tuple(Image(frame.jpeg, f"Frame at {frame.ms / 1000:.1f} s:") for frame in frames)
        messages = [Message("system", (system,)), Message("user", (*images, check_text(request, evidence=evidence)))]
        return self._model.sample(
            messages, stage="check", meter=meter, schema=schema, n=n, temperature=0.5 if n > 1 else 0.0,
            max_tokens=self._max_tokens, timeout_s=timeout_s,
        )  # fmt: skip

    def observe(
        self, request: ObserveRequest, *, schema: Mapping[str, Any], meter: Meter, timeout_s: float | None = None
    ) -> Sample:
        system = load("observe").substitute()
        cost = self._image_tokens * (HIGH_COST if request.high else 1)
        numbered = list(enumerate(request.frames, start=1))
        shown = spread(numbered, self._fitting(system + observe_text(request, evidence=""), cost))
        evidence = f"You see {len(shown)} of {len(numbered)} frames, in order of time."
        images = tuple(Image(frame.jpeg, f"Frame {number} at {frame.ms} ms:") for number, frame in shown)
        messages = [Message("system", (system,)), Message("user", (*images, observe_text(request, evidence=evidence)))]
        return self._model.sample(
            messages, stage="observe", meter=meter, schema=schema, max_tokens=self._max_tokens, timeout_s=timeout_s
        )[0]  # fmt: skip

    def _fitting(self, text: str, image_tokens: int) -> int:
        """Return how many pictures fit the window together with text. Raises ModelError if none does."""
        room = self._model.context_tokens - self._model.count_tokens(text) - 128 - self._max_tokens
        # The label before each picture has 12 tokens.
        fitting = min(self.max_frames, room // (image_tokens + 12))
        if fitting < 1:
            raise ModelError(
                "context_exceeded", f"{self.name}: not even one frame fits next to the question", retryable=False
            )
        return fitting


def observe_text(request: ObserveRequest, *, evidence: str) -> str:
    """Return the closing message of a look: evidence, question, statement under test, findings, thing to find."""
    return load("observe_view").substitute(
        evidence=evidence,
        question=clean(request.question),
        hypothesis=clean(request.hypothesis, limit=400) or "none",
        known="\n".join(clean(item, limit=400) for item in request.known) or "nothing yet",
        find=clean(request.find, limit=400),
    )


def check_text(request: CheckRequest, *, evidence: str) -> str:
    """Return the closing message of a check: evidence, question, choices by letter, and the answers that disagree."""
    choices = "\n".join(f"{chr(65 + k)}. {clean(choice)}" for k, choice in enumerate(request.choices))
    return load("check_view").substitute(
        evidence=evidence,
        question=clean(request.question),
        choices=choices,
        hypotheses="; ".join(clean(item, limit=400) for item in request.hypotheses) or "none",
    )


def _gap(chunk: ChunkView, code: str) -> Chunk:
    return Chunk(chunk.n, chunk.span, None, gap=code, transcript=chunk.transcript)
