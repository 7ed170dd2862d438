"""Minutes of recordings: corrected when a recording is measured, counted again when it is indexed again."""

from __future__ import annotations

from django.test import override_settings

from backend.api.public_ids import decode, encode
from backend.billing.services.limits import quotas
from backend.library.indexing import intake
from backend.library.models import Segment, Video, VideoStatus
from gpu_workers.engine.indexing.file_clock import FileClock
from gpu_workers.engine.indexing.probe import ProbeResult
from tests import factories
from tests.conftest import Cast
from tests.library.uploading import make_video

ONE_HOUR = override_settings(MEDIA_MINUTES_PER_PLAN={"standard": 60.0})


def measured(cast: Cast, video_id: str, duration_ms: int) -> Video:
    """Store the measurement of a video as its probe does."""
    probed = ProbeResult(
        duration_ms=duration_ms, source_start_ms=0, width=640, height=360, fps=None, rotation=0, container="mp4",
        codec="h264", has_video=True, bitrate=1, size=1_000,
        clock=FileClock.steady(0, duration_ms),
    )  # fmt: skip
    with cast.scope():
        intake.store_probe(decode("vid", video_id), probed)
    with cast.scope():
        video: Video = Video.objects.get(id=decode("vid", video_id))
        return video


@ONE_HOUR
def test_a_recording_that_is_longer_than_what_is_left_fails_before_it_is_indexed(acme: Cast) -> None:
    fits = make_video(acme.client, duration_ms=60_000)["id"]
    longer = make_video(acme.client, duration_ms=60_000)["id"]

    assert measured(acme, fits, 1_800_000).status == VideoStatus.INDEXING
    refused = measured(acme, longer, 1_800_001)

    assert (refused.status, refused.error_code) == (VideoStatus.FAILED, "plan_exhausted")
    assert "media_minutes limit of 60" in refused.error_message
    with acme.scope():
        assert not Segment.objects.filter(video_id=refused.id).exists()
        assert quotas.use_of().total("media_minutes") == 30


@override_settings(MEDIA_MINUTES_PER_PLAN={"standard": 1.5})
def test_an_index_that_is_built_again_counts_again(acme: Cast) -> None:
    with acme.scope():
        video = factories.make_video(indexed_until_ms=60_000)
        Video.objects.filter(id=video.id).update(status=VideoStatus.READY, duration_ms=60_000)
        other = factories.make_video(indexed_until_ms=60_000)
        Video.objects.filter(id=other.id).update(status=VideoStatus.READY, duration_ms=60_000)
    replies = [acme.client.post(f"/v1/videos/{encode('vid', id)}/reindex") for id in (video.id, other.id)]
    assert [reply.status_code for reply in replies] == [202, 402]
    with acme.scope():
        assert quotas.use_of().total("media_minutes") == 1
        assert Video.objects.get(id=other.id).building_index_version == 1
