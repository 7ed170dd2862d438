"""What a tenant keeps for a limited time is deleted after it: recordings, pictures, videos, questions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from backend.api.public_ids import encode
from backend.ekg.models import Frame
from backend.erasure.services.retention import apply_retention, tenants_with_retention
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import IndexVersion, Retention, Video
from backend.library.services.deletion_ledger import Deleted, entries
from backend.library.storage import ObjectStorage
from backend.questions.models import Question, QuestionBatch, Search, Session
from tests.conftest import Cast
from tests.ekg.recorded import record
from tests.questions.world import ask, finish
from tests.running import run_job

LATER = timedelta(days=11)


def recorded(cast: Cast) -> UUID:
    """Return a ready video with a recording and a picture in the bucket."""
    video_id = record(cast).video_id
    tenant = cast.tenant_id
    source, picture = f"t/{tenant}/u/x/source", f"t/{tenant}/v/{video_id}/1/frames/0.jpg"
    ObjectStorage().put(source, b"video", content_type="video/mp4")
    ObjectStorage().put(picture, b"jpeg", content_type="image/jpeg")
    with cast.scope():
        Video.objects.filter(id=video_id).update(input_closed_at=timezone.now())
        Frame.objects.filter(video_id=video_id).update(thumbnail_key=picture)
    return video_id


def keep(cast: Cast, **days: int) -> None:
    with cast.scope():
        Retention.objects.create(tenant_id=cast.tenant_id, **days)


def run(cast: Cast, *kinds: JobKind) -> None:
    with cast.scope():
        jobs = list(Job.objects.filter(kind__in=kinds, state=JobState.QUEUED).values_list("id", flat=True))
    assert jobs
    for job in jobs:
        run_job(job, cast.tenant_id, worker="test")


def keys(cast: Cast) -> list[str]:
    return [key.rsplit("/", 1)[1] for key in ObjectStorage().list_keys(f"t/{cast.tenant_id}/")]


def kinds_of(cast: Cast) -> list[Deleted]:
    return [entry.kind for entry in entries() if entry.tenant_id == cast.tenant_id]


def test_a_recording_goes_after_its_days_and_its_index_still_answers(acme: Cast) -> None:
    video_id = recorded(acme)
    path = f"/v1/videos/{encode('vid', video_id)}"
    keep(acme, source_days=10)
    assert apply_retention(acme.tenant_id) == 0, "it is too young"

    assert apply_retention(acme.tenant_id, now=timezone.now() + LATER) == 1
    assert apply_retention(acme.tenant_id, now=timezone.now() + LATER) == 0
    run(acme, JobKind.ERASE_PICTURES)

    assert keys(acme) == ["0.jpg"]
    played = acme.client.get(f"{path}/playback").json()
    assert (played["url"], played["segments"]) == (None, [])
    again = acme.client.post(f"{path}/reindex")
    assert (again.status_code, again.json()["code"]) == (409, "source_deleted")
    assert len(acme.client.get(f"{path}/events").json()["data"]) == 2
    assert acme.client.get("/v1/storage").json()["stored_bytes"] == 0
    assert kinds_of(acme) == [Deleted.SOURCE]


def test_pictures_go_after_their_days_and_words_and_times_stay(acme: Cast) -> None:
    video_id = recorded(acme)
    keep(acme, thumbnails_days=10)
    path = f"/v1/videos/{encode('vid', video_id)}"
    assert acme.client.get(f"{path}/frames").json()["data"][0]["thumbnail_url"] is not None

    assert apply_retention(acme.tenant_id, now=timezone.now() + LATER) == 1
    run(acme, JobKind.ERASE_PICTURES)

    assert keys(acme) == ["source"]
    frames = acme.client.get(f"{path}/frames").json()["data"]
    assert frames
    assert {frame["thumbnail_url"] for frame in frames} == {None}
    events = acme.client.get(f"{path}/events").json()["data"]
    assert [(event["summary"], event["thumbnail_url"]) for event in events] == [
        ("A man walks in.", None),
        ("The dog barks.", None),
    ]
    assert kinds_of(acme) == [Deleted.THUMBNAILS]


def test_a_video_that_is_being_indexed_keeps_its_recording(acme: Cast) -> None:
    video_id = recorded(acme)
    keep(acme, source_days=10, thumbnails_days=10)
    with acme.scope():
        IndexVersion.objects.create(tenant_id=acme.tenant_id, video_id=video_id, n=2)
        Video.objects.update(building_index_version=2)
    assert apply_retention(acme.tenant_id, now=timezone.now() + LATER) == 0


def test_an_index_goes_with_its_video(acme: Cast) -> None:
    video_id = recorded(acme)
    keep(acme, index_days=10)
    assert apply_retention(acme.tenant_id, now=timezone.now() + LATER) == 1
    run(acme, JobKind.PURGE_VIDEO)
    assert acme.client.get(f"/v1/videos/{encode('vid', video_id)}").status_code == 404
    assert keys(acme) == []
    assert kinds_of(acme) == [Deleted.VIDEO]


def test_questions_go_with_their_groups_and_open_questions_stay(acme: Cast, globex: Cast) -> None:
    old, video_id = ask(acme)
    finish(acme, old, video_id)
    waiting, _ = ask(acme)
    theirs, their_video = ask(globex)
    finish(globex, theirs, their_video)
    scope: dict[str, Any] = {"video_ids": [encode("vid", video_id)]}
    acme.client.post("/v1/sessions", scope)
    with acme.scope():
        Search.objects.create(tenant_id=acme.tenant_id, status="succeeded", text="dog", settings={})
        QuestionBatch.objects.create(tenant_id=acme.tenant_id, status="completed", total=1)
    keep(acme, questions_days=10)
    assert tenants_with_retention() == [acme.tenant_id]
    assert apply_retention(acme.tenant_id) == 0

    assert apply_retention(acme.tenant_id, now=timezone.now() + LATER) == 4

    with acme.scope():
        assert [question.id for question in Question.objects.all()] == [waiting]
        assert not any(model.objects.exists() for model in (Search, Session, QuestionBatch))
        assert Video.objects.filter(id=video_id).exists()
    with globex.scope():
        assert Question.objects.filter(id=theirs).exists()
    assert set(kinds_of(acme)) == {Deleted.QUESTION, Deleted.SEARCH, Deleted.BATCH, Deleted.SESSION}
