"""Describer and checker played by a vision-language model behind the OpenAI protocol (AVA, sections 4.2 and 5.3)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Chunk, SampledFrame
from gpu_workers.engine.models.change import unchanged_since
from gpu_workers.engine.models.model_table import FRAMES_PER_VIDEO
from gpu_workers.engine.models.pictures import jpeg_of, jpeg_tokens
from gpu_workers.engine.models.roles import (
    ChatModel,
    CheckRequest,
    ChunkView,
    DescriptionWarning,
    FrameEvidence,
    Image,
    Message,
    Meter,
    ModelError,
    ObserveRequest,
    Sample,
    SegmentDescription,
    SegmentView,
    Video,
)
from gpu_workers.engine.models.served.structured import ask_object, clean, list_of, object_of, text_of
from gpu_workers.engine.prompts import load
from gpu_workers.engine.threads import ContextPool

FRAMES_PER_CHUNK = FRAMES_PER_VIDEO
SMALL_SIDE = 420
"""Longest side in pixels of the pictures of a chunk but its middle one, for a server that takes no video. Six pictures
then cost as much as six frames of a video, where two frames cost one picture."""
BEFORE_CHARACTERS = 300
"""Maximum length of the earlier description that a chunk is shown, about 75 tokens."""
KNOWN_CHARACTERS = 2_000
"""Maximum length of one note that a check reads next to its frames, about 500 tokens."""
Item = TypeVar("Item")

_DESCRIPTION_SCHEMA = object_of(
    {
        "description": text_of(1_000),
        "on_screen_clock": text_of(60),
        "on_screen_text": list_of(text_of(200), 20),
    },
    title="chunk_description",
)


def spread(items: Sequence[Item], limit: int) -> list[Item]:
    """Return at most limit of items, evenly spread, in order; the middle of each of limit equal parts."""
    if len(items) <= limit:
        return list(items)
    return [items[int((k + 0.5) * len(items) / limit)] for k in range(limit)]


@dataclass(frozen=True, slots=True)
class _Described:
    """A description as a model gave it. on_clock: reading of a clock on the screen, "" without one."""

    text: str
    writing: tuple[str, ...]
    on_clock: str
    cut: bool


class VlmDescriber:
    """A roles.Describer. Each chunk that changed is one request: its frames as a video where the server takes video,
    else as pictures. Several are in flight at once.

    A chunk that shows nothing new keeps the description of the chunk before it (models.change), without a request.
    Chunks are shown the description of the segment's first one, or of the chunk before the segment, so that names stay
    the same; only the segment's first chunk is waited for, and only if nothing is known of what came before.
    A chunk that cannot be described becomes a gap: no_frames, model_refused, model_bad_request, invalid_output,
    output_truncated or context_exceeded. After a failure that may pass, the chunk is requested again, alone, after
    each of `pauses_s`; then the error is raised, so that the whole segment is tried later. A server that is set up
    wrongly, or describes nothing at all, raises at once.
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
        kept = unchanged_since(view.chunks)
        own = [chunk for chunk, source in zip(view.chunks, kept, strict=True) if source is None and chunk.frames]
        before = clean(view.before, limit=BEFORE_CHARACTERS)
        outcomes: dict[int, _Described | ModelError] = {}
        if own and not before:
            outcomes |= self._describe_all(own[:1], view, "", meter, answering=False)
            first = outcomes[own[0].n]
            before = first.text[:BEFORE_CHARACTERS] if isinstance(first, _Described) else ""
            own = own[1:]
        outcomes |= self._describe_all(own, view, before, meter, answering=bool(outcomes))
        self._require_taken(outcomes.values())
        described = [
            _chunk(chunk, outcomes.get(chunk.n if source is None else view.chunks[source].n), source is not None)
            for chunk, source in zip(view.chunks, kept, strict=True)
        ]
        warnings = [
            DescriptionWarning(n, "output_truncated", "the description was cut off; what was whole of it is kept")
            for n, outcome in outcomes.items()
            if isinstance(outcome, _Described) and outcome.cut
        ]
        return SegmentDescription(tuple(described), warnings=tuple(warnings))

    def _require_taken(self, outcomes: Collection[_Described | ModelError]) -> None:
        """Raise ModelError if the server takes none of a segment's requests: that is its settings' fault, and no
        content's."""
        failures = [outcome for outcome in outcomes if isinstance(outcome, ModelError)]
        untaken = [failure for failure in failures if failure.code == "model_bad_request"]
        if untaken and len(failures) == len(outcomes):
            raise ModelError("model_misconfigured", f"no request is taken: {untaken[0]}", retryable=True)

    def _describe_all(
        self, chunks: Sequence[ChunkView], view: SegmentView, before: str, meter: Meter, *, answering: bool
    ) -> dict[int, _Described | ModelError]:
        """Return the description of each chunk by its number, or the error that no further try would pass.

        answering: whether the server has described a chunk of this segment. Raises the error of a chunk that failed for
        a reason that may pass: after the last pause, or at once if the server describes nothing at all.
        """
        if not chunks:
            return {}
        focus = load("describe_focus", view.profile).template
        system = Message("system", (load("describe", view.profile).substitute(focus=focus),))

        def outcome_of(chunk: ChunkView) -> _Described | ModelError:
            try:
                return self._describe(chunk, system, view.instructions, before, meter)
            except ModelError as error:
                return error

        outcomes: dict[int, _Described | ModelError] = {}
        waiting = list(chunks)
        with ContextPool(min(self._concurrency, len(chunks)), "describe") as pool:
            for pause in (*self._pauses, None):
                outcomes.update(zip((chunk.n for chunk in waiting), pool.map(outcome_of, waiting), strict=True))
                failures = {n: outcome for n, outcome in outcomes.items() if isinstance(outcome, ModelError)}
                passing = {n: failure for n, failure in failures.items() if failure.retryable}
                if not passing:
                    break
                answering = answering or any(isinstance(outcome, _Described) for outcome in outcomes.values())
                misconfigured = any(failure.code == "model_misconfigured" for failure in passing.values())
                if pause is None or misconfigured or not answering:
                    raise next(iter(passing.values()))
                waiting = [chunk for chunk in waiting if chunk.n in passing]
                self._sleep(pause)
        return outcomes

    def _describe(self, chunk: ChunkView, system: Message, instructions: str, before: str, meter: Meter) -> _Described:
        text = load("describe_view").substitute(
            start=clock(chunk.span.start_ms),
            end=clock(chunk.span.end_ms),
            speech=clean(" ".join(line.text for line in chunk.transcript)) or "nothing",
            earlier=before or "nothing",
            instructions=clean(instructions) or "nothing in particular",
        )

        def read(answer: dict[str, Any]) -> _Described:
            description = clean(answer["description"])
            if not description:
                raise ValueError("description is empty")
            listed = answer.get("on_screen_text")
            writing = [clean(item, limit=200) for item in listed] if isinstance(listed, list) else []
            on_clock = clean(answer.get("on_screen_clock"), limit=60)
            return _Described(description, tuple(dict.fromkeys(filter(None, writing))), on_clock, cut=False)

        answered = ask_object(
            self._model,
            [system, Message("user", (*self._shown(chunk), text))],
            schema=_DESCRIPTION_SCHEMA,
            read=read,
            stage="description",
            meter=meter,
            max_tokens=self._max_tokens,
        )
        return replace(answered.value, cut=answered.cut)

    def _shown(self, chunk: ChunkView) -> tuple[Image | Video, ...]:
        """Return a chunk's frames as the server takes them."""
        frames = spread(chunk.frames, self._frames)
        if self._model.capabilities.video and len(frames) > 1 and _of_one_size(frames):
            label = f"Frames from {frames[0].ms / 1000:.1f} s to {frames[-1].ms / 1000:.1f} s:"
            return (Video(tuple(jpeg_of(f.picture) for f in frames), tuple(f.ms for f in frames), label),)
        middle = len(frames) // 2
        return tuple(
            Image(
                jpeg_of(frame.picture) if k == middle else jpeg_of(frame.picture, longest=SMALL_SIDE),
                f"{frame.ms / 1000:.1f} s:",
            )
            for k, frame in enumerate(frames)
        )


def _of_one_size(frames: Sequence[SampledFrame]) -> bool:
    return all(one.picture.shape == other.picture.shape for one, other in pairwise(frames))


def _chunk(view: ChunkView, outcome: _Described | ModelError | None, inherited: bool) -> Chunk:
    """Return the chunk of a description, its own or that of the chunk that shows the same."""
    if not isinstance(outcome, _Described):
        code = "no_frames" if outcome is None else outcome.code
        return Chunk(view.n, view.span, None, gap=code, transcript=view.transcript)
    text, writing = outcome.text, outcome.writing
    # A clock was read in the described chunk alone; it goes on in the chunks that keep its description.
    if outcome.on_clock and inherited:
        writing = tuple(item for item in writing if item != outcome.on_clock)
    elif outcome.on_clock:
        writing = (*(item for item in writing if item != outcome.on_clock), outcome.on_clock)
        if outcome.on_clock not in text:
            text = f"{text} The on-screen clock reads {outcome.on_clock}."
    return Chunk(view.n, view.span, text, on_screen_text=writing, transcript=view.transcript, inherited=inherited)


class VlmChecker:
    """A roles.Checker that shows frames to a model, as many as its window takes.

    max_frames: maximum number of frames shown. The prompt says how many of the offered frames, evenly spread, these
    are.
    """

    sees = True

    def __init__(self, model: ChatModel, *, max_frames: int = 64, max_tokens: int = 768) -> None:
        self.name = model.name
        self.max_frames = max_frames
        self.capabilities = model.capabilities
        self._model = model
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
        system = load("check_noted" if request.known else "check").substitute()
        frames = spread(request.frames, self._fitting(system + check_text(request, evidence=""), request.frames))
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
        numbered = list(enumerate(request.frames, start=1))
        shown = spread(numbered, self._fitting(system + observe_text(request, evidence=""), request.frames))
        evidence = f"You see {len(shown)} of {len(numbered)} frames, in order of time."
        images = tuple(Image(frame.jpeg, f"Frame {number} at {frame.ms} ms:") for number, frame in shown)
        messages = [Message("system", (system,)), Message("user", (*images, observe_text(request, evidence=evidence)))]
        return self._model.sample(
            messages, stage="observe", meter=meter, schema=schema, max_tokens=self._max_tokens, timeout_s=timeout_s
        )[0]  # fmt: skip

    def _fitting(self, text: str, frames: Sequence[FrameEvidence]) -> int:
        """Return how many of these pictures fit the window together with text. Raises ModelError if none does."""
        room = self._model.context_tokens - self._model.count_tokens(text) - 128 - self._max_tokens
        patch = self._model.capabilities.picture_patch
        # The label before each picture has 12 tokens.
        largest = max((jpeg_tokens(frame.jpeg, patch=patch) for frame in frames), default=0) + 12
        fitting = min(self.max_frames, room // largest)
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
    """Return the closing message of a check: notes if there are any, evidence, question, choices by letter, and the
    answers that disagree."""
    choices = "\n".join(f"{chr(65 + k)}. {clean(choice)}" for k, choice in enumerate(request.choices))
    fields = {
        "evidence": evidence,
        "question": clean(request.question),
        "choices": choices,
        "hypotheses": "; ".join(clean(item, limit=400) for item in request.hypotheses) or "none",
    }
    if not request.known:
        return load("check_view").substitute(fields)
    known = "\n".join(clean(item, limit=KNOWN_CHARACTERS) for item in request.known)
    return load("check_noted_view").substitute(fields, known=known)
