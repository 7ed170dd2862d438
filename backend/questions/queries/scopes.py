"""From the scope that was asked for to the videos that are searched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, QuerySet

from backend.library.models import Collection, Video, VideoStatus
from backend.questions.refusals import QuestionRefused, invalid

MAX_VIDEOS = 1_000


@dataclass(frozen=True, slots=True)
class ScopeWish:
    """A collection with the videos it has now, or else the videos named."""

    video_ids: frozenset[UUID] = frozenset()
    collection_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class _Collections:
    """Of the collections asked for: which there are, how many videos each has, the videos of those not too large."""

    present: frozenset[UUID]
    sizes: Mapping[UUID, int]
    videos: Mapping[UUID, list[Video]]


def resolve(wish: ScopeWish) -> list[Video]:
    """The videos to search, in the order of their ids.

    A foreign or deleted video or collection is unknown. Raises QuestionRefused: no_scope, unknown_video,
    unknown_collection, empty_collection, too_many_videos, nothing_indexed.
    """
    found = resolve_many([wish])[wish]
    if isinstance(found, QuestionRefused):
        raise found
    return found


def resolve_many(wishes: Iterable[ScopeWish]) -> dict[ScopeWish, list[Video] | QuestionRefused]:
    """resolve() for each wish, in at most four statements: its videos, or why there are none."""
    distinct = list(dict.fromkeys(wishes))
    collections = _collections({wish.collection_id for wish in distinct if wish.collection_id is not None})
    videos = _videos({id for wish in distinct if wish.collection_id is None for id in wish.video_ids})
    found: dict[ScopeWish, list[Video] | QuestionRefused] = {}
    for wish in distinct:
        try:
            found[wish] = _checked(_of_collection(wish, collections) if wish.collection_id else _named(wish, videos))
        except QuestionRefused as refused:
            found[wish] = refused
    return found


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
    # One that is refused for its size is not read: it may be of any size.
    readable = [id for id, size in sizes.items() if size <= MAX_VIDEOS]
    videos: dict[UUID, list[Video]] = defaultdict(list)
    for video in _present().filter(collection_id__in=readable).order_by("id"):
        if video.collection_id is not None:
            videos[video.collection_id].append(video)
    return _Collections(present, sizes, videos)


def _of_collection(wish: ScopeWish, collections: _Collections) -> list[Video]:
    id = wish.collection_id
    if id is None or id not in collections.present:
        raise invalid("unknown_collection", "There is no such collection.", "/collection_id")
    if not collections.sizes.get(id):
        raise QuestionRefused("empty_collection", "The collection has no videos.", pointer="/collection_id")
    if collections.sizes[id] > MAX_VIDEOS:
        raise _too_many("/collection_id")
    return collections.videos[id]


def _named(wish: ScopeWish, videos: Mapping[UUID, Video]) -> list[Video]:
    if not wish.video_ids:
        raise invalid("no_scope", "Name video_ids or a collection_id.", "/video_ids")
    if not wish.video_ids <= videos.keys():
        raise invalid("unknown_video", "A video of the scope does not exist.", "/video_ids")
    if len(wish.video_ids) > MAX_VIDEOS:
        raise _too_many("/video_ids")
    return [videos[id] for id in sorted(wish.video_ids)]


def _checked(videos: Sequence[Video]) -> list[Video]:
    if all(video.status == VideoStatus.FAILED and not video.indexed_until_ms for video in videos):
        raise QuestionRefused("nothing_indexed", "Indexing failed for every video of the scope.")
    return list(videos)


def _too_many(pointer: str) -> QuestionRefused:
    return invalid("too_many_videos", f"A question spans at most {MAX_VIDEOS} videos.", pointer)
