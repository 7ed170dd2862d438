"""Hourly roll-ups: exact at once, rebuilt at will, and read by GET /v1/usage."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.core.management import call_command
from django.db import connection
from uuid6 import uuid7

from backend.api import public_ids
from backend.billing.models import StaleHour, UsageHour
from backend.billing.queries.usage import usage
from backend.billing.services.usage import ledger, rollups
from backend.billing.services.usage.ledger import Asked
from backend.billing.services.usage.rows import Attribution

VIDEO = uuid7()
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = {"start": NOON.replace(hour=0), "end": NOON.replace(hour=0) + timedelta(days=1)}


def media(at: datetime, seconds: str, **more: Any) -> None:
    ledger.record_media_seconds(
        segment_id=uuid7(), video_id=more.pop("video_id", VIDEO), seconds=Decimal(seconds), occurred_at=at, **more
    )


def quantities(acme: Any, **more: Any) -> dict[str, Decimal]:
    with acme.scope():
        lines = usage(**{**DAY, **more}, group_by=["hour"], limit=100).lines
    return {f"{line.group['hour']:%H}": line.quantity for line in lines}


def test_what_is_booked_is_in_the_usage_before_and_after_the_roll_up(acme: Any) -> None:
    with acme.scope():
        media(NOON + timedelta(minutes=5), "10")
        media(NOON + timedelta(minutes=55), "2.5")
        media(NOON + timedelta(hours=1), "7")
    before = quantities(acme)

    assert before == {"12": Decimal("12.5"), "13": Decimal(7)}
    assert rollups.tenants_with_stale_hours() == [acme.tenant_id]
    assert rollups.rebuild_stale(acme.tenant_id) == 2
    with acme.scope():
        assert StaleHour.objects.count() == 0
        rolled = {row.hour.hour: (row.quantity, row.events, row.price) for row in UsageHour.objects.all()}
    assert rolled == {12: (Decimal("12.5"), 2, Decimal("0.00875")), 13: (Decimal(7), 1, Decimal("0.0049"))}
    assert quantities(acme) == before


def test_a_late_row_makes_its_hour_stale_and_is_counted_once(acme: Any) -> None:
    with acme.scope():
        media(NOON, "10")
    rollups.rebuild_stale(acme.tenant_id)
    with acme.scope():
        media(NOON + timedelta(minutes=1), "3")
        assert [row.hour for row in StaleHour.objects.all()] == [NOON]

    assert quantities(acme) == {"12": Decimal(13)}
    assert rollups.rebuild_stale(acme.tenant_id) == 1
    assert quantities(acme) == {"12": Decimal(13)}


def test_the_edges_of_a_span_inside_an_hour_come_from_the_ledger(acme: Any) -> None:
    with acme.scope():
        for minute, seconds in ((10, "1"), (30, "2"), (50, "4"), (70, "8"), (130, "16")):
            media(NOON + timedelta(minutes=minute), seconds)
    rollups.rebuild_stale(acme.tenant_id)

    span = {"start": NOON + timedelta(minutes=30), "end": NOON + timedelta(minutes=130)}
    assert quantities(acme, **span) == {"12": Decimal(6), "13": Decimal(8)}
    inside = {"start": NOON + timedelta(minutes=20), "end": NOON + timedelta(minutes=40)}
    assert quantities(acme, **inside) == {"12": Decimal(2)}


def test_the_command_rebuilds_what_was_spoilt(acme: Any, globex: Any, capsys: Any) -> None:
    for cast in (acme, globex):
        with cast.scope():
            media(NOON, "10")
        rollups.rebuild_stale(cast.tenant_id)
    with acme.scope(), connection.cursor() as cursor:
        cursor.execute("UPDATE billing_usagehour SET quantity = 99")
    assert quantities(acme) == {"12": Decimal(99)}

    call_command("rebuild_rollups", "--from", "2026-03-01", "--to", "2026-03-02")
    assert quantities(acme) == {"12": Decimal(10)}
    assert quantities(globex) == {"12": Decimal(10)}


def test_usage_is_grouped_and_filtered_by_every_dimension(acme: Any) -> None:
    video, collection, person, question = uuid7(), uuid7(), uuid7(), uuid7()
    with acme.scope():
        belongs = Attribution(collection_id=collection, profile="city", api_key_id=acme.key_id)
        media(NOON, "60", video_id=video, stages="full", attribution=belongs)
        media(NOON, "30", live=True)
        ledger.charge_questions(
            [Asked(question, "ava", "low", collection), Asked(uuid7(), "vector", "high")],
            api_key_id=None,
            person_id=person,
        )

    def lines(query: str) -> list[dict[str, Any]]:
        reply = acme.client.get(f"/v1/usage?{query}")
        assert reply.status_code == 200, reply.content
        found: list[dict[str, Any]] = reply.json()["data"]
        return found

    asked = lines("group_by=method&meter=questions")
    assert [(line["group"]["method"], line["charge"]["amount"]) for line in asked] == [
        ("ava", "0.01"), ("vector", "0.02"),
    ]  # fmt: skip
    public = public_ids.encode("col", collection)
    march = "from=2026-03-01&to=2026-03-02"
    assert {(line["group"]["collection"], line["meter"]) for line in lines(f"group_by=collection&{march}")} == {
        (public, "media_seconds"), (None, "live_seconds"),
    }  # fmt: skip
    assert [line["quantity"] for line in lines(f"collection_id={public}&{march}")] == ["60"]
    (member,) = lines(f"group_by=member&member_id={public_ids.encode('per', person)}")
    assert (member["meter"], member["quantity"]) == ("questions", "2")
    (one,) = lines(f"group_by=question,effort&question_id={public_ids.encode('qst', question)}")
    assert (one["group"]["effort"], one["quantity"]) == ("low", "1")
    (key,) = lines(f"group_by=profile&api_key_id={public_ids.encode('key', acme.key_id)}&{march}")
    assert (key["group"]["profile"], key["charge"]["amount"]) == ("city", "0.042")
    assert acme.client.get("/v1/usage?group_by=hour&from=2026-01-01&to=2026-03-01").json()["errors"][0]["code"] == (
        "span_too_long"
    )


def test_usage_and_events_come_as_csv_too(acme: Any) -> None:
    with acme.scope():
        media(NOON, "60", attribution=Attribution(profile="=1+1"))
        media(NOON + timedelta(minutes=1), "30")
    march = "from=2026-03-01&to=2026-03-02"

    sums = acme.client.get(f"/v1/usage?{march}&group_by=profile", HTTP_ACCEPT="text/csv")
    assert sums.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.reader(io.StringIO(b"".join(sums.streaming_content).decode())))
    # A cell that a spreadsheet would run as a formula is text.
    assert rows == [
        ["profile", "meter", "quantity", "events", "charge", "currency"],
        ["", "media_seconds", "30", "1", "0.021", "USD"],
        ["'=1+1", "media_seconds", "60", "1", "0.042", "USD"],
    ]
    events = acme.client.get(f"/v1/usage/events?{march}", HTTP_ACCEPT="text/csv")
    table = list(csv.DictReader(io.StringIO(b"".join(events.streaming_content).decode())))
    assert [(row["quantity"], row["charge"], row["price_version"]) for row in table] == [
        ("30", "0.021", "1"), ("60", "0.042", "1"),
    ]  # fmt: skip


def test_another_tenant_sees_none_of_it(acme: Any, globex: Any) -> None:
    with acme.scope():
        media(NOON, "60")
    assert quantities(globex) == {}
    rollups.rebuild_stale(acme.tenant_id)
    assert quantities(globex) == {}
