"""Rankings over several videos: a question that compares videos gets events of each of them.

Views rank events whatever their video, so the video that says most would fill the whole list. What is compared was
read from the question (understood.comparison).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.retrieval.fusion import RankedEvent

MOST_VIDEOS = 6
"""Maximum number of videos that are compared: each gets two of the twelve events that an answer reads."""

MOST_EACH = 3
"""Maximum number of events of a video that move up in the ranking."""


def compared_videos(asked: Asked, ranked_videos: Sequence[UUID], *, most: int = MOST_VIDEOS) -> list[UUID]:
    """Return the videos that a question compares, the most relevant first, at most that many; none if it does not.

    ranked_videos: in the order of their best events.
    """
    several = asked.understood.comparison != "none" or len(asked.understood.videos) > 1
    if len(asked.recordings) < 2 or not several:
        return []
    known = [video_id for video_id in ranked_videos if video_id in asked.recordings]
    return list(dict.fromkeys([*known, *asked.recordings]))[:most]


def spread_over(
    ranking: Sequence[RankedEvent], video_of: Mapping[UUID, UUID], videos: Sequence[UUID], *, shown: int
) -> list[RankedEvent]:
    """Return the ranking with the best events of each of videos among its first shown.

    video_of: the video of each event. The n-th event keeps the n-th score, so that the order lasts in a later sort.
    """
    each = max(1, min(MOST_EACH, shown // max(1, 2 * len(videos))))
    first: list[RankedEvent] = []
    for video_id in videos:
        first += [event for event in ranking if video_of.get(event.event_id) == video_id][:each]
    lifted = {event.event_id for event in first[:shown]}
    free = shown - len(lifted)
    others = [event for event in ranking if event.event_id not in lifted]
    head = {event.event_id for event in others[: max(0, free)]} | lifted
    order = [event for event in ranking if event.event_id in head] + [e for e in ranking if e.event_id not in head]
    return [replace(event, score=place.score) for event, place in zip(order, ranking, strict=True)]


def over_videos(
    asked: Asked,
    ranking: Sequence[RankedEvent],
    *,
    shown: int,
    videos_of: Callable[[Sequence[UUID]], Mapping[UUID, UUID]],
    find: Callable[[UUID], Sequence[RankedEvent]],
) -> list[RankedEvent]:
    """Return the ranking for a question that compares videos, with events of each; other rankings as they are.

    videos_of: the videos of events. find: searches one video. It is asked only for videos that the ranking lacks.
    """
    if len(asked.recordings) < 2:
        return list(ranking)
    video_of = dict(videos_of([event.event_id for event in ranking]))
    in_order = list(dict.fromkeys(video_of[event.event_id] for event in ranking if event.event_id in video_of))
    videos = compared_videos(asked, in_order)
    if len(videos) < 2:
        return list(ranking)
    extended = list(ranking)
    lowest = min((event.score for event in ranking), default=1.0)
    for video_id in videos:
        if video_id not in in_order:
            found = [replace(event, score=min(event.score, lowest)) for event in find(video_id)[:MOST_EACH]]
            video_of |= {event.event_id: video_id for event in found}
            extended += found
    return spread_over(extended, video_of, videos, shown=shown)
