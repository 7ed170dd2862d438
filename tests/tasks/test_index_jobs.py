"""Index jobs in this process against the real stack: the stored rows, the pictures sent to the VLM, faults."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings

from backend.api.public_ids import encode
from backend.billing import queries as ledger
from backend.billing.models import ModelCall, UsageEvent
from backend.ekg.graph_store import GraphStore
from backend.ekg.invariants import index_faults
from backend.ekg.models import Chunk, Entity, Event, Frame, Mention, Overview, Relation, Topic
from backend.jobs import services
from backend.jobs.control import skip_job
from backend.jobs.models import Job, JobKind, JobState
from backend.library.indexing.follow_ups import MODEL_ATTEMPTS
from backend.library.indexing.intake import fail_probe
from backend.library.models import Segment, SegmentState, Video
from backend.library.storage import ObjectStorage
from backend.tenancy.refusals import Refused
from backend.tenancy.secrets import cache_salt
from backend.webhooks.models import WebhookEvent
from gpu_workers.tasks import assemble_video, observe_segment
from tests.conftest import Cast
from tests.running import run_job
from tests.scripted_openai import Fault, Reply, ScriptedOpenAIServer, ScriptedRequest
from tests.tasks.eyes import BLUE, GREEN, RED, STORIES, chunk_n, colour_of, description, see
from tests.tasks.world import (
    FORTY_SECONDS,
    TWELVE_SECONDS,
    exists,
    indexed_video,
    ring_again,
    run_due,
    run_past_deadlines,
    stored_video,
)
from workers.runner import FollowUp, Work

# One process for both files, because the models are loaded once.
pytestmark = pytest.mark.slow

DOWN = Fault(503, "overloaded", "away", {"Retry-After": "0"})
NOT_FOUND = Fault(404, "NotFoundError", "The model does not exist.")
ROWS = (Chunk, Event, Frame, Entity, Mention, Relation, Segment, Topic, Overview)


def colour_at(ms: int) -> str:
    return next(scene.colour for scene in FORTY_SECONDS if scene.start_ms <= ms < scene.end_ms)


def everything(video_id: UUID) -> dict[str, list[Any]]:
    """Return all rows of a video, its events and all of the tenant's ledger, for comparison."""
    rows: dict[str, list[Any]] = {
        model.__name__: sorted(map(repr, model.objects.filter(video_id=video_id).values())) for model in ROWS
    }
    for model in (UsageEvent, ModelCall):
        rows[model.__name__] = sorted(map(repr, model.objects.values()))
    rows["WebhookEvent"] = sorted(map(repr, WebhookEvent.objects.filter(resource_id=video_id).values()))
    rows["Video"] = list(Video.objects.filter(id=video_id).values())
    size = GraphStore().count(video_id, 1)
    return {**rows, "graph": [size.vertices, size.edges]}


def check_graph(video_id: UUID, duration_ms: int) -> list[Event]:
    """Assert the rules of every finished index. Returns its events in order."""
    chunks = list(Chunk.objects.filter(video_id=video_id).order_by("n"))
    events = list(Event.objects.filter(video_id=video_id).order_by("n"))
    assert [chunk.n for chunk in chunks] == list(range(len(chunks)))
    assert [event.n for event in events] == list(range(len(events)))
    # Chunks and events each cover the video once, without gap or overlap.
    for rows in (chunks, events):
        assert (rows[0].start_ms, rows[-1].end_ms) == (0, duration_ms)
        assert all(before.end_ms == after.start_ms for before, after in pairwise(rows))
    by_id = {event.id: event for event in events}
    for chunk in chunks:
        event = by_id[chunk.event_id]
        assert event.first_chunk <= chunk.n < event.end_chunk
        assert event.start_ms <= chunk.start_ms < chunk.end_ms <= event.end_ms
    for frame in Frame.objects.filter(video_id=video_id):
        assert by_id[frame.event_id].start_ms <= frame.ms < by_id[frame.event_id].end_ms
    # Segments: the unit of billing.
    segments = list(Segment.objects.filter(video_id=video_id).order_by("n"))
    assert {segment.state for segment in segments} == {SegmentState.ASSEMBLED}
    assert sum(segment.end_ms - segment.start_ms for segment in segments) == duration_ms
    # The topology equals the rows'.
    graph = GraphStore()
    ids = [event.id for event in events]
    assert graph.next_events(ids) == dict(pairwise(ids))
    entities, mentions, relations = (
        model.objects.filter(video_id=video_id).count() for model in (Entity, Mention, Relation)
    )
    size = graph.count(video_id, 1)
    assert (size.vertices, size.edges) == (len(events) + entities, len(events) - 1 + mentions + relations)
    assert {(p.entity_id, p.event_id) for p in graph.surroundings(ids)[0]} == set(
        Mention.objects.filter(video_id=video_id).values_list("entity_id", "event_id")
    )
    video = Video.objects.get(id=video_id)
    assert index_faults(video, video.active_index_version) == []
    assert (video.status, video.duration_ms, video.indexed_until_ms) == ("ready", duration_ms, duration_ms)
    return events


def check_bill(video_id: UUID, described_ms: int) -> None:
    """Assert that described time is billed once per segment, and that usage is the sum of its model calls."""
    media = UsageEvent.objects.filter(video_id=video_id, meter__in=["media_seconds", "live_seconds"])
    segments = Segment.objects.filter(video_id=video_id)
    assert sorted(media.values_list("source_id", flat=True)) == sorted(str(s.id) for s in segments)
    assert sum((row.quantity for row in media), Decimal(0)) == Decimal(described_ms) / 1000
    assert ledger.mismatches() == []


def test_a_video_becomes_a_graph_out_of_what_the_model_saw(acme: Cast, vlm: ScriptedOpenAIServer) -> None:
    video_id = stored_video(acme)
    ran = run_due(times=2)

    with acme.scope():
        events = check_graph(video_id, 40_000)
        check_bill(video_id, 40_000)
        # The last scene crosses the border of two segments and is one event nevertheless.
        cuts = [(s.start_ms, s.end_ms) for s in Segment.objects.order_by("n")]
        assert cuts == [(0, 12_000), (12_000, 24_000), (24_000, 40_000)]
        assert [(e.start_ms, e.end_ms, e.summary) for e in events] == [
            (0, 15_000, f"{STORIES[RED]} Seen 5 times."),
            (15_000, 27_000, f"{STORIES[GREEN]} Seen 4 times."),
            (27_000, 40_000, f"{STORIES[BLUE]} Seen 5 times."),
        ]
        assert [c.description for c in Chunk.objects.order_by("n")] == [
            description(colour_at(3_000 * n), n) for n in range(14)
        ]
        assert [f.ms for f in Frame.objects.order_by("ms")] == list(range(0, 40_000, 1_000))
        thumbnails = {f.ms: ObjectStorage().get(f.thumbnail_key) for f in Frame.objects.filter(ms__in=[14_000, 15_000])}
        assert {ms: colour_of(jpeg) for ms, jpeg in thumbnails.items()} == {14_000: RED, 15_000: GREEN}
        # The bus stop of the first and the last scene is one entity.
        stop = Entity.objects.get(name="bus stop")
        assert set(Mention.objects.filter(entity_id=stop.id).values_list("event_id", flat=True)) == {
            events[0].id,
            events[2].id,
        }
        assert (Entity.objects.count(), Mention.objects.count(), Relation.objects.count()) == (5, 6, 3)
        told = WebhookEvent.objects.order_by("id").values_list("type", "resource_id")
        assert list(told) == [("video.indexing", video_id), ("video.ready", video_id)]
        assert set(Job.objects.values_list("kind", "state")) == {
            (kind, JobState.SUCCEEDED)
            for kind in (JobKind.PROBE_VIDEO, JobKind.OBSERVE_SEGMENT, JobKind.ASSEMBLE_VIDEO, JobKind.SUMMARISE_VIDEO)
        }
        assert set(ran) < set(Job.objects.values_list("id", flat=True)), "assembly follows in the same process"

    check_what_was_shown(vlm.requests)
    # No other tenant can find out from the server's cache what was sent.
    assert {request.body["cache_salt"] for request in vlm.requests} == {cache_salt(acme.tenant_id)}


def check_what_was_shown(requests: list[ScriptedRequest]) -> None:
    """Assert that every chunk was sent once with its own frames, every event with its members' words and own frames."""
    described = sorted((r for r in requests if r.schema_name == "chunk_description"), key=chunk_n)
    assert [chunk_n(r) for r in described] == list(range(14)), "each chunk once, although each job was offered twice"
    for request in described:
        times = [round(float(t) * 1000) for t in re.findall(r"^([\d.]+) s:", request.user, re.MULTILINE)]
        n = chunk_n(request)
        wanted = list(range(3_000 * n, min(3_000 * n + 3_000, 40_000), 500))
        assert times == wanted
        assert [colour_of(jpeg) for jpeg in request.images] == [colour_at(ms) for ms in wanted]

    events = [r for r in requests if r.schema_name == "event"]
    members = {tuple(int(n) for n in re.findall(r"moment (\d+)\.", r.user)) for r in events}
    assert members == {(0, 1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12, 13)}
    assert len(events) == 3
    seen = {}
    for request in events:
        (colour,) = {colour_of(jpeg) for jpeg in request.images}
        assert STORIES[colour] in request.user
        seen[colour] = len(request.images)
    assert seen == {RED: 2, GREEN: 2, BLUE: 2}
    told = Counter(r.schema_name for r in requests if r.schema_name in {"topic", "overview"})
    assert told["topic"] >= 1
    assert told["overview"] == 1
    assert len(requests) == 14 + 3 + told.total()


def test_work_that_is_asked_for_again_changes_nothing(acme: Cast, vlm: ScriptedOpenAIServer) -> None:
    video_id = indexed_video(acme, TWELVE_SECONDS)
    with acme.scope():
        before = everything(video_id)
        jobs = list(Job.objects.values_list("id", flat=True))
    asked = len(vlm.requests)
    assert asked == 4 + 2 + 1 + 1

    for job_id in jobs:
        run_job(job_id, acme.tenant_id, worker="late")
    ring_again(acme)
    ran = run_due()

    assert set(ran) == set(jobs), "every job did run a second time"
    assert len(vlm.requests) == asked
    with acme.scope():
        assert everything(video_id) == before


@pytest.mark.parametrize(
    ("reply", "gap", "sentence", "tries"),
    [
        (Reply(None, refusal="I would rather not."), "model_refused", "the model declined to describe it", 1),
        ("no JSON at all", "invalid_output", "the answer of the model could not be read", 3),
    ],
    ids=["refusal", "nonsense"],
)
def test_a_chunk_that_cannot_be_described_is_an_explicit_gap(
    acme: Cast, vlm: ScriptedOpenAIServer, reply: Any, gap: str, sentence: str, tries: int
) -> None:
    def script(request: ScriptedRequest) -> Any:
        return reply if request.schema_name == "chunk_description" and chunk_n(request) == 1 else see(request)

    vlm.script = script
    video_id = indexed_video(acme, TWELVE_SECONDS)

    with acme.scope():
        events = check_graph(video_id, 12_000)
        check_bill(video_id, 9_000)
        assert list(Chunk.objects.order_by("n").values_list("gap", flat=True)) == [None, gap, None, None]
        assert [(e.first_chunk, e.end_chunk) for e in events] == [(0, 1), (1, 2), (2, 4)]
        assert sentence in events[1].summary
        assert not Mention.objects.filter(event_id=events[1].id).exists()
    asked = Counter(chunk_n(r) for r in vlm.requests if r.schema_name == "chunk_description")
    assert asked == {0: 1, 1: tries, 2: 1, 3: 1}


@pytest.mark.parametrize(
    ("reply", "first_gap", "billed_s"),
    [(Reply(None, refusal="I would rather not."), 3, 9), ("no JSON at all", 2, 6)],
    ids=["a chunk is refused", "a segment has no description"],
)
def test_a_video_is_billed_for_its_described_seconds(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch, reply: Any, first_gap: int, billed_s: int
) -> None:
    monkeypatch.setattr(settings, "SEGMENT_MS", 6_000)

    def script(request: ScriptedRequest) -> Any:
        return reply if request.schema_name == "chunk_description" and chunk_n(request) >= first_gap else see(request)

    vlm.script = script
    indexed_video(acme, TWELVE_SECONDS)

    with acme.scope():
        assert sum(row.quantity for row in UsageEvent.objects.filter(meter="media_seconds")) == billed_s
        assert Chunk.objects.exclude(gap=None).count() == 4 - first_gap


@pytest.mark.long
def test_a_server_that_knows_no_such_model_for_a_while_leaves_no_gap(acme: Cast, vlm: ScriptedOpenAIServer) -> None:
    refused, refusals = 0, MODEL_ATTEMPTS + 2

    def script(request: ScriptedRequest) -> Any:
        nonlocal refused
        # For longer than a job's attempts last: each attempt asks for the first chunk alone.
        if request.schema_name == "chunk_description" and refused < refusals:
            refused += 1
            return NOT_FOUND
        return see(request)

    vlm.script = script
    video_id = indexed_video(acme, TWELVE_SECONDS)

    with acme.scope():
        check_graph(video_id, 12_000)
        check_bill(video_id, 12_000)
        assert not Chunk.objects.exclude(gap=None).exists()
    assert refused == refusals


def failing_while(condition: Callable[[ScriptedRequest], bool]) -> Callable[[ScriptedRequest], Any]:
    return lambda request: DOWN if condition(request) else see(request)


def test_every_free_worker_finds_a_segment_of_a_long_video(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """A segment that begins opens the next, so the video is worked on by as many workers as there are."""
    monkeypatch.setattr(settings, "SEGMENT_MS", 3_000)
    monkeypatch.setattr(settings, "SEGMENTS_WAITING", 1)
    at_work: list[int] = []
    begun: list[int] = []
    observe = observe_segment.observe_segment

    def watched(*arguments: Any, **options: Any) -> Any:
        """Let the next worker take a segment while this one observes."""
        begun.append(arguments[1].start_ms)
        at_work.append(len(begun) - sum(s.state != SegmentState.PENDING for s in segments()))
        run_due()
        return observe(*arguments, **options)

    def segments() -> list[Segment]:
        with acme.scope():
            return list(Segment.objects.all())

    monkeypatch.setattr(observe_segment, "observe_segment", watched)
    video_id = stored_video(acme, TWELVE_SECONDS)
    run_due()
    assert begun == [0, 3_000, 6_000]
    assert at_work == [1, 2, 3], "no fixed number of segments"
    with acme.scope():
        check_graph(video_id, 12_000)
        check_bill(video_id, 12_000)


def test_a_model_that_comes_back_leaves_no_trace_of_its_absence(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SEGMENT_MS", 6_000)
    tried: Counter[int] = Counter()

    def away_at_first(request: ScriptedRequest) -> bool:
        """Fail the second segment's chunks in all 5 tries of its first attempt."""
        if request.schema_name != "chunk_description" or chunk_n(request) < 2:
            return False
        tried[chunk_n(request)] += 1
        return tried[chunk_n(request)] <= 5

    vlm.script = failing_while(away_at_first)
    video_id = indexed_video(acme, TWELVE_SECONDS)

    with acme.scope():
        events = check_graph(video_id, 12_000)
        check_bill(video_id, 12_000)
        assert [(e.start_ms, e.end_ms) for e in events] == [(0, 6_000), (6_000, 12_000)]
        assert not Chunk.objects.exclude(gap=None).exists()
        attempts = {
            Segment.objects.get(id=job.subject_id).n: (job.state, job.attempt)
            for job in Job.objects.filter(kind=JobKind.OBSERVE_SEGMENT)
        }
        assert attempts == {0: (JobState.SUCCEEDED, 1), 1: (JobState.SUCCEEDED, 1)}
        assert set(Segment.objects.values_list("error_code", flat=True)) == {""}


def test_a_segment_that_is_skipped_leaves_gaps_and_the_video_goes_on(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SEGMENT_MS", 6_000)
    vlm.script = failing_while(lambda r: r.schema_name == "chunk_description" and chunk_n(r) >= 2)
    video_id = stored_video(acme, TWELVE_SECONDS)
    run_due(rounds=4)
    with acme.scope():
        blocking = Job.objects.get(kind=JobKind.OBSERVE_SEGMENT, state=JobState.QUEUED)
        assert Video.objects.get(id=video_id).status == "indexing"
        skip_job(blocking)
    run_due()

    with acme.scope():
        assert Video.objects.get(id=video_id).status == "ready"
        gaps = list(Chunk.objects.order_by("n").values_list("gap", flat=True))
        assert gaps == [None, None, "deadline_exceeded", "deadline_exceeded"]
        segment = Segment.objects.get(id=blocking.subject_id)
        assert (segment.error_code, segment.retry_at is not None) == ("deadline_exceeded", True)
        with pytest.raises(Refused, match="over already"):
            skip_job(Job.objects.get(id=blocking.id))


def test_a_model_that_stays_away_past_the_deadline_leaves_gaps_and_the_rest_of_the_video(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SEGMENT_MS", 6_000)
    vlm.script = failing_while(lambda r: r.schema_name == "chunk_description" and chunk_n(r) >= 2)
    video_id = stored_video(acme, TWELVE_SECONDS)
    run_past_deadlines(acme)

    with acme.scope():
        events = check_graph(video_id, 12_000)
        gaps = list(Chunk.objects.order_by("n").values_list("gap", flat=True))
        assert gaps == [None, None, "deadline_exceeded", "deadline_exceeded"]
        assert [(e.first_chunk, e.end_chunk) for e in events] == [(0, 2), (2, 4)]
        lost = Segment.objects.get(n=1)
        assert lost.error_code == "deadline_exceeded"
        job = Job.objects.get(subject_id=lost.id)
        assert (job.state, job.error_code) == (JobState.DEAD, "deadline_exceeded")
        assert job.outages >= 3
        # Media that was not observed is not billed.
        assert list(UsageEvent.objects.filter(meter="media_seconds").values_list("quantity", flat=True)) == [Decimal(6)]
        assert ledger.mismatches() == []
        assert [e.type for e in WebhookEvent.objects.order_by("id")] == ["video.indexing", "video.ready"]


def test_a_video_of_which_nothing_was_described_before_its_deadline_fails(
    acme: Cast, vlm: ScriptedOpenAIServer
) -> None:
    vlm.script = DOWN
    video_id = stored_video(acme, TWELVE_SECONDS)
    run_past_deadlines(acme)

    with acme.scope():
        video = Video.objects.get(id=video_id)
        assert (video.status, video.error_code) == ("failed", "deadline_exceeded")
        assert [e.type for e in WebhookEvent.objects.order_by("id")] == ["video.indexing", "video.failed"]
        assert not UsageEvent.objects.filter(meter="media_seconds").exists()
        assert not Job.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING]).exists()


def test_a_purge_takes_rows_graph_and_objects_and_leaves_the_bill(acme: Cast) -> None:
    kept_id, video_id = indexed_video(acme, TWELVE_SECONDS), indexed_video(acme, TWELVE_SECONDS)
    with acme.scope():
        keys = [Video.objects.get(id=video_id).object_key]
        keys += Frame.objects.filter(video_id=video_id).values_list("thumbnail_key", flat=True)
        kept_keys = list(Frame.objects.filter(video_id=kept_id).values_list("thumbnail_key", flat=True))
        kept, billed = everything(kept_id), sorted(UsageEvent.objects.values_list("id", "quantity"))
    assert len(keys) == 13
    assert all(map(exists, keys))

    assert acme.client.delete(f"/v1/videos/{encode('vid', video_id)}").status_code == 202
    run_due(times=2)

    # Both recordings are the same file, which is stored once.
    assert [key for key in keys if exists(key)] == keys[:1]
    assert all(map(exists, kept_keys))
    with acme.scope():
        assert not Video.objects.filter(id=video_id).exists()
        for model in ROWS:
            assert not model.objects.filter(video_id=video_id).exists(), model.__name__
        size = GraphStore().count(video_id, 1)
        assert (size.vertices, size.edges) == (0, 0)
        assert [job.kind for job in Job.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING])] == [
            JobKind.SWEEP_DELETED
        ]
        assert sorted(UsageEvent.objects.values_list("id", "quantity")) == billed
        assert everything(kept_id) == kept
    assert acme.client.get(f"/v1/videos/{encode('vid', video_id)}").status_code == 404


@pytest.mark.parametrize("end", ["delete", "cancel"])
def test_a_segment_in_flight_is_not_billed_when_its_video_goes_or_its_index_is_canceled(
    acme: Cast, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    observe, begun = observe_segment.observe_segment, []

    def ended_meanwhile(*arguments: Any, **options: Any) -> Any:
        begun.append(arguments[1].start_ms)
        if len(begun) == 2:
            path, job = f"/v1/videos/{encode('vid', video_id)}", f"/v1/index-jobs/{encode('job', video_id)}"
            ended = acme.client.delete(path) if end == "delete" else acme.client.post(f"{job}/cancel")
            assert ended.status_code < 300
        return observe(*arguments, **options)

    monkeypatch.setattr(observe_segment, "observe_segment", ended_meanwhile)
    video_id = stored_video(acme)
    run_due()

    assert begun == [0, 12_000]
    with acme.scope():
        (billed,) = UsageEvent.objects.filter(meter="media_seconds")
        assert (billed.video_id, billed.quantity) == (video_id, 12)


def test_a_purge_waits_for_the_workers_that_still_write_for_the_video(acme: Cast) -> None:
    video_id = stored_video(acme, TWELVE_SECONDS)
    with acme.scope():
        probe = Job.objects.get()
        lease = services.claim(probe.id, worker="busy")
    assert lease is not None
    assert acme.client.delete(f"/v1/videos/{encode('vid', video_id)}").status_code == 202
    with acme.scope():
        purge = Job.objects.get(kind=JobKind.PURGE_VIDEO).id

    run_job(purge, acme.tenant_id, worker="early")
    with acme.scope():
        assert (Job.objects.get(id=purge).state, Job.objects.get(id=purge).error_code) == ("queued", "video_in_use")
        assert Video.objects.filter(id=video_id).exists()
        assert services.acknowledge_cancel(lease)
    run_due()
    with acme.scope():
        assert Job.objects.get(id=purge).state == JobState.SUCCEEDED
        assert not Video.objects.filter(id=video_id).exists()


def test_a_long_assembly_goes_on_in_turns(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "SEGMENT_MS", 6_000)
    monkeypatch.setattr(assemble_video, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(assemble_video, "SEGMENTS_PER_STEP", 1)
    monkeypatch.setattr(observe_segment, "FollowUp", lambda job_id: None)
    video_id = stored_video(acme, TWELVE_SECONDS)
    ran = run_due()

    with acme.scope():
        check_graph(video_id, 12_000)
        check_bill(video_id, 12_000)
        assembly = Job.objects.get(kind=JobKind.ASSEMBLE_VIDEO)
        assert assembly.state == JobState.SUCCEEDED
        assert ran.count(assembly.id) >= 3, "one turn for each segment, and one that finds nothing left"


@pytest.mark.long
def test_segments_that_wait_are_assembled_together_and_make_the_same_graph(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SEGMENT_MS", 6_000)
    monkeypatch.setattr(observe_segment, "FollowUp", lambda job_id: None)
    steps: list[int] = []
    assemble = assemble_video.assemble

    def watched(work: Work, step: assemble_video.Step) -> FollowUp | None:
        steps.append(len(step.observed.segments))
        return assemble(work, step)

    monkeypatch.setattr(assemble_video, "assemble", watched)
    video_id = stored_video(acme)
    run_due()
    assert sum(steps) == 6, "the last four seconds are of the segment before them"
    assert max(steps) > 1
    with acme.scope():
        events = check_graph(video_id, 40_000)
        check_bill(video_id, 40_000)
        assert [(e.start_ms, e.end_ms) for e in events] == [(0, 15_000), (15_000, 27_000), (27_000, 40_000)]


def test_a_video_whose_assembly_failed_is_neither_observed_nor_billed_further(
    acme: Cast, vlm: ScriptedOpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SEGMENT_MS", 6_000)
    video_id = stored_video(acme, TWELVE_SECONDS)
    with acme.scope():
        probe = Job.objects.get().id
    run_job(probe, acme.tenant_id, worker="test")
    with acme.scope():
        fail_probe(video_id, code="internal_error", message="no events")
    run_due()

    assert vlm.requests == []
    with acme.scope():
        assert Video.objects.get(id=video_id).status == "failed"
        assert not UsageEvent.objects.exists()
        assert [e.type for e in WebhookEvent.objects.order_by("id")] == ["video.indexing", "video.failed"]


def test_another_tenant_sees_and_runs_nothing_of_it(acme: Cast, globex: Cast, vlm: ScriptedOpenAIServer) -> None:
    video_id = stored_video(acme, TWELVE_SECONDS)
    with acme.scope():
        probe = Job.objects.get().id
    run_job(probe, globex.tenant_id, worker="stranger")
    with acme.scope():
        assert (Job.objects.get().state, Job.objects.get().attempt) == (JobState.QUEUED, 0)
    run_due()

    path = f"/v1/videos/{encode('vid', video_id)}"
    for route in ("", "/events", "/entities", "/relations", "/chunks", "/summary"):
        assert acme.client.get(f"{path}{route}").status_code == 200, route
        assert globex.client.get(f"{path}{route}").status_code == 404, route
    assert globex.client.delete(path).status_code == 404
    with globex.scope():
        for model in (*ROWS, Job, UsageEvent, ModelCall, WebhookEvent):
            assert not model.objects.exists(), model.__name__
        assert GraphStore().count(video_id, 1).vertices == 0
    with acme.scope():
        check_graph(video_id, 12_000)
