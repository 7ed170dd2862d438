"""The parts of a question's scope that get a number each: the times that it names, or the videos that it compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.search.across_videos import compared_videos
from gpu_workers.engine.answering.understood import Stretch
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import EventPlace

MOST_GROUPS = 60
"""Maximum number of videos that get a number each."""


@dataclass(frozen=True, slots=True)
class Group:
    """A part of the scope. label: its name for the reader. spans: by video, in order of time; empty if no video of the
    scope has anything at the time that the question names."""

    label: str
    spans: Mapping[UUID, tuple[Span, ...]]

    def holds(self, place: EventPlace) -> bool:
        """Whether an event lies in the group, or reaches into it."""
        return self.hears(place.video_id, place.span)

    def hears(self, video_id: UUID, span: Span) -> bool:
        """Whether something lies in the group, or reaches into it."""
        return any(own.overlaps(span) for own in self.spans.get(video_id, ()))


def groups_of(toolbox: Toolbox) -> tuple[Group, ...]:
    """Return the parts that a count gives one by one, at least two; none if the question asks for one number."""
    asked, time = toolbox.asked, toolbox.asked.understood.time
    if time is not None and len(time.stretches) > 1:
        return tuple(Group(_label(asked, stretch), stretch.spans) for stretch in time.stretches)
    numbered = asked.understood.comparison in ("each", "most", "fewest") or len(asked.understood.videos) > 1
    if not toolbox.several or not numbered:
        return ()
    videos = compared_videos(asked, list(toolbox.extents), most=MOST_GROUPS)
    there = sorted(video_id for video_id in videos if video_id in toolbox.extents)
    groups = tuple(Group(toolbox.video_name(video_id), {video_id: (toolbox.extents[video_id],)}) for video_id in there)
    return groups if len(groups) > 1 else ()


def group_notes(toolbox: Toolbox, groups: int) -> list[str]:
    """Return the note on the videos of the scope that got no number, if they are more than MOST_GROUPS."""
    videos = len(toolbox.extents)
    return [f"{groups} of {videos} videos were counted one by one"] if MOST_GROUPS == groups < videos else []


def _label(asked: Asked, stretch: Stretch) -> str:
    """Return a stretch for the reader: in English as it was understood, elsewhere by its place in the video."""
    spans = [span for own in stretch.spans.values() for span in own]
    if not asked.answer_language or len(stretch.spans) != 1:
        return as_data(stretch.meaning)
    return ", ".join(f"{clock(span.start_ms, hours=True)}-{clock(span.end_ms, hours=True)}" for span in spans)
