"""Reads of scopes: from the videos or the collection of a request to the videos that are searched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, QuerySet

from backend.library.models import Collection, Video, VideoStatus
from backend.tenancy.refusals import Refused, invalid

MAX_VIDEOS = 1_000

UNFINISHED = (VideoStatus.QUEUED, VideoStatus.PROBING, VideoStatus.INDEXING)
"""Statuses of videos of which more will be indexed."""


@dataclass(frozen=True, slots=True)
class ScopeWish:
    """The scope that a request names: a collection, which stands for the videos it has now, or else videos."""

    video_ids: frozenset[UUID] = frozenset()
    collection_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class _Collections:
    """Collections of a request: those that exist, the number of their videos, and the videos of those not too large."""

    present: frozenset[UUID]
    sizes: Mapping[UUID, int]
    videos: Mapping[UUID, list[Video]]


def resolve(wish: ScopeWish) -> list[Video]:
    """Return the videos to search, in the order of their ids.

    A foreign or deleted video or collection is unknown. Raises Refused: no_scope, unknown_video, unknown_collection,
    empty_collection, too_many_videos, nothing_indexed.
    """
    videos = present(wish)
    require_indexed(videos)
    return videos


def present(wish: ScopeWish) -> list[Video]:
    """Return the videos of a scope as resolve() does, also where nothing is indexed yet."""
    videos = resolve_many([wish])[wish]
    if isinstance(videos, Refused):
        raise videos
    return videos


def require_indexed(videos: Sequence[Video], *, start_ms: int | None = None) -> None:
    """Raise Refused nothing_indexed if nothing of a scope can be read yet.

    start_ms: where the scope begins in each video. A scope that lies beyond the end of videos that are whole is no
    matter of time: it is answered.
    """
    if not any(video.indexed_until_ms for video in videos):
        raise Refused("nothing_indexed", _why_nothing(videos))
    reached = any(video.indexed_until_ms > (start_ms or 0) for video in videos)
    if not reached and any(video.status in UNFINISHED for video in videos):
        detail = f"No video of the scope is indexed beyond {start_ms} ms yet. Ask again when `indexed_until_ms` rises."
        raise Refused("nothing_indexed", detail)


def _why_nothing(videos: Sequence[Video]) -> str:
    if all(video.status == VideoStatus.FAILED for video in videos):
        return "Indexing failed for every video of the scope, so there is nothing to search."
    return "Nothing of the scope is indexed yet. Ask again when `indexed_until_ms` of a video rises."


def resolve_all() -> list[Video]:
    """Return every video that the caller may read and that has something to search, in the order of their ids.

    Raises Refused: too_many_videos, nothing_indexed.
    """
    videos = list(_present().filter(indexed_until_ms__gt=0).order_by("id")[: MAX_VIDEOS + 1])
    if not videos:
        raise Refused("nothing_indexed", "No video is indexed yet, so there is nothing to search. Wait until one is.")
    if len(videos) > MAX_VIDEOS:
        raise _too_many("")
    return videos


def resolve_many(wishes: Iterable[ScopeWish]) -> dict[ScopeWish, list[Video] | Refused]:
    """Return the videos of each wish, or its refusal, as present() does. Runs at most four statements."""
    distinct = list(dict.fromkeys(wishes))
    collections = _collections({wish.collection_id for wish in distinct if wish.collection_id is not None})
    videos = _videos({id for wish in distinct if wish.collection_id is None for id in wish.video_ids})
    resolved: dict[ScopeWish, list[Video] | Refused] = {}
    for wish in distinct:
        try:
            resolved[wish] = (
                _of_collection(wish.collection_id, collections) if wish.collection_id else _named(wish, videos)
            )
        except Refused as refused:
            resolved[wish] = refused
    return resolved


def _present() -> QuerySet[Video]:
    videos: QuerySet[Video] = Video.objects.exclude(status=VideoStatus.DELETING)
    return videos.only("id", "tenant_id", "collection_id", "status", "indexed_until_ms")


def _videos(ids: set[UUID]) -> dict[UUID, Video]:
    return {video.id: video for video in _present().filter(id__in=ids)} if ids else {}


def _collections(ids: set[UUID]) -> _Collections:
    if not ids:
        return _Collections(frozenset(), {}, {})
    present = frozenset(Collection.objects.filter(id__in=ids).values_list("id", flat=True))
    counted = _present().filter(collection_id__in=present).order_by().values_list("collection_id")
    sizes = dict(counted.annotate(n=Count("id")))
    # A collection that is refused for its size is not read: it may have any number of videos.
    readable = [id for id, size in sizes.items() if size <= MAX_VIDEOS]
    videos: dict[UUID, list[Video]] = defaultdict(list)
    for video in _present().filter(collection_id__in=readable).order_by("id"):
        if video.collection_id is not None:
            videos[video.collection_id].append(video)
    return _Collections(present, sizes, videos)


def _of_collection(id: UUID, collections: _Collections) -> list[Video]:
    if id not in collections.present:
        raise invalid(pointer="/collection_id", code="unknown_collection", detail="There is no such collection.")
    if not collections.sizes.get(id):
        raise Refused(
            "empty_collection", "The collection has no videos. Add a video to it first.", pointer="/collection_id"
        )
    if collections.sizes[id] > MAX_VIDEOS:
        raise _too_many("/collection_id")
    return collections.videos[id]


def _named(wish: ScopeWish, videos: Mapping[UUID, Video]) -> list[Video]:
    if not wish.video_ids:
        raise invalid(pointer="/video_ids", code="no_scope", detail="Give video_ids or a collection_id.")
    if not wish.video_ids <= videos.keys():
        raise invalid(pointer="/video_ids", code="unknown_video", detail="At least one of the videos does not exist.")
    if len(wish.video_ids) > MAX_VIDEOS:
        raise _too_many("/video_ids")
    return [videos[id] for id in sorted(wish.video_ids)]


def _too_many(pointer: str) -> Refused:
    return invalid(pointer=pointer, code="too_many_videos", detail=f"Name a scope of at most {MAX_VIDEOS} videos.")
