"""The moments that were seen, with a caption each, the segments between them, and the best unseen moment of a segment
for a description (VideoAgent, sections 3.1, 3.3 and 3.4)."""

from __future__ import annotations

from collections import defaultdict
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
"""Frames of one look that captions them: it reports at most as many findings (looking.looks)."""

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

Segments = Mapping[int, tuple[Within, ...]]
"""What lies between two seen moments that follow each other, by number (VideoAgent, section 3.3): with moments i, j and
k seen there are four segments, and number 2 lies between i and j. So nothing of the scope is out of reach.

A segment has what may still be retrieved, at least GAP_MS from each seen moment, one part per video that it reaches
into, in order; none if nothing is left.
"""


# --- time: the videos of a scope one after the other, in order of id -------------------------------------------------


def moment_at(extents: Mapping[UUID, Span], position: int) -> Moment:
    """Return the video and its ms at a position, in ms from the first one's beginning (VideoAgent, section 3.1). Raises
    ValueError outside the videos."""
    past = position
    for video_id, span in sorted(extents.items()):
        if 0 <= past < span.duration_ms:
            return video_id, span.start_ms + past
        past -= span.duration_ms
    raise ValueError(f"no position {position} in these videos")


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


def segments_between(extents: Mapping[UUID, Span], seen: Sequence[Moment]) -> Segments:
    """Return the segments that the seen moments cut the scope into: one more than there are moments."""
    cuts: list[Moment | None] = [None, *sorted(seen), None]
    return {
        number: tuple(_parts(extents, after, before)) for number, (after, before) in enumerate(pairwise(cuts), start=1)
    }


def _parts(extents: Mapping[UUID, Span], after: Moment | None, before: Moment | None) -> Iterator[Within]:
    for video_id, span in sorted(extents.items()):
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
    seen: dict[Moment, SeenMoment] = {}
    for video_id, ms in moments:
        around = Span(max(0, ms - NEAR_MS), ms + NEAR_MS + 1)
        frames = toolbox.asked.graph.frames_between(video_id, around, limit=4 * NEAR_MS // 1_000)
        frame = min(frames, key=lambda frame: (abs(frame.ms - ms), frame.ms), default=None)
        if frame is not None and (events := toolbox.load([frame.event_id])):
            found = of_frame(toolbox, events[0], frame)
        elif events := toolbox.events_at(video_id, Span(ms, ms + 1), 1):
            found = SeenMoment(video_id, ms, events[0], None, caption_at(toolbox, events[0], ms))
        else:
            continue
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


def look_closer(toolbox: Toolbox, seen: Sequence[SeenMoment], find: str) -> tuple[list[SeenMoment], str]:
    """Return the moments with what a look with the question adds to their captions, and the code of a failed look.

    Moments without a frame keep their caption, as do all after a failure. Raises Halt.
    """
    by_video: dict[UUID, list[StoredFrame]] = defaultdict(list)
    for item in sorted(seen, key=lambda item: item.moment):
        by_video[item.video_id] += [item.frame] if item.frame is not None else []
    statements: dict[UUID, list[str]] = defaultdict(list)
    error = ""
    in_full = toolbox.asked.settings.look.full_pictures > 0
    for frames in by_video.values():
        for start in range(0, len(frames), FRAMES_OF_LOOK):
            shown = frames[start : start + FRAMES_OF_LOOK]
            findings, failed = look_at_frames(toolbox, find, shown, high=in_full)
            error = error or failed
            for finding in findings:
                for frame in finding.frames or [frame for frame in shown if finding.span.contains(frame.ms)]:
                    statements[frame.id].append(finding.statement)
    return [
        replace(item, caption=f"{item.caption} Looked at: {' '.join(statements[item.frame.id])}")
        if item.frame is not None and item.frame.id in statements
        else item
        for item in seen
    ], error


def label_moments(toolbox: Toolbox, seen: Iterable[SeenMoment]) -> None:
    """Give the moments' events and frames their numbers, in order of time."""
    for item in sorted(seen, key=lambda item: item.moment):
        toolbox.evidence.label_event(item.event)
        if item.frame is not None:
            toolbox.evidence.label_frame(item.frame)


def moment_lines(toolbox: Toolbox, seen: Sequence[SeenMoment], *, most_tokens: int) -> str:
    """Return the moments in order of time, a line each. If they have more than most_tokens, the longest captions are
    cut to equal shares."""
    count = toolbox.asked.models.reasoner.count_tokens
    ordered = sorted(seen, key=lambda item: item.moment)
    heads = [_name_of(toolbox, item) for item in ordered]
    costs = [count(f"{head}: {item.caption}\n") for head, item in zip(heads, ordered, strict=True)]
    given = shares(costs, most_tokens) if sum(costs) > most_tokens else costs
    return "\n".join(
        f"{head}: {item.caption if cost <= tokens else cut(item.caption, count, max(1, tokens - count(head) - 2))}"
        for head, item, cost, tokens in zip(heads, ordered, costs, given, strict=True)
    )


def _name_of(toolbox: Toolbox, item: SeenMoment) -> str:
    """Return a moment's number and time, such as "F2 (E1) 0:01:05"; without a frame the event's number stands alone."""
    name = toolbox.evidence.label_event(item.event)
    if item.frame is not None:
        name = f"{toolbox.evidence.label_frame(item.frame)} ({name})"
    video = f" video {toolbox.numbers.get(item.video_id, 0)}" if toolbox.several else ""
    return f"{name}{video} {clock(item.ms, hours=True)}"


# --- finding ---------------------------------------------------------------------------------------------------------


def find_moment(
    toolbox: Toolbox, description: str, parts: Sequence[Within], taken: Sequence[Moment]
) -> SeenMoment | None:
    """Return the moment of a segment that is nearest to the description, at least GAP_MS from those that are taken;
    None if nothing is left. Raises ModelError of an embedder.

    It is the best frame, or where there are no frames, the chunk with most words of the description, of the events
    nearest to it.
    """
    if "frames" in toolbox.artifacts:
        hits = _hits(toolbox, "frame", toolbox.frame_vector(description), parts, SPARE)
        for frame in frames_of_hits(toolbox.asked.graph, hits):
            unseen = is_unseen(parts, taken, (frame.video_id, frame.ms))
            if unseen and (events := toolbox.load([frame.event_id])):
                toolbox.record_similarities(hit.similarity for hit in hits if hit.item == frame.id)
                return of_frame(toolbox, events[0], frame)
    hits = _hits(toolbox, "event", toolbox.text_vector(description), parts, EVENTS)
    words = content_words(description)
    best: tuple[int, SeenMoment] | None = None
    for event in toolbox.load(hit.event_id for hit in hits):
        for chunk in event.chunks:
            ms = (chunk.span.start_ms + chunk.span.end_ms) // 2
            was_seen = any(video_id == event.video_id and chunk.span.contains(at) for video_id, at in taken)
            if was_seen or not is_unseen(parts, taken, (event.video_id, ms)):
                continue
            text = chunk_text(chunk)
            shared = len(words & content_words(text))
            if best is None or shared > best[0]:
                best = shared, SeenMoment(event.video_id, ms, event, None, text)
    if best is None:
        return None
    toolbox.record_similarities(hit.similarity for hit in hits if hit.event_id == best[1].event.id)
    return best[1]


def _hits(toolbox: Toolbox, view: ViewName, vector: Vector, parts: Sequence[Within], limit: int) -> list[Hit]:
    """Return the hits of a view in parts, best first."""
    if len(parts) > MOST_PARTS:
        return list(toolbox.search(view, vector, WIDE, floor=-1.0))
    hits = [hit for part in parts for hit in toolbox.search(view, vector, limit, within=part, floor=-1.0)]
    return sorted(hits, key=lambda hit: -hit.similarity)
