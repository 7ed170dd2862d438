"""The end of a month: its drafts, and after the grace its numbered invoices.

Each step is one transaction and can be repeated: a closing that was killed goes on where it stood.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from backend.billing.invoiced_usage import first_usage
from backend.billing.models import BillingPeriod, CreditGrant, Invoice, InvoiceKind, InvoiceState
from backend.billing.services.accounts import billing_account
from backend.billing.services.credit.credit_grants import grant_credit, pay_by_credit
from backend.billing.services.invoicing.billing_lock import lock_billing
from backend.billing.services.invoicing.drafts import write_drafts
from backend.billing.services.invoicing.invoice_reports import InvoiceReport, report
from backend.billing.services.invoicing.numbering import next_number
from backend.billing.services.invoicing.periods import Period, month_of, period_from
from backend.tenancy.context import current_tenant_id, tenant_scope
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import TenantMoving

SYSTEM = "invoicing"
"""Author of the grant that a negative invoice makes."""


def grace() -> timedelta:
    """Return how long after a month its usage is still taken into its own invoice."""
    return timedelta(hours=settings.INVOICE_GRACE_HOURS)


def tenants_to_bill() -> list[UUID]:
    """Return the tenants of this installation, read by the dispatch role. Tenants that move wait; sandboxes are
    free."""
    rows = Tenant.objects.using("dispatch").filter(fence="", sandbox_of=None).exclude(id=UUID(int=0))
    return list(rows.order_by("id").values_list("id", flat=True))


def close_tenant(
    tenant_id: UUID, *, now: datetime | None = None, should_stop: Callable[[], bool] = lambda: False
) -> list[UUID]:
    """Draft the invoices of a tenant's ended months again, and make those final whose grace is over.

    Returns the documents that became final. Each step is a transaction of its own. should_stop: asked before each.
    """
    at, done = now or timezone.now(), []
    step: Callable[[datetime], list[UUID] | None] = _draft_again
    while not should_stop():
        try:
            with tenant_scope(tenant_id):
                lock_billing()
                made = step(at)
        except TenantMoving:
            break
        if made is None:
            break
        done += made
        step = _step
    return done


def _draft_again(now: datetime) -> list[UUID]:
    """Write the drafts of the months again that are still in their grace: their usage may have grown."""
    for period in BillingPeriod.objects.filter(closed_at=None, end_at__gt=now - grace()).order_by("start_at"):
        write_drafts(period)
    return []


def _step(now: datetime) -> list[UUID] | None:
    """Close the oldest open period that is due, else open the next one. Returns None when nothing is left."""
    ended = BillingPeriod.objects.filter(closed_at=None, end_at__lte=now - grace()).order_by("start_at").first()
    if ended is not None:
        return _close(ended, now)
    following = _next_period()
    if following is None or following.end > now:
        return None
    row = BillingPeriod.objects.create(
        tenant_id=current_tenant_id(), start_at=following.start, end_at=following.end, time_zone=following.time_zone
    )
    write_drafts(row)
    return []


def _next_period() -> Period | None:
    zone = billing_account().time_zone
    last = BillingPeriod.objects.order_by("-start_at").first()
    if last is not None:
        return period_from(last.end_at, zone)
    created = Tenant.objects.values_list("created_at", flat=True).get(id=current_tenant_id())
    used = first_usage()
    return month_of(min(created, used) if used is not None else created, zone)


def _close(period: BillingPeriod, now: datetime) -> list[UUID]:
    drafts = write_drafts(period)
    for draft in drafts:
        settle(draft, now)
    BillingPeriod.objects.filter(id=period.id).update(closed_at=now)
    for draft in drafts:
        finalise(draft, now)
    return [draft.id for draft in drafts]


def settle(invoice: Invoice, now: datetime) -> None:
    """Pay a draft by credit. A negative total becomes credit itself. The draft is not saved."""
    if invoice.total > 0:
        invoice.credited = pay_by_credit(invoice, at=now)
    elif invoice.total < 0:
        invoice.credited = invoice.total
        source = f"invoice:{invoice.id}"
        if not CreditGrant.objects.filter(source=source).exists():
            grant_credit(
                amount=-invoice.total,
                currency=invoice.currency,
                reason="Corrections exceed the usage of the month",
                author=SYSTEM,
                source=source,
            )


def finalise(invoice: Invoice, now: datetime) -> None:
    """Give a draft its number and its dates, and report it to the tenant.

    Call this last in a transaction: the series of numbers is locked.
    """
    invoice.issued_at = now
    invoice.due_at = now + timedelta(days=settings.INVOICE_DUE_DAYS)
    settled = invoice.kind == InvoiceKind.CREDIT_NOTE or invoice.due <= 0
    invoice.state = InvoiceState.PAID if settled else InvoiceState.FINAL
    invoice.paid_at = now if settled else None
    invoice.sequence, invoice.number = next_number(entity=invoice.entity, kind=invoice.kind, invoice_id=invoice.id)
    invoice.save()
    report(InvoiceReport.FINALIZED, invoice)
    if settled and invoice.kind == InvoiceKind.INVOICE:
        report(InvoiceReport.PAID, invoice)
