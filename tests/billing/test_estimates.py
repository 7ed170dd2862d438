"""Estimates before the work: out of the tenant's history, with the error that they had."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.conf import settings

from backend.billing.services.limits.estimates import Estimate, Span, estimate
from backend.library.models import Video, VideoStatus
from backend.questions.models import Question, QuestionStatus
from tests.conftest import Cast
from tests.factories import make_video

ASSUMED = Span(Decimal(1), Decimal(2), Decimal(3))
AT = datetime(2026, 11, 22, 20, 0, tzinfo=UTC)


def decimals(*values: int) -> list[Decimal]:
    return [Decimal(value) for value in values]


def test_a_short_history_says_nothing() -> None:
    assert estimate(decimals(10, 20, 30, 40), assumed=ASSUMED) == Estimate(ASSUMED, 0)
    five = Span(Decimal(14), Decimal(30), Decimal(46))
    assert estimate(decimals(50, 10, 40, 20, 30), assumed=ASSUMED) == Estimate(five, 5)


def test_the_error_is_that_of_estimates_from_the_work_before() -> None:
    # 10 to 50 give: expected 30, from 14 to 46. Then 60 (error 30/60, outside) and 25 (expected 35, error 10/25).
    found = estimate(decimals(10, 20, 30, 40, 50, 60, 25), assumed=ASSUMED)
    assert (found.sample, found.error, found.covered) == (7, Decimal("0.45"), Decimal("0.5"))
    assert found.span.expected == 30


def test_a_question_is_estimated_by_those_of_its_method_and_effort(acme: Cast, globex: Cast) -> None:
    body = {"method": "ava", "effort": "medium"}
    assumed = acme.client.post("/v1/questions:estimate", body, format="json").json()
    assert assumed["charge"] == {"low": "0", "expected": "0.02", "high": "0.02", "currency": "USD"}
    assert (assumed["sample"], assumed["error"], assumed["duration_ms"]["expected"]) == (0, None, 60_000)
    with acme.scope():
        for n, (effort, ms) in enumerate([("medium", 1_000 * n) for n in range(1, 12)] + [("low", 9)] * 9):
            Question.objects.create(
                tenant_id=acme.tenant_id, text="Who?", method="ava", effort=effort, status=QuestionStatus.SUCCEEDED,
                timings={"total_ms": ms}, completed_at=AT + timedelta(minutes=n),
            )  # fmt: skip

    found = acme.client.post("/v1/questions:estimate", body, format="json").json()

    assert found["duration_ms"] == {"low": 2_000, "expected": 6_000, "high": 10_000}
    assert (found["sample"], found["covered"]) == (11, 0.0)
    assert globex.client.post("/v1/questions:estimate", body, format="json").json() == assumed


def test_a_recording_is_estimated_by_its_duration_or_by_its_size(acme: Cast) -> None:
    hour = acme.client.post("/v1/videos:estimate", {"duration_ms": 3_600_000}, format="json").json()
    # 0.042 USD for each of 60 minutes.
    assert hour["charge"] == {"low": "2.52", "expected": "2.52", "high": "2.52", "currency": "USD"}
    assert hour["duration_ms"] == {"low": 360_000, "expected": 1_800_000, "high": 7_200_000}
    with acme.scope():
        for n in range(5):
            video = make_video(indexed_until_ms=60_000)
            Video.objects.filter(id=video.id).update(
                status=VideoStatus.READY,
                duration_ms=60_000,
                size_bytes=6_000_000,
                index_started_at=AT,
                ready_at=AT + timedelta(seconds=15 + n),
            )
    by_size = acme.client.post("/v1/videos:estimate", {"size_bytes": 60_000_000}, format="json").json()
    # 600 seconds at 0.0007 USD; 17 seconds for each minute.
    assert by_size["charge"]["expected"] == "0.42"
    assert by_size["duration_ms"]["expected"] == 170_000
    assert by_size["sample"] == 5
    for body, status, code in (
        ({"duration_ms": "15000"}, 400, "invalid"),
        ({"duration_ms": settings.MAX_VIDEO_MS + 1}, 400, "too_long"),
        ({"size_bytes": settings.MAX_UPLOAD_BYTES + 1}, 413, "upload_too_large"),
    ):
        refused = acme.client.post("/v1/videos:estimate", body, format="json")
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (status, code), body
    neither = acme.client.post("/v1/videos:estimate", {}, format="json")
    assert (neither.status_code, neither.json()["errors"][0]["pointer"]) == (400, "/duration_ms")
