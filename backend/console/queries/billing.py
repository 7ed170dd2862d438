"""Reads of plans, invoices and credit."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import DecimalField, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from backend.billing.models import CreditGrant, CreditUse, Invoice, InvoiceLine, PlanAllowance, PlanVersion
from backend.billing.rating import UsageTotal
from backend.console.queries.role import CONSOLE, across_tenants, rows


def plan_versions(plan_id: UUID) -> QuerySet[PlanVersion]:
    """Return the latest 20 versions of a plan with their terms, the latest first, in a fixed number of queries."""
    return _with_terms().filter(plan_id=plan_id).order_by("-version")[:20]


def latest_version(code: str) -> PlanVersion | None:
    """Return the latest version of a plan with its terms; None for an unknown plan."""
    return _with_terms().filter(plan__code=code).order_by("-version").first()


def _with_terms() -> QuerySet[PlanVersion]:
    versions = PlanVersion.objects.using(CONSOLE).select_related("plan", "price_book")
    return versions.prefetch_related("allowances", "tiers", "limits")


def allowances_of(plan_version_id: UUID) -> list[PlanAllowance]:
    """Return what a version of a plan includes in a month, by meter and variant."""
    found = PlanAllowance.objects.using(CONSOLE).filter(plan_version_id=plan_version_id)
    return list(found.order_by("meter", "variant"))


def subscriber_count(plan_id: UUID) -> int:
    """Return how many tenants are subscribed to a version of a plan now."""
    return int(
        rows(
            "SELECT count(*) AS n FROM billing_subscription s JOIN billing_planversion v ON v.id = s.plan_version_id "
            "WHERE v.plan_id = %(plan)s AND s.effective_from <= now() "
            "AND (s.effective_to IS NULL OR s.effective_to > now())",
            {"plan": plan_id},
        )[0]["n"]
    )


def invoice_lines(invoice: Invoice) -> QuerySet[Any]:
    """Return the lines of a document, in order."""
    lines = across_tenants(InvoiceLine).filter(tenant_id=invoice.tenant_id, invoice_id=invoice.id)
    return lines.order_by("ordinal")


def credit_notes(invoice: Invoice) -> QuerySet[Any]:
    """Return the credit notes that correct an invoice."""
    return across_tenants(Invoice).filter(tenant_id=invoice.tenant_id, corrects_id=invoice.id).order_by("id")


def corrected_by(note: Invoice) -> Invoice | None:
    """Return the invoice that a credit note corrects; None for an invoice."""
    rows = across_tenants(Invoice).filter(tenant_id=note.tenant_id, id=note.corrects_id)
    found: Invoice | None = rows.first() if note.corrects_id else None
    return found


def invoices_of(tenant_id: UUID) -> QuerySet[Any]:
    """Return the latest 12 documents of a tenant, the latest first."""
    return across_tenants(Invoice).filter(tenant_id=tenant_id).order_by("-period_start", "-id")[:12]


def overdue(tenant_id: UUID | None = None) -> list[dict[str, Any]]:
    """Return the overdue invoices by currency: their number, what is due, since when, and the most reminders of one.

    tenant_id: of this tenant alone.
    """
    return rows(
        "SELECT currency, count(*) AS n, sum(total - credited - corrected) AS due, min(due_at) AS since, "
        "max(reminders) AS reminders FROM billing_invoice WHERE kind = 'invoice' AND state = 'final' "
        "AND due_at <= now() AND (%(tenant)s::uuid IS NULL OR tenant_id = %(tenant)s) "
        "GROUP BY currency ORDER BY currency",
        {"tenant": tenant_id},
    )


def with_uses(grants: QuerySet[Any]) -> QuerySet[Any]:
    """Add to grants how much of each was used, as `used`."""
    uses = across_tenants(CreditUse).filter(tenant_id=OuterRef("tenant_id"), grant_id=OuterRef("id"))
    summed = uses.values("grant_id").annotate(sum=Sum("amount")).values("sum")
    nothing = Value(Decimal(0), output_field=DecimalField(max_digits=20, decimal_places=4))
    used: QuerySet[Any] = grants.annotate(used=Coalesce(Subquery(summed), nothing))
    return used


def credits_of(tenant_id: UUID) -> QuerySet[Any]:
    """Return the latest 12 grants of a tenant with what was used of them, the latest first."""
    return with_uses(across_tenants(CreditGrant).filter(tenant_id=tenant_id)).order_by("-id")[:12]


def used_of_month(tenant_id: UUID, month: date) -> list[UsageTotal]:
    """Return the billable usage of a tenant in a calendar month (UTC), as far as it is rolled up. month: its first
    day."""
    found = rows(
        "SELECT meter, variant, sum(quantity) AS quantity FROM billing_pricedmonth "
        "WHERE tenant_id = %(tenant)s AND month = %(month)s GROUP BY 1, 2 ORDER BY 1, 2",
        {"tenant": tenant_id, "month": month},
    )
    nothing = Decimal(0)
    return [UsageTotal(row["meter"], row["variant"], None, nothing, row["quantity"], nothing) for row in found]
