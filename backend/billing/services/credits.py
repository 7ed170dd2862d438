"""Credits: media that was billed and whose index failed for our reasons.

A credit is a row with the negated amounts of the charge. If the same index is built after all, the charge is restored.
Both name the segment and the round of building, so that each happens once; what a segment costs is never more than one
charge. Every function runs in the caller's transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from backend.billing.models import SEGMENT, SEGMENT_CREDIT, SEGMENT_RESTORED, UsageEvent, UsageMeter
from backend.billing.rates import Cost
from backend.billing.services.ledger import insert_once


def credit_media(*, video_id: UUID, segment_ids: Collection[UUID], reason: str, round: int) -> Cost:
    """Credit the media of segments that are charged and not credited yet. round: of building their index, from 0.

    Returns the credited amounts (negative), zero when nothing was charged.
    """
    return _turn(video_id, segment_ids, source_type=SEGMENT_CREDIT, reason=reason, round=round, sign=-1, charged=True)


def restore_media(*, video_id: UUID, segment_ids: Collection[UUID], round: int) -> Cost:
    """Charge the media of credited segments again, because their index is complete. Returns the restored amounts."""
    return _turn(
        video_id, segment_ids, source_type=SEGMENT_RESTORED, reason="retried", round=round, sign=1, charged=False
    )


def _turn(
    video_id: UUID,
    segment_ids: Collection[UUID],
    *,
    source_type: str,
    reason: str,
    round: int,
    sign: int,
    charged: bool,
) -> Cost:
    wanted = {str(id) for id in segment_ids}
    charges: dict[str, UsageEvent] = {}
    net: defaultdict[str, Decimal] = defaultdict(Decimal)
    rows = UsageEvent.objects.filter(
        video_id=video_id,
        meter=UsageMeter.MEDIA_SECONDS,
        source_type__in=[SEGMENT, SEGMENT_CREDIT, SEGMENT_RESTORED],
    )
    for row in rows:
        segment = row.source_id.partition(":")[0]
        if segment in wanted:
            net[segment] += row.quantity
            if row.source_type == SEGMENT:
                charges[segment] = row
    turned = [charge for segment, charge in sorted(charges.items()) if (net[segment] > 0) == charged]
    now = timezone.now()
    insert_once(
        [
            UsageEvent(
                tenant_id=charge.tenant_id,
                meter=charge.meter,
                quantity=sign * charge.quantity,
                occurred_at=now,
                source_type=source_type,
                source_id=f"{charge.source_id}:{round}",
                video_id=video_id,
                api_key_id=charge.api_key_id,
                cost_amount=sign * charge.cost_amount,
                price_amount=sign * charge.price_amount,
                currency=charge.currency,
                reason=reason[:64],
            )
            for charge in turned
        ]
    )
    return Cost(
        amount=sum((sign * charge.cost_amount for charge in turned), Decimal(0)),
        price=sum((sign * charge.price_amount for charge in turned), Decimal(0)),
    )
