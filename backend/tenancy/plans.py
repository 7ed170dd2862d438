"""The plan of the entered tenant, and limits that settings give by plan."""

from __future__ import annotations

from collections.abc import Mapping

from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import Tenant


def limit_of(limits: Mapping[str, float]) -> float | None:
    """Return the limit of the entered tenant's plan, None if the plan has none. limits: by the names of plans."""
    if not limits:
        return None
    plan: str = Tenant.objects.values_list("plan", flat=True).get(id=current_tenant_id())
    return limits.get(plan)
