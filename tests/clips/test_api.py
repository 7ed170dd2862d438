"""Clips through the API: what can be asked for, what it costs of the storage, how a clip ends, and who sees it."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from backend.api.public_ids import decode, encode
from backend.billing.models import UsageEvent
from backend.clips import queries
from backend.clips.models import Clip, ClipStatus
from backend.clips.services import clips
from backend.erasure.services.retention import drop_source
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import Collection, InputSegment, InputStatus, SourceType, Video, VideoStatus
from backend.library.queries import stored_bytes, stored_bytes_since
from backend.library.services.deletion_ledger import Deleted, entries
from backend.library.storage import ObjectMissing, ObjectStorage
from backend.questions.models import Question, QuestionVideo
from backend.shares.models import Share
from backend.tenancy.services import issue_api_key
from backend.webhooks.models import WebhookEvent
from tests.conftest import Cast
from tests.ekg.recorded import record
from tests.people.cast import Browser, member_of, person
from tests.tenancy.test_api_keys import with_key
from workers.runner import run_class


@pytest.fixture
def video(acme: Cast) -> UUID:
    """A recording of 30 s and 3 MB in H.264."""
    video_id = record(acme).video_id
    with acme.scope():
        Video.objects.filter(id=video_id).update(codec="h264", width=640, height=360, size_bytes=3_000_000)
    return video_id


def asked(cast: Cast, video: UUID, **body: Any) -> Any:
    return cast.client.post(
        "/v1/clips", {"video_id": encode("vid", video), "start_ms": 2_000, "end_ms": 12_000, **body}
    )


def make(cast: Cast, video: UUID, **body: Any) -> dict[str, Any]:
    reply = asked(cast, video, **body)
    assert reply.status_code == 202, reply.content
    made: dict[str, Any] = reply.json()
    return made


def finished(cast: Cast, video: UUID, **body: Any) -> dict[str, Any]:
    """A clip that a worker has made, with its objects."""
    clip_id = decode("clp", make(cast, video, **body)["id"])
    with cast.scope():
        clips.finish(
            clip_id, gaps=[], shown_start_ms=1_500, shown_end_ms=12_000, width=640, height=360, size_bytes=7_000
        )
        for key in queries.objects_of(Clip.objects.get(id=clip_id)).values():
            ObjectStorage().put(key, b"content", content_type="video/mp4")
    got: dict[str, Any] = cast.client.get(f"/v1/clips/{encode('clp', clip_id)}").json()
    return got


def test_a_clip_is_queued_with_its_job_and_reserves_its_share_of_the_storage(acme: Cast, video: UUID) -> None:
    with acme.scope():
        before = stored_bytes()

    reply = asked(acme, video, mode="fast", title="北门 🚪", captions="file")

    body = reply.json()
    assert (reply.status_code, reply.headers["Location"]) == (202, f"/v1/clips/{body['id']}")
    assert acme.client.get(f"/v1/clips/{body['id']}").json() == body
    assert {name: body[name] for name in ("status", "mode", "captions", "title", "start_ms", "end_ms", "url")} == {
        "status": "queued", "mode": "fast", "captions": "file", "title": "北门 🚪", "start_ms": 2_000,
        "end_ms": 12_000, "url": None,
    }  # fmt: skip
    assert body["created_by"] == encode("key", acme.key_id)
    assert body["size_bytes"] == 1_000_000, "a third of the recording"
    with acme.scope():
        assert stored_bytes() - before == 1_000_000
        assert stored_bytes(acme.key_id) == 1_000_000, "the key made no video"
        job = Job.objects.get(kind=JobKind.MAKE_CLIP)
    assert (job.queue, job.video_id, job.subject_id) == ("cpu.render", video, decode("clp", body["id"]))


def test_a_clip_that_is_made_has_links_its_true_span_and_an_event(acme: Cast, video: UUID) -> None:
    body = finished(acme, video, mode="fast", captions="file")

    assert (body["status"], body["shown_start_ms"], body["shown_end_ms"]) == ("ready", 1_500, 12_000)
    assert (body["size_bytes"], body["error"]) == (7_000, None)
    for name, file in (("url", "clip.mp4"), ("poster_url", "poster.jpg"), ("captions_url", "captions.vtt")):
        assert f"/v/{video}/clips/" in body[name], name
        assert f"/{file}?" in body[name], name
        assert "X-Amz-Expires=1800" in body[name], name
    with acme.scope():
        event = WebhookEvent.objects.get(type="clip.ready")
        assert stored_bytes_since(timezone.now() + timedelta(seconds=1)) >= 7_000
    assert json.loads(event.body)["data"]["id"] == body["id"]
    days = (timezone.datetime.fromisoformat(body["expires_at"]) - timezone.now()) / timedelta(days=1)
    assert round(days) == 30


def test_links_to_a_clip_are_noted_once_an_hour_however_they_are_given_out(acme: Cast, video: UUID) -> None:
    make(acme, video)
    first, second = (decode("clp", finished(acme, video)["id"]) for _ in range(2))
    expires_at = (timezone.now() + timedelta(days=1)).isoformat()
    shared = acme.client.post("/v1/shares", {"clip_id": encode("clp", first), "expires_at": expires_at}).json()

    acme.client.get("/v1/clips")
    Client().get(urlsplit(shared["url"]).path)

    with acme.scope():
        noted = UsageEvent.objects.filter(meter="egress_gb")
        hours = {row.occurred_at.hour for row in noted}
        assert len(noted) == 2 * len(hours), "once an hour, should the hour end in between"
        assert {row.source_id.partition(":")[0] for row in noted} == {str(first), str(second)}
        for row in noted:
            assert (row.quantity, row.billable, row.reason) == (Decimal("0.000007"), False, "link_issued")
            assert (row.video_id, row.api_key_id) == (video, acme.key_id)


def test_a_clip_without_captions_has_no_link_to_them(acme: Cast, video: UUID) -> None:
    assert finished(acme, video)["captions_url"] is None


def test_a_clip_that_cannot_be_made_gives_its_bytes_back_and_says_why(acme: Cast, video: UUID) -> None:
    clip_id = decode("clp", make(acme, video)["id"])

    with acme.scope():
        clips.fail(clip_id, code="source_undecodable", message="ffmpeg refused the file.")

    body = acme.client.get(f"/v1/clips/{encode('clp', clip_id)}").json()
    assert (body["status"], body["size_bytes"], body["url"]) == ("failed", 0, None)
    assert body["error"] == {"code": "source_undecodable", "message": "ffmpeg refused the file."}
    with acme.scope():
        assert queries.clip_bytes() == 0
        assert WebhookEvent.objects.filter(type="clip.failed").count() == 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"end_ms": 2_000}, 400, "out_of_order"),
        ({"end_ms": 602_001}, 400, "clip_too_long"),
        ({"end_ms": 30_001}, 400, "beyond_recording"),
        ({"mode": "fast", "captions": "burnt"}, 400, "burnt_needs_exact"),
        ({"mode": "slow"}, 400, "invalid_choice"),
        ({"title": "a\nb"}, 400, "invalid_characters"),
    ],
)
def test_what_cannot_be_a_clip_is_refused(
    acme: Cast, video: UUID, body: dict[str, Any], status: int, code: str
) -> None:
    reply = asked(acme, video, **body)

    found = reply.json()
    assert (reply.status_code, found.get("errors", [found])[0]["code"]) == (status, code)
    with acme.scope():
        assert not Clip.objects.exists()


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ({"source_deleted_at": "2026-01-01T00:00:00Z"}, "source_deleted"),
        ({"duration_ms": None}, "not_probed"),
        ({"codec": "mjpeg"}, "clip_needs_exact"),
    ],
)
def test_a_recording_that_does_not_allow_a_fast_clip_says_why(
    acme: Cast, video: UUID, state: dict[str, Any], code: str
) -> None:
    with acme.scope():
        Video.objects.filter(id=video).update(**state)

    reply = asked(acme, video, mode="fast")

    assert (reply.status_code, reply.json()["code"]) == (409, code)
    if code == "clip_needs_exact":
        make(acme, video, mode="exact")


def test_the_number_of_open_clips_and_their_bytes_are_bounded(
    acme: Cast, video: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clips, "MOST_OPEN", 2)
    for _ in range(2):
        make(acme, video)
    assert (asked(acme, video).status_code, asked(acme, video).json()["code"]) == (429, "too_many_open_clips")
    with acme.scope():
        Clip.objects.update(status=ClipStatus.READY)
    acme.client.put("/v1/budgets", {"stored_bytes": 10_000_000})
    assert asked(acme, video).json()["code"] == "storage_quota_exceeded"


def test_a_repeated_request_makes_one_clip(acme: Cast, video: UUID) -> None:
    body = {"video_id": encode("vid", video), "start_ms": 0, "end_ms": 1_000}
    first, second = (acme.client.post("/v1/clips", body, HTTP_IDEMPOTENCY_KEY="k") for _ in range(2))

    assert first.json() == second.json()
    assert second.headers["Idempotency-Replayed"] == "true"
    with acme.scope():
        assert Clip.objects.count() == 1


def test_clips_are_listed_by_status_video_and_question(acme: Cast, video: UUID) -> None:
    other = record(acme).video_id
    with acme.scope():
        question = Question.objects.create(tenant_id=acme.tenant_id, text="Who?")
        QuestionVideo.objects.create(tenant_id=acme.tenant_id, question=question, video_id=video)
    named = make(acme, video, question_id=encode("qst", question.id))["id"]
    done = finished(acme, video)["id"]
    elsewhere = make(acme, other, end_ms=3_000)["id"]
    wrong = asked(acme, other, question_id=encode("qst", question.id))
    assert (wrong.status_code, wrong.json()["code"]) == (404, "not_found"), "a question about another video"

    def listed(**query: str) -> list[str]:
        return [clip["id"] for clip in acme.client.get("/v1/clips", query).json()["data"]]

    assert listed() == [elsewhere, done, named]
    assert listed(limit="1") == [elsewhere]
    assert listed(status="ready") == [done]
    assert listed(video_id=encode("vid", other)) == [elsewhere]
    assert listed(question_id=encode("qst", question.id)) == [named]


def gone(cast: Cast, clip: dict[str, Any], keys: list[str]) -> None:
    """Check that nothing of a clip is left, once the jobs of deletions have run."""
    assert cast.client.get(f"/v1/clips/{clip['id']}").status_code == 404
    run_class("system.delete", worker="test")
    for key in keys:
        with pytest.raises(ObjectMissing):
            ObjectStorage().head(key)
    with cast.scope():
        assert not Clip.objects.exists()
        assert not Share.objects.exists()


def keys_of(cast: Cast, clip: dict[str, Any]) -> list[str]:
    with cast.scope():
        return list(queries.objects_of(Clip.objects.get(id=decode("clp", clip["id"]))).values())


def share_of(cast: Cast, clip: dict[str, Any]) -> None:
    until = (timezone.now() + timedelta(days=1)).isoformat()
    assert cast.client.post("/v1/shares", {"clip_id": clip["id"], "expires_at": until}).status_code == 201


def test_a_deleted_clip_goes_with_its_files_and_shares_and_is_in_the_ledger(acme: Cast, video: UUID) -> None:
    clip = finished(acme, video)
    keys = keys_of(acme, clip)
    share_of(acme, clip)

    assert acme.client.delete(f"/v1/clips/{clip['id']}").status_code == 204

    gone(acme, clip, keys)
    assert any(entry.kind == Deleted.CLIP and decode("clp", clip["id"]) in entry.ids for entry in entries())
    assert acme.client.delete(f"/v1/clips/{clip['id']}").status_code == 404
    log = acme.client.get("/v1/audit-events", {"resource_id": clip["id"]}).json()["data"]
    assert [event["action"] for event in log] == ["clip.deleted", "clip.created"]


def test_a_deleted_clip_that_is_not_made_is_canceled(acme: Cast, video: UUID) -> None:
    clip = make(acme, video)

    acme.client.delete(f"/v1/clips/{clip['id']}")

    with acme.scope():
        assert Job.objects.get(kind=JobKind.MAKE_CLIP).state == JobState.CANCELED


def test_a_clip_ends_with_its_time(acme: Cast, video: UUID) -> None:
    clip, kept = finished(acme, video), finished(acme, video)
    keys = keys_of(acme, clip)
    share_of(acme, clip)
    with acme.scope():
        Clip.objects.filter(id=decode("clp", clip["id"])).update(expires_at=timezone.now())
    assert acme.client.get(f"/v1/clips/{clip['id']}").status_code == 404, "before the sweep"

    assert clips.expire_clips() == 1

    assert acme.client.get(f"/v1/clips/{kept['id']}").status_code == 200
    acme.client.delete(f"/v1/clips/{kept['id']}")
    gone(acme, clip, keys)


def test_a_clip_ends_with_the_recording_that_retention_removes(acme: Cast, video: UUID) -> None:
    clip = finished(acme, video)
    keys = keys_of(acme, clip)

    with acme.scope():
        assert drop_source(video)

    gone(acme, clip, keys)


def test_a_clip_ends_with_its_video(acme: Cast, video: UUID) -> None:
    clip = finished(acme, video)
    keys = keys_of(acme, clip)
    share_of(acme, clip)

    acme.client.delete(f"/v1/videos/{encode('vid', video)}")

    gone(acme, clip, keys)


def test_a_deleted_question_leaves_its_clips(acme: Cast, video: UUID) -> None:
    with acme.scope():
        question = Question.objects.create(tenant_id=acme.tenant_id, text="Who?")
        QuestionVideo.objects.create(tenant_id=acme.tenant_id, question=question, video_id=video)
    clip = make(acme, video, question_id=encode("qst", question.id))
    assert clip["question_id"] == encode("qst", question.id)

    acme.client.delete(f"/v1/questions/{clip['question_id']}")

    assert acme.client.get(f"/v1/clips/{clip['id']}").json()["question_id"] is None


def test_who_may_make_and_see_clips(acme: Cast, globex: Cast, video: UUID) -> None:
    clip = make(acme, video)
    with acme.scope():
        _, reads = issue_api_key(name="a", scopes=["videos:read", "videos:write"])
        park = Collection.objects.create(tenant_id=acme.tenant_id, name="park")
    eve, vic = person("eve"), person("vic")
    member_of(acme, "analyst", eve, collection_ids=[str(park.id)])
    member_of(acme, "viewer", vic)
    analyst, viewer = Browser(eve, acme.slug), Browser(vic, acme.slug)
    body = {"video_id": encode("vid", video), "start_ms": 0, "end_ms": 1_000}

    assert with_key(reads).post("/v1/clips", body).json()["code"] == "insufficient_scope"
    assert viewer.api("POST", "/v1/clips", body).status_code == 403
    assert viewer.api("GET", f"/v1/clips/{clip['id']}").status_code == 200
    assert globex.client.post("/v1/clips", body).status_code == 404
    assert globex.client.get("/v1/clips").json()["data"] == []
    assert analyst.api("POST", "/v1/clips", body).status_code == 404, "the video is in no collection of hers"
    assert analyst.api("GET", "/v1/clips").json()["data"] == []
    assert analyst.api("GET", f"/v1/clips/{clip['id']}").status_code == 404
    with acme.scope():
        Video.objects.filter(id=video).update(collection=park)
    assert analyst.api("POST", "/v1/clips", body).json()["created_by"] == encode("per", eve.id)
    assert len(analyst.api("GET", "/v1/clips").json()["data"]) == 2


def pieced(cast: Cast, *, missing: bool = False, hour: int | None = None) -> UUID:
    """A recording of two pieces of 10 s, of which the second was recorded in an hour, or says nothing."""
    with cast.scope():
        video = Video.objects.create(
            tenant_id=cast.tenant_id, source_type=SourceType.SEGMENTS, status=VideoStatus.READY, duration_ms=20_000,
            codec="h264", time_zone="UTC",
        )  # fmt: skip
        for n, start in enumerate((0, 10_000)):
            at = None if hour is None else f"2026-03-01T{(8, hour)[n]:02}:00:00Z"
            InputSegment.objects.create(
                tenant_id=cast.tenant_id, video=video, n=2 * n, status=InputStatus.READY, start_ms=start,
                duration_ms=10_000, codec="h264", width=640, height=360, size_bytes=500_000, recorded_at=at,
                object_key=f"t/{cast.tenant_id}/u/{n}/source",
            )  # fmt: skip
        if missing:
            InputSegment.objects.create(
                tenant_id=cast.tenant_id, video=video, n=1, status=InputStatus.FAILED, start_ms=10_000, duration_ms=0
            )
    return video.id  # type: ignore[no-any-return]


def test_gaps_between_recordings_are_found_by_their_times_and_by_missing_pieces(acme: Cast) -> None:
    def gaps(video_id: UUID, start_ms: int = 0, end_ms: int = 20_000) -> list[tuple[int, int | None]]:
        with acme.scope():
            found = queries.gaps_within(Video.objects.get(id=video_id), start_ms, end_ms)
        return [(gap.at_ms, gap.gap_ms) for gap in found]

    assert gaps(pieced(acme)) == []
    assert gaps(pieced(acme, missing=True)) == [(10_000, None)]
    hours = pieced(acme, hour=9)
    assert gaps(hours) == [(10_000, 3_590_000)]
    assert gaps(hours, end_ms=10_000) == gaps(hours, start_ms=10_000) == []


def test_a_fast_clip_over_pieces_of_two_formats_is_refused(acme: Cast) -> None:
    video = pieced(acme)
    made = make(acme, video, mode="fast", start_ms=8_000)
    assert made["size_bytes"] == 200_000
    with acme.scope():
        InputSegment.objects.filter(start_ms=10_000).update(width=320)

    assert asked(acme, video, mode="fast", start_ms=8_000).json()["code"] == "clip_needs_exact"
    make(acme, video, mode="fast", start_ms=0, end_ms=9_000)
