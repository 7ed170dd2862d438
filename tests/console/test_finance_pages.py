"""Coupons, sellers, machine hours and model rates in the console: listed, made for a reason, and for finance alone."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from uuid6 import uuid7

from backend.billing.models import Coupon, CouponRedemption, LegalEntity, MachineDay, ModelRate
from backend.staff.models import StaffEvent
from tests.conftest import Cast

COUPONS, HOURS = "/console/billing/coupon/", "/console/billing/machineday/"
REASON = "Agreed with sales"
HEAD = "day,machine,devices,hours,usd_per_hour\n"


def noted(action: str) -> list[dict[str, Any]]:
    return list(StaffEvent.objects.filter(action=action).order_by("id").values_list("details", flat=True))


def test_finance_makes_a_coupon_and_grants_what_the_list_shows(staff_as: Any, acme: Cast) -> None:
    client = staff_as("finance")
    form = {"code": "SPRING-25", "percent": "25", "amount": "", "currency": "", "months": "3", "redeem_until": ""}

    refused = [
        client.post(f"{COUPONS}create/", {**form, "reason": "short"}),
        client.post(f"{COUPONS}create/", {**form, "amount": "5", "reason": REASON}),
        client.post(f"{COUPONS}create/", {**form, "code": "spring", "reason": REASON}),
    ]
    assert not Coupon.objects.exists()
    made = client.post(f"{COUPONS}create/", {**form, "reason": REASON})
    again = client.post(f"{COUPONS}create/", {**form, "reason": REASON})

    assert [reply.status_code for reply in refused] == [400] * 3
    assert "either a percentage or an amount" in refused[1].content.decode()
    assert (made.status_code, made.headers["Location"]) == (302, COUPONS)
    assert (again.status_code, "There is a coupon SPRING-25." in again.content.decode()) == (400, True)
    coupon = Coupon.objects.get()
    assert (coupon.percent, coupon.months, coupon.author, coupon.note) == (25, 3, "finance@example.org", REASON)
    assert noted("coupon.created") == [{"coupon": "SPRING-25", "discount": "25 %", "months": 3, "reason": REASON}]
    listed = client.get(COUPONS).content.decode()
    assert "SPRING-25" in listed
    assert f'href="{COUPONS}create/"' in listed
    grant = {"code": "SPRING-25", "reason": REASON}
    assert client.post(f"/console/tenancy/tenant/{acme.tenant_id}/act/coupon/", grant).status_code == 302
    with acme.scope():
        assert CouponRedemption.objects.get().coupon_code == "SPRING-25"


def test_a_coupon_of_an_amount_has_its_currency_and_its_end(staff_as: Any) -> None:
    client, end = staff_as("operator"), (timezone.now() + timedelta(days=3)).replace(second=0, microsecond=0)
    form = {"code": "FIVE", "amount": "5", "currency": "EUR", "months": "1", "reason": REASON}
    late = client.post(f"{COUPONS}create/", {**form, "redeem_until": "2020-01-01T00:00"})
    made = client.post(f"{COUPONS}create/", {**form, "redeem_until": f"{end:%Y-%m-%dT%H:%M}"})

    assert (late.status_code, made.status_code) == (400, 302)
    coupon = Coupon.objects.get()
    assert (coupon.amount, coupon.currency, coupon.percent, coupon.redeem_until) == (5, "EUR", None, end)
    assert "5.00 EUR a month" in client.get(COUPONS).content.decode()


def test_finance_enters_machine_hours_as_rows_and_as_a_file(staff_as: Any) -> None:
    client = staff_as("finance")
    rows = f"{HEAD}2026-11-20,g6,1,24,0.8\n2026-11-21,g6,1,12,0.8"

    by_rows = client.post(f"{HOURS}create/", {"rows": rows, "reason": REASON})
    file = SimpleUploadedFile("hours.csv", f"\ufeff{HEAD}2026-11-21,g6,2,48,0.7\r\n".encode(), "text/csv")
    by_file = client.post(f"{HOURS}create/", {"file": file, "reason": "The invoice of November"})

    assert (by_rows.status_code, by_file.status_code) == (302, 302)
    stored = MachineDay.objects.order_by("day").values_list("day", "devices", "hours", "usd_per_hour", "author", "note")
    assert list(stored) == [
        (date(2026, 11, 20), 1, Decimal(24), Decimal("0.8"), "finance@example.org", REASON),
        (date(2026, 11, 21), 2, Decimal(48), Decimal("0.7"), "finance@example.org", "The invoice of November"),
    ]
    assert noted("machine_hours.entered") == [
        {"rows": 2, "from": "2026-11-20", "to": "2026-11-21", "usd": "28.8", "reason": REASON},
        {"rows": 1, "from": "2026-11-21", "to": "2026-11-21", "usd": "33.6", "reason": "The invoice of November"},
    ]
    listed = client.get(HOURS).content.decode()
    assert "$33.60" in listed
    assert 'enctype="multipart/form-data"' in client.get(f"{HOURS}create/").content.decode()


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("", "Enter either rows or a file."),
        (HEAD, "no row below the names"),
        ("2026-11-20,g6,1,24,0.8", "The first line must name the columns"),
        (f"{HEAD}2026-11-20,g6,1,24,0.8\n2026-11-21,g6,1,x,0.8", "not a day, a number of devices"),
        (f"{HEAD}2026-11-20,g6,1,-1,0.8", "are not negative"),
        (f"{HEAD}2026-11-20,{'g' * 101},1,24,0.8", "at most 100 characters"),
        (f"{HEAD}2026-11-20,g\x076,1,24,0.8", "one line of at most"),
        (f"{HEAD}2026-11-20,g6,{10**12},24,0.8", "are below 1000000"),
    ],
)
def test_hours_that_make_no_sense_enter_nothing(staff_as: Any, rows: str, says: str) -> None:
    reply = staff_as("finance").post(f"{HOURS}create/", {"rows": rows, "reason": REASON})

    assert reply.status_code == 400
    assert says in reply.content.decode()
    assert not MachineDay.objects.exists()
    assert noted("machine_hours.entered") == []


@pytest.mark.parametrize("file", [b"\xff\xfe\x00", b"x" * 1_000_001])
def test_a_file_that_cannot_be_read_enters_nothing(staff_as: Any, file: bytes) -> None:
    form = {"file": SimpleUploadedFile("hours.csv", file), "reason": REASON}

    assert staff_as("finance").post(f"{HOURS}create/", form).status_code == 400
    assert not MachineDay.objects.exists()


def test_other_roles_make_neither(staff_as: Any) -> None:
    coupon = {"code": "SPRING-25", "percent": "25", "months": "1", "reason": REASON}
    hours = {"rows": f"{HEAD}2026-11-20,g6,1,24,0.8", "reason": REASON}
    for role in ("support", "support_content"):
        client = staff_as(role)
        for path, form in ((COUPONS, coupon), (HOURS, hours)):
            assert client.get(f"{path}create/").status_code == 403
            assert client.post(f"{path}create/", form).status_code == 403

    assert not Coupon.objects.exists()
    assert not MachineDay.objects.exists()


def test_sellers_and_rates_of_models_are_shown_and_not_changed(staff_as: Any) -> None:
    client, seller = staff_as("finance"), LegalEntity.objects.get(is_default=True)
    rate = ModelRate.objects.using("staff").create(
        id=uuid7(), model="qwen2.5-vl-7b", fresh_us=40, cached_us=1, output_us=900, effective_from=timezone.now(),
        author="finance@example.org", note="measured with 64 requests in flight",
    )  # fmt: skip

    assert seller.legal_name in client.get(f"/console/billing/legalentity/{seller.code}/change/").content.decode()
    page = client.get(f"/console/billing/modelrate/{rate.id}/change/").content.decode()
    assert "measured with 64 requests in flight" in page
    for path in ("legalentity", "modelrate"):
        assert client.get(f"/console/billing/{path}/add/").status_code == 403
