"""Origins of web pages that may use a tenant's API keys from a browser (CORS)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import Tenant

MOST_ORIGINS = 50
# https, or http on the developer's own machine; no path, no user, no wildcard.
ORIGIN = re.compile(r"https://[a-z0-9.-]{1,253}(:\d{1,5})?|http://(localhost|127\.0\.0\.1)(:\d{1,5})?")


def allowed_origins() -> list[str]:
    """Return the origins of the entered tenant."""
    listed: list[str] = Tenant.objects.values_list("allowed_origins", flat=True).get(id=current_tenant_id())
    return listed


def set_allowed_origins(origins: Sequence[str]) -> list[str]:
    """Replace the origins of the entered tenant; return them, sorted. Raises ValueError for what is no origin."""
    wanted = sorted(set(origins))
    if len(wanted) > MOST_ORIGINS or not all(ORIGIN.fullmatch(origin) for origin in wanted):
        raise ValueError("these are not origins")
    Tenant.objects.filter(id=current_tenant_id()).update(allowed_origins=wanted)
    return wanted


def is_listed(origin: str) -> bool:
    """Whether any tenant lists the origin. Reads through the dispatch role: a preflight names no tenant."""
    if not ORIGIN.fullmatch(origin):
        return False
    return Tenant.objects.using("dispatch").filter(allowed_origins__contains=[origin], suspended_at=None).exists()
