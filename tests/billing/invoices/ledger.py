"""Rows of the ledger with prices of their own, for tests of invoices."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID, uuid4

from backend.billing.models import (
    BillingAccount,
    Plan,
    PlanAllowance,
    PlanVersion,
    PriceBook,
    Subscription,
    UsageEvent,
)
from backend.billing.rates import money, rates_at
from backend.billing.services.invoicing.closing import close_tenant
from tests.conftest import Cast


def utc(year: int, month: int, day: int = 1, *time: int) -> datetime:
    hour, minute, second = (*time, 0, 0, 0)[:3]
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)


def use(
    cast: Cast, at: datetime, quantity: str | int = 1, *, meter: str = "questions", billable: bool = True
) -> UsageEvent:
    """Add a row to the ledger, valued at the list price in force at its time. A negative quantity takes back."""
    amount = Decimal(quantity)
    with cast.scope():
        valued = rates_at(at).value("price", meter, "", amount)
        row: UsageEvent = UsageEvent.objects.create(
            tenant_id=cast.tenant_id,
            meter=meter,
            quantity=amount,
            occurred_at=at,
            source_type="question",
            source_id=str(uuid4()),
            price_amount=money(valued.amount) if billable else Decimal(0),
            price_id=valued.price_id if billable else None,
            price_version=valued.version if billable else None,
            price_currency=valued.currency,
            billable=billable,
        )
    return row


def account(cast: Cast, **values: object) -> None:
    """Write the tenant's billing account."""
    with cast.scope():
        BillingAccount.objects.all().delete()
        BillingAccount.objects.create(tenant_id=cast.tenant_id, **values)


def close(cast: Cast, at: datetime) -> list[UUID]:
    return close_tenant(cast.tenant_id, now=at)


def subscribed(
    cast: Cast, start: datetime, *, minimum: int = 0, questions: int = 0, trial_until: datetime | None = None
) -> None:
    """Subscribe a tenant from a moment before its creation on. questions: that the plan includes in a month."""
    version = PlanVersion.objects.using("staff").create(
        plan=Plan.objects.using("staff").create(code=f"p-{cast.slug[-10:]}", name="Plan"), version=1,
        price_book=PriceBook.objects.get(code="standard", kind="price"), minimum_amount=minimum, effective_from=start,
        author="tests",
    )  # fmt: skip
    if questions:
        PlanAllowance.objects.using("staff").create(plan_version=version, meter="questions", quantity=questions)
    with cast.scope():
        created = Subscription.objects.get()
        Subscription.objects.create(
            tenant_id=cast.tenant_id, plan_version_id=version.id, author="tests", trial_until=trial_until,
            effective_from=start, effective_to=created.effective_from,
        )  # fmt: skip
