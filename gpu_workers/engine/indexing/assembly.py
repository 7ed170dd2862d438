"""From described chunks to finished events: merge, summarise, extract, embed, link, hand to the store.

One assembler serves one video's index version and is fed in order of time. Its whole state between two calls is
`pending` and `next_event_n`; a checkpoint that keeps both, in the transaction that keeps the events, resumes exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Chunk, EntityMention, Event, EventRecord, Extraction, Span, stable_id, unit
from gpu_workers.engine.indexing.gap_reasons import gap_reason
from gpu_workers.engine.indexing.identity import identity_text
from gpu_workers.engine.indexing.linking import EntityLinker, LinkingSettings, distinct_mentions
from gpu_workers.engine.indexing.semantic_chunking import MAX_CHUNKS, MAX_STILL_CHUNKS, SemanticChunker
from gpu_workers.engine.models.roles import IndexModels, Meter, ModelError, ModelRefused
from gpu_workers.engine.ports import EntityDirectory, EventSink
from gpu_workers.engine.threads import ContextPool

T = TypeVar("T")

_SETTLED = frozenset({"invalid_output", "output_truncated", "context_exceeded"})
"""Codes of failures after which the model was asked often enough, or would fail again."""
_UNTAKEN = "model_bad_request"
"""Code of a request that the server refused before its model read it."""

EMBEDDED_CHARACTERS = 600
"""Maximum length of speech and writing in the text of an event's vector."""

FrameSource = Callable[[Span, int], Sequence[tuple[int, bytes]]]
"""Source of stored frames: (span, limit) -> at most limit (ms, JPEG) inside span. Safe to call from several threads."""


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    """How events are made.

    threshold: minimum score of any two chunks of an event; None for the threshold fitted to the similarity.
    max_still_chunks: maximum number of chunks of an event in which nothing changes. attempts:
    maximum number of requests to a model for one event; then the event is stored without its answer. parallel: maximum
    number of events of one push that are summarised and extracted at once.
    """

    threshold: float | None = None
    max_chunks: int = MAX_CHUNKS
    max_still_chunks: int = MAX_STILL_CHUNKS
    frames_per_event: int = 8
    attempts: int = 2
    parallel: int = 64
    linking: LinkingSettings = field(default_factory=LinkingSettings)


@dataclass(frozen=True, slots=True)
class AssemblyWarning:
    """A part that an event lacks. stage: description, summary, entities, or event for both at once. code: the error's,
    or the gap's."""

    event_id: UUID
    stage: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class _Draft:
    """The models' answers about one group, before linking."""

    summary: str
    extraction: Extraction
    failures: tuple[tuple[str, str, str], ...] = ()


class EventAssembler:
    """Turns chunks into events.

    next_event_n, pending_chunks: the checkpoint's, 0 and none for a new index. .warnings: those of this assembler's
    events.
    """

    def __init__(
        self,
        video_id: UUID,
        index_version: int,
        models: IndexModels,
        directory: EntityDirectory,
        sink: EventSink,
        *,
        profile: str,
        meter: Meter,
        frames_for: FrameSource,
        settings: AssemblySettings | None = None,
        next_event_n: int = 0,
        pending_chunks: Sequence[Chunk] = (),
    ) -> None:
        self._scope = (video_id, index_version)
        self._models, self._sink, self._profile, self._meter = models, sink, profile, meter
        self._frames_for = frames_for
        self._settings = settings = settings or AssemblySettings()
        self._linker = EntityLinker(video_id, index_version, directory, settings.linking)
        self._chunker = SemanticChunker(
            models.similarity,
            models.calibration.thresholds.merge.value if settings.threshold is None else settings.threshold,
            settings.max_chunks,
            max_still_chunks=settings.max_still_chunks,
            meter=meter,
        )
        self.next_event_n = next_event_n
        self.warnings: list[AssemblyWarning] = []
        # Usually there are no groups, since these chunks were one unfinished event. But in another batch, on another
        # device or with a newer similarity, a pair may fall on the other side of the threshold. That must not end the
        # video.
        self._due = self._chunker.extend(pending_chunks)
        self._taken: set[str] = set()
        self._untaken: dict[str, ModelError] = {}

    @property
    def pending(self) -> tuple[Chunk, ...]:
        """Return the chunks that no stored event holds yet."""
        return (*chain.from_iterable(self._due), *self._chunker.pending)

    def push(self, chunks: Sequence[Chunk], *, ends: bool = False) -> int:
        """Take the next chunks, store the events that they finish, and return their number. ends: the last event ends
        with them, since the video does, or since nobody shall wait for what comes.

        Raises ModelError when a model cannot be reached, or takes no request (retryable): then start again from the
        last checkpoint.
        """
        finished = self._chunker.extend(chunks)
        return self._store([*finished, *self._chunker.flush()] if ends else finished)

    def flush(self) -> int:
        """Store the pending chunks as the last event, since the video has ended. A second call does nothing."""
        return self._store(self._chunker.flush())

    def _store(self, finished: Sequence[tuple[Chunk, ...]]) -> int:
        groups, self._due = [*self._due, *finished], []
        drafted: list[tuple[tuple[Chunk, ...], _Draft]] = []
        try:
            for group, draft in self._drafts(groups):
                drafted.append((group, draft))
            self._require_taken(drafted)
        except ModelError:
            if self._refused_stage(drafted):
                drafted.clear()
            raise
        finally:
            # Events before a failure are kept.
            self._link(drafted)
        return len(groups)

    def _require_taken(self, drafted: Sequence[tuple[tuple[Chunk, ...], _Draft]]) -> None:
        """Raise ModelError if a server takes no request of a push: that is its settings' fault, and no content's."""
        stage = self._refused_stage(drafted)
        if stage:
            error = self._untaken[stage]
            message = f"no request is taken: {error}"
            raise ModelError("model_misconfigured", message, retryable=True, dependency=error.dependency) from error

    def _refused_stage(self, drafted: Sequence[tuple[tuple[Chunk, ...], _Draft]]) -> str:
        """Return the stage whose request was not taken for any of the events, nor for one before them; "" if none."""
        asked = [draft for group, draft in drafted if not _is_gap(group)]
        for stage in self._untaken.keys() - self._taken:
            if asked and all((stage, _UNTAKEN) in {failure[:2] for failure in draft.failures} for draft in asked):
                return stage
        return ""

    def _link(self, drafted: Sequence[tuple[tuple[Chunk, ...], _Draft]]) -> None:
        """Embed, link and store events; texts of all are embedded together, and mentions looked up together."""
        if not drafted:
            return
        mentions = [distinct_mentions(draft.extraction.mentions) for _, draft in drafted]
        texts = [
            [embedded_text(draft.summary, group), *map(identity_text, named)]
            for (group, draft), named in zip(drafted, mentions, strict=True)
        ]
        vectors = self._models.text_embedder.embed(list(chain.from_iterable(texts)), meter=self._meter)
        ends = list(accumulate(map(len, texts)))
        of_event = [vectors[end - len(words) : end] for words, end in zip(texts, ends, strict=True)]
        self._linker.expect(np.concatenate([rows[1:] for rows in of_event]))
        for (group, draft), named, rows in zip(drafted, mentions, of_event, strict=True):
            self._sink.append(self._record(group, draft, named, rows))
            self.next_event_n += 1

    def _drafts(self, groups: Sequence[tuple[Chunk, ...]]) -> Iterator[tuple[tuple[Chunk, ...], _Draft]]:
        """Yield groups with their drafts, in order. The models work on several at once; linking is sequential."""
        if not groups:
            return
        if len(groups) == 1 or self._settings.parallel == 1:
            yield from zip(groups, map(self._draft, groups), strict=True)
            return
        with ContextPool(min(self._settings.parallel, len(groups)), "draft") as pool:
            yield from zip(groups, pool.map(self._draft, groups), strict=True)

    def _draft(self, group: tuple[Chunk, ...]) -> _Draft:
        nothing = Extraction((), ())
        if _is_gap(group):
            code = group[0].gap or "unknown"
            message = f"{_from_to(_span(group))} could not be described: {gap_reason(code)}"
            return _Draft(message, nothing, (("description", code, message),))
        failures: list[tuple[str, str, str]] = []
        frames = self._frames_for(_span(group), self._settings.frames_per_event)
        writer = self._models.event_writer
        if writer is not None:
            text = self._ask(
                "event", failures, lambda: writer.write(group, frames, profile=self._profile, meter=self._meter)
            )
            summary, extraction = (text.summary.strip(), text.extraction) if text else ("", nothing)
        else:
            summary, extraction = self._in_two_calls(group, frames, failures)
        if extraction.cut:
            failures.append(("entities", "output_truncated", "the answer was cut off; what was whole of it is kept"))
        return _Draft(summary or _in_sequence(group), extraction, tuple(failures))

    def _in_two_calls(
        self,
        group: tuple[Chunk, ...],
        frames: Sequence[tuple[int, bytes]],
        failures: list[tuple[str, str, str]],
    ) -> tuple[str, Extraction]:
        summary = self._ask(
            "summary",
            failures,
            lambda: self._models.summariser.summarise(group, profile=self._profile, meter=self._meter).strip(),
        ) or _in_sequence(group)
        extraction = self._ask(
            "entities",
            failures,
            lambda: self._models.extractor.extract(summary, group, frames, profile=self._profile, meter=self._meter),
        )
        return summary, extraction or Extraction((), ())

    def _ask(self, stage: str, failures: list[tuple[str, str, str]], call: Callable[[], T]) -> T | None:
        """Return the result of call; None, with the reason in failures, if asking again cannot help this event.

        A retryable error is raised, since it is not the event's fault: the whole job is retried later.
        """
        error: ModelError | None = None
        for _ in range(self._settings.attempts):
            try:
                answer = call()
            except ModelError as raised:
                if raised.retryable:
                    raise
                error = raised
                if raised.code == _UNTAKEN:
                    self._untaken[stage] = raised
                else:
                    self._taken.add(stage)
                if isinstance(raised, ModelRefused) or raised.code in _SETTLED:
                    break
            else:
                self._taken.add(stage)
                return answer
        if error is not None:
            failures.append((stage, error.code, str(error)))
        return None

    def _record(
        self,
        group: tuple[Chunk, ...],
        draft: _Draft,
        mentions: Sequence[EntityMention],
        vectors: NDArray[np.float32],
    ) -> EventRecord:
        """Return the record of an event. vectors: of the event's text, then of each mention."""
        span = _span(group)
        event_id = stable_id("event", *self._scope, span.start_ms, span.end_ms)
        linked = self._linker.link(event_id, mentions, vectors[1:], draft.extraction.relations)
        event = Event(event_id, self.next_event_n, span, group[0].n, group[-1].n + 1, draft.summary, unit(vectors[0]))
        self.warnings.extend(AssemblyWarning(event_id, *failure) for failure in draft.failures)
        return EventRecord(event, linked.entities, linked.mentions, linked.relations)


def embedded_text(summary: str, chunks: Sequence[Chunk]) -> str:
    """Return the text whose vector an event has: summary, speech and writing on screen, each piece once.

    At most EMBEDDED_CHARACTERS follow the summary: an embedder reads only so many words, and the first ones weigh most.
    """
    told = summary.casefold()
    spoken = [line.text for chunk in chunks for line in chunk.transcript]
    written = [text for chunk in chunks for text in chunk.on_screen_text]
    pieces = dict.fromkeys(" ".join(piece.split()) for piece in (*written, *spoken))
    more = " ".join(piece for piece in pieces if piece and piece.casefold() not in told)
    return f"{summary} {more[:EMBEDDED_CHARACTERS]}".rstrip() if more else summary


def _is_gap(group: Sequence[Chunk]) -> bool:
    return group[0].description is None


def _span(group: Sequence[Chunk]) -> Span:
    return Span(group[0].span.start_ms, group[-1].span.end_ms)


def _from_to(span: Span) -> str:
    return f"{clock(span.start_ms, hours=True)} to {clock(span.end_ms, hours=True)}"


def _in_sequence(group: Sequence[Chunk]) -> str:
    """Return the descriptions with their times, each where it begins: less than a summary, but nothing is lost."""
    before = (None, *(chunk.description for chunk in group))
    begin = [chunk for chunk, earlier in zip(group, before, strict=False) if chunk.description != earlier]
    return " ".join(f"[{clock(chunk.span.start_ms, hours=True)}] {chunk.description}" for chunk in begin)
