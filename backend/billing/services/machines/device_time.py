"""The rates by which the calls of served models are attributed device time, as of a moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date, datetime
from decimal import Decimal

from django.db.models import Q
from django.utils import timezone

from backend.billing.invariants.registry import all_tenants
from backend.billing.models import BookKind, MachineDay, ModelRate, Price, UsageDay, UsageMeter
from backend.tenancy.context import tenant_scope
from gpu_workers.engine.models.device_rates import DeviceRate, DeviceRates
from gpu_workers.engine.models.settings import ModelSettings

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


@dataclass(frozen=True, slots=True)
class ServedWork:
    """What a served model did on one day (UTC). used: it is attributed device time. wrote: it has written tokens."""

    day: date
    model: str
    used: bool
    wrote: bool


def served_work(since: date) -> set[ServedWork]:
    """Return what served models did for any tenant since a day (UTC). A model inside a worker reports no tokens."""
    found: set[ServedWork] = set()
    for tenant_id in all_tenants():
        with tenant_scope(tenant_id):
            days = UsageDay.objects.filter(day__gte=since).exclude(model="")
            rows = days.filter(Q(tokens_in__gt=0) | Q(tokens_out__gt=0))
            amounts = rows.values_list("day", "model", "device_seconds", "tokens_out")
            found |= {ServedWork(day, model, seconds > 0, written > 0) for day, model, seconds, written in amounts}
    return found


def unrated_models(work: Iterable[ServedWork], *, served: Iterable[str] = ()) -> list[str]:
    """Return the models without a rate among those that wrote and those that are served, by name.

    A hosted model has a cost of its own. The rate of a model that writes nothing, such as an embedder, cannot be
    measured: it keeps its share.
    """
    known = device_rates_at(timezone.now())
    return sorted(({one.model for one in work if one.wrote} | set(served)) - set(known.rates) - known.hosted)


def days_without_hours(work: Iterable[ServedWork], *, until: date) -> list[date]:
    """Return the days before a day (UTC) on which served models used devices and nobody entered machine hours."""
    days = {one.day for one in work if one.used and one.day < until}
    return sorted(days - set(MachineDay.objects.filter(day__in=days).values_list("day", flat=True)))


def served_models(settings: ModelSettings) -> set[str]:
    """Return the models on the operator's own servers whose rate can be measured: those that write."""
    roles = [settings.role(name) for name in MEASURED_ROLES]
    return {role.model for role in roles if role.url and role.model and settings.is_own(role)}


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
