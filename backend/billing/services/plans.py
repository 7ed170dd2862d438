"""Versions of plans, and the subscriptions of tenants. Neither is changed: the next one begins where the last one ends.

Plans are written as the console's own role, or as the owner of the tables by a command; subscriptions as the tenant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from backend.billing.models import (
    Plan,
    PlanAllowance,
    PlanLimit,
    PlanTier,
    PlanVersion,
    PriceBook,
    Subscription,
)
from backend.billing.rating import Allowance, Tier, tiered_amount
from backend.billing.services.prices import unpriced_meters
from backend.billing.terms import in_force, plan_version_at
from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused

LATEST = timedelta(seconds=60)
"""How long after its begin a version or a subscription may be entered without lying in the past."""
CREATION = "creation of the tenant"
"""Author of a tenant's first subscription."""


_report: Callable[[datetime], None] = lambda at: None  # noqa: E731


def report_changes_of_currency(report: Callable[[datetime], None]) -> None:
    """Register what reports to the entered tenant that it is charged in another currency from a moment on.

    It runs in the transaction that writes the subscription.
    """
    global _report
    _report = report


class PlanRefused(ValueError):
    """A version of a plan that may not be appended; the message says why."""


@dataclass(frozen=True, slots=True)
class NewPlanVersion:
    """Terms to append. minimum_amount: of a month, in the book's currency. limits: amounts by PlanLimit.Name."""

    code: str
    price_book: str
    effective_from: datetime
    author: str
    name: str = ""
    minimum_amount: Decimal = Decimal(0)
    trial_days: int = 0
    allowances: Sequence[Allowance] = ()
    tiers: Sequence[Tier] = ()
    limits: Sequence[tuple[str, Decimal]] = ()
    note: str = ""


def append_plan_version(new: NewPlanVersion, *, using: str) -> PlanVersion:
    """Append a version to a plan, and make the plan if it is new. The version before it ends where this one begins.

    Subscribers of earlier versions keep them. Raises PlanRefused.
    """
    with transaction.atomic(using=using):
        book = check_plan_version(new, using=using)
        plans = Plan.objects.using(using)
        plans.get_or_create(code=new.code, defaults={"name": new.name or new.code})
        # One version at a time per plan, so that versions are counted without gaps.
        plan = plans.select_for_update().get(code=new.code)
        latest = _latest(new, using)
        if latest is not None and latest.effective_to is None:
            PlanVersion.objects.using(using).filter(id=latest.id).update(effective_to=new.effective_from)
        version = PlanVersion.objects.using(using).create(
            plan=plan,
            version=1 if latest is None else latest.version + 1,
            price_book=book,
            minimum_amount=new.minimum_amount,
            trial_days=new.trial_days,
            effective_from=new.effective_from,
            author=new.author,
            note=new.note,
        )
        PlanAllowance.objects.using(using).bulk_create(
            PlanAllowance(plan_version=version, meter=row.meter, variant=row.variant, quantity=row.quantity)
            for row in new.allowances
        )
        PlanTier.objects.using(using).bulk_create(
            PlanTier(
                plan_version=version,
                meter=row.meter,
                variant=row.variant,
                mode=row.mode,
                from_quantity=row.from_quantity,
                unit_amount=row.unit_amount,
            )
            for row in new.tiers
        )
        PlanLimit.objects.using(using).bulk_create(
            PlanLimit(plan_version=version, name=name, amount=amount) for name, amount in new.limits
        )
    return version


def check_plan_version(new: NewPlanVersion, *, using: str) -> PriceBook:
    """Check a version of a plan as append_plan_version() does. Returns its book. Raises PlanRefused."""
    if new.effective_from < timezone.now() - LATEST:
        raise PlanRefused("A version of a plan cannot begin in the past.")
    for group in {(tier.meter, tier.variant) for tier in new.tiers}:
        try:
            tiered_amount(Decimal(1), [tier for tier in new.tiers if (tier.meter, tier.variant) == group])
        except ValueError as error:
            raise PlanRefused(f"{group[0]}: {error}") from error
    book = PriceBook.objects.using(using).filter(code=new.price_book, kind="price", tenant_id=None).first()
    if book is None:
        raise PlanRefused(f"There is no price book {new.price_book} for every tenant.")
    # Work whose usage has no price cannot be booked, so it would fail.
    if unpriced := unpriced_meters(book.id, new.effective_from, using=using):
        raise PlanRefused(f"The book {book.code} has no price for {', '.join(unpriced)} when the version begins.")
    _latest(new, using)
    return book


def _latest(new: NewPlanVersion, using: str) -> PlanVersion | None:
    """Return the version before a new one, None for a new plan. Raises PlanRefused."""
    latest = PlanVersion.objects.using(using).filter(plan__code=new.code).order_by("-version").first()
    if latest is not None and new.effective_from <= latest.effective_from:
        raise PlanRefused(f"Version {latest.version} begins at {latest.effective_from.isoformat()} or later.")
    return latest


def begin_subscription(tenant: Tenant) -> None:
    """Subscribe the entered tenant, which has just been created, to the plan that its row names, with its trial.

    Raises Refused: unknown_plan (404).
    """
    version = _version_of(tenant.plan, tenant.created_at)
    _write(tenant, version, tenant.created_at, days=version.trial_days, author=CREATION, reason="")


def subscribe(*, plan: str, author: str, reason: str, at: datetime | None = None) -> Subscription:
    """Subscribe the entered tenant to the version of a plan in force at a moment, from that moment on; now by default.

    The subscription before it ends there. A tenant has the trial of a plan once. Own budgets in another currency are
    suspended from then on, and reported.
    Raises Refused: unknown_plan (404), subscribed_already, subscription_in_past (409).
    """
    now = timezone.now()
    start = at or now
    if start < now - LATEST:
        raise Refused("subscription_in_past", "A subscription cannot begin in the past.")
    version = _version_of(plan, start)
    with transaction.atomic():
        # One change of plan at a time for each tenant.
        tenant = Tenant.objects.select_for_update().get(id=current_tenant_id())
        if Subscription.objects.filter(effective_from__gte=start).exists():
            raise Refused("subscribed_already", "A subscription that begins at this time or later exists.")
        current = Subscription.objects.filter(in_force(start)).first() or _billed_until_now(tenant)
        if current.plan_version_id == version.id:
            raise Refused("subscribed_already", "The tenant has this version of the plan already.")
        Subscription.objects.filter(id=current.id).update(effective_to=start)
        tried = Subscription.objects.filter(plan_version__plan__code=plan).exists()
        days = 0 if tried else version.trial_days
        if tenant.plan != plan:
            Tenant.objects.filter(id=tenant.id).update(plan=plan)
        row = _write(tenant, version, start, days=days, author=author, reason=reason)
        if version.price_book.currency != current.plan_version.price_book.currency:
            _report(start)
        return row


def _version_of(plan: str, at: datetime) -> PlanVersion:
    version: PlanVersion | None = PlanVersion.objects.filter(in_force(at), plan__code=plan).first()
    if version is None:
        raise Refused("unknown_plan", f"There is no plan {plan} at this time.", status=404)
    return version


def _billed_until_now(tenant: Tenant) -> Subscription:
    """Write down by what a tenant without a subscription has been billed since it was created."""
    version = plan_version_at(tenant.created_at)
    return _write(tenant, version, tenant.created_at, days=0, author=CREATION, reason="")


def _write(
    tenant: Tenant, version: PlanVersion, start: datetime, *, days: int, author: str, reason: str
) -> Subscription:
    row: Subscription = Subscription.objects.create(
        tenant_id=tenant.id,
        plan_version=version,
        effective_from=start,
        trial_until=start + timedelta(days=days) if days else None,
        author=author,
        reason=reason[:200],
    )
    return row
