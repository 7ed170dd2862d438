"""The global summary of a video: contiguous topics over its events, and an overview over the topics (AVATAAR's G).

A topic is a batch of the paper: its narrator reads what was said in it, and a model that takes pictures sees some of
its frames. The people and places of the topics stay in the overview, whatever its text leaves out.

Events come in order of time, in any batches. A closed topic never changes. The remaining events are the open topic,
which every conclusion narrates again. Whatever the batches, the same events give the same topics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from gpu_workers.engine.ekg import EventDigest, Overview, Span, Topic, Vector, unit
from gpu_workers.engine.indexing.topic_vectors import with_vectors
from gpu_workers.engine.models.observer.narrator import MeasuredNarrator
from gpu_workers.engine.models.roles import Meter, ModelError, Narrator, OverviewText, TextEmbedder, TopicText
from gpu_workers.engine.models.served.narration import (
    NOT_DESCRIBED,
    TEXT_CHARS,
    TITLE_CHARS,
    material_of_events,
    material_of_topics,
    names_by_time,
)

Narration = TypeVar("Narration", TopicText, OverviewText)

FrameTimes = Callable[[Span], Sequence[int]]
"""Source of the times of some stored frames inside a span, in order."""

Pictures = Callable[[Sequence[int]], Sequence[tuple[int, bytes]]]
"""Source of the stored frames at these times, as (ms, JPEG) in order of time."""


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """shortest_ms, longest_ms: bounds of a topic, up to whole events; the last topic may be longer by shortest_ms.

    window: number of events on each side of a boundary that are compared. contrast: minimum of the mean cosine within
    one side less the mean cosine across the boundary, for a topic to end there. 0.15 is a judgement: between joined
    recordings the contrast was 0.2 to 0.3 in the embedded profile, where events of one scene have cosines above 0.9.
    """

    shortest_ms: int = 60_000
    longest_ms: int = 600_000
    window: int = 3
    contrast: float = 0.15
    frames: int = 4

    @classmethod
    def for_length(cls, duration_ms: int | None) -> TopicSettings:
        """Return settings for a video of this length: about 50 topics at most, up to 8 h. None: unknown length."""
        if duration_ms is None:
            return cls()
        shortest_ms = min(600_000, max(9_000, duration_ms // 48))
        return cls(shortest_ms=shortest_ms, longest_ms=6 * shortest_ms)


@dataclass(frozen=True, slots=True)
class SummaryWarning:
    """A text that the measured narrator had to write. stage: topics or overview. code: the model error's."""

    stage: str
    code: str
    message: str


class TopicSplitter:
    """Cuts events into topics: TextTiling's comparison of adjacent blocks (Hearst 1997), made online.

    The contrast of a boundary between two events is the mean cosine within the `window` events on one side (the higher
    of the two) less the mean cosine across. A topic ends at the first boundary, from shortest_ms on, whose contrast is
    at least settings.contrast and not below that of the next boundary. If there is none before longest_ms, it ends at
    the boundary with the highest contrast up to there. A boundary is decided once both windows are complete and
    shortest_ms of events follow it, or the video has ended, so a decision depends on the events alone. Events of gaps
    count in no mean. Memory: one topic's events and a window.
    """

    def __init__(self, settings: TopicSettings) -> None:
        self._settings = settings
        self._open: list[EventDigest] = []

    @property
    def open(self) -> tuple[EventDigest, ...]:
        """Return the events of the topic that is not closed yet."""
        return tuple(self._open)

    def push(self, events: Sequence[EventDigest]) -> list[tuple[EventDigest, ...]]:
        """Take the next events and return the topics that they close."""
        self._open.extend(events)
        return list(self._closed(ended=False))

    def flush(self) -> list[tuple[EventDigest, ...]]:
        """Return the remaining topics, since the video has ended. A second call returns none."""
        groups = list(self._closed(ended=True))
        if self._open:
            groups.append(self.open)
            self._open = []
        return groups

    def _closed(self, *, ended: bool) -> Iterator[tuple[EventDigest, ...]]:
        while (end := self._end_of_topic(ended=ended)) is not None:
            yield tuple(self._open[:end])
            del self._open[:end]

    def _end_of_topic(self, *, ended: bool) -> int | None:
        """Return the number of open events in the first topic; None if that is undecided, or if all belong to it."""
        settings, events = self._settings, self._open
        contrasts: dict[int, float] = {}

        def contrast(cut: int) -> float:
            if cut not in contrasts:
                contrasts[cut] = self._contrast(cut)
            return contrasts[cut]

        best: int | None = None
        for cut in range(1, len(events)):
            length_ms = events[cut].span.start_ms - events[0].span.start_ms
            if length_ms < settings.shortest_ms:
                continue
            if length_ms > settings.longest_ms and best is not None:
                return best
            rest_ms = events[-1].span.end_ms - events[cut].span.start_ms
            complete = cut + settings.window + 1 <= len(events) and rest_ms >= settings.shortest_ms
            if not complete and not ended:
                return None
            if rest_ms < settings.shortest_ms:
                return None
            if contrast(cut) >= settings.contrast and (cut + 1 == len(events) or contrast(cut) >= contrast(cut + 1)):
                return cut
            if best is None or contrast(cut) >= contrast(best):
                best = cut
        return None

    def _contrast(self, cut: int) -> float:
        width = self._settings.window
        before, after = self._open[max(0, cut - width) : cut], self._open[cut : cut + width]
        left, right = ([event.embedding for event in side if event.described] for side in (before, after))
        if not left or not right:
            return 0.0
        across = float(np.mean(np.stack(left) @ np.stack(right).T))
        return max(_cohesion(left), _cohesion(right)) - across if len(left) + len(right) > 2 else 1.0 - across


def _cohesion(vectors: Sequence[Vector]) -> float:
    """Return the mean cosine between two of the unit vectors; -1 for a single vector, which has no cohesion."""
    count = len(vectors)
    if count == 1:
        return -1.0
    rows = np.stack(vectors)
    return float((np.sum(rows @ rows.T) - count) / (count * (count - 1)))


class GlobalSummariser:
    """Narrates topics and the overview of one video's index version.

    topics: those narrated so far, by a run that concluded before the video's end: all but the last are closed, and the
    next event to push is the first of the last one. frame_times: called for the events chosen to be shown. pictures:
    called for what a narrator looks at. If the narrator fails for good, the measured narrator writes the text, and
    .warnings says so.
    """

    def __init__(
        self,
        narrator: Narrator,
        *,
        profile: str,
        meter: Meter,
        frame_times: FrameTimes,
        settings: TopicSettings,
        pictures: Pictures = lambda times: (),
        topics: Sequence[Topic] = (),
    ) -> None:
        self._pictures = pictures
        self._narrator, self._profile, self._meter = narrator, profile, meter
        self._frame_times = frame_times
        self._settings = settings
        self._splitter = TopicSplitter(settings)
        self._closed = list(topics[:-1])
        # The last topic is narrated again only if it has new events.
        self._last = topics[-1] if topics else None
        self.warnings: list[SummaryWarning] = []

    @property
    def next_event_n(self) -> int:
        """Return the number of the first event that no closed topic holds; push() continues with it."""
        return self._closed[-1].end_event if self._closed else 0

    def push(self, events: Sequence[EventDigest]) -> None:
        """Take the next events, in order. Raises ModelError when the narrator cannot be reached (retryable)."""
        for group in self._splitter.push(events):
            self._closed.append(self._topic(group, len(self._closed)))

    def conclude(self, *, ended: bool) -> tuple[tuple[Topic, ...], Overview | None]:
        """Return topics over all events so far and the overview over them; none of either without events.

        ended: no event follows, so every topic is closed. Otherwise all events after the closed topics are one open
        topic, and more may be pushed. Raises ModelError like push.
        """
        if ended:
            for group in self._splitter.flush():
                self._closed.append(self._topic(group, len(self._closed)))
        topics = list(self._closed)
        if self._splitter.open:
            self._last = self._topic(self._splitter.open, len(topics))
            topics.append(self._last)
        return tuple(topics), self._overview(topics) if topics else None

    def _topic(self, events: tuple[EventDigest, ...], n: int) -> Topic:
        first, end = events[0].n, events[-1].n + 1
        if self._last is not None and (self._last.first_event, self._last.end_event) == (first, end):
            return replace(self._last, n=n)
        # A model could only invent something about gaps.
        silent = not any(event.described or event.speech for event in events)
        narrator = MeasuredNarrator() if silent else self._narrator
        frame_ms = self._frames(events)
        frames = self._pictures(frame_ms) if narrator.looks and frame_ms else ()
        _, narration = self._narrated(
            "topics", narrator, lambda by: by.narrate_topic(events, frames, profile=self._profile, meter=self._meter)
        )
        material = material_of_events(events)
        return Topic(
            n=n,
            span=Span(events[0].span.start_ms, events[-1].span.end_ms),
            first_event=first,
            end_event=end,
            title=narration.title[:TITLE_CHARS],
            summary=narration.summary[:TEXT_CHARS],
            people=material.kept(narration.people),
            places=material.kept(narration.places),
            frame_ms=frame_ms,
        )

    def _overview(self, topics: Sequence[Topic]) -> Overview:
        silent = all(topic.title == NOT_DESCRIBED for topic in topics)
        narrator = MeasuredNarrator() if silent else self._narrator
        name, narration = self._narrated(
            "overview", narrator, lambda by: by.narrate_overview(topics, profile=self._profile, meter=self._meter)
        )
        material = material_of_topics(topics)
        by_time = names_by_time(topics)
        people, places = (
            material.kept([*names, *others])
            for names, others in zip((narration.people, narration.places), by_time, strict=True)
        )
        return Overview(narration.text[:TEXT_CHARS], people, places, topics[-1].span.end_ms, name)

    def _narrated(
        self, stage: str, narrator: Narrator, narrate: Callable[[Narrator], Narration]
    ) -> tuple[str, Narration]:
        """Return the narrator's name and its text."""
        try:
            return narrator.name, narrate(narrator)
        except ModelError as error:
            if error.retryable:
                raise
            self.warnings.append(SummaryWarning(stage, error.code, str(error)))
            measured = MeasuredNarrator()
            return measured.name, narrate(measured)

    def _frames(self, events: Sequence[EventDigest]) -> tuple[int, ...]:
        """Return frame times for the topic: one from each of its equal parts, of the most typical event with frames."""
        centre = unit(np.sum([event.embedding for event in events], axis=0))
        start_ms, end_ms = events[0].span.start_ms, events[-1].span.end_ms
        parts = min(self._settings.frames, len(events))
        chosen: set[int] = set()
        for k in range(parts):
            low, high = (start_ms + j * (end_ms - start_ms) // parts for j in (k, k + 1))
            inside = [event for event in events if low <= event.span.start_ms < high]
            for event in sorted(inside, key=lambda e: (not e.described, -float(e.embedding @ centre), e.n)):
                middle = (event.span.start_ms + event.span.end_ms) // 2
                times = self._frame_times(event.span)
                if times:
                    chosen.add(min(times, key=lambda ms: (abs(ms - middle), ms)))
                    break
        return tuple(sorted(chosen))


class SummarisedIndex(Protocol):
    """An index that holds all of a video's events and takes their summary."""

    def digests(self) -> Sequence[EventDigest]: ...

    def frame_times(self, span: Span) -> Sequence[int]: ...

    def pictures(self, times: Sequence[int]) -> Sequence[tuple[int, bytes]]: ...

    def store_summary(self, topics: Sequence[Topic], overview: Overview | None) -> None: ...


def summarise(
    index: SummarisedIndex,
    narrator: Narrator,
    embedder: TextEmbedder,
    *,
    profile: str,
    meter: Meter,
    settings: TopicSettings | None = None,
) -> list[SummaryWarning]:
    """Write the global summary of a finished index into it. Returns a warning for each text that the narrator lacks.

    settings: None for the settings of the video's length. Raises ModelError when a model cannot be reached.
    """
    events = index.digests()
    settings = settings or TopicSettings.for_length(events[-1].span.end_ms if events else None)
    summariser = GlobalSummariser(
        narrator,
        profile=profile,
        meter=meter,
        frame_times=index.frame_times,
        settings=settings,
        pictures=index.pictures,
    )
    summariser.push(events)
    topics, overview = summariser.conclude(ended=True)
    index.store_summary(with_vectors(topics, embedder, meter=meter), overview)
    return summariser.warnings
