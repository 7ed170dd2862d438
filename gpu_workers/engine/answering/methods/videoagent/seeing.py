"""The moments that were seen, with a caption each (VideoAgent, sections 3.1 and 3.4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.context import cut, shares
from gpu_workers.engine.answering.methods.videoagent.segments import Moment
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Chunk, Span
from gpu_workers.engine.ports import StoredEvent, StoredFrame

NEAR_MS = 5_000
"""Maximum distance of a stored frame from the moment that it stands for; frames are stored once a second."""

FRAMES_OF_LOOK = 4
"""Frames of one look that captions them: it reports at most as many findings (looking.findings)."""

CAPTION_FIND = "what each frame shows, above all what bears on the question"


@dataclass(frozen=True, slots=True)
class Seen:
    """A moment that was seen. frame: None where no picture is stored: then the caption alone stands for it."""

    video_id: UUID
    ms: int
    event: StoredEvent
    frame: StoredFrame | None
    caption: str

    @property
    def moment(self) -> Moment:
        return self.video_id, self.ms


def see(desk: Desk, moments: Sequence[Moment], *, brief: bool = False) -> list[Seen]:
    """Return what is stored at these moments, each frame and each moment once: the nearest frame, or if none is near,
    the moment itself with the words of its chunk. Moments outside every event are left out.

    brief: captions are the chunk's description alone, without speech and writing.
    """
    near = [_nearest(desk, moment) for moment in moments]
    owners = {event.id: event for event in desk.load(frame.event_id for frame in near if frame is not None)}
    seen: dict[Moment, Seen] = {}
    for (video_id, ms), frame in zip(moments, near, strict=True):
        if frame is not None and frame.event_id in owners:
            found = of_frame(owners[frame.event_id], frame, brief=brief)
        else:
            events = desk.events_at(video_id, Span(ms, ms + 1), 1)
            if not events:
                continue
            found = Seen(video_id, ms, events[0], None, caption_at(events[0], ms, brief=brief))
        seen.setdefault(found.moment, found)
    return list(seen.values())


def of_frame(event: StoredEvent, frame: StoredFrame, *, brief: bool = False) -> Seen:
    """Return a frame of an event as it was seen."""
    return Seen(frame.video_id, frame.ms, event, frame, caption_at(event, frame.ms, brief=brief))


def caption_at(event: StoredEvent, ms: int, *, brief: bool = False) -> str:
    """Return what the chunk around a moment says: its description, speech and writing on screen; the event's summary
    if the event has no chunk there."""
    chunk = next((chunk for chunk in event.chunks if chunk.span.contains(ms)), None)
    if chunk is None:
        return as_data(event.summary)
    return as_data(described(chunk)) if brief else chunk_text(chunk)


def described(chunk: Chunk) -> str:
    """Return a chunk's description, or why there is none."""
    return chunk.description if chunk.description is not None else f"not described ({chunk.gap})"


def chunk_text(chunk: Chunk) -> str:
    spoken = dict.fromkeys(as_data(line.text) for line in chunk.transcript)
    written = dict.fromkeys(as_data(text) for text in chunk.on_screen_text)
    parts = [as_data(described(chunk))]
    if spoken:
        parts.append(f'Speech: "{" ".join(spoken)}"')
    if written:
        parts.append(f'On screen: "{"; ".join(written)}"')
    return " ".join(parts)


def look_closer(desk: Desk, seen: Sequence[Seen], find: str = CAPTION_FIND) -> tuple[list[Seen], str]:
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
            findings, failed = desk.look(find, group, high=desk.asked.settings.look.full_pictures)
            error = error or failed
            for finding in findings:
                for frame in finding.frames or [f for f in group if finding.span.contains(f.ms)]:
                    statements.setdefault(frame.id, []).append(finding.statement)
    added = [statements.get(item.frame.id, []) if item.frame is not None else [] for item in seen]
    return [
        replace(item, caption=f"{item.caption} Looked at: {' '.join(words)}") if words else item
        for item, words in zip(seen, added, strict=True)
    ], error


def number(desk: Desk, seen: Iterable[Seen]) -> None:
    """Give the moments' events and frames their numbers, in this order."""
    for item in seen:
        desk.sightings.event(item.event)
        if item.frame is not None:
            desk.sightings.frame(item.frame)


def name_of(desk: Desk, item: Seen) -> str:
    """Return a moment's number and time, such as "F2 (E1) 0:01:05"; without a frame the event's number stands alone."""
    frame = f"{desk.sightings.frame(item.frame)} ({desk.sightings.event(item.event)})" if item.frame else ""
    number_of_video = next((number for number, known in desk.videos.items() if known == item.video_id), 0)
    video = f" video {number_of_video}" if desk.several else ""
    return f"{frame or desk.sightings.event(item.event)}{video} {clock(item.ms, hours=True)}"


def lines(desk: Desk, seen: Sequence[Seen], *, most_tokens: int) -> str:
    """Return the moments in order of time, a line each. If they have more than most_tokens, the longest captions are
    cut to equal shares."""
    count = desk.asked.models.reasoner.count_tokens
    ordered = sorted(seen, key=lambda item: item.moment)
    heads = [name_of(desk, item) for item in ordered]
    costs = [count(f"{head}: {item.caption}\n") for head, item in zip(heads, ordered, strict=True)]
    given = shares(costs, most_tokens) if sum(costs) > most_tokens else costs
    return "\n".join(
        f"{head}: {item.caption if cost <= tokens else cut(item.caption, count, max(1, tokens - count(head) - 2))}"
        for head, item, cost, tokens in zip(heads, ordered, costs, given, strict=True)
    )


def _nearest(desk: Desk, moment: Moment) -> StoredFrame | None:
    video_id, ms = moment
    around = Span(max(0, ms - NEAR_MS), ms + NEAR_MS + 1)
    frames = desk.asked.graph.frames_between(video_id, around, limit=4 * NEAR_MS // 1_000)
    return min(frames, key=lambda frame: (abs(frame.ms - ms), frame.ms), default=None)
