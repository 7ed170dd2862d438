"""The commands about money, run as an operator runs them: what they print and write, and what they refuse."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.models import AuditEvent
from backend.billing.models import (
    CostDay,
    Coupon,
    CouponRedemption,
    Invoice,
    MachineDay,
    Price,
    PriceBook,
    Subscription,
    UsageEvent,
    UsageMeter,
)
from backend.billing.services.invoicing.periods import month_of
from backend.billing.services.plans import NewPlanVersion, PlanRefused, append_plan_version
from backend.staff.models import StaffEvent
from tests.billing.invoices.ledger import account, close, use
from tests.conftest import Cast
from tests.isolation.test_catalog import superuser
from tests.questions.world import ask, finish

PERSON = "--author=finance@example.org"
WHY = "--note=agreed with sales"


@pytest.fixture(autouse=True)
def clean(database: None) -> Iterator[None]:
    yield
    with superuser() as server:
        for statement in (
            "DELETE FROM billing_couponredemption", "DELETE FROM billing_coupon", "DELETE FROM billing_machineday",
            "DELETE FROM billing_costday", "DELETE FROM billing_subscription",
            "DELETE FROM billing_planversion WHERE author <> 'migration'",
            "DELETE FROM billing_plan WHERE code NOT IN ('sandbox', 'standard')",
            "DELETE FROM billing_price WHERE author <> 'migration'",
            "DELETE FROM billing_pricebook WHERE code NOT IN ('cost', 'sandbox', 'standard')",
            "ALTER TABLE billing_price DISABLE TRIGGER billing_price_append_only",
            "UPDATE billing_price SET effective_to = NULL",
            "ALTER TABLE billing_price ENABLE TRIGGER billing_price_append_only",
        ):  # fmt: skip
            server.execute(statement)


def run(*words: str) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


# --- coupons ----------------------------------------------------------------------------------------------------------


def test_a_coupon_is_created_listed_and_granted_in_the_tenants_months(acme: Cast) -> None:
    account(acme, time_zone="Asia/Tokyo")
    assert run("coupons", "create", "SPRING-25", "--percent=25", "--months=3", PERSON) == "SPRING-25 is created\n"
    assert "SPRING-25  25 %  3 months" in run("coupons", "list")

    run("coupons", "grant", "SPRING-25", acme.slug, PERSON, "--reason=launch")

    with acme.scope():
        row = CouponRedemption.objects.get()
        event = AuditEvent.objects.get(action="tenant.coupon_granted")
    assert row.start_at == month_of(timezone.now(), "Asia/Tokyo").start
    assert timedelta(days=88) < row.end_at - row.start_at < timedelta(days=93)
    assert (event.reason, event.details) == ("launch", {"coupon": "SPRING-25"})


@pytest.mark.parametrize(
    "words",
    [
        ("ab", "--percent=5"), ("lower", "--percent=5"), ("GOOD",), ("GOOD", "--percent=5", "--amount=5"),
        ("GOOD", "--percent=0"), ("GOOD", "--percent=101"), ("GOOD", "--percent=5", "--currency=USD"),
        ("GOOD", "--amount=5"), ("GOOD", "--amount=5", "--currency=XXX"), ("GOOD", "--amount=0.001", "--currency=USD"),
        ("GOOD", "--amount=-1", "--currency=USD"), ("GOOD", "--percent=5", "--months=0"),
        ("GOOD", "--percent=5", "--until=2020-01-01T00:00:00Z"), ("GOOD", "--percent=five"),
        ("GOOD", "--percent=NaN"), ("GOOD", "--percent=5", "--until=2030-13-01T00:00:00Z"),
        ("GOOD", "--percent=5", "--until=tomorrow"),
    ],
)  # fmt: skip
def test_a_coupon_that_makes_no_sense_is_not_created(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        run("coupons", "create", *words, PERSON)
    assert Coupon.objects.count() == 0


def test_a_coupon_is_granted_once_a_tenant_and_not_after_its_end(acme: Cast, globex: Cast) -> None:
    run("coupons", "create", "ONCE", "--amount=5", "--currency=USD", PERSON)
    Coupon.objects.using("staff").create(
        code="OVER", percent=5, author="x", redeem_until=timezone.now() - timedelta(seconds=1)
    )
    grant = ("coupons", "grant")
    run(*grant, "ONCE", acme.slug, PERSON, "--reason=x")
    run(*grant, "ONCE", globex.slug, PERSON, "--reason=x")

    for code, slug, words in (
        ("ONCE", acme.slug, "redeemed before"), ("OVER", acme.slug, "no longer"), ("NONE", acme.slug, "no such"),
        ("ONCE", "nobody", "no tenant"),
    ):  # fmt: skip
        with pytest.raises(CommandError, match=words):
            run(*grant, code, slug, PERSON, "--reason=x")
    with pytest.raises(CommandError, match="There is a coupon ONCE"):
        run("coupons", "create", "ONCE", "--percent=5", PERSON)
    with acme.scope():
        assert CouponRedemption.objects.count() == 1
        assert AuditEvent.objects.filter(action="tenant.coupon_granted").count() == 1


# --- prices -----------------------------------------------------------------------------------------------------------


def test_prices_are_listed_and_appended() -> None:
    before = run("prices", "list", "--book=standard")
    assert "questions  any  ava:low  v1  0.01 USD" in before

    note = "dearer from now on"
    printed = run("prices", "append", "standard", "questions", "0.03", PERSON, "--variant=ava:low", f"--note={note}")

    row = Price.objects.get(book__code="standard", meter="questions", variant="ava:low", effective_to=None)
    assert printed.startswith(str(row.id))
    event = StaffEvent.objects.get(action="price.appended", email="finance@example.org")
    assert event.details == {"price": str(row), "reason": note}
    assert (row.version, row.unit_amount, row.author, row.note) == (2, Decimal("0.03"), "finance@example.org", note)
    after = run("prices", "list", "--book=standard")
    assert "questions  any  ava:low  v2  0.03 USD" in after
    assert "ava:low  v1" not in after
    assert "ava:low  v1" in run("prices", "list", "--book=standard", "--all")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("append", "nobook", "questions", "1", PERSON, WHY), "no price book"),
        (("append", "standard", "questions", "much", PERSON, WHY), "no amount"),
        (("append", "standard", "questions", "NaN", PERSON, WHY), "no amount"),
        (("append", "standard", "questions", "Infinity", PERSON, WHY), "no amount"),
        (("append", "standard", "wishes", "1", PERSON), "invalid choice"),
        (("append", "standard", "questions", "1", WHY), "--author"),
        (("append", "standard", "questions", "1", WHY, "--author="), "names the person"),
        (("append", "standard", "questions", "1", PERSON, WHY, "--from=2030-01-01"), "no ISO 8601"),
        (("append", "standard", "questions", "1", PERSON, WHY, "--from=2030-13-01T00:00:00Z"), "no ISO 8601"),
        (("append", "standard", "questions", "1", PERSON, WHY, "--from=2021-01-01T00:00:00Z"), "in the past"),
        (("append", "standard", "questions", "1", PERSON), "--note"),
        (("append", "standard", "questions", "1", PERSON, "--note=dearer"), "at least 10 characters"),
        (("book", "euro", "XXX", PERSON, WHY), "invalid choice"),
        (("book", "euro", "EUR", PERSON), "--note"),
        (("book", "euro", "EUR", PERSON, "--note=short"), "at least 10 characters"),
        (("book", "euro", "EUR", WHY, "--author="), "names the person"),
        (("book", "Euro 1", "EUR", PERSON, WHY), "small letters"),
        (("book", "standard", "EUR", PERSON, WHY), "There is a price book standard"),
        (("book", "euro", "EUR", PERSON, WHY, "--tenant=nobody"), "no tenant"),
        (("subscribe", "nobody", "standard", PERSON, "--reason=x"), "no tenant"),
        (("rerate", "nobody", "0193c0de-0000-7000-8000-000000000000", "--reason=x"), "no price"),
        (("rerate", "nobody", "words", "--reason=x"), "no price"),
    ],
)
def test_a_price_command_refuses_bad_input_and_writes_nothing(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run("prices", *words)
    assert not Price.objects.exclude(author="migration").exists()
    assert PriceBook.objects.using("staff").count() == 3


def test_a_tenant_has_one_book_of_its_own_in_each_currency(acme: Cast, globex: Cast) -> None:
    for code, currency, cast in (("a-eur", "EUR", acme), ("a-usd", "USD", acme), ("g-eur", "EUR", globex)):
        run("prices", "book", code, currency, PERSON, WHY, f"--tenant={cast.slug}")
    with pytest.raises(CommandError, match="has a price book in EUR"):
        run("prices", "book", "a-eur-2", "EUR", PERSON, WHY, f"--tenant={acme.slug}")

    own = PriceBook.objects.using("staff").filter(tenant_id=acme.tenant_id).order_by("code")
    assert list(own.values_list("code", "author", "note")) == [
        ("a-eur", "finance@example.org", "agreed with sales"), ("a-usd", "finance@example.org", "agreed with sales"),
    ]  # fmt: skip
    noted = StaffEvent.objects.filter(action="pricebook.created").order_by("id").values_list("details")
    assert noted[0] == ({"book": "a-eur (EUR)", "tenant": encode("tnt", acme.tenant_id), "reason": WHY[7:]},)


def test_a_tenant_on_a_plan_in_euros_is_charged_and_invoiced_in_euros(acme: Cast, globex: Cast) -> None:
    run("prices", "book", "euro", "EUR", PERSON, WHY)
    with pytest.raises(PlanRefused, match="has no price for cached_tokens"):
        append_plan_version(NewPlanVersion("euro", "euro", timezone.now(), "finance@example.org"), using="staff")
    for meter in UsageMeter.values:
        run("prices", "append", "euro", meter, "0.03" if meter == "questions" else "0", PERSON, WHY)
    append_plan_version(NewPlanVersion("euro", "euro", timezone.now(), "finance@example.org"), using="staff")
    run("prices", "subscribe", acme.slug, "euro", PERSON, "--reason=signed")

    for cast in (acme, globex):
        question_id, video_id = ask(cast)
        finish(cast, question_id, video_id)
    for cast, amount, currency in ((acme, "0.03", "EUR"), (globex, "0.02", "USD")):
        with cast.scope():
            row = UsageEvent.objects.get(meter="questions")
            assert (row.price_amount, row.price_currency) == (Decimal(amount), currency)
            assert set(UsageEvent.objects.values_list("price_currency", flat=True)) == {currency}
    use(acme, timezone.now(), 10)
    (invoice,) = close(acme, timezone.now() + timedelta(days=40))[:1]
    with acme.scope():
        document = Invoice.objects.get(id=invoice)
    assert (document.currency, document.total) == ("EUR", Decimal("0.33"))


def test_a_negative_price_is_refused() -> None:
    with pytest.raises(CommandError, match="not negative"):
        run("prices", "append", PERSON, WHY, "--", "standard", "questions", "-1")
    assert not Price.objects.exclude(author="migration").exists()


def test_a_tenant_is_subscribed_and_an_unknown_plan_is_refused(acme: Cast) -> None:
    with pytest.raises(CommandError):
        run("prices", "subscribe", acme.slug, "golden", PERSON, "--reason=x")
    with pytest.raises(CommandError, match="already"):
        run("prices", "subscribe", acme.slug, "standard", PERSON, "--reason=x")
    append_plan_version(NewPlanVersion("pro", "standard", timezone.now(), "x"), using="staff")
    printed = run("prices", "subscribe", acme.slug, "pro", PERSON, "--reason=contract")

    assert printed.startswith(f"{acme.slug} has ")
    with acme.scope():
        assert Subscription.objects.get(effective_to=None).author == "finance@example.org"
        assert AuditEvent.objects.get(action="tenant.subscribed").reason == "contract"


def test_usage_of_the_past_is_booked_again_by_the_command(acme: Cast) -> None:
    start = timezone.now() - timedelta(days=2)
    use(acme, timezone.now() - timedelta(days=1), 3)
    words = ("standard", "questions", "0.05", PERSON, WHY, f"--from={start.isoformat()}")
    id = run("prices", "append", *words, "--back-dated").split()[0]

    assert "1 rows" in run("prices", "rerate", acme.slug, id, "--reason=contract")

    with acme.scope():
        assert sum(row.price_amount for row in UsageEvent.objects.all()) == Decimal("0.15")
        assert AuditEvent.objects.get(action="usage.rerated").details == {"price": id}


# --- machine hours and reconciliation ---------------------------------------------------------------------------------

HOURS = ("machine_hours", "--day=2026-11-20", "--machine=g6", "--hours=24", "--usd-per-hour=0.8", PERSON)


def test_machine_hours_are_entered_and_reconciled() -> None:
    assert run(*HOURS) == "2026-11-20 g6: 24 h at 0.8 USD, 1 devices each\n"

    line = json.loads(run("reconcile_costs", "--day=2026-11-20"))

    assert (line["day"], line["paid_seconds"], line["paid_usd"]) == ("2026-11-20", "86400", "19.2")
    assert CostDay.objects.get().paid_usd == Decimal("19.2")


@pytest.mark.parametrize(
    "change",
    [
        "--day=20.11.2026", "--hours=many", "--hours=-1", "--hours=NaN", "--hours=Infinity", "--devices=0",
        "--devices=1.5", "--usd-per-hour=-0.1", "--usd-per-hour=NaN", "--machine=", "--hours=10000000000",
    ],
)  # fmt: skip
def test_machine_hours_that_make_no_sense_are_refused(change: str) -> None:
    with pytest.raises(CommandError):
        run(*HOURS, change)
    assert MachineDay.objects.count() == 0


def test_a_file_with_one_wrong_line_enters_nothing(tmp_path: Path) -> None:
    file = tmp_path / "hours.csv"
    file.write_text("day,machine,devices,hours,usd_per_hour\n2026-11-20,g6,1,24,0.8\n2026-11-21,g6,1,x,0.8\n")

    for path in (file, tmp_path / "missing.csv"):
        with pytest.raises(CommandError):
            run("machine_hours", f"--csv={path}")
    assert MachineDay.objects.count() == 0


def test_reconciling_refuses_what_is_no_day_and_fails_for_a_day_that_is_short(acme: Cast) -> None:
    with pytest.raises(CommandError, match="not a day"):
        run("reconcile_costs", "--day=yesterday")
    assert CostDay.objects.count() == 0
    use(acme, datetime(2026, 11, 20, 12, tzinfo=UTC), 7_200, meter="device_seconds")
    run("machine_hours", "--day=2026-11-20", "--machine=g6", "--hours=1", "--usd-per-hour=0.8", PERSON)

    with pytest.raises(CommandError, match="2026-11-20"):
        run("reconcile_costs", "--day=2026-11-20")
