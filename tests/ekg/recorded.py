"""A small, exact index of one video, written through the ORM in the form of the workers' rows."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from uuid6 import uuid7

from backend.ekg.models import (
    Chunk,
    Entity,
    EntityObject,
    Event,
    Frame,
    FrameVector,
    Mention,
    Overview,
    Relation,
    Track,
    TrackedObject,
    TranscriptLine,
)
from backend.library.models import IndexState, IndexVersion, Segment, SegmentState, Video, VideoStatus
from tests.conftest import Cast

VECTOR = [1.0, 0.0, 0.0]
MODEL = "test-embedder"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A ready video of 30 s: in event 0 (0..9 s) a man meets a dog, in event 1 (9..30 s) the dog is alone."""

    video_id: UUID
    events: tuple[UUID, UUID]
    man: UUID
    dog: UUID
    relation: UUID
    walker: UUID
    """The object with two tracks; a parked car has the third."""


def record(cast: Cast, *, version: int = 1, video_id: UUID | None = None, word: str = "") -> Recorded:
    tenant = cast.tenant_id
    with cast.scope():
        if video_id is None:
            video_id = Video.objects.create(
                tenant_id=tenant, object_key=f"t/{tenant}/u/x/source", size_bytes=5, title="Gate", duration_ms=30_000,
                status=VideoStatus.READY, indexed_until_ms=30_000,
            ).id  # fmt: skip
        of = {"tenant_id": tenant, "video_id": video_id, "index_version": version}
        vector = {"embedding": VECTOR, "embedding_model": MODEL}
        IndexVersion.objects.create(tenant_id=tenant, video_id=video_id, n=version, state=IndexState.READY)
        Overview.objects.create(**of, text="A man and a dog.", until_ms=30_000)
        Segment.objects.create(**of, n=0, start_ms=0, end_ms=30_000, state=SegmentState.ASSEMBLED)
        events = []
        for n, (start, end, summary) in enumerate(
            [(0, 9_000, f"A man walks in.{word}"), (9_000, 30_000, f"The dog barks.{word}")]
        ):
            event = Event.objects.create(
                **of, **vector, n=n, start_ms=start, end_ms=end, first_chunk=start // 3_000, end_chunk=end // 3_000,
                summary=summary,
            )  # fmt: skip
            events.append(event.id)
        for n in range(10):
            Chunk.objects.create(
                **of, n=n, start_ms=n * 3_000, end_ms=(n + 1) * 3_000, segment_n=0, event_id=events[n >= 3],
                on_screen_text=['EXIT "B"', "50% off"] if n == 1 else [],
                description=None if n == 9 else f"slice {n}", gap="unreadable" if n == 9 else None,
            )  # fmt: skip
        for ms in (0, 4_000, 9_000):
            frame = Frame.objects.create(
                **of, ms=ms, event_id=events[ms >= 9_000],
                thumbnail_key=f"t/{tenant}/v/{video_id}/{version}/frames/{ms}.jpg",
            )  # fmt: skip
            FrameVector.objects.create(**of, **vector, id=frame.id, ms=ms)
        TranscriptLine.objects.create(**of, start_ms=500, end_ms=1_500, text="Good morning", words=[[500, 900, "Good"]])
        TranscriptLine.objects.create(**of, start_ms=10_000, end_ms=11_000, text="Sit", words=[])
        walker, parked = (
            TrackedObject.objects.create(
                **of, n=n, category=category, colour=colour, start_ms=spans[0][0], end_ms=spans[-1][1], spans=spans,
                segments=[0], tracks=len(spans), observations=9, entries=entries, confidence=0.9,
            )
            for n, (category, colour, spans, entries) in enumerate(
                [("person", "red", [[0, 2_000], [3_000, 8_000]], 1), ("car", "white", [[20_000, 28_000]], 0)]
            )
        )  # fmt: skip
        for number, (owner, motion, start, end) in enumerate(
            [(walker, "walks left", 0, 2_000), (walker, "stands", 3_000, 8_000), (parked, "", 20_000, 28_000)]
        ):
            Track.objects.create(
                **of, segment_n=0, track_no=number, category=owner.category, colour=owner.colour, motion=motion,
                start_ms=start, end_ms=end, confidence=0.9, boxes=[[start, 0.1, 0.1, 0.2, 0.4]], object=owner,
            )  # fmt: skip
        man, dog = (
            Entity.objects.create(
                **of, name=name, type=kind, aliases=[alias], centroid=VECTOR, embedding_model=MODEL, weight=1
            ).id
            for name, kind, alias in (("Man", "person", "visitor"), ("Dog", "animal", "hound"))
        )
        for entity, event_id, role in (
            (man, events[0], "walker"),
            (dog, events[0], "watcher"),
            (dog, events[1], "barker"),
        ):
            Mention.objects.create(**of, **vector, entity_id=entity, event_id=event_id, name="x", type="y", role=role)
        relation = Relation.objects.create(
            **of, source_id=man, target_id=dog, event_id=events[0], predicate="meets", description="at the gate"
        )
        EntityObject.objects.create(**of, entity_id=man, object=walker, confidence=0.8)
    return Recorded(video_id, (events[0], events[1]), man, dog, relation.id, walker.id)


def new_id() -> UUID:
    return UUID(bytes=uuid7().bytes)
