"""The moments that were seen, with a caption each, the segments between them, and the best unseen moment of a segment
for each thing that is looked for (VideoAgent, sections 3.1, 3.3 and 3.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from uuid import UUID

from gpu_workers.engine.answering.agent.caption_tools import chunk_text, described
from gpu_workers.engine.answering.agent.frame_tools import look_at_frames
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.context import cut, shares
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Span, Vector
from gpu_workers.engine.languages.words import content_words
from gpu_workers.engine.ports import Hit, StoredEvent, StoredFrame, ViewName, Within
from gpu_workers.engine.retrieval.frames import frames_of_hits

GAP_MS = 1_000
"""Minimum distance of two seen moments of a video: closer ones show the same."""

NEAR_MS = 5_000
"""Maximum distance of a stored frame from the moment that it stands for; frames are stored once a second."""

FRAMES_OF_LOOK = 4
"""Frames of one look that captions them: it reports at most as many findings (looking.findings)."""

CAPTION_FIND = "what each frame shows, above all what bears on the question"

SPARE = 24
"""Hits that are read per part of a segment: up to three frames are too near to each of six that a round chooses."""

MOST_PARTS = 4
"""Maximum number of videos of a segment that are searched one by one; a longer segment is searched with its scope."""

WIDE = 128
"""Hits that are read of the scope for a segment over many videos."""

EVENTS = 4
"""Events whose chunks are compared where there are no frames."""

Moment = tuple[UUID, int]
"""A video and a time in ms."""


# --- time ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Timeline:
    """The videos of a scope one after the other, in order of id, each with the span that may be read. A position is in
    ms from the first one's beginning (VideoAgent, section 3.1)."""

    extents: tuple[tuple[UUID, Span], ...]

    @classmethod
    def of(cls, extents: Mapping[UUID, Span]) -> Timeline:
        """Return the timeline of a graph's extents()."""
        return cls(tuple(sorted(extents.items())))

    @property
    def total_ms(self) -> int:
        return sum(span.duration_ms for _, span in self.extents)

    def moment(self, position: int) -> Moment:
        """Return the video and its ms at a position, 0 <= position < total_ms. Raises ValueError elsewhere."""
        past = position
        for video_id, span in self.extents:
            if 0 <= past < span.duration_ms:
                return video_id, span.start_ms + past
            past -= span.duration_ms
        raise ValueError(f"no position {position} on a timeline of {self.total_ms} ms")


def glance(total_ms: int, count: int, *, ends: bool = False) -> list[int]:
    """Return the positions in ms of at most count moments of a first glance, in order, each once.

    They are the middles of count equal parts. ends: count of the whole seconds instead, evenly chosen with the first
    and the last (VideoAgent, section 4.2: the released code counts them from 1 and drops fractions).
    """
    if total_ms <= 0 or count <= 0:
        return []
    if not ends:
        return list(dict.fromkeys((2 * n + 1) * total_ms // (2 * count) for n in range(count)))
    seconds, steps = max(1, total_ms // 1_000), max(1, count - 1)
    return list(dict.fromkeys(n * (seconds - 1) // steps * 1_000 for n in range(count)))


@dataclass(frozen=True, slots=True)
class Segment:
    """What lies between two seen moments that follow each other (VideoAgent, section 3.3): with moments i, j and k seen
    there are four segments, and number 2 lies between i and j. So nothing of the scope is out of reach.

    parts: what may still be retrieved, at least GAP_MS from each seen moment, one part per video that the segment
    reaches into, in order; empty if nothing is left.
    """

    number: int
    parts: tuple[Within, ...]


def segments_between(timeline: Timeline, seen: Sequence[Moment]) -> list[Segment]:
    """Return the segments that the seen moments cut the timeline into: one more than there are moments.

    A segment between moments of two videos goes on from the one to the other; its parts say so.
    """
    cuts: list[Moment | None] = [None, *sorted(seen), None]
    return [
        Segment(number, tuple(_parts(timeline, after, before)))
        for number, (after, before) in enumerate(pairwise(cuts), start=1)
    ]


def _parts(timeline: Timeline, after: Moment | None, before: Moment | None) -> Iterator[Within]:
    for video_id, span in timeline.extents:
        start, end = span.start_ms, span.end_ms
        if (after is not None and video_id < after[0]) or (before is not None and video_id > before[0]):
            continue
        if after is not None and video_id == after[0]:
            start = max(start, after[1] + GAP_MS)
        if before is not None and video_id == before[0]:
            end = min(end, before[1] - GAP_MS + 1)
        if start < end:
            yield Within(video_id, Span(start, end))


def is_unseen(parts: Sequence[Within], seen: Sequence[Moment], moment: Moment) -> bool:
    """Whether a moment lies in parts and is at least GAP_MS from every seen moment of its video."""
    video_id, ms = moment
    inside = any(part.video_id == video_id and part.span.contains(ms) for part in parts)
    return inside and all(other != video_id or abs(at - ms) >= GAP_MS for other, at in seen)


# --- seeing ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeenMoment:
    """A moment that was seen. frame: None where no picture is stored: then the caption alone stands for it."""

    video_id: UUID
    ms: int
    event: StoredEvent
    frame: StoredFrame | None
    caption: str

    @property
    def moment(self) -> Moment:
        return self.video_id, self.ms


def see(toolbox: Toolbox, moments: Sequence[Moment]) -> list[SeenMoment]:
    """Return what is stored at these moments, each frame and each moment once: the nearest frame, or if none is near,
    the moment itself with the words of its chunk. Moments outside every event are left out."""
    near = [_nearest(toolbox, moment) for moment in moments]
    owners = {event.id: event for event in toolbox.load(frame.event_id for frame in near if frame is not None)}
    seen: dict[Moment, SeenMoment] = {}
    for (video_id, ms), frame in zip(moments, near, strict=True):
        if frame is not None and frame.event_id in owners:
            found = of_frame(toolbox, owners[frame.event_id], frame)
        else:
            events = toolbox.events_at(video_id, Span(ms, ms + 1), 1)
            if not events:
                continue
            found = SeenMoment(video_id, ms, events[0], None, caption_at(toolbox, events[0], ms))
        seen.setdefault(found.moment, found)
    return list(seen.values())


def of_frame(toolbox: Toolbox, event: StoredEvent, frame: StoredFrame) -> SeenMoment:
    """Return a frame of an event as it was seen."""
    return SeenMoment(frame.video_id, frame.ms, event, frame, caption_at(toolbox, event, frame.ms))


def caption_at(toolbox: Toolbox, event: StoredEvent, ms: int) -> str:
    """Return what the chunk around a moment says: its description, speech and writing on screen; the event's summary
    if the event has no chunk there. At effort `paper` the description alone."""
    chunk = next((chunk for chunk in event.chunks if chunk.span.contains(ms)), None)
    if chunk is None:
        return as_data(event.summary)
    return as_data(described(chunk)) if toolbox.asked.settings.effort == "paper" else chunk_text(chunk)


def look_closer(toolbox: Toolbox, seen: Sequence[SeenMoment], find: str = CAPTION_FIND) -> tuple[list[SeenMoment], str]:
    """Return the moments with what a look with the question adds to their captions, and the code of a failed look.

    Moments without a frame keep their caption, as do all after a failure. Raises Halt.
    """
    frames = [item.frame for item in seen if item.frame is not None]
    statements: dict[UUID, list[str]] = {}
    error = ""
    for video_id in dict.fromkeys(frame.video_id for frame in frames):
        shown = sorted((frame for frame in frames if frame.video_id == video_id), key=lambda frame: frame.ms)
        for start in range(0, len(shown), FRAMES_OF_LOOK):
            group = shown[start : start + FRAMES_OF_LOOK]
            findings, failed = look_at_frames(toolbox, find, group, high=toolbox.asked.settings.look.full_pictures)
            error = error or failed
            for finding in findings:
                for frame in finding.frames or [f for f in group if finding.span.contains(f.ms)]:
                    statements.setdefault(frame.id, []).append(finding.statement)
    added = [statements.get(item.frame.id, []) if item.frame is not None else [] for item in seen]
    return [
        replace(item, caption=f"{item.caption} Looked at: {' '.join(words)}") if words else item
        for item, words in zip(seen, added, strict=True)
    ], error


def label_moments(toolbox: Toolbox, seen: Iterable[SeenMoment]) -> None:
    """Give the moments' events and frames their numbers, in this order."""
    for item in seen:
        toolbox.evidence.label_event(item.event)
        if item.frame is not None:
            toolbox.evidence.label_frame(item.frame)


def name_of(toolbox: Toolbox, item: SeenMoment) -> str:
    """Return a moment's number and time, such as "F2 (E1) 0:01:05"; without a frame the event's number stands alone."""
    frame = (
        f"{toolbox.evidence.label_frame(item.frame)} ({toolbox.evidence.label_event(item.event)})" if item.frame else ""
    )
    video = f" video {toolbox.numbers.get(item.video_id, 0)}" if toolbox.several else ""
    return f"{frame or toolbox.evidence.label_event(item.event)}{video} {clock(item.ms, hours=True)}"


def moment_lines(toolbox: Toolbox, seen: Sequence[SeenMoment], *, most_tokens: int) -> str:
    """Return the moments in order of time, a line each. If they have more than most_tokens, the longest captions are
    cut to equal shares."""
    count = toolbox.asked.models.reasoner.count_tokens
    ordered = sorted(seen, key=lambda item: item.moment)
    heads = [name_of(toolbox, item) for item in ordered]
    costs = [count(f"{head}: {item.caption}\n") for head, item in zip(heads, ordered, strict=True)]
    given = shares(costs, most_tokens) if sum(costs) > most_tokens else costs
    return "\n".join(
        f"{head}: {item.caption if cost <= tokens else cut(item.caption, count, max(1, tokens - count(head) - 2))}"
        for head, item, cost, tokens in zip(heads, ordered, costs, given, strict=True)
    )


def _nearest(toolbox: Toolbox, moment: Moment) -> StoredFrame | None:
    video_id, ms = moment
    around = Span(max(0, ms - NEAR_MS), ms + NEAR_MS + 1)
    frames = toolbox.asked.graph.frames_between(video_id, around, limit=4 * NEAR_MS // 1_000)
    return min(frames, key=lambda frame: (abs(frame.ms - ms), frame.ms), default=None)


# --- finding ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wanted:
    """One thing to look for. segment: the number of the segment in which to look."""

    segment: int
    description: str


@dataclass(frozen=True, slots=True)
class FoundMoment:
    """A moment found for a description, with the cosine of its frame, or of its event where there is no frame."""

    seen: SeenMoment
    wanted: Wanted
    similarity: float


def find_wanted(
    toolbox: Toolbox,
    segments: Mapping[int, Segment],
    wanted: Sequence[Wanted],
    seen: Sequence[Moment],
) -> list[FoundMoment]:
    """Return for each wanted thing the unseen moment of its segment that is nearest to the description.

    No moment is returned that was seen, or within a second of one, or of another that is returned: two descriptions in
    one segment find two moments. A thing that nothing is left for is left out. Raises ModelError of an embedder.
    """
    found: list[FoundMoment] = []
    taken = list(seen)
    for item in wanted:
        parts = segments[item.segment].parts
        best = _by_frame(toolbox, item, parts, taken) or _by_words(toolbox, item, parts, taken)
        if best is not None:
            found.append(best)
            taken.append(best.seen.moment)
    return found


def _by_frame(toolbox: Toolbox, item: Wanted, parts: Sequence[Within], taken: Sequence[Moment]) -> FoundMoment | None:
    if "frames" not in toolbox.artifacts or not parts:
        return None
    vector = toolbox.frame_vector(item.description)
    hits = _hits(toolbox, "frame", vector, parts, SPARE)
    similarity: dict[UUID | None, float] = {hit.item: hit.similarity for hit in reversed(hits)}
    for frame in frames_of_hits(toolbox.asked.graph, hits):
        if is_unseen(parts, taken, (frame.video_id, frame.ms)):
            events = toolbox.load([frame.event_id])
            if events:
                return FoundMoment(of_frame(toolbox, events[0], frame), item, similarity[frame.id])
    return None


def _by_words(toolbox: Toolbox, item: Wanted, parts: Sequence[Within], taken: Sequence[Moment]) -> FoundMoment | None:
    """Return the chunk with most words of the description, of the events nearest to it: where there are no frames."""
    if not parts:
        return None
    hits = _hits(toolbox, "event", toolbox.text_vector(item.description), parts, EVENTS)
    similarity = {hit.event_id: hit.similarity for hit in reversed(hits)}
    words = set(content_words(item.description))
    best: tuple[int, SeenMoment] | None = None
    for event in toolbox.load(hit.event_id for hit in hits):
        for chunk in event.chunks:
            ms = (chunk.span.start_ms + chunk.span.end_ms) // 2
            was_seen = any(video_id == event.video_id and chunk.span.contains(at) for video_id, at in taken)
            if was_seen or not is_unseen(parts, taken, (event.video_id, ms)):
                continue
            text = chunk_text(chunk)
            shared = len(words & set(content_words(text)))
            if best is None or shared > best[0]:
                best = shared, SeenMoment(event.video_id, ms, event, None, text)
    return FoundMoment(best[1], item, similarity[best[1].event.id]) if best else None


def _hits(toolbox: Toolbox, view: ViewName, vector: Vector, parts: Sequence[Within], limit: int) -> list[Hit]:
    """Return the hits of a view in parts, best first."""
    if len(parts) > MOST_PARTS:
        return list(toolbox.search(view, vector, WIDE, floor=-1.0))
    hits = [hit for part in parts for hit in toolbox.search(view, vector, limit, within=part, floor=-1.0)]
    return sorted(hits, key=lambda hit: -hit.similarity)
