"""Corrections of the ledger: a row is taken back by another row, and booked again with the right quantity.

Rows are never changed. Both rows name the price that valued the first one, so a correction neither finds nor makes
another price. Who corrected and why is in the tenant's audit log; the reason stands in the rows as well. A question
shows what it is charged after the correction.
"""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from backend.billing.models import CORRECTION, Price, UsageEvent, UsageMeter
from backend.billing.rates import money
from backend.billing.rates import quantity as whole
from backend.billing.services.usage.rows import charged_again, insert_once, replace_once, reversal_of
from backend.billing.services.usage.shown_charges import lock_work, show_charges
from backend.tenancy.refusals import Refused


def reverse(*, event_id: UUID, reason: str) -> UsageEvent:
    """Take a row of the ledger back, once. Returns the reversing row.

    Raises Refused: unknown_usage_event (404), is_a_reversal, already_reversed (409).
    """
    row, turned = _taken_back(event_id, reason)
    if not insert_once([turned]):
        raise _already_reversed()
    _show(row)
    return turned


def correct(*, event_id: UUID, quantity: Decimal, reason: str) -> UsageEvent:
    """Take a row back and book its work again with another quantity, at the prices of the row. Returns the new row.

    Raises Refused as reverse(), and not_priced (409) for a row that no price valued.
    """
    row, turned = _taken_back(event_id, reason)
    units: dict[UUID | None, Decimal] = {
        price.id: price.unit_amount for price in Price.objects.filter(id__in=[row.price_id, row.cost_price_id])
    }
    if row.cost_price_id not in units or (row.billable and row.price_id not in units):
        raise Refused("not_priced", "No price of the books valued this row, so it can only be reversed.")
    again = charged_again(turned, source_type=CORRECTION, source_id=f"{row.id}:again", reason=reason)
    again.quantity = whole(quantity)
    again.cost_amount = money(units[row.cost_price_id] * again.quantity)
    again.price_amount = money(units[row.price_id] * again.quantity) if row.billable else Decimal(0)
    if not replace_once([(turned, again)]):
        raise _already_reversed()
    _show(row)
    return again


def _taken_back(event_id: UUID, reason: str) -> tuple[UsageEvent, UsageEvent]:
    lock_work(UsageEvent.objects.filter(id=event_id))
    row: UsageEvent | None = UsageEvent.objects.filter(id=event_id).first()
    if row is None:
        raise Refused("unknown_usage_event", "There is no such row of the ledger.", status=404)
    if row.reverses_id is not None:
        raise Refused("is_a_reversal", "This row takes another one back; correct that one.")
    if UsageEvent.objects.filter(reverses_id=row.id).exists():
        raise _already_reversed()
    turned = reversal_of(row, source_type=CORRECTION, source_id=str(row.id), reason=reason)
    return row, turned


def _show(row: UsageEvent) -> None:
    if row.question_id is not None and row.meter == UsageMeter.QUESTIONS:
        show_charges([row.question_id])


def _already_reversed() -> Refused:
    return Refused("already_reversed", "This row has been taken back already.")
