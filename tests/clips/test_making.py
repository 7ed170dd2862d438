"""Clips as workers make them: from a stored recording to files that a browser opens."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import av
import httpx
import pytest
import webvtt

from backend.api.public_ids import decode, encode
from backend.clips.models import Clip
from backend.clips.services import clips
from backend.ekg.models import TranscriptLine
from backend.jobs.models import Job, JobKind, JobState
from backend.library.models import InputSegment, Video
from backend.library.storage import ObjectStorage
from tests.conftest import Cast
from tests.engine.media.binary_clock import shown
from tests.engine.media.test_clips import FRAME_MS, clock_file, keyframe_before
from tests.library.growing import begin, close, send
from tests.library.test_storage_quota import probe
from tests.library.uploading import make_video
from workers.runner import run_class


@pytest.fixture
def video(acme: Cast) -> UUID:
    """Ten seconds in H.265, filmed from nine o'clock on, in which somebody speaks."""
    content = clock_file("v.mkv", codec="libx265").read_bytes()
    made = make_video(acme.client, content, recorded_at="2026-03-01T09:00:00+01:00", time_zone="Europe/Berlin")
    video_id = decode("vid", made["id"])
    probe(acme, video_id)
    with acme.scope():
        TranscriptLine.objects.create(
            tenant_id=acme.tenant_id, video_id=video_id, index_version=1, start_ms=3_000, end_ms=4_000,
            text="Good morning", words=[], language="en",
        )  # fmt: skip
    return video_id


def clip_of(cast: Cast, video: UUID, **body: Any) -> dict[str, Any]:
    """Return a clip that a worker has made, or tried to."""
    asked = {"video_id": encode("vid", video), "start_ms": 2_010, "end_ms": 4_470, **body}
    reply = cast.client.post("/v1/clips", asked)
    assert reply.status_code == 202, reply.content
    run_class("cpu.render", worker="test")
    made: dict[str, Any] = cast.client.get(reply.headers["Location"]).json()
    return made


def fetched(clip: dict[str, Any], folder: Path, name: str = "url") -> Path:
    reply = httpx.get(clip[name])
    assert reply.status_code == 200
    file = folder / name
    file.write_bytes(reply.content)
    return file


def test_an_exact_clip_is_made_with_poster_captions_and_metadata(acme: Cast, video: UUID, tmp_path: Path) -> None:
    clip = clip_of(acme, video, mode="exact", captions="file", title="北门 🚪")

    assert (clip["status"], clip["error"], clip["gaps"]) == ("ready", None, [])
    assert (clip["shown_start_ms"], clip["width"], clip["height"]) == (2_010, 192, 96)
    assert abs(clip["shown_end_ms"] - 4_470) < FRAME_MS
    assert (clip["start_at"], clip["end_at"]) == ("2026-03-01T09:00:02.010+01:00", "2026-03-01T09:00:04.470+01:00")
    file = fetched(clip, tmp_path)
    assert [one.number for one in shown(file)] == list(range(50, 112))
    with av.open(str(file)) as container:
        assert [stream.codec_context.name for stream in container.streams] == ["h264", "aac"]
        tags = dict(container.metadata)
    assert {name: tags[name] for name in ("title", "product", "clip_id", "video_id", "start_at", "end_at")} == {
        "title": "北门 🚪", "product": "AVA Cloud", "clip_id": clip["id"], "video_id": clip["video_id"],
        "start_at": clip["start_at"], "end_at": clip["end_at"],
    }  # fmt: skip
    with av.open(str(fetched(clip, tmp_path, "poster_url"))) as picture:
        assert picture.streams.video[0].codec_context.width == 480
    (caption,) = webvtt.from_string(fetched(clip, tmp_path, "captions_url").read_text())
    assert (caption.start, caption.end, caption.text) == ("00:00:00.990", "00:00:01.990", "Good morning")
    assert httpx.head(clip["url"]).status_code in (200, 403), "a link for GET"
    assert httpx.get(clip["url"]).headers["Content-Type"] == "video/mp4"
    sizes = dict(ObjectStorage().list_sizes(f"t/{acme.tenant_id}/v/{video}/clips/"))
    assert clip["size_bytes"] == sum(sizes.values())
    assert len(sizes) == 3


def test_a_fast_clip_of_h265_says_where_it_begins(acme: Cast, video: UUID, tmp_path: Path) -> None:
    clip = clip_of(acme, video, mode="fast")

    key = keyframe_before(clock_file("v.mkv", codec="libx265"), 2_010)
    assert (clip["status"], clip["shown_start_ms"]) == ("ready", key * FRAME_MS)
    file = fetched(clip, tmp_path)
    found = shown(file)
    assert found[0].number == key
    assert abs(found[-1].number - 111) <= 3
    with av.open(str(file)) as container:
        assert container.streams.video[0].codec_context.name == "hevc"
        assert container.streams.video[0].codec_context.codec_tag == "hvc1"


@pytest.mark.parametrize("mode", ["exact", "fast"])
def test_a_clip_is_joined_over_a_gap_that_it_tells(acme: Cast, mode: str, tmp_path: Path) -> None:
    video = begin(acme, time_zone="UTC", recorded_at="2026-03-01T09:00:00Z")
    pieces = [send(acme, video, clock_file("v.mp4", first=first).read_bytes()) for first in (0, 1_000)]
    close(acme, video)
    run_class("cpu.probe", worker="test")
    with acme.scope():
        for piece, minute in zip(pieces, (0, 5), strict=True):
            at = datetime(2026, 3, 1, 9, minute, tzinfo=UTC)
            InputSegment.objects.filter(id=decode("seg", piece["id"])).update(recorded_at=at)

    clip = clip_of(acme, video, mode=mode, start_ms=9_010, end_ms=11_200)

    first = 225 if mode == "exact" else keyframe_before(clock_file("v.mp4"), 9_010)
    assert (clip["status"], clip["gaps"]) == ("ready", [{"at_ms": 10_000, "gap_ms": 290_000}])
    assert clip["shown_start_ms"] == (9_010 if mode == "exact" else first * FRAME_MS)
    assert (clip["start_at"], clip["end_at"]) == ("2026-03-01T09:00:09.010+00:00", "2026-03-01T09:05:01.200+00:00")
    numbers = [one.number for one in shown(fetched(clip, tmp_path))]
    assert numbers[: 250 - first + 30] == [*range(first, 250), *range(1_000, 1_030)]


def test_a_clip_of_a_part_that_cannot_be_decoded_fails_with_the_reason(acme: Cast, tmp_path: Path) -> None:
    whole = clock_file("v.mp4").read_bytes()
    video = decode("vid", make_video(acme.client, whole)["id"])
    key = probe(acme, video).object_key
    ObjectStorage().put(key, whole[:2_000] + bytes(len(whole) - 2_000), content_type="video/mp4")

    for _ in range(4):
        clip = clip_of(acme, video)
        with acme.scope():
            Job.objects.filter(kind=JobKind.MAKE_CLIP).update(due=True)
        if clip["status"] == "failed":
            break

    assert clip["status"] == "failed"
    assert clip["error"]["code"] in ("source_undecodable", "source_unreadable")


def test_a_job_whose_clip_or_recording_is_gone_ends_without_work(acme: Cast, video: UUID) -> None:
    asked = {"video_id": encode("vid", video), "start_ms": 0, "end_ms": 1_000}
    acme.client.post("/v1/clips", asked)
    with acme.scope():
        Clip.objects.all().delete()

    run_class("cpu.render", worker="test")

    with acme.scope():
        assert Job.objects.get(kind=JobKind.MAKE_CLIP).state == JobState.SUCCEEDED
    assert list(ObjectStorage().list_keys(f"t/{acme.tenant_id}/v/{video}/clips/")) == []


def test_an_ended_job_of_a_clip_can_be_run_again(acme: Cast, video: UUID, tmp_path: Path) -> None:
    asked = {"video_id": encode("vid", video), "start_ms": 0, "end_ms": 1_000, "mode": "fast"}
    made = acme.client.post("/v1/clips", asked).json()
    with acme.scope():
        job = Job.objects.get(kind=JobKind.MAKE_CLIP)
        clips.cancel(job)
    path = f"/v1/clips/{made['id']}"
    assert acme.client.get(path).json()["error"]["code"] == "canceled"

    with acme.scope():
        clips.revive(Job.objects.get(id=job.id))
    run_class("cpu.render", worker="test")

    clip = acme.client.get(path).json()
    assert (clip["status"], clip["error"]) == ("ready", None)
    assert shown(fetched(clip, tmp_path))[0].number == 0
    with acme.scope():
        assert Video.objects.get(id=video).duration_ms == 10_000
