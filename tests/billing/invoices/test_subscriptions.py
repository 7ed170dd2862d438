"""A tenant has a subscription from its creation, and a change of plan leaves the months before it as they were."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from uuid6 import uuid7

from backend.billing.models import Invoice, InvoiceLine, Subscription
from backend.billing.rating import Allowance
from backend.billing.services.invoicing.closing import grace
from backend.billing.services.invoicing.periods import Period, month_of, period_from
from backend.billing.services.plans import NewPlanVersion, append_plan_version, subscribe
from backend.console.queries.billing import subscriber_count
from backend.tenancy.context import tenant_scope
from backend.tenancy.creation import create_tenant
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused
from tests.billing.invoices.ledger import close, use
from tests.conftest import Cast

AUTHOR = "finance@example.org"
pytestmark = pytest.mark.usefixtures("database")


def plan(code: str, *, minimum: int = 0, trial_days: int = 0, allowance: int = 0, now: datetime | None = None) -> None:
    allowances = [Allowance("questions", "", Decimal(allowance))] if allowance else []
    append_plan_version(
        NewPlanVersion(
            code, "standard", now or timezone.now(), AUTHOR, minimum_amount=Decimal(minimum), trial_days=trial_days,
            allowances=allowances,
        ),
        using="staff",
    )  # fmt: skip


def months(count: int) -> list[Period]:
    found = [month_of(timezone.now(), "UTC")]
    while len(found) < count:
        found.append(period_from(found[-1].end, "UTC"))
    return found


def documents(tenant: Tenant) -> list[tuple[datetime, Decimal, list[tuple[str, Decimal, bool]]]]:
    with tenant_scope(tenant.id):
        return [
            (
                invoice.period_start,
                invoice.total,
                [
                    (line.kind, line.amount, line.late)
                    for line in InvoiceLine.objects.filter(invoice_id=invoice.id).order_by("ordinal")
                ],
            )
            for invoice in Invoice.objects.exclude(state="draft").order_by("period_start")
        ]


def created(code: str = "standard") -> Tenant:
    return create_tenant(name="Acme", slug=f"acme-{uuid7().hex[-10:]}", plan=code)


def closed(tenant: Tenant, month: Period) -> None:
    close(Cast(tenant.id, tenant.slug, "", tenant.id), month.end + grace())


@pytest.mark.parametrize("written", [True, False])
def test_a_change_of_plan_leaves_closed_months_as_they_were(written: bool) -> None:
    plan("pro", minimum=500, allowance=100)
    if written:
        tenant = created()
    else:
        id = uuid7()
        with tenant_scope(id):
            tenant = Tenant.objects.create(id=id, name="Acme", slug=f"acme-{id.hex[-10:]}")
    first, second, third = months(3)
    use(Cast(tenant.id, tenant.slug, "", tenant.id), tenant.created_at + timedelta(microseconds=1), 150)
    closed(tenant, second)
    assert documents(tenant) == [(first.start, Decimal(3), [("usage", Decimal(3), False)])]

    with tenant_scope(tenant.id):
        subscribe(plan="pro", author=AUTHOR, reason="signed", at=third.start)
    closed(tenant, third)

    assert documents(tenant)[1:] == [(third.start, Decimal(500), [("minimum", Decimal(500), False)])]
    with tenant_scope(tenant.id):
        rows = list(Subscription.objects.order_by("effective_from").select_related("plan_version__plan"))
        assert [(row.plan_version.plan.code, row.effective_from, row.effective_to) for row in rows] == [
            ("standard", tenant.created_at, third.start), ("pro", third.start, None),
        ]  # fmt: skip
        assert Tenant.objects.get().plan == "pro"


def test_a_tenant_pays_its_first_plan_from_its_creation_with_the_plans_trial() -> None:
    plan("pro", minimum=310, trial_days=10)
    tenant = created("pro")

    with tenant_scope(tenant.id):
        (row,) = Subscription.objects.select_related("plan_version__plan")
    assert (row.plan_version.plan.code, row.effective_from, row.trial_until, row.author) == (
        "pro", tenant.created_at, tenant.created_at + timedelta(days=10), "creation of the tenant",
    )  # fmt: skip
    assert subscriber_count(row.plan_version.plan_id) == 1
    first, second = months(2)
    closed(tenant, second)
    paid = max(timedelta(0), first.end - row.trial_until) / (first.end - first.start)
    shares = [(start, float(total)) for start, total, _ in documents(tenant)]
    expected = [(first.start, pytest.approx(310 * paid, abs=0.01))] if paid else []
    later = max(second.start, row.trial_until)
    expected.append((second.start, pytest.approx(310 * ((second.end - later) / (second.end - second.start)), abs=0.01)))
    assert shares == expected


def test_a_tenant_keeps_its_version_of_a_plan() -> None:
    plan("pro", minimum=10)
    tenant = created("pro")
    _, second, third = months(3)
    plan("pro", minimum=500, now=second.start)

    closed(tenant, third)

    assert [total for start, total, _ in documents(tenant) if start >= second.start] == [Decimal(10), Decimal(10)]


def test_a_tenant_of_an_unknown_plan_is_refused_and_not_created() -> None:
    with pytest.raises(Refused) as refused:
        create_tenant(name="Acme", slug="acme-of-gold", plan="gold")

    assert refused.value.code == "unknown_plan"
    assert not Tenant.objects.using("owner").filter(slug="acme-of-gold").exists()
