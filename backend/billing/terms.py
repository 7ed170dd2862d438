"""The terms in force for the entered tenant: its plan, span by span, and the prices that it pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum, auto
from typing import cast

from django.db.models import Q

from backend.billing.currencies import payable
from backend.billing.models import PlanVersion, Price, Subscription
from backend.billing.rates import PRICE, quantity, rates_at
from backend.billing.rating import Allowance, Mode, Terms, Tier
from backend.tenancy.models import FIRST_PLAN


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


def in_force(at: datetime) -> Q:
    """Return the condition of versions, prices and subscriptions that hold at a moment."""
    return Q(effective_from__lte=at) & (Q(effective_to=None) | Q(effective_to__gt=at))


def subscription_at(at: datetime) -> Subscription | None:
    """Return the subscription of the entered tenant at a moment, with its plan's version and book.

    Before the first subscription begins this is the first one. None for a tenant that was never subscribed.
    """
    found: Subscription | None = (
        Subscription.objects.exclude(effective_to__lte=at)
        .select_related("plan_version__plan", "plan_version__price_book")
        .order_by("effective_from")
        .first()
    )
    return found


def plan_version_at(at: datetime) -> PlanVersion:
    """Return the version of the entered tenant's plan at a moment; without a subscription, that of the first plan."""
    subscription = subscription_at(at)
    return _first_plan(at) if subscription is None else subscription.plan_version


def _first_plan(at: datetime) -> PlanVersion:
    versions = PlanVersion.objects.select_related("plan", "price_book")
    version: PlanVersion = versions.get(in_force(at), plan__code=FIRST_PLAN)
    return version


def spans_of(start: datetime, end: datetime) -> list[Span]:
    """Return the spans of a period of the entered tenant, from start up to end, in order and without gaps.

    A span ends where the subscription or its trial ends. Allowances and minimum of a span are the month's, times the
    span's share of the period; in a trial there is no minimum. Before the first subscription there are the list prices
    alone.
    """
    subscriptions = Subscription.objects.filter(effective_from__lt=end).exclude(effective_to__lte=start)
    cuts = {start, end}
    for row in subscriptions:
        cuts |= {row.effective_from, row.effective_to, row.trial_until}
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


class _Kind(Enum):
    UNSUBSCRIBED = auto()
    TRIAL = auto()
    PAID = auto()


def _terms_at(at: datetime) -> tuple[PlanVersion, _Kind]:
    subscription = subscription_at(at)
    if subscription is None:
        return _first_plan(at), _Kind.UNSUBSCRIBED
    until = subscription.trial_until
    if at < subscription.effective_from:
        kind = _Kind.UNSUBSCRIBED
    else:
        kind = _Kind.PAID if until is None or at >= until else _Kind.TRIAL
    return subscription.plan_version, kind


def _span(start: datetime, end: datetime, version: PlanVersion, kind: _Kind, period: timedelta) -> Span:
    def share(amount: Decimal) -> Decimal:
        if end - start == period:
            return amount
        microsecond = period.resolution
        return amount * ((end - start) // microsecond) / (period // microsecond)

    currency = version.price_book.currency
    if kind is _Kind.UNSUBSCRIBED:
        return Span(start, end, version, Terms(currency))
    trial = kind is _Kind.TRIAL
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
    trial = None if subscription is None else subscription.trial_until
    return PriceList(
        at=at,
        plan_version=_first_plan(at) if subscription is None else subscription.plan_version,
        trial_until=trial if trial is not None and trial > at else None,
        prices=tuple(rows.order_by("meter", "model", "variant")),
    )


INTERNAL: Sequence[str] = ("input_tokens", "cached_tokens", "output_tokens", "device_seconds")
"""Meters that customers do not pay, unless a book has a price above zero for them."""
