"""Reads of one tenant for its page. Each statement names the tenant, by which every table of tenants is indexed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.audit.models import AuditEvent
from backend.billing.models import BillingAccount, PlanLimit, Subscription, TenantBudget
from backend.billing.services.quotas import JOBS
from backend.console.queries.role import CONSOLE, STAFF, across_tenants, rows
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


@dataclass(frozen=True, slots=True)
class LimitLine:
    """What a tenant used of a limit of its plan. limit: None without a limit."""

    name: str
    used: Decimal
    limit: Decimal | None

    @property
    def percent(self) -> float | None:
        if self.limit is None:
            return None
        return float(min(Decimal(100), 100 * self.used / self.limit)) if self.limit else 100.0

    @property
    def full(self) -> bool:
        return self.percent is not None and self.percent >= 80


def tenant_by_slug(slug: str) -> Tenant | None:
    return Tenant.objects.using(CONSOLE).filter(slug=slug).first()


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


def held(tenant_id: UUID) -> dict[str, Any]:
    """Return what a tenant holds now: videos, stored bytes and open jobs."""
    return rows(
        "SELECT (SELECT count(*) FROM library_video WHERE tenant_id = %(tenant)s) AS videos, "
        "(SELECT coalesce(sum(size_bytes), 0) FROM library_video WHERE tenant_id = %(tenant)s "
        " AND source_deleted_at IS NULL) AS stored_bytes, "
        "(SELECT count(*) FROM jobs_job WHERE tenant_id = %(tenant)s AND state IN ('queued', 'running')) AS open_jobs",
        {"tenant": tenant_id},
    )[0]


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


def plan_limits(subscription: Subscription | None) -> dict[str, Decimal]:
    """Return the limits of the plan's version that a tenant is subscribed to, by name."""
    if subscription is None:
        return {}
    limits = PlanLimit.objects.using(CONSOLE).filter(plan_version_id=subscription.plan_version_id)
    return dict(limits.values_list("name", "amount"))


def limit_lines(used: dict[str, Decimal], limits: dict[str, Decimal]) -> list[LimitLine]:
    """Return what is used of each limit, those without a limit too, in the order of the plan's names."""
    return [LimitLine(name, used.get(name, Decimal(0)), limits.get(name)) for name in PlanLimit.Name.values]


def budget(tenant_id: UUID) -> TenantBudget | None:
    """Return the budget that a tenant sets itself, if any."""
    row: TenantBudget | None = across_tenants(TenantBudget).filter(tenant_id=tenant_id).first()
    return row


@dataclass(frozen=True, slots=True)
class BudgetLine(LimitLine):
    """A limit that a tenant has set itself, for this month. whose: the name of a key, "" for the tenant as a whole.
    used: booked and reserved together. reserved: what open work may still consume."""

    whose: str = ""
    reserved: Decimal = Decimal(0)


def own_budgets(tenant_id: UUID, month: date) -> list[BudgetLine]:
    """Return the limits that a tenant has set for itself and for its keys in a month (its first day, UTC)."""
    found = rows(
        """
        SELECT coalesce(nullif(k.name, ''), 'vk_live_' || k.public_id, '') AS whose, l.name, l.amount,
            CASE l.name WHEN 'charge' THEN coalesce(m.charge, 0) WHEN 'questions' THEN coalesce(m.questions, 0)
                WHEN 'media_minutes' THEN coalesce(m.media_seconds, 0) / 60 ELSE 0 END AS booked,
            CASE l.name WHEN 'charge' THEN r.charge WHEN 'questions' THEN r.questions
                WHEN 'media_minutes' THEN r.media_seconds / 60 ELSE r.jobs END AS reserved
        FROM billing_budget b
        CROSS JOIN LATERAL (VALUES ('charge', b.charge), ('questions', b.questions), ('media_minutes', b.media_minutes),
            ('open_jobs', b.open_jobs)) AS l(name, amount)
        LEFT JOIN tenancy_apikey k ON k.tenant_id = b.tenant_id AND k.id = b.api_key_id
        LEFT JOIN billing_quotamonth m ON m.tenant_id = b.tenant_id AND m.month = %(month)s
            AND m.api_key_id IS NOT DISTINCT FROM b.api_key_id
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(greatest(charge - drawn_charge, 0)), 0) AS charge,
                coalesce(sum(greatest(amount - drawn_amount, 0)) FILTER (WHERE kind = 'questions'), 0) AS questions,
                coalesce(sum(greatest(amount - drawn_amount, 0)) FILTER (WHERE kind = 'media_seconds'), 0)
                    AS media_seconds,
                count(*) FILTER (WHERE source_type = ANY(%(jobs)s)) AS jobs
            FROM billing_reservation WHERE tenant_id = b.tenant_id AND settled_at IS NULL
            AND expires_at > now() AND (b.api_key_id IS NULL OR api_key_id = b.api_key_id)
        ) r WHERE b.tenant_id = %(tenant)s AND l.amount IS NOT NULL
        ORDER BY b.api_key_id IS NOT NULL, whose, l.name
        """,
        {"tenant": tenant_id, "month": month, "jobs": list(JOBS)},
    )
    return [
        BudgetLine(
            row["name"], row["booked"] + row["reserved"], row["amount"], whose=row["whose"], reserved=row["reserved"]
        )
        for row in found
    ]


def billing_account(tenant_id: UUID) -> BillingAccount | None:
    """Return who a tenant's invoices are addressed to, if it was entered."""
    row: BillingAccount | None = across_tenants(BillingAccount).filter(tenant_id=tenant_id).first()
    return row
