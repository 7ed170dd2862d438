from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command

from backend.api.public_ids import encode
from backend.ekg.graph_store import GraphStore
from backend.ekg.invariants import index_faults, rebuild_graph
from backend.ekg.models import Chunk, Event, Frame, Mention, Topic, Track, TrackedObject
from backend.library.models import Segment, SegmentState, Video, VideoStatus
from gpu_workers.engine.ekg import stable_id
from tests.conftest import Cast
from tests.ekg.test_graph_and_rows import event_id, indexed_video


def sound_video(cast: Cast) -> UUID:
    """Record the video of 30 s like a finished index."""
    video_id = indexed_video(cast)
    with cast.scope():
        of = {"tenant_id": cast.tenant_id, "video_id": video_id, "index_version": 1}
        Video.objects.filter(id=video_id).update(status=VideoStatus.READY, duration_ms=30_000)
        Segment.objects.create(**of, n=0, start_ms=0, end_ms=30_000, state=SegmentState.ASSEMBLED)
        Topic.objects.create(**of, n=0, start_ms=0, end_ms=18_000, first_event=0, end_event=2, title="a", summary="a")
        Topic.objects.create(
            **of, n=1, start_ms=18_000, end_ms=30_000, first_event=2, end_event=3, title="b", summary="b"
        )
    return video_id


def faults(cast: Cast, video_id: UUID) -> list[str]:
    with cast.scope():
        return index_faults(Video.objects.get(id=video_id), 1)


def test_a_sound_index_has_no_fault(acme: Cast) -> None:
    assert faults(acme, sound_video(acme)) == []


def _orphan_chunk(video_id: UUID) -> None:
    Chunk.objects.filter(video_id=video_id, n=4).update(event_id=None)


def _hole_in_chunks(video_id: UUID) -> None:
    Chunk.objects.filter(video_id=video_id, n=4).delete()


def _overlapping_events(video_id: UUID) -> None:
    Event.objects.filter(video_id=video_id, n=1).update(start_ms=6_000)


def _foreign_frame(video_id: UUID) -> None:
    Frame.objects.filter(video_id=video_id, ms__lt=3_000).update(event_id=event_id(video_id, 6, 10))


def _row_without_twin(video_id: UUID) -> None:
    Mention.objects.filter(video_id=video_id, event_id=event_id(video_id, 0, 3)).update(role="somebody else")


def _twin_without_row(video_id: UUID) -> None:
    GraphStore().add_entities(video_id, 1, [stable_id("entity", "nobody")])


def _doubled_edge(video_id: UUID) -> None:
    GraphStore().link_next(video_id, 1, [(event_id(video_id, 0, 3), event_id(video_id, 3, 6))])


def _topics_apart(video_id: UUID) -> None:
    Topic.objects.filter(video_id=video_id, n=1).update(start_ms=21_000)


def _short_of_the_end(video_id: UUID) -> None:
    Video.objects.filter(id=video_id).update(duration_ms=31_000)


def _twice_in_a_frame(video_id: UUID) -> None:
    of = {"tenant_id": Video.objects.get(id=video_id).tenant_id, "video_id": video_id, "index_version": 1}
    times = {"category": "person", "start_ms": 0, "end_ms": 500}
    one = TrackedObject.objects.create(**of, n=0, **times)
    for number in (90, 91):
        Track.objects.create(
            **of, **times, segment_n=0, track_no=number, confidence=1, object=one, boxes=[[200, 0.1, 0.1, 0.2, 0.2]]
        )


@pytest.mark.parametrize(
    ("break_it", "sentence"),
    [
        (_orphan_chunk, "chunk 4 belongs to no event"),
        (_hole_in_chunks, "the chunks have holes"),
        (_overlapping_events, "event 1 does not begin where event 0 ends"),
        (_foreign_frame, "is in an event of another time"),
        (_row_without_twin, "participations of the rows are not in the graph"),
        (_twin_without_row, "1 entities of the graph are not in the rows"),
        (_doubled_edge, "1 next of the graph are not in the rows"),
        (_topics_apart, "topic 1 does not begin where topic 0 ends"),
        (_short_of_the_end, "the segments end at 30000 ms of 31000"),
        (_twice_in_a_frame, "is in one frame twice"),
    ],
)
def test_every_fault_is_found(acme: Cast, break_it: Callable[[UUID], None], sentence: str) -> None:
    video_id = sound_video(acme)
    with acme.scope():
        break_it(video_id)
    assert any(sentence in fault for fault in faults(acme, video_id))


def test_the_graph_is_rebuilt_from_the_rows(acme: Cast, globex: Cast) -> None:
    video_id, other = sound_video(acme), sound_video(globex)
    with acme.scope():
        before = GraphStore().topology(video_id, 1)
        assert before.relations.total() == 1, "there is something to lose"
        GraphStore().drop_version(video_id, 1)
        rebuild_graph(video_id, 1)
        assert GraphStore().topology(video_id, 1) == before
        rebuild_graph(video_id, 1)
        assert GraphStore().topology(video_id, 1) == before
    assert faults(globex, other) == []


def test_the_command_names_faults_and_rebuilds_the_graph(acme: Cast) -> None:
    video_id = sound_video(acme)
    public = encode("vid", video_id)
    with acme.scope():
        GraphStore().drop_version(video_id, 1)
    told = StringIO()
    with pytest.raises(CommandError, match="1 indexes have faults"):
        call_command("check_index", video=public, stdout=told)
    assert f"{public} version 1: 3 events of the rows are not in the graph" in told.getvalue()
    told = StringIO()
    call_command("check_index", video=public, rebuild_graph=True, stdout=told)
    assert told.getvalue() == f"{public} version 1: ok\n"
    with pytest.raises(CommandError, match="not a video id"):
        call_command("check_index", video="nonsense")
