"""Rankings over several videos: a question that compares videos gets events of each of them.

Views rank events whatever their video, so the video that says most would fill the whole list. Only the question's own
words and the titles, which customers give, decide what is compared; text of a video never does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.ports import Recording
from gpu_workers.engine.retrieval.fusion import RankedEvent
from gpu_workers.engine.retrieval.words import phrase_of

MOST_VIDEOS = 6
"""Maximum number of videos that are compared: each gets two of the twelve events that an answer reads."""

MOST_EACH = 3
"""Maximum number of events of a video that move up in the ranking."""

_COMPARES = re.compile(
    r"\b(compar\w+|differ\w*|contrast\w*|versus|vs|both|similarit\w+|in common"
    r"|vergleich\w*|unterschie\w*|unterscheide\w*|gemeinsam\w*|beide[nrs]?|diferenci\w*|amb[oa]s|en común"
    r"|(jede[rnms]?|welche[rnms]?|cada|qué|cuál de l[oa]s) "
    r"(videos?|vídeos?|kameras?|aufnahmen?|filme?|clips?|cámaras?|grabaci(ón|ones))"
    r"|(each|every|either|other|another|all( of)?( the)?|(which|what)( one)?( of)?( the| these)?|across( the)?"
    r"|between( the)?|per|how many( of the)?) (two |three |four )?"
    r"(videos?|recordings?|cameras?|clips?|films?|days?|sites?|files?))\b",
    re.IGNORECASE,
)
"""English, German and Spanish words that ask for several videos at once. Other languages are read in English."""

_MOST = re.compile(
    r"\b(?:which|what)\b.*\b(?P<en>most|more|highest|largest|fewest|fewer|least|lowest|smallest)\b|"
    r"\bwelche\w*\b.*\b(?P<de>meisten|mehr|wenigsten|weniger)\b|\bqué\b.*\b(?P<es>más|menos)\b",
    re.IGNORECASE,
)
_FEW = frozenset(["fewest", "fewer", "least", "lowest", "smallest", "wenigsten", "weniger", "menos"])


def words_compared(asked: Asked) -> str:
    """Return the words that say what is compared: the customer's own, and those of their translation."""
    own = asked.own_words
    return f"{own}\n{asked.in_english}" if asked.translated and not asked.standalone else own


def superlative(words: str) -> Literal["most", "fewest", ""]:
    """Return whether a question asks which video has most of something, or fewest."""
    found = _MOST.search(words)
    if found is None or not compares(words):
        return ""
    return "fewest" if next(filter(None, found.groups())).lower() in _FEW else "most"


def compares(words: str) -> bool:
    """Whether a question's words compare videos."""
    return _COMPARES.search(words) is not None


def compared_videos(
    words: str, recordings: Mapping[UUID, Recording], ranked_videos: Sequence[UUID], *, most: int = MOST_VIDEOS
) -> list[UUID]:
    """Return the videos that a question compares, the most relevant first, at most that many; none if it does not.

    words: the question's own. ranked_videos: in the order of their best events. Two titles in the question mean their
    videos; else words of comparison mean all videos, as far as they are ranked best.
    """
    if len(recordings) < 2:
        return []
    asked = phrase_of(words)
    named = [video_id for video_id, recording in recordings.items() if _named(recording.title, asked)]
    if len(named) > 1:
        return named[:most]
    if not compares(words):
        return []
    known = [video_id for video_id in ranked_videos if video_id in recordings]
    return list(dict.fromkeys([*named, *known, *recordings]))[:most]


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
    ranking: Sequence[RankedEvent],
    words: str,
    recordings: Mapping[UUID, Recording],
    *,
    shown: int,
    videos_of: Callable[[Sequence[UUID]], Mapping[UUID, UUID]],
    find: Callable[[UUID], Sequence[RankedEvent]],
) -> list[RankedEvent]:
    """Return the ranking for a question that compares videos, with events of each; other rankings as they are.

    videos_of: the videos of events. find: searches one video. It is asked only for videos that the ranking lacks.
    """
    if len(recordings) < 2:
        return list(ranking)
    video_of = dict(videos_of([event.event_id for event in ranking]))
    in_order = list(dict.fromkeys(video_of[event.event_id] for event in ranking if event.event_id in video_of))
    videos = compared_videos(words, recordings, in_order)
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


def _named(title: str, asked: str) -> bool:
    """Whether a question has a title's words in a row. asked: the question's tokens between spaces."""
    words = phrase_of(title)
    return bool(words) and words in asked
