"""The terms in force for the entered tenant: its plan, span by span, and the prices that it pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import cast

from django.db.models import Q, QuerySet

from backend.billing.currencies import payable
from backend.billing.models import PlanVersion, Price, Subscription
from backend.billing.rates import DEFAULT_PLAN, PRICE, quantity, rates_at
from backend.billing.rating import Allowance, Mode, Terms, Tier
from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import Tenant


@dataclass(frozen=True, slots=True)
class Span:
    """Part of a period, from start up to end, in which the same terms hold. terms: for this part of the period."""

    start: datetime
    end: datetime
    plan_version: PlanVersion
    terms: Terms


@dataclass(frozen=True, slots=True)
class PriceList:
    """What the tenant pays at a moment. trial_until: None if the tenant is in no trial."""

    at: datetime
    plan_version: PlanVersion
    trial_until: datetime | None
    prices: tuple[Price, ...]

    @property
    def currency(self) -> str:
        return self.plan_version.price_book.currency


def _in_force(at: datetime) -> Q:
    return Q(effective_from__lte=at) & (Q(effective_to=None) | Q(effective_to__gt=at))


def subscription_at(at: datetime) -> Subscription | None:
    """Return the subscription of the entered tenant at a moment, with its plan's version and book."""
    found: Subscription | None = (
        Subscription.objects.filter(_in_force(at))
        .select_related("plan_version__plan", "plan_version__price_book")
        .first()
    )
    return found


def plan_version_at(at: datetime) -> PlanVersion:
    """Return the version of the entered tenant's plan at a moment.

    A tenant without a subscription has the plan that its row names, and the first plan if there is none of that name.
    """
    subscription = subscription_at(at)
    return subscription.plan_version if subscription is not None else _unsubscribed(at)


def _unsubscribed(at: datetime) -> PlanVersion:
    versions = _plan_versions().filter(_in_force(at))
    named = versions.filter(plan__code=_plan_code()).first()
    return named or versions.get(plan__code=DEFAULT_PLAN)


def _plan_versions() -> QuerySet[PlanVersion]:
    return PlanVersion.objects.select_related("plan", "price_book")


def _plan_code() -> str:
    code: str = Tenant.objects.values_list("plan", flat=True).get(id=current_tenant_id())
    return code


def spans_of(start: datetime, end: datetime) -> list[Span]:
    """Return the spans of a period of the entered tenant, from start up to end, in order and without gaps.

    A span ends where the subscription, its trial or the plan's version ends. Allowances and minimum of a span are the
    month's, times the span's share of the period; in a trial there is no minimum.
    """
    subscriptions = Subscription.objects.filter(effective_from__lt=end).exclude(effective_to__lte=start)
    cuts = {start, end}
    for row in subscriptions:
        cuts |= {row.effective_from, row.effective_to, row.trial_until}
    for version in PlanVersion.objects.filter(plan__code__in=[DEFAULT_PLAN, _plan_code()]):
        cuts |= {version.effective_from, version.effective_to}  # type: ignore[arg-type]
    bounds = sorted(cut for cut in cuts if cut is not None and start <= cut <= end)
    spans: list[Span] = []
    began, before = start, None
    for lower in bounds[:-1]:
        now = _terms_at(lower)
        if before is not None and now != before:
            spans.append(_span(began, lower, *before, end - start))
            began = lower
        before = now
    if before is not None:
        spans.append(_span(began, end, *before, end - start))
    return spans


def _terms_at(at: datetime) -> tuple[PlanVersion, bool]:
    subscription = subscription_at(at)
    if subscription is None:
        return _unsubscribed(at), False
    until = subscription.trial_until
    return subscription.plan_version, until is not None and at < until


def _span(start: datetime, end: datetime, version: PlanVersion, trial: bool, period: timedelta) -> Span:
    def share(amount: Decimal) -> Decimal:
        if end - start == period:
            return amount
        microsecond = period.resolution
        return amount * ((end - start) // microsecond) / (period // microsecond)

    currency = version.price_book.currency
    terms = Terms(
        currency,
        tuple(Allowance(row.meter, row.variant, quantity(share(row.quantity))) for row in version.allowances.all()),
        tiers_of(version),
        Decimal(0) if trial else payable(share(version.minimum_amount), currency),
        trial,
    )
    return Span(start, end, version, terms)


def tiers_of(version: PlanVersion) -> tuple[Tier, ...]:
    """Return the tiers of a plan's version, by meter, variant and quantity."""
    rows = version.tiers.order_by("meter", "variant", "from_quantity")
    return tuple(Tier(row.meter, row.variant, cast(Mode, row.mode), row.from_quantity, row.unit_amount) for row in rows)


def price_list(at: datetime) -> PriceList:
    """Return the prices of the entered tenant at a moment: those of its own book before those of its plan's book.

    Meters that no customer pays are left out.
    """
    rates = rates_at(at)
    rates_by_key = {**rates.rates, **rates.own}
    ids = [rate.price_id for (kind, *_), rate in rates_by_key.items() if kind == PRICE and rate.price_id is not None]
    rows = Price.objects.filter(id__in=ids).exclude(meter__in=INTERNAL, unit_amount=0).select_related("book")
    subscription = subscription_at(at)
    trial = None if subscription is None or subscription.trial_until is None else subscription.trial_until
    return PriceList(
        at=at,
        plan_version=subscription.plan_version if subscription is not None else _unsubscribed(at),
        trial_until=trial if trial is not None and trial > at else None,
        prices=tuple(rows.order_by("meter", "model", "variant")),
    )


INTERNAL: Sequence[str] = ("input_tokens", "cached_tokens", "output_tokens", "device_seconds")
"""Meters that customers do not pay, unless a book has a price above zero for them."""
