"""What is reported of a limit: thresholds that anything has come to, and work that it left no room for."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backend.api import public_ids
from backend.billing.models import QuotaMonth
from backend.billing.services.limits.own_budgets import set_budget
from backend.library.models import Video
from backend.library.services.storage_metering import meter_storage
from tests.billing.test_own_budgets import asked, events
from tests.conftest import Cast, make_tenant
from tests.factories import make_video
from tests.questions.world import ask, finish

UPLOAD = {"filename": "a.mp4", "size_bytes": 1_000, "content_type": "video/mp4", "duration_ms": 7 * 60_000}


def reports(cast: Cast) -> list[tuple[str, str, str, int]]:
    return [(row["type"], row["data"]["limit"], row["data"]["used"], row["data"]["percent"]) for row in events(cast)]


def limits_of(cast: Cast) -> list[tuple[str, ...]]:
    """The limits of stored bytes that hold for the caller."""
    rows = cast.client.get("/v1/limits").json()["limits"]
    return [tuple(row.values()) for row in rows if row["name"] == "stored_bytes"]


def booked(cast: Cast, **amounts: Any) -> None:
    """What the month's ledger has booked of cast."""
    with cast.scope():
        QuotaMonth.objects.update_or_create(
            tenant_id=cast.tenant_id, month=timezone.now().date().replace(day=1), api_key_id=None, defaults=amounts
        )


def test_work_that_does_not_fit_is_reported_although_it_is_rolled_back(acme: Cast, globex: Cast) -> None:
    acme.client.put("/v1/budgets", {"media_minutes": 60}, format="json")
    booked(acme, media_seconds=56 * 60)
    for _ in range(2):
        assert acme.client.post("/v1/uploads", UPLOAD).status_code == 402
    assert reports(acme) == [("budget.exceeded", "media_minutes", "56", 93)]

    booked(acme, media_seconds=60 * 60)
    assert acme.client.post("/v1/uploads", UPLOAD).status_code == 402
    assert acme.client.post("/v1/uploads", UPLOAD).status_code == 402
    assert reports(acme)[1:] == [("budget.exceeded", "media_minutes", "60", 100)]
    assert reports(globex) == []


def test_a_limit_of_open_jobs_is_reported_when_no_more_may_be_opened(acme: Cast) -> None:
    acme.client.put("/v1/budgets", {"open_jobs": 2}, format="json")
    asked(acme)
    assert reports(acme) == []
    asked(acme)
    assert reports(acme) == [("budget.exceeded", "open_jobs", "2", 100)]


def test_a_threshold_that_no_reservation_crossed_is_reported_by_the_next(acme: Cast) -> None:
    acme.client.put("/v1/budgets", {"questions": 10}, format="json")
    booked(acme, questions=8)
    asked(acme)
    assert reports(acme) == [("usage.threshold_reached", "questions", "9", 90)] * 2, "50 and 80 %"


def test_the_charge_of_storage_is_reported_by_its_sweep(acme: Cast, globex: Cast) -> None:
    with acme.scope():
        set_budget(api_key_id=None, limits={"charge": Decimal("0.0001"), "stored_bytes": 10**10})
        Video.objects.filter(id=make_video(object_key="a").id).update(size_bytes=6 * 10**9)
    at = timezone.now()
    assert meter_storage([acme.tenant_id, globex.tenant_id], at=at) == 1
    meter_storage([acme.tenant_id], at=at + timedelta(hours=1))

    assert sorted((kind, limit) for kind, limit, _, _ in reports(acme)) == [
        ("budget.exceeded", "charge"), ("usage.threshold_reached", "charge"), ("usage.threshold_reached", "charge"),
        ("usage.threshold_reached", "stored_bytes"),
    ]  # fmt: skip
    assert reports(globex) == []


@override_settings(TOKENS_PER_PLAN={"standard": 1_000})
def test_the_tokens_of_the_plan_are_reported(acme: Cast) -> None:
    question_id, video_id = ask(acme)
    finish(acme, question_id, video_id)

    assert [(kind, limit) for kind, limit, _, _ in reports(acme)] == [
        ("usage.threshold_reached", "tokens"), ("usage.threshold_reached", "tokens"),
    ]  # fmt: skip
    ask(acme)
    question_id, video_id = ask(acme)
    finish(acme, question_id, video_id)
    assert [kind for kind, *_ in reports(acme)][2:] == ["budget.exceeded"]
    with acme.scope():
        video = public_ids.encode("vid", make_video(indexed_until_ms=30_000).id)
    body = {"question": "Which car?", "video_ids": [video]}
    assert acme.client.post("/v1/questions", body, format="json").json()["code"] == "plan_exhausted"


def test_a_limit_that_was_reported_costs_no_write(acme: Cast) -> None:
    acme.client.put("/v1/budgets", {"questions": 4}, format="json")
    for _ in range(2):
        asked(acme)
    with CaptureQueriesContext(connection) as queries:
        asked(acme)
    assert [query["sql"] for query in queries if "webhookevent" in query["sql"] and "INSERT" in query["sql"]] == []


def test_bytes_are_limited_for_the_tenant_and_for_each_key(acme: Cast, globex: Cast) -> None:
    other = make_tenant("initech")
    key = public_ids.encode("key", acme.key_id)
    acme.client.put("/v1/budgets", {"stored_bytes": 5_000}, format="json")
    limited = acme.client.put("/v1/budgets", {"api_key_id": key, "stored_bytes": 2_500}, format="json").json()
    assert limited["limits"]["stored_bytes"] == 2_500
    short = {**UPLOAD, "duration_ms": 1_000}
    assert [acme.client.post("/v1/uploads", short).status_code for _ in range(3)] == [201, 201, 402]
    refused = acme.client.post("/v1/uploads", short).json()

    assert (refused["code"], "the budget of this API key" in refused["detail"]) == ("storage_quota_exceeded", True)
    budget = acme.client.get(f"/v1/budgets/{limited['id']}").json()
    assert [budget[part]["stored_bytes"] for part in ("used", "reserved", "left")] == [0, 2_000, 500]
    assert [row for row in limits_of(acme) if row[:2] != ("stored_bytes", "plan")] == [
        ("stored_bytes", "tenant", "5000", "0", "2000", "3000"),
        ("stored_bytes", "api_key", "2500", "0", "2000", "500"),
    ]
    # What another key, or nobody's key, has stored counts for the tenant alone.
    with acme.scope():
        Video.objects.filter(id=make_video(object_key="a").id).update(size_bytes=2_900)
    assert [row[3] for row in limits_of(acme)][-2:] == ["2900", "0"]
    acme.client.put("/v1/budgets", {"api_key_id": key}, format="json")
    assert "your budget" in acme.client.post("/v1/uploads", short).json()["detail"]
    assert {(limit, percent) for _, limit, _, percent in reports(acme)} >= {("stored_bytes", 80), ("stored_bytes", 98)}
    for cast in (globex, other):
        assert cast.client.post("/v1/uploads", short).status_code == 201
