"""Credits: media that was billed and whose index failed for our reasons.

A credit is a row with the negated amounts of the charge. If the same index is built after all, the charge is restored.
Both lie at the time of the charge, so that its terms apply: a credit of a trial is worth nothing. Both name the segment
and the round of building, so that each happens once; what a segment costs is never more than one charge. Every function
runs in the caller's transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from decimal import Decimal
from uuid import UUID

from backend.billing.models import SEGMENT, SEGMENT_CREDIT, SEGMENT_RESTORED, UsageEvent, UsageMeter
from backend.billing.rates import Cost
from backend.billing.services.rows import insert_once, reversal_of


def credit_media(*, video_id: UUID, segment_ids: Collection[UUID], reason: str, round: int) -> Cost:
    """Credit the media of segments that are charged and not credited yet. round: of building their index, from 0.

    Returns the credited amounts (negative), zero when nothing was charged.
    """
    return _turn(video_id, segment_ids, source_type=SEGMENT_CREDIT, reason=reason, round=round, charged=True)


def restore_media(*, video_id: UUID, segment_ids: Collection[UUID], round: int) -> Cost:
    """Charge the media of credited segments again, because their index is complete. Returns the restored amounts."""
    return _turn(video_id, segment_ids, source_type=SEGMENT_RESTORED, reason="retried", round=round, charged=False)


def _turn(
    video_id: UUID,
    segment_ids: Collection[UUID],
    *,
    source_type: str,
    reason: str,
    round: int,
    charged: bool,
) -> Cost:
    wanted = {str(id) for id in segment_ids}
    last: dict[str, UsageEvent] = {}
    net: defaultdict[str, Decimal] = defaultdict(Decimal)
    rows = UsageEvent.objects.filter(
        video_id=video_id,
        meter__in=[UsageMeter.MEDIA_SECONDS, UsageMeter.LIVE_SECONDS],
        source_type__in=[SEGMENT, SEGMENT_CREDIT, SEGMENT_RESTORED],
    )
    for row in rows.order_by("id"):
        segment = row.source_id.partition(":")[0]
        if segment in wanted:
            net[segment] += row.quantity
            last[segment] = row
    turned = [
        # The row before it: a credit takes back a charge, and a restored charge takes back a credit.
        reversal_of(row, source_type=source_type, source_id=f"{segment}:{round}", reason=reason)
        for segment, row in sorted(last.items())
        if (net[segment] > 0) == charged
    ]
    insert_once(turned)
    return Cost(
        amount=sum((row.cost_amount for row in turned), Decimal(0)),
        price=sum((row.price_amount for row in turned), Decimal(0)),
    )
