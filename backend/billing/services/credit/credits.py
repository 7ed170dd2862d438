"""Credits: media that was billed and whose index failed for our reasons.

A credit is a row with the negated amounts of what stands of the charge. If the same index is built after all, the
charge is booked again as it was credited. Both lie at the time of the charge, so that its terms apply: a credit of a
trial is worth nothing. Both name the segment and the round of building, so that each happens once; what a segment costs
is never more than one charge. Every function runs in the caller's transaction, which has locked the video.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from uuid import UUID

from backend.billing.models import CORRECTION, RERATING, SEGMENT_CREDIT, SEGMENT_RESTORED, UsageEvent, UsageMeter
from backend.billing.rates import Cost
from backend.billing.services.usage.rows import charged_again, insert_once, reversal_of


def credit_media(*, video_id: UUID, segment_ids: Collection[UUID], reason: str, round: int) -> Cost:
    """Credit the media of segments that are charged and not credited yet. round: of building their index, from 0.

    Returns the credited amounts (negative), zero when nothing was charged.
    """
    rows = _media_of(video_id)
    taken_back = {row.reverses_id for row in rows.values()}
    standing = {
        segment: row
        for segment, row in _last_of_segments(rows, segment_ids).items()
        if row.reverses_id is None and row.id not in taken_back
    }
    turned = [
        reversal_of(row, source_type=SEGMENT_CREDIT, source_id=f"{segment}:{round}", reason=reason)
        for segment, row in sorted(standing.items())
    ]
    return _sum(insert_once(turned))


def restore_media(*, video_id: UUID, segment_ids: Collection[UUID], round: int) -> Cost:
    """Charge the media of credited segments again, because their index is complete. Returns the restored amounts."""
    last = _last_of_segments(_media_of(video_id), segment_ids)
    again = [
        charged_again(row, source_type=SEGMENT_RESTORED, source_id=f"{segment}:{round}", reason="retried")
        for segment, row in sorted(last.items())
        if row.source_type == SEGMENT_CREDIT
    ]
    return _sum(insert_once(again))


def _media_of(video_id: UUID) -> dict[UUID, UsageEvent]:
    """Return the rows of a video's media by their ids, the oldest first."""
    meters = [UsageMeter.MEDIA_SECONDS, UsageMeter.LIVE_SECONDS]
    return {row.id: row for row in UsageEvent.objects.filter(video_id=video_id, meter__in=meters).order_by("id")}


def _last_of_segments(rows: Mapping[UUID, UsageEvent], segment_ids: Collection[UUID]) -> dict[str, UsageEvent]:
    """Return the last row of each of the segments: a charge that stands, or what took the last charge back."""
    wanted = {str(id) for id in segment_ids}
    return {segment: row for row in rows.values() if (segment := _segment_of(row, rows)) in wanted}


def _segment_of(row: UsageEvent, rows: Mapping[UUID, UsageEvent]) -> str:
    """Return the id of the segment that a row charges or credits."""
    name: str = row.source_id.partition(":")[0]
    # These name the row that they take back.
    return _segment_of(rows[UUID(name)], rows) if row.source_type in (CORRECTION, RERATING) else name


def _sum(rows: Collection[UsageEvent]) -> Cost:
    return Cost(
        amount=sum((row.cost_amount for row in rows), Decimal(0)),
        price=sum((row.price_amount for row in rows), Decimal(0)),
    )
