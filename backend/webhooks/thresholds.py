"""Webhook events about limits: most of a limit is used, or all of it, or it is suspended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from uuid import UUID, uuid5

from django.utils import timezone

from backend.api import public_ids
from backend.billing.models import Budget, TenantBudget
from backend.billing.rates import currency_at, plain
from backend.billing.services.limits import quotas
from backend.billing.services.limits.budgets import monthly_budget
from backend.billing.services.limits.crossings import Crossing, Limited, LimitReached, thresholds_reached
from backend.billing.services.limits.plan_limits import CHARGE, PLAN, TOKENS, plan_limits
from backend.billing.services.limits.quotas import Hold
from backend.billing.terms import subscription_at
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused
from backend.webhooks.budget_mail import queue_mail
from backend.webhooks.models import WebhookEvent
from backend.webhooks.payloads import timestamp
from backend.webhooks.services import emit

THRESHOLDS_PERCENT = (50, 80)


def report_budget() -> None:
    """Emit `usage.threshold_reached` at 50 and 80 % of each limit, `budget.exceeded` at 100 %, and queue their mail.

    Call this in a transaction that has changed what is used. Each event is emitted once per month and amount of the
    limit; of several at once, the last one is mailed. The tokens of the plan are reported as report_crossings() does. A
    tenant without a limit costs two look-ups.
    """
    row, plan = TenantBudget.objects.first(), Limited(PLAN, current_tenant_id(), plan_limits())
    if row is None and TOKENS not in plan.limits:
        return
    budget = monthly_budget()
    if TOKENS in plan.limits:
        tokens = Decimal(budget.used.tokens)
        report_crossings(thresholds_reached(plan, TOKENS, tokens, at=budget.start_at))
    if row is None:
        return
    amounts: dict[str, tuple[Decimal | int | None, Decimal | int]] = {
        "max_tokens": (budget.limits.max_tokens, budget.used.tokens),
        "max_seconds": (budget.limits.max_seconds, budget.used.seconds),
    }
    for name, (amount, used) in amounts.items():
        if amount is None or used * 100 < amount * THRESHOLDS_PERCENT[0]:
            continue
        data = {
            "id": public_ids.encode("bud", row.id),
            "object": "budget",
            "limit": name,
            "amount": plain(Decimal(amount)),
            "used": plain(Decimal(used)),
            "percent": int(used * 100 / amount) if amount else 100,
            "start_at": timestamp(budget.start_at),
            "end_at": timestamp(budget.end_at),
        }
        # The id of a change, so that the same change is emitted once.
        change = f"{budget.start_at:%Y-%m}:{name}:{plain(Decimal(amount))}"
        event = None
        for percent in THRESHOLDS_PERCENT:
            if used * 100 >= amount * percent:
                reached = uuid5(row.id, f"{change}:{percent}")
                event = emit(type="usage.threshold_reached", resource_id=reached, data=data) or event
        if used >= amount:
            event = emit(type="budget.exceeded", resource_id=uuid5(row.id, change), data=data) or event
        queue_mail(event)


def hold_work(holds: Sequence[Hold], *, api_key_id: UUID | None = None, again: bool = False) -> None:
    """Reserve what accepted work may consume, and report each threshold of a limit that it came to. again: a retry.

    Raises as quotas.reserve().
    """
    report_crossings(quotas.reserve(holds, api_key_id=api_key_id, again=again))


def report_reached() -> None:
    """Report the thresholds that monthly limits have come to without a reservation, as by the charge of storage.

    Call this in a transaction after the one that has changed what is used.
    """
    report_crossings(quotas.reached())
    report_suspended(timezone.now())


def report_suspended(at: datetime) -> None:
    """Emit `budget.suspended` for each limit of charge in another currency than the plan has at a moment.

    Once for a limit and subscription, with a mail.
    """
    budgets = quotas.suspended(Budget.objects.order_by("id"), at=at)
    if not budgets:
        return
    terms = subscription_at(at)
    for budget in budgets:
        if budget.charge is None:
            continue
        data = {
            "id": public_ids.encode("bud", budget.id),
            "object": "budget",
            "limit": CHARGE,
            "amount": plain(budget.charge),
            "currency": budget.currency,
            "plan_currency": currency_at(at),
            "suspended_at": timestamp(at),
        }
        change = f"suspended:{terms.id if terms else ''}:{plain(budget.charge)}:{budget.currency}"
        queue_mail(emit(type="budget.suspended", resource_id=uuid5(budget.id, change), data=data))


def report_refusal(refused: Refused) -> None:
    """Emit `budget.exceeded` for a limit that left no room for work; nothing for a refusal of another kind.

    Call this where the refusal does not roll back what is written here.
    """
    if isinstance(refused, LimitReached) and refused.crossing is not None:
        report_crossings([refused.crossing])


def report_crossings(crossings: Sequence[Crossing]) -> None:
    """Emit `usage.threshold_reached` at 50 and 80 %, `budget.exceeded` at 100 %, once per month and amount of a limit.

    A limit that is not used up and leaves no room for work is reported as exceeded once more. Those whom
    backend.webhooks.recipients names get a mail with it. What was reported before costs one read.
    """
    named = {_id_of(crossing): crossing for crossing in crossings}
    reported = set(WebhookEvent.objects.filter(resource_id__in=named).values_list("resource_id", flat=True))
    for id, crossing in named.items():
        if id in reported:
            continue
        data = {
            "id": public_ids.encode("bud", crossing.limited.id),
            "object": "budget",
            "limit": crossing.name,
            "amount": plain(crossing.limit),
            "used": plain(crossing.used),
            "percent": int(crossing.used * 100 / crossing.limit) if crossing.limit else 100,
            "start_at": timestamp(crossing.start_at),
            "end_at": timestamp(crossing.end_at),
        }
        kind = "budget.exceeded" if crossing.percent == 100 else "usage.threshold_reached"
        queue_mail(emit(type=kind, resource_id=id, data=data))


def _id_of(crossing: Crossing) -> UUID:
    """Return the id of a change, so that the same change is emitted once."""
    limited, amount = crossing.limited, plain(crossing.limit)
    change = f"{crossing.start_at:%Y-%m}:{limited.scope}:{crossing.name}:{amount}:{crossing.percent}"
    return uuid5(limited.id, f"{change}:refused" if crossing.refused else change)
