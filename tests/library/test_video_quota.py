"""A plan's limit on the number of videos: one more is refused, whatever it is made of, also under parallel requests."""

from __future__ import annotations

from decimal import Decimal
from uuid import uuid4

import pytest
from django.utils import timezone

from backend.billing.services.plans import NewPlanVersion, append_plan_version, subscribe
from backend.library.models import Upload, Video, VideoStatus
from backend.webhooks.models import WebhookEvent
from backend.webhooks.services import create_endpoint
from tests.billing.test_quotas import at_once
from tests.conftest import Cast
from tests.factories import make_video
from tests.library.uploading import complete, create_upload, put_all

URL = {"source": {"type": "url", "url": "https://example.org/a.mp4"}}


def limited(cast: Cast, videos: int) -> None:
    """Put a tenant on a plan with this many videos."""
    code = f"p-{uuid4().hex[:12]}"
    limits = [("videos", Decimal(videos))]
    append_plan_version(NewPlanVersion(code, "standard", timezone.now(), "tests", limits=limits), using="staff")
    with cast.scope():
        subscribe(plan=code, author="tests", reason="a limit")


@pytest.mark.parametrize("body", [URL, {"source": {"type": "segments"}}])
def test_one_more_video_than_the_plan_allows_is_refused_and_nothing_is_written(
    acme: Cast, globex: Cast, body: dict[str, object]
) -> None:
    limited(acme, 2)
    with acme.scope():
        gone = [make_video(), make_video()][0]
    refused = acme.client.post("/v1/videos", body, format="json")

    assert (refused.status_code, refused.json()["code"]) == (402, "video_quota_exceeded")
    assert "room for 2 videos, and you have 2" in refused.json()["detail"]
    assert globex.client.post("/v1/videos", body, format="json").status_code == 202
    with acme.scope():
        assert Video.objects.count() == 2
        Video.objects.filter(id=gone.id).update(status=VideoStatus.DELETING)
    assert acme.client.post("/v1/videos", body, format="json").status_code == 202, "a video that goes has made room"


def test_an_upload_that_finds_no_room_stays_open_and_is_completed_later(acme: Cast) -> None:
    limited(acme, 1)
    client = acme.client
    upload = create_upload(client, b"123456")
    parts = put_all(client, upload, b"123456")
    with acme.scope():
        other = make_video()
    path = f"/v1/uploads/{upload['id']}/complete"
    refused = client.post(path, {"parts": parts}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (402, "video_quota_exceeded")
    with acme.scope():
        assert Upload.objects.get().status == "open"
        Video.objects.filter(id=other.id).update(status=VideoStatus.DELETING)

    complete(client, upload["id"], parts)
    with acme.scope():
        assert Video.objects.exclude(id=other.id).count() == 1


def test_parallel_requests_never_pass_the_limit(acme: Cast) -> None:
    limited(acme, 3)
    replies = at_once(12, lambda n: acme.client.post("/v1/videos", URL, format="json"))

    assert sorted(reply.status_code for reply in replies) == [202] * 3 + [402] * 9
    with acme.scope():
        assert Video.objects.count() == 3


def test_the_limit_is_shown_and_its_thresholds_are_reported(acme: Cast) -> None:
    limited(acme, 4)
    with acme.scope():
        create_endpoint(url="https://hooks.acme.example/ava")
        make_video()
    assert acme.client.post("/v1/videos", URL, format="json").status_code == 202

    (line,) = [row for row in acme.client.get("/v1/limits").json()["limits"] if row["name"] == "videos"]
    assert line == {
        "name": "videos", "scope": "plan", "amount": "4", "used": "2", "reserved": "0", "left": "2",
    }  # fmt: skip
    with acme.scope():
        assert WebhookEvent.objects.filter(type="usage.threshold_reached").count() == 1
