"""Sandboxes: a tenant next to a tenant, in which its test keys work.

A sandbox is a tenant like any other, so test objects are apart from live ones by the same row-level security that keeps
customers apart. Its plan has no price, its jobs call no model (gpu_workers.tasks.sandbox), and nobody is a member of it
(ADR 55).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from uuid import UUID, uuid5

from backend.tenancy.creation import create_tenant
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused

PLAN = "sandbox"
JOBS_AT_ONCE = 2
"""Jobs of each class that a sandbox may run at once: test work never holds up live work."""

_furnish: Callable[[], None] = lambda: None  # noqa: E731


def furnish_sandboxes(furnish: Callable[[], None]) -> None:
    """Register what a new sandbox needs, in its scope and in the transaction that creates it."""
    global _furnish
    _furnish = furnish


def sandbox_id(tenant_id: UUID) -> UUID:
    """Return the id of a tenant's sandbox, whether it has one or not."""
    return uuid5(tenant_id, PLAN)


def exists(tenant_id: UUID) -> bool:
    """Whether a tenant has a sandbox: whether one of its test keys was used."""
    return Tenant.objects.using("dispatch").filter(id=sandbox_id(tenant_id)).exists()


def sandbox_of(tenant: Tenant) -> UUID:
    """Return the id of a tenant's sandbox, which its first use creates. No other tenant may be entered."""
    sandbox = sandbox_id(tenant.id)
    if exists(tenant.id):
        return sandbox
    try:
        create_tenant(
            id=sandbox,
            name=f"{tenant.name[:180]} (test mode)",
            slug=f"test-{sandbox.hex}",
            plan=PLAN,
            prepare=lambda _: _furnish(),
            sandbox_of=tenant.id,
            jobs_at_once=JOBS_AT_ONCE,
        )
    except Refused as refused:
        if refused.code != "slug_taken":  # a request at the same time has made it
            raise
    return sandbox


@lru_cache(maxsize=10_000)
def is_sandbox(tenant_id: UUID) -> bool:
    """Whether a tenant is a sandbox, which it is for good."""
    return Tenant.objects.using("dispatch").filter(id=tenant_id).exclude(sandbox_of=None).exists()
