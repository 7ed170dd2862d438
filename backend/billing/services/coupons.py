"""Coupons: discounts on usage before tax."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from django.utils import timezone

from backend.billing.currencies import payable
from backend.billing.models import Coupon, CouponRedemption
from backend.billing.services.billing_lock import lock_billing
from backend.billing.services.periods import Period, month_of, period_from
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused


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

    No discount exceeds what the earlier ones left of the subtotal. Coupons of an amount hold in their currency alone.
    """
    codes = list(
        CouponRedemption.objects.filter(start_at__lte=period.start, end_at__gt=period.start)
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
