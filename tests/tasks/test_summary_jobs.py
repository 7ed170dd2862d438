"""The global summary as a job on the real stack: written during indexing, complete at the end, never blocking."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings

from backend.api.public_ids import encode
from backend.billing import queries as ledger
from backend.billing.models import ModelCall
from backend.ekg.graph_store import GraphStore
from backend.ekg.models import Entity, Event, Frame, Mention, Overview, Relation, Topic
from backend.jobs.dispatching import CLASSES, claim_next, mark_due
from backend.jobs.models import Job, JobKind, JobState
from backend.library.indexing.follow_ups import summary_is_due
from backend.library.models import Video
from backend.webhooks.models import WebhookEvent
from gpu_workers.tasks import assemble_video, observe_segment, summarise_video
from tests.conftest import Cast
from tests.scripted_openai import Fault, Reply, ScriptedOpenAIServer, ScriptedRequest
from tests.tasks.eyes import BLUE, GREEN, RED, STORIES, see
from tests.tasks.test_index_jobs import check_bill, check_graph
from tests.tasks.world import (
    FORTY_SECONDS,
    TWELVE_SECONDS,
    Scene,
    indexed_video,
    ring_again,
    run_due,
    run_past_deadlines,
    stored_video,
)
from workers.runner import run_leased

pytestmark = pytest.mark.slow

DOWN = Fault(503, "overloaded", "away", {"Retry-After": "0"})
TOLD = {"topic", "overview"}


def summary_of(cast: Cast, video_id: UUID) -> dict[str, Any]:
    response = cast.client.get(f"/v1/videos/{encode('vid', video_id)}/summary")
    assert response.status_code == 200
    body: dict[str, Any] = response.json()
    return body


def words_of(body: dict[str, Any]) -> list[Any]:
    """Return a summary without the parts that differ between two videos of one recording."""
    topics = [
        {**{k: v for k, v in topic.items() if k != "frames"}, "frames": [frame["ms"] for frame in topic["frames"]]}
        for topic in body["topics"]
    ]
    return [body["text"], body["people"], body["places"], body["until_ms"], body["complete"], body["error"], topics]


def check_topics(video_id: UUID, until_ms: int) -> list[Topic]:
    """Assert that topics follow each other from 0, each over whole events."""
    topics = list(Topic.objects.filter(video_id=video_id).order_by("n"))
    spans = {event.n: (event.start_ms, event.end_ms) for event in Event.objects.filter(video_id=video_id)}
    assert [topic.n for topic in topics] == list(range(len(topics)))
    assert (topics[0].start_ms, topics[-1].end_ms) == (0, until_ms)
    assert all(a.end_ms == b.start_ms and a.end_event == b.first_event for a, b in pairwise(topics))
    kept = set(Frame.objects.filter(video_id=video_id).values_list("ms", flat=True))
    for topic in topics:
        assert topic.start_ms == spans[topic.first_event][0]
        assert topic.end_ms == spans[topic.end_event - 1][1]
        assert topic.frame_ms
        assert set(topic.frame_ms) <= {ms for ms in kept if topic.start_ms <= ms < topic.end_ms}
    return topics


def test_a_video_becomes_ready_with_topics_and_an_overview(acme: Cast, vlm: ScriptedOpenAIServer) -> None:
    video_id = indexed_video(acme)

    with acme.scope():
        check_graph(video_id, 40_000)
        check_bill(video_id, 40_000)
        topics = check_topics(video_id, 40_000)
        stages = set(ModelCall.objects.filter(source_type="summarise").values_list("stage", flat=True))
        assert stages == {"topics", "overview", "embedding"}
        assert all(topic.embedding_model and topic.embedding is not None for topic in topics)
        assert [e.type for e in WebhookEvent.objects.order_by("id")] == ["video.indexing", "video.ready"]
    body = summary_of(acme, video_id)
    assert (body["complete"], body["until_ms"], body["error"], body["index_version"]) == (True, 40_000, None, 1)
    assert body["text"] == " ".join(STORIES[colour] for colour in (RED, GREEN, BLUE))
    assert (body["people"], body["places"]) == (["woman in red coat"], ["bus stop"])
    assert [(t["start_ms"], t["end_ms"], t["title"]) for t in body["topics"]] == [
        (topic.start_ms, topic.end_ms, topic.title) for topic in topics
    ]
    assert " ".join(topic["summary"] for topic in body["topics"]) == body["text"]
    assert all(frame["thumbnail_url"].startswith("http") for topic in body["topics"] for frame in topic["frames"])


def test_two_videos_have_each_their_own_summary(acme: Cast) -> None:
    first = indexed_video(acme, TWELVE_SECONDS)
    second = indexed_video(acme, (Scene(BLUE, 0, 12_000),))
    assert summary_of(acme, first)["text"] == f"{STORIES[RED]} {STORIES[GREEN]}"
    assert summary_of(acme, second)["text"] == STORIES[BLUE]
    assert summary_of(acme, second)["people"] == []


@pytest.mark.long
def test_the_summary_grows_with_the_index_and_ends_as_if_written_at_once(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assemble_video, "SEGMENTS_PER_STEP", 1)
    monkeypatch.setattr(settings, "SEGMENT_MS", 6_000)
    monkeypatch.setattr(settings, "SUMMARY_EVERY_SEGMENTS", 1_000)
    at_once = indexed_video(acme)
    with acme.scope():
        told_at_once = Job.objects.get(kind=JobKind.SUMMARISE_VIDEO, video_id=at_once)

    monkeypatch.setattr(settings, "SUMMARY_EVERY_SEGMENTS", 1)
    monkeypatch.setattr(assemble_video, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(observe_segment, "FollowUp", lambda job_id: None)
    video_id = stored_video(acme)
    seen: list[dict[str, Any]] = []
    closed: list[Any] = []
    while True:
        mark_due()
        leases = [lease for queue in CLASSES if (lease := claim_next(queue, worker="test")) is not None]
        if not leases:
            break
        for lease in leases:
            run_leased(lease, worker="test")
            with acme.scope():
                status = Video.objects.get(id=video_id).status
                now = list(Topic.objects.filter(video_id=video_id).order_by("n").values())
            if now and status == "indexing":
                assert now[: len(closed)] == closed, "a closed topic changed"
                closed = now[:-1]
                body = summary_of(acme, video_id)
                assert (body["complete"], body["topics"][-1]["end_ms"]) == (False, body["until_ms"])
                seen.append(body)

    reached = [body["until_ms"] for body in seen]
    assert reached == sorted(reached)
    assert len(set(reached)) >= 2, "told more than once on the way"
    assert words_of(summary_of(acme, video_id)) == words_of(summary_of(acme, at_once))
    with acme.scope():
        check_graph(video_id, 40_000)
        check_topics(video_id, 40_000)
        check_bill(video_id, 40_000)
        calls = ModelCall.objects.filter(source_type="summarise")
        assert calls.values("source_id").distinct().count() > 2
        assert told_at_once.attempt == 1


@pytest.mark.long
def test_a_long_summary_is_written_in_turns(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    scenes = tuple(Scene((RED, GREEN, BLUE)[n % 3], 12_000 * n, 12_000 * (n + 1)) for n in range(9))
    at_once = indexed_video(acme, scenes)
    monkeypatch.setattr(summarise_video, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(summarise_video, "EVENTS_AT_ONCE", 1)
    video_id = stored_video(acme, scenes)
    run_due()

    assert words_of(summary_of(acme, video_id)) == words_of(summary_of(acme, at_once))
    with acme.scope():
        check_graph(video_id, 108_000)
        check_bill(video_id, 108_000)
        summary = Job.objects.get(kind=JobKind.SUMMARISE_VIDEO, video_id=video_id)
        assert summary.lease_token >= 2, "a turn for every topic that is closed"
        assert WebhookEvent.objects.filter(type="video.ready", resource_id=video_id).count() == 1


def test_a_summary_is_written_less_often_the_longer_the_video_is() -> None:
    due = [n for n in range(1_600) if summary_is_due(n)]
    assert due[:3] == [9, 19, 29]
    assert due[-2:] == [1_559, 1_599]
    assert len(due) == 80


def failing_to_summarise(reply: Any) -> Any:
    return lambda request: reply if request.schema_name in TOLD else see(request)


def test_a_summary_that_misses_its_deadline_leaves_a_video_that_is_ready(acme: Cast, vlm: ScriptedOpenAIServer) -> None:
    vlm.script = failing_to_summarise(DOWN)
    video_id = stored_video(acme, TWELVE_SECONDS)
    run_past_deadlines(acme)

    with acme.scope():
        check_graph(video_id, 12_000)
        job = Job.objects.get(kind=JobKind.SUMMARISE_VIDEO)
        assert (job.state, job.error_code) == (JobState.DEAD, "deadline_exceeded")
        assert [e.type for e in WebhookEvent.objects.order_by("id")] == ["video.indexing", "video.ready"]
        assert not Overview.objects.exists()
        assert ledger.mismatches() == []
    body = summary_of(acme, video_id)
    assert (body["text"], body["topics"], body["complete"]) == ("", [], False)
    assert body["error"]["code"] == "deadline_exceeded"


@pytest.mark.parametrize("reply", [Reply(None, refusal="No."), "no JSON"], ids=["refusal", "nonsense"])
def test_topics_that_the_model_cannot_write_are_written_from_measurements(
    acme: Cast, vlm: ScriptedOpenAIServer, reply: Any
) -> None:
    vlm.script = failing_to_summarise(reply)
    video_id = indexed_video(acme, TWELVE_SECONDS)

    with acme.scope():
        assert Overview.objects.get().model == "measured"
        check_topics(video_id, 12_000)
    body = summary_of(acme, video_id)
    assert (body["complete"], body["error"]) == (True, None)
    assert "woman in red coat" in body["people"]


def test_a_model_that_comes_back_writes_the_rest(acme: Cast, vlm: ScriptedOpenAIServer) -> None:
    tried: list[ScriptedRequest] = []

    def away_at_first(request: ScriptedRequest) -> Any:
        if request.schema_name in TOLD:
            tried.append(request)
            return DOWN if len(tried) <= 5 else see(request)
        return see(request)

    vlm.script = away_at_first
    video_id = indexed_video(acme, TWELVE_SECONDS)
    with acme.scope():
        job = Job.objects.get(kind=JobKind.SUMMARISE_VIDEO)
        assert (job.attempt, job.outages) == (1, 1)
        check_bill(video_id, 12_000)
    assert summary_of(acme, video_id)["complete"] is True


def test_a_run_that_dies_before_its_commit_is_done_again_and_nothing_is_doubled(
    acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = indexed_video(acme, TWELVE_SECONDS)
    finish = summarise_video.finish_version
    died: list[UUID] = []

    def die_once(video_id: UUID, version: int) -> None:
        if not died:
            died.append(video_id)
            raise RuntimeError("killed")
        finish(video_id, version)

    monkeypatch.setattr(summarise_video, "finish_version", die_once)
    video_id = indexed_video(acme, TWELVE_SECONDS)

    assert died == [video_id]
    assert words_of(summary_of(acme, video_id)) == words_of(summary_of(acme, undisturbed))
    with acme.scope():
        check_graph(video_id, 12_000)
        check_bill(video_id, 12_000)
        ready = WebhookEvent.objects.filter(type="video.ready", resource_id=video_id)
        assert ready.count() == 1
        assert Overview.objects.filter(video_id=video_id).count() == 1


@pytest.mark.long
def test_entities_are_linked_again_if_the_deployment_asks_for_it(acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    incremental = indexed_video(acme, FORTY_SECONDS)
    monkeypatch.setattr(settings, "INDEX_LINKING", "kmeans")
    video_id = indexed_video(acme, FORTY_SECONDS)
    with acme.scope():
        # Rows are the graph, and every mention and relation has its ends.
        check_graph(video_id, 40_000)
        assert Entity.objects.filter(video_id=incremental).count() == 5
        entities = {entity.id: entity for entity in Entity.objects.filter(video_id=video_id)}
        mentions = list(Mention.objects.filter(video_id=video_id))
        assert len(entities) <= 3, "ceil(0.4 * 6) clusters"
        assert {mention.entity_id for mention in mentions} == set(entities)
        assert len({(mention.entity_id, mention.event_id) for mention in mentions}) == len(mentions)
        for relation in Relation.objects.filter(video_id=video_id):
            assert {relation.source_id, relation.target_id} <= set(entities)
            assert relation.source_id != relation.target_id
        _, related = GraphStore().surroundings([mention.event_id for mention in mentions])
        rows = Relation.objects.filter(video_id=video_id)
        assert {(r.source_id, r.target_id, r.predicate, r.event_id) for r in related} == set(
            rows.values_list("source_id", "target_id", "predicate", "event_id")
        )
        before = sorted(map(repr, Mention.objects.filter(video_id=video_id).values()))
    ring_again(acme)
    run_due()
    with acme.scope():
        assert sorted(map(repr, Mention.objects.filter(video_id=video_id).values())) == before


def test_a_strangers_summary_is_not_found(acme: Cast, globex: Cast) -> None:
    video_id = indexed_video(acme, TWELVE_SECONDS)
    assert globex.client.get(f"/v1/videos/{encode('vid', video_id)}/summary").status_code == 404
    with globex.scope():
        assert not Topic.objects.exists()
        assert not Overview.objects.exists()
