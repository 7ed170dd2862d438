"""Creation of tenants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from uuid6 import uuid7

from backend.tenancy import shown_text
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import FIRST_PLAN, Tenant
from backend.tenancy.refusals import Refused, invalid

_begin_billing: Callable[[Tenant], None] = lambda tenant: None  # noqa: E731


def bill_new_tenants(begin: Callable[[Tenant], None]) -> None:
    """Register what begins the billing of a new tenant, in its scope and in the transaction that creates it."""
    global _begin_billing
    _begin_billing = begin


def create_tenant(
    *,
    name: str,
    slug: str,
    plan: str = FIRST_PLAN,
    prepare: Callable[[Tenant], None] = lambda tenant: None,
    id: UUID | None = None,
    **columns: Any,
) -> Tenant:
    """Create a tenant in its own scope, and begin its billing by a plan (its code).

    prepare: runs in the scope and in the transaction of the new tenant. columns: further values of its row. Raises
    Refused `slug_taken`, `unknown_plan`, `invalid_characters` for a name that is no line, and what prepare raises.
    """
    if not all(map(shown_text.is_shown, name)):
        raise invalid(pointer="/name", code=shown_text.CODE, detail=shown_text.MESSAGE)
    tenant_id = id or UUID(bytes=uuid7().bytes)
    with tenant_scope(tenant_id):
        try:
            tenant = Tenant.objects.create(id=tenant_id, name=name, slug=slug, plan=plan, **columns)
        except IntegrityError:
            raise Refused("slug_taken", f"A tenant with the slug {slug} exists.") from None
        _begin_billing(tenant)
        prepare(tenant)
        return tenant
