"""A video of a minute with an index that has something in every lane, and an answer about it, for pages of the app."""

from __future__ import annotations

import io
from dataclasses import dataclass
from uuid import UUID

from uuid6 import uuid7

from backend.ekg.models import (
    Chunk,
    Entity,
    Event,
    Frame,
    Mention,
    Overview,
    Relation,
    Topic,
    Track,
    TrackedObject,
    TranscriptLine,
)
from backend.library.models import IndexState, IndexVersion, Segment, SegmentState, Video, VideoStatus
from backend.library.storage import ObjectStorage
from infra.sample_video import drawn
from tests.conftest import Cast
from tests.ekg.recorded import MODEL, VECTOR

LENGTH_MS = 60_000
EVENTS = (
    "A red car drives past the bakery from left to right.", "A woman in pink walks along the shop window.",
    "The traffic light turns from green to yellow and red.", "A blue car stops before the crossing.",
    "A man in green walks towards the bakery.", "A white post van drives past.", "The van waits at the traffic light.",
    "The light turns green, and the van drives on.", "A person in blue crosses the road.", "The street is empty.",
    "A yellow car drives past from right to left.", "The lights of the bakery go out.",
)  # fmt: skip
TOPICS = ("Morning at the bakery", "The post comes", "Closing time")
LINES = (
    "Good morning.",
    "Two rolls, please.",
    "That is one euro sixty.",
    "Is the post here already?",
    "It just came.",
    "See you tomorrow.",
)
OBJECTS = (
    ("car", "red", [[2_000, 8_000]]), ("person", "pink", [[5_000, 17_000]]), ("car", "blue", [[12_000, 19_000]]),
    ("van", "white", [[20_000, 28_000]]), ("person", "green", [[16_000, 30_000]]),
    ("person", "blue", [[29_000, 37_000]]),
    ("car", "yellow", [[36_000, 42_000]]), ("traffic light", "", [[0, 60_000]]),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Crossing:
    """The video, its events in the order of time, and one of its entities."""

    video_id: UUID
    events: tuple[UUID, ...]
    entity: UUID


def picture(ms: int) -> bytes:
    """Return the picture of the sample video at a time, as JPEG."""
    written = io.BytesIO()
    drawn(ms / 1000 % 45).save(written, "JPEG", quality=80)
    return written.getvalue()


def crossing(
    cast: Cast, *, title: str = "Crossing at the bakery", until_ms: int = LENGTH_MS, video_id: UUID | None = None
) -> Crossing:
    """Write the video with its index up to a time. video_id: of a video that is there already."""
    tenant, step = cast.tenant_id, LENGTH_MS // len(EVENTS)
    with cast.scope():
        status = VideoStatus.READY if until_ms == LENGTH_MS else VideoStatus.INDEXING
        if video_id is None:
            video_id = Video.objects.create(
                tenant_id=tenant, object_key=f"t/{tenant}/u/{uuid7()}/source", size_bytes=8_400_000, title=title,
                duration_ms=LENGTH_MS, status=status, indexed_until_ms=until_ms, active_index_version=1,
            ).id  # fmt: skip
        else:
            Video.objects.filter(id=video_id).update(
                status=status, indexed_until_ms=until_ms, duration_ms=LENGTH_MS, active_index_version=1
            )
        of = {"tenant_id": tenant, "video_id": video_id, "index_version": 1}
        vector = {"embedding": VECTOR, "embedding_model": MODEL}
        IndexVersion.objects.get_or_create(
            tenant_id=tenant, video_id=video_id, n=1, defaults={"state": IndexState.READY}
        )
        Segment.objects.get_or_create(
            **of, n=0, defaults={"start_ms": 0, "end_ms": LENGTH_MS, "state": SegmentState.ASSEMBLED}
        )
        Overview.objects.create(
            **of, text="A quiet crossing by a bakery: cars, a post van and people pass.", until_ms=until_ms
        )
        for n, name in enumerate(TOPICS):
            Topic.objects.create(
                **of, id=uuid7(), n=n, start_ms=n * 20_000, end_ms=(n + 1) * 20_000,
                first_event=n * 4, end_event=n * 4 + 4,
                title=name, summary=f"{name}, seen from the other side of the street.",
            )  # fmt: skip
        events = write_events(cast, video_id, range(until_ms // step))
        for n, text in enumerate(LINES):
            TranscriptLine.objects.create(
                **of, start_ms=n * 9_000 + 500, end_ms=n * 9_000 + 3_000, text=text, words=[], language="en"
            )
        for n, (category, colour, spans) in enumerate(OBJECTS):
            owner = TrackedObject.objects.create(
                **of, n=n, category=category, colour=colour, start_ms=spans[0][0], end_ms=spans[-1][1], spans=spans,
                segments=[0], tracks=1, observations=9, entries=1, confidence=0.9,
            )  # fmt: skip
            Track.objects.create(
                **of, segment_n=0, track_no=n, category=category, colour=colour, motion="", start_ms=spans[0][0],
                end_ms=spans[0][1], confidence=0.9, object=owner,
                boxes=[[ms, 0.25, 0.5, 0.5, 0.75] for ms in range(spans[0][0], spans[0][1], 1_000)],
            )  # fmt: skip
        van, baker = (
            Entity.objects.create(
                **of, name=name, type=kind, aliases=[], centroid=VECTOR, embedding_model=MODEL, weight=1
            )
            for name, kind in (("Post van", "vehicle"), ("Bakery", "place"))
        )
        for entity, places in ((van, (5, 6, 7)), (baker, (0, 4, 11))):
            for place in (place for place in places if place < len(events)):
                Mention.objects.create(
                    **of, **vector, entity_id=entity.id, event_id=events[place], name="x", type="y", role="seen"
                )
        if len(events) > 5:
            Relation.objects.create(
                **of,
                source_id=van.id,
                target_id=baker.id,
                event_id=events[5],
                predicate="drives past",
                description="at noon",
            )
    return Crossing(video_id, tuple(events), van.id)


def write_events(cast: Cast, video_id: UUID, numbers: range) -> list[UUID]:
    """Write these events of the video, inside the open scope, each with a picture and a chunk."""
    of = {"tenant_id": cast.tenant_id, "video_id": video_id, "index_version": 1}
    step = LENGTH_MS // len(EVENTS)
    written = []
    for n in numbers:
        event = Event.objects.create(
            **of, embedding=VECTOR, embedding_model=MODEL, n=n, start_ms=n * step, end_ms=(n + 1) * step, first_chunk=n,
            end_chunk=n + 1, summary=EVENTS[n % len(EVENTS)],
        )  # fmt: skip
        key = f"t/{cast.tenant_id}/v/{video_id}/1/frames/{n * step + 1_000}.jpg"
        ObjectStorage().put(key, picture(n * step + 1_000), content_type="image/jpeg")
        Frame.objects.create(**of, ms=n * step + 1_000, event_id=event.id, thumbnail_key=key)
        Chunk.objects.create(
            **of, n=n, start_ms=n * step, end_ms=(n + 1) * step, segment_n=0, event_id=event.id, on_screen_text=[],
            description=None if n == 9 else EVENTS[n % len(EVENTS)], gap="unreadable" if n == 9 else None,
        )  # fmt: skip
        written.append(event.id)
    return written
