"""Storage is metered an hour at a time, and links to recordings are noted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from backend.api.public_ids import encode
from backend.billing.models import UsageEvent
from backend.library.models import VideoStatus
from backend.library.services.storage_metering import meter_storage
from tests.conftest import Cast
from tests.factories import make_video

AT = datetime(2026, 3, 1, 12, 40, tzinfo=UTC)


def stored_rows(cast: Cast) -> list[tuple[datetime, Decimal, Decimal, str]]:
    with cast.scope():
        rows = UsageEvent.objects.filter(meter="storage_gb_hours").order_by("occurred_at")
        return [(row.occurred_at, row.quantity, row.price_amount, row.source_id) for row in rows]


def test_each_hour_is_booked_once_with_what_is_stored_then(acme: Cast, globex: Cast) -> None:
    with acme.scope():
        make_video(size_bytes=2_500_000_000)
        # Two videos that share one object take its bytes once.
        make_video(size_bytes=1_000_000_000, object_key="t/a/shared")
        make_video(size_bytes=1_000_000_000, object_key="t/a/shared")
    both = [acme.tenant_id, globex.tenant_id]

    assert meter_storage(both, at=AT) == 1, "globex stores nothing, so nothing is booked"
    assert meter_storage(both, at=AT + timedelta(minutes=15)) == 0
    with acme.scope():
        make_video(size_bytes=500_000_000)
    assert meter_storage(both, at=AT + timedelta(hours=2)) == 1

    first, second = stored_rows(acme)
    # 3.5 GB for an hour at 0.000068493151 USD.
    assert first[:3] == (AT.replace(minute=0), Decimal("3.5"), Decimal("0.0002397260"))
    assert second[:2] == (AT.replace(hour=14, minute=0), Decimal(4))
    assert first[3] == f"{acme.tenant_id}:2026-03-01T12"
    assert stored_rows(globex) == []


def test_missed_hours_are_charged_later_once_by_what_was_there_and_still_is(acme: Cast) -> None:
    hour = AT.replace(minute=0)
    with acme.scope():
        make_video(size_bytes=2_000_000_000, index_started_at=hour - timedelta(days=30))
        make_video(size_bytes=1_000_000_000, index_started_at=hour + timedelta(hours=1, minutes=30))
        make_video(size_bytes=5_000_000_000)
    meter_storage([acme.tenant_id], at=AT - timedelta(days=8))
    before = len(stored_rows(acme))
    meter_storage([acme.tenant_id], at=AT)
    meter_storage([acme.tenant_id], at=AT + timedelta(hours=3))
    rows = stored_rows(acme)
    meter_storage([acme.tenant_id], at=AT + timedelta(hours=3, minutes=10))
    meter_storage([acme.tenant_id], at=AT + timedelta(hours=4))

    assert stored_rows(acme)[:-1] == rows, "each hour is charged once"
    booked = {row[0]: row[1] for row in rows}
    assert len(booked) == len(rows)
    # The hours since the last run, of which the second recording was complete before one.
    assert [booked[hour + timedelta(hours=n)] for n in range(4)] == [Decimal(8), Decimal(2), Decimal(3), Decimal(8)]
    # Seven days before the first run, and not the day before these.
    assert sorted(booked)[before] == hour - timedelta(days=7)
    assert {booked[hour - timedelta(hours=n)] for n in range(1, 24 * 7 + 1)} == {Decimal(2)}


def test_nothing_is_charged_for_hours_in_which_nothing_was_stored(acme: Cast) -> None:
    with acme.scope():
        make_video(size_bytes=2_000_000_000, index_started_at=AT.replace(minute=5))
    meter_storage([acme.tenant_id], at=AT)

    assert [row[0] for row in stored_rows(acme)] == [AT.replace(minute=0)]


def test_the_first_link_of_an_hour_is_noted_and_charged_to_nobody(acme: Cast) -> None:
    with acme.scope():
        video = make_video(size_bytes=1_500_000_000, status=VideoStatus.READY)
    for _ in range(2):
        assert acme.client.get(f"/v1/videos/{encode('vid', video.id)}/playback").status_code == 200

    with acme.scope():
        rows = list(UsageEvent.objects.filter(meter="egress_gb"))
    hours = {row.occurred_at.hour for row in rows}
    assert len(rows) == len(hours), "once an hour, should the hour end in between"
    row = rows[0]
    assert (row.quantity, row.billable, row.reason) == (Decimal("1.5"), False, "link_issued")
    assert (row.price_amount, row.cost_amount, row.video_id) == (0, 0, video.id)
    assert row.api_key_id == acme.key_id
