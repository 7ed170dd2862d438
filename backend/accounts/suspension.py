"""Suspension of a tenant: its requests, jobs, webhooks and streams stop, and nothing of it is lost.

A tenant that is throttled goes on, with fewer requests a minute and fewer jobs at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.services import Actor, record
from backend.jobs import control
from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import Tenant


@dataclass(frozen=True, slots=True)
class Throttle:
    """What staff allow a tenant; None for the limits of the service and the plan.

    requests_per_minute: of all keys together, and of each member. jobs_at_once: running jobs of each class, apart from
    deliveries of webhooks and the service's own work.
    """

    requests_per_minute: int | None = None
    jobs_at_once: int | None = None


def suspend(*, actor: Actor, reason: str) -> bool:
    """Suspend the current tenant; False if it is suspended already.

    Its keys are refused from the next request on, and open replies end within seconds. Running jobs lose their leases,
    so they commit nothing more; like waiting jobs and deliveries of webhooks they wait for the end of the suspension.
    Deletions and sweeps go on.
    """
    tenant = _locked()
    if tenant.suspended_at is not None:
        return False
    Tenant.objects.filter(id=tenant.id).update(suspended_at=timezone.now())
    handed_back = control.hand_back_running()
    record(
        "tenant.suspended",
        actor=actor,
        object_id=encode("tnt", tenant.id),
        reason=reason,
        details={"jobs_stopped": handed_back},
    )
    return True


def resume(*, actor: Actor, reason: str) -> bool:
    """End the suspension of the current tenant; False if it is not suspended. Deadlines of jobs move by its length."""
    tenant = _locked()
    if tenant.suspended_at is None:
        return False
    control.move_deadlines(timezone.now() - tenant.suspended_at)
    Tenant.objects.filter(id=tenant.id).update(suspended_at=None)
    record("tenant.resumed", actor=actor, object_id=encode("tnt", tenant.id), reason=reason)
    return True


def throttle(to: Throttle) -> Throttle:
    """Set what the current tenant is allowed from now on. Jobs that run go on. Returns what it was allowed before."""
    tenant = _locked()
    Tenant.objects.filter(id=tenant.id).update(requests_per_minute=to.requests_per_minute, jobs_at_once=to.jobs_at_once)
    return Throttle(tenant.requests_per_minute, tenant.jobs_at_once)


def _locked() -> Tenant:
    tenant: Tenant = Tenant.objects.select_for_update(no_key=True).get(id=current_tenant_id())
    return tenant
