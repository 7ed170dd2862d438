"""Origins of web pages that may use a tenant's API keys from a browser (CORS), or show its shares in a frame."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import Tenant

MOST_ORIGINS = 50
# https, or http on the developer's own machine; no path, no user, no wildcard.
ORIGIN = re.compile(r"https://[a-z0-9.-]{1,253}(:\d{1,5})?|http://(localhost|127\.0\.0\.1)(:\d{1,5})?")


@dataclass(frozen=True, slots=True)
class Origins:
    """Origins of a tenant. allowed: pages that may use its keys. embed: pages that may show its shares in a frame."""

    allowed: list[str]
    embed: list[str]


def origins() -> Origins:
    """Return the origins of the entered tenant."""
    listed = Tenant.objects.values_list("allowed_origins", "embed_origins").get(id=current_tenant_id())
    return Origins(*listed)


def set_origins(allowed: Sequence[str], embed: Sequence[str] | None = None) -> Origins:
    """Replace the origins of the entered tenant; return them, sorted. embed: None leaves these as they are.

    Raises ValueError for what is no origin.
    """
    wanted = {"allowed_origins": allowed} if embed is None else {"allowed_origins": allowed, "embed_origins": embed}
    Tenant.objects.filter(id=current_tenant_id()).update(**{name: _checked(named) for name, named in wanted.items()})
    return origins()


def _checked(named: Sequence[str]) -> list[str]:
    wanted = sorted(set(named))
    if len(wanted) > MOST_ORIGINS or not all(ORIGIN.fullmatch(origin) for origin in wanted):
        raise ValueError("these are not origins")
    return wanted


def is_listed(origin: str) -> bool:
    """Whether any tenant lists the origin. Reads through the dispatch role: a preflight names no tenant."""
    if not ORIGIN.fullmatch(origin):
        return False
    return Tenant.objects.using("dispatch").filter(allowed_origins__contains=[origin], suspended_at=None).exists()
