"""The rates by which the calls of served models are attributed device time, as of a moment."""

from __future__ import annotations

import threading
import time
from dataclasses import asdict
from datetime import date, datetime
from decimal import Decimal

from django.db.models import Q
from django.utils import timezone

from backend.billing.invariants.registry import all_tenants
from backend.billing.models import BookKind, ModelRate, Price, UsageDay, UsageMeter
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.models.device_rates import DeviceRate, DeviceRates

MEASURED_ROLES = ("describer", "checker", "reasoner")
"""Roles whose models `manage.py measure_model_rate` measures."""
KEPT_SECONDS = 60.0
"""Age at which a process reads the rates again."""

_kept: tuple[float, DeviceRates] | None = None
_lock = threading.Lock()


def device_rates() -> DeviceRates:
    """Return the rates in force, at most KEPT_SECONDS old."""
    global _kept
    with _lock:
        if _kept is None or time.monotonic() - _kept[0] > KEPT_SECONDS:
            _kept = (time.monotonic(), device_rates_at(timezone.now()))
        return _kept[1]


def forget_device_rates() -> None:
    """Read the rates again at the next call."""
    global _kept
    with _lock:
        _kept = None


def device_rates_at(at: datetime) -> DeviceRates:
    """Return the rates in force at a moment: each model's latest row up to it.

    A model whose tokens have a cost above 0 in the cost book is a provider's, and uses no device of ours.
    """
    rows = ModelRate.objects.filter(effective_from__lte=at).order_by("model", "-effective_from").distinct("model")
    rates = {
        row.model: DeviceRate(
            fresh_us=float(row.fresh_us),
            cached_us=float(row.cached_us),
            output_us=float(row.output_us),
            picture_us=float(row.picture_us),
            request_us=float(row.request_us),
        )
        for row in rows
    }
    tokens = (UsageMeter.INPUT_TOKENS, UsageMeter.OUTPUT_TOKENS)
    priced = Price.objects.filter(
        book__kind=BookKind.COST, meter__in=tokens, unit_amount__gt=0, effective_from__lte=at
    ).exclude(model="")
    in_force = priced.filter(effective_to__isnull=True) | priced.filter(effective_to__gt=at)
    return DeviceRates(rates, frozenset(in_force.values_list("model", flat=True)))


def unrated_models(since: date) -> list[str]:
    """Return the served models without a rate that any tenant's work has used since a day (UTC), by name.

    A model inside a worker reports no tokens and needs no rate; a hosted model has a cost of its own.
    """
    used: set[str] = set()
    for tenant_id in all_tenants():
        with tenant_scope(tenant_id):
            days = UsageDay.objects.filter(day__gte=since).exclude(model="")
            used.update(days.filter(Q(tokens_in__gt=0) | Q(tokens_out__gt=0)).values_list("model", flat=True))
    known = device_rates_at(timezone.now())
    return sorted(used - set(known.rates) - known.hosted)


def append_rate(
    model: str, rate: DeviceRate, *, author: str, note: str, using: str, effective_from: datetime | None = None
) -> ModelRate:
    """Append a rate from a moment on, by default from now. Earlier calls keep what they were attributed.

    using: a connection that may write rates. Raises ValueError for a rate that makes the model free.
    """
    if rate.fresh_us <= 0 and rate.output_us <= 0:
        raise ValueError(f"{model}: no token of the model takes device time by this rate")
    amounts = {name: Decimal(str(round(value, 4))) for name, value in asdict(rate).items()}
    row = ModelRate.objects.using(using).create(
        model=model, **amounts, effective_from=effective_from or timezone.now(), author=author, note=note[:200]
    )
    forget_device_rates()
    return row
