"""Coupons: discounts on usage before tax, made by staff and given to tenants."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.utils import timezone

from backend.billing.currencies import CURRENCIES, payable
from backend.billing.models import Coupon, CouponRedemption
from backend.billing.services.invoicing.billing_lock import lock_billing
from backend.billing.services.invoicing.periods import Period, month_of, period_from
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused

CODE = re.compile(r"[A-Z0-9][A-Z0-9-]{2,31}")


@dataclass(frozen=True, slots=True)
class NewCoupon:
    """A coupon to make: percent (0 to 100) or amount with its currency, for a number of months.

    code: 3 to 32 capital letters, digits and dashes. redeem_until: moment from which nobody can redeem it, None for
    never. author: who decided it.
    """

    code: str
    author: str
    percent: Decimal | None = None
    amount: Decimal | None = None
    currency: str = ""
    months: int = 1
    redeem_until: datetime | None = None
    note: str = ""


def create_coupon(new: NewCoupon, *, using: str) -> Coupon:
    """Make a coupon. using: a connection that may write coupons. It is never changed.

    Raises Refused `invalid_coupon` (400), `coupon_exists` (409).
    """
    _check(new)
    try:
        with transaction.atomic(using=using):
            coupon: Coupon = Coupon.objects.using(using).create(
                code=new.code,
                percent=new.percent,
                amount=new.amount,
                currency=new.currency,
                months=new.months,
                redeem_until=new.redeem_until,
                author=new.author,
                note=new.note[:200],
            )
    except IntegrityError:
        raise Refused("coupon_exists", f"There is a coupon {new.code}.") from None
    return coupon


def _check(new: NewCoupon) -> None:
    if not CODE.fullmatch(new.code):
        raise _invalid("A code has 3 to 32 capital letters, digits and dashes.")
    if (new.percent is None) == (new.amount is None):
        raise _invalid("A coupon has either a percentage or an amount.")
    if new.percent is not None and not (0 < new.percent <= 100 and not new.currency):
        raise _invalid("The percentage is above 0 and at most 100, and has no currency.")
    if new.amount is not None:
        if new.currency not in CURRENCIES:
            raise _invalid(f"An amount needs a currency: {', '.join(CURRENCIES)}.")
        if new.amount <= 0 or payable(new.amount, new.currency) != new.amount:
            raise _invalid(f"The amount is positive and has at most {CURRENCIES[new.currency]} decimal places.")
    if not 1 <= new.months <= 120:
        raise _invalid("A coupon holds for 1 to 120 months.")
    if new.redeem_until is not None and new.redeem_until <= timezone.now():
        raise _invalid("The coupon must be redeemable in the future.")
    if not new.author.strip():
        raise _invalid("A coupon names the person who decided it.")


def _invalid(detail: str) -> Refused:
    return Refused("invalid_coupon", detail, status=400)


def redeem_coupon(*, code: str, author: str, time_zone: str, at: datetime | None = None) -> CouponRedemption:
    """Give the entered tenant the discount of a coupon, from the current month on. at: now.

    Raises Refused `unknown_coupon` (404), `coupon_expired`, `coupon_redeemed` (409).
    """
    now = at or timezone.now()
    coupon = Coupon.objects.filter(code=code).first()
    if coupon is None:
        raise Refused("unknown_coupon", "There is no such coupon.", status=404)
    if coupon.redeem_until is not None and coupon.redeem_until <= now:
        raise Refused("coupon_expired", "The coupon can no longer be redeemed.")
    lock_billing()
    if CouponRedemption.objects.filter(coupon_code=code).exists():
        raise Refused("coupon_redeemed", "The coupon has been redeemed before.")
    first = last = month_of(now, time_zone)
    for _ in range(coupon.months - 1):
        last = period_from(last.end, time_zone)
    redemption: CouponRedemption = CouponRedemption.objects.create(
        tenant_id=current_tenant_id(), coupon_code=code, author=author, start_at=first.start, end_at=last.end
    )
    return redemption


def discounts(period: Period, *, currency: str, subtotal: Decimal) -> list[tuple[str, Decimal]]:
    """Return the code and the discount (negative) of each coupon that holds in a period, the oldest first.

    A coupon holds in the periods whose middle lies in its months: after a change of the time zone, the months of a
    coupon and the periods begin some hours apart. subtotal: of all usage of the period. No discount exceeds what the
    earlier ones left of it. Coupons of an amount hold in their currency alone.
    """
    middle = period.start + (period.end - period.start) / 2
    codes = list(
        CouponRedemption.objects.filter(start_at__lte=middle, end_at__gt=middle)
        .order_by("start_at", "coupon_code")
        .values_list("coupon_code", flat=True)
    )
    coupons = Coupon.objects.in_bulk(codes)
    left, found = subtotal, []
    for coupon in (coupons[code] for code in codes):
        if coupon.percent is not None:
            wanted = payable(left * coupon.percent / 100, currency)
        elif coupon.currency == currency and coupon.amount is not None:
            wanted = payable(coupon.amount, currency)
        else:
            continue
        amount = min(wanted, max(left, Decimal(0)))
        if amount > 0:
            left -= amount
            found.append((coupon.code, -amount))
    return found
