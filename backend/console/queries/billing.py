"""Reads of plans, invoices and credit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import DecimalField, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from backend.billing.models import CreditGrant, CreditUse, Invoice, InvoiceLine, PlanVersion
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


def invoices_of(tenant_id: UUID) -> QuerySet[Any]:
    """Return the latest 12 documents of a tenant, the latest first."""
    return across_tenants(Invoice).filter(tenant_id=tenant_id).order_by("-period_start", "-id")[:12]


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
