"""The preview of a plan's version: what a month would have cost the plan's tenants, rated as invoices are."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from backend.billing.models import Invoice, Plan, PlanAllowance, PlanTier, PlanVersion, PriceBook, UsageMeter
from backend.billing.plan_preview import PlanPreview, preview_plan
from backend.billing.rating import Allowance, Tier
from backend.billing.services.invoicing.closing import grace
from backend.billing.services.plans import NewPlanVersion
from backend.billing.services.prices import NewPrice, append_book, append_price
from backend.billing.services.usage import rollups
from tests.billing.invoices.ledger import account, close, use
from tests.conftest import Cast
from tests.isolation.test_catalog import superuser

AUTHOR = "finance@example.org"
pytestmark = pytest.mark.usefixtures("database")


def last_month() -> datetime:
    first = timezone.now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first - timedelta(days=1)).replace(day=1)


def plan(*, minimum: int = 0, questions: int = 0, tiers: tuple[Tier, ...] = ()) -> PlanVersion:
    """Make a plan whose first version began long ago."""
    version: PlanVersion = PlanVersion.objects.using("staff").create(
        plan=Plan.objects.using("staff").create(code=f"p-{uuid4().hex[:12]}", name="Plan"), version=1,
        price_book=PriceBook.objects.get(code="standard"), minimum_amount=minimum, author=AUTHOR,
        effective_from=last_month() - timedelta(days=40),
    )  # fmt: skip
    if questions:
        PlanAllowance.objects.using("staff").create(plan_version=version, meter="questions", quantity=questions)
    for tier in tiers:
        PlanTier.objects.using("staff").create(
            plan_version=version, meter=tier.meter, variant=tier.variant, mode=tier.mode,
            from_quantity=tier.from_quantity, unit_amount=tier.unit_amount,
        )  # fmt: skip
    return version


def on_plan(cast: Cast, version: PlanVersion) -> None:
    """Have a tenant be billed by a version since it began."""
    with superuser() as server:
        server.execute(
            "UPDATE billing_subscription SET plan_version_id = %s, effective_from = %s WHERE tenant_id = %s",
            [version.id, version.effective_from, cast.tenant_id],
        )


def used(cast: Cast, **quantities: int) -> None:
    """Book usage of the last month, in two parts by day, and roll it up."""
    for meter, units in quantities.items():
        use(cast, last_month() + timedelta(days=3), units - 1, meter=meter)
        use(cast, last_month() + timedelta(days=9), 1, meter=meter)
    rollups.rebuild_stale(cast.tenant_id)


def previewed(code: str, book: str = "standard", *, most: int = 10, **terms: Any) -> PlanPreview:
    new = NewPlanVersion(code, book, timezone.now() + timedelta(minutes=5), AUTHOR, **terms)
    return preview_plan(new, month=last_month().date(), at=timezone.now(), most=most)


def test_the_present_terms_come_to_the_invoice_of_the_month(acme: Cast) -> None:
    tiers = (Tier("media_seconds", "", "graduated", Decimal(0), Decimal("0.001")),
             Tier("media_seconds", "", "graduated", Decimal(3_600), Decimal("0.0003")))  # fmt: skip
    version = plan(questions=101, tiers=tiers)
    on_plan(acme, version)
    used(acme, questions=340, media_seconds=5_431)
    use(acme, last_month() + timedelta(days=20), -7)
    rollups.rebuild_stale(acme.tenant_id)
    account(acme, time_zone="UTC")

    found = previewed(version.plan.code, allowances=[Allowance("questions", "", Decimal(101))], tiers=tiers)

    (line,) = found.lines
    assert (found.subscribed, found.tenants_on_plan, line.tenant_id) == (True, 1, acme.tenant_id)
    now = timezone.now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    (invoice,) = close(acme, now + grace())
    with acme.scope():
        assert Invoice.objects.get(id=invoice).subtotal == line.present.total > 0
    assert line.previewed == line.present
    assert line.difference == 0


def test_new_terms_change_what_the_month_would_have_cost(acme: Cast) -> None:
    version = plan()
    on_plan(acme, version)
    used(acme, questions=340)

    # 340 questions at 0.02 USD by the book; 240 of them at 0.01 USD after the allowance, and 5 USD to the minimum.
    (line,) = previewed(
        version.plan.code, allowances=[Allowance("questions", "", Decimal(100))], minimum_amount=Decimal("7.4"),
        tiers=[Tier("questions", "", "volume", Decimal(0), Decimal("0.01"))],
    ).lines  # fmt: skip

    assert (line.listed.total, line.present.total) == (Decimal("6.80"), Decimal("6.80"))
    assert (line.previewed.total, line.difference) == (Decimal("7.40"), Decimal("0.60"))


def test_another_book_values_the_usage_by_its_prices_unless_the_tenant_has_its_own(acme: Cast, globex: Cast) -> None:
    version, start = plan(), timezone.now() + timedelta(seconds=30)
    for cast in (acme, globex):
        on_plan(cast, version)
        used(cast, questions=100)
    code = f"euro-{uuid4().hex[:12]}"
    euro = append_book(code=code, currency="EUR", note="", author=AUTHOR, using="staff")
    own = append_book(
        code=f"{code}-own", currency="EUR", note="", author=AUTHOR, using="staff", tenant_id=acme.tenant_id
    )
    for meter in UsageMeter.values:
        amount = Decimal("0.05") if meter == "questions" else Decimal(0)
        append_price(NewPrice(euro.id, meter, amount, start, AUTHOR), using="staff")
    append_price(NewPrice(own.id, "questions", Decimal("0.03"), start, AUTHOR), using="staff")

    lines = {line.tenant_id: line for line in previewed(version.plan.code, code).lines}

    for cast, total in ((acme, "3.00"), (globex, "5.00")):
        line = lines[cast.tenant_id]
        assert (line.present.currency, line.present.total) == ("USD", Decimal("2.00"))
        assert (line.previewed.currency, line.previewed.total) == ("EUR", Decimal(total))
        assert line.difference is None


def test_the_largest_tenants_of_the_plan_are_taken_and_all_are_counted(acme: Cast, globex: Cast) -> None:
    version, other = plan(minimum=3), plan()
    on_plan(acme, version)
    on_plan(globex, version)
    used(globex, questions=10)

    found = previewed(version.plan.code, most=1)
    assert ([line.tenant_id for line in found.lines], found.tenants_on_plan) == ([globex.tenant_id], 2)
    (big, idle) = previewed(version.plan.code).lines
    assert (big.tenant_id, idle.tenant_id) == (globex.tenant_id, acme.tenant_id)
    assert (idle.listed.total, idle.present.total, idle.previewed.total) == (Decimal(0), Decimal(3), Decimal(0))

    unused = previewed(other.plan.code)
    assert (unused.subscribed, unused.tenants_on_plan) == (False, 0)
    assert globex.tenant_id in {line.tenant_id for line in unused.lines}
