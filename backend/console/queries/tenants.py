"""Reads of one tenant for its page. Each statement names the tenant, by which every table of tenants is indexed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.audit.models import AuditEvent
from backend.billing.models import BillingAccount, Subscription, TenantBudget
from backend.console.queries.role import STAFF, across_tenants, rows
from backend.people.models import Membership, Person
from backend.tenancy.models import ApiKey, Tenant
from backend.webhooks.models import Endpoint


@dataclass(frozen=True, slots=True)
class MemberLine:
    """One member of a tenant. name: the e-mail address."""

    id: UUID
    name: str
    role: str
    since: datetime


def members(tenant_id: UUID) -> list[MemberLine]:
    """Return the first 100 members, the oldest first."""
    found = list(across_tenants(Membership).filter(tenant_id=tenant_id).order_by("id")[:100])
    people = Person.objects.using(STAFF).filter(id__in=[row.person_id for row in found])
    emails = dict(people.values_list("id", "email"))
    return [MemberLine(row.id, emails.get(row.person_id, "–"), row.role, row.created_at) for row in found]


def email_of(tenant_id: UUID, membership_id: UUID) -> str:
    """Return the address of a member of this tenant; "" if there is no such member."""
    found = across_tenants(Membership).filter(tenant_id=tenant_id, id=membership_id).first()
    person = None if found is None else Person.objects.using(STAFF).filter(id=found.person_id).first()
    return "" if person is None else str(person.email)


def memberships_of(person_id: UUID) -> QuerySet[Any]:
    """Return the memberships of a person."""
    return across_tenants(Membership).filter(tenant_id__in=Tenant.objects.values("id"), person_id=person_id)


def api_keys(tenant_id: UUID) -> QuerySet[Any]:
    """Return the latest 50 keys, without their digests."""
    keys = across_tenants(ApiKey).filter(tenant_id=tenant_id).defer("digest")
    return keys.order_by("-id")[:50]


def endpoints(tenant_id: UUID) -> QuerySet[Any]:
    """Return the latest 50 endpoints of webhooks, without their secrets."""
    found = across_tenants(Endpoint).filter(tenant_id=tenant_id).defer("secret", "previous_secret")
    return found.order_by("-id")[:50]


def failures(tenant_id: UUID, since: datetime) -> list[dict[str, Any]]:
    """Count a tenant's failures since then by failed object and code, most frequent first."""
    return rows(
        """
        SELECT kind, code, count(*) AS n, max(at) AS latest FROM (
            SELECT 'video' AS kind, error_code AS code, failed_at AS at FROM library_video
            WHERE tenant_id = %(tenant)s AND failed_at >= %(since)s AND status = 'failed'
            UNION ALL SELECT 'question', error_code, completed_at FROM questions_question
            WHERE tenant_id = %(tenant)s AND completed_at >= %(since)s AND status = 'failed'
            UNION ALL SELECT 'job ' || kind, error_code, completed_at FROM jobs_job
            WHERE tenant_id = %(tenant)s AND completed_at >= %(since)s AND state IN ('failed', 'dead')
            AND state IN ('succeeded', 'failed', 'canceled', 'dead')
        ) f GROUP BY 1, 2 ORDER BY n DESC, kind, code LIMIT 20
        """,
        {"tenant": tenant_id, "since": since},
    )


def videos(tenant_id: UUID) -> int:
    """Return the number of a tenant's videos."""
    return int(
        rows("SELECT count(*) AS n FROM library_video WHERE tenant_id = %(tenant)s", {"tenant": tenant_id})[0]["n"]
    )


def dearest_videos(tenant_id: UUID, since: datetime, most: int) -> list[dict[str, Any]]:
    """Return the videos whose indexing has cost the most since then, the dearest first, as far as it is rolled up.

    minutes: of media that was indexed.
    """
    return rows(
        "SELECT video_id AS id, sum(cost) AS cost, "
        "coalesce(sum(quantity) FILTER (WHERE meter IN ('media_seconds', 'live_seconds')), 0) / 60 AS minutes "
        "FROM billing_usagehour WHERE tenant_id = %(tenant)s AND hour >= %(since)s AND video_id IS NOT NULL "
        "GROUP BY video_id HAVING sum(cost) > 0 ORDER BY sum(cost) DESC, video_id LIMIT %(most)s",
        {"tenant": tenant_id, "since": since, "most": most},
    )


def staff_acts(tenant_id: UUID) -> QuerySet[Any]:
    """Return the latest 20 acts of staff in a tenant, the latest first."""
    acts = (
        across_tenants(AuditEvent).filter(tenant_id=tenant_id, actor_kind="staff").exclude(action__endswith=".viewed")
    )
    return acts.order_by("-id")[:20]


def subscription(tenant_id: UUID, at: datetime) -> Subscription | None:
    """Return the subscription in force at a moment, with its plan and book; None without one."""
    found = across_tenants(Subscription).filter(tenant_id=tenant_id, effective_from__lte=at)
    row: Subscription | None = (
        found.exclude(effective_to__lte=at).select_related("plan_version__plan", "plan_version__price_book").first()
    )
    return row


def budget(tenant_id: UUID) -> TenantBudget | None:
    """Return the budget that a tenant sets itself, if any."""
    row: TenantBudget | None = across_tenants(TenantBudget).filter(tenant_id=tenant_id).first()
    return row


def billing_account(tenant_id: UUID) -> BillingAccount | None:
    """Return who a tenant's invoices are addressed to, if it was entered."""
    row: BillingAccount | None = across_tenants(BillingAccount).filter(tenant_id=tenant_id).first()
    return row
