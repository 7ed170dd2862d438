"""What pieces of work are charged, added up from the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Max, Q, Sum

from backend.billing.charges import Charge
from backend.billing.models import UsageEvent, UsageMeter

_MEDIA = Q(meter__in=[UsageMeter.MEDIA_SECONDS, UsageMeter.LIVE_SECONDS])


def charges_of_videos(video_ids: Sequence[UUID]) -> dict[UUID, Charge]:
    """Return what the index of each video is charged so far, credits included; nothing for a video without charges.

    price_version: the newest of its rows.
    """
    rows = (
        UsageEvent.objects.filter(_MEDIA, video_id__in=video_ids)
        .order_by()
        .values("video_id")
        .annotate(amount=Sum("price_amount"), currency=Max("price_currency"), version=Max("price_version"))
    )
    return {row["video_id"]: Charge(row["amount"], row["currency"], row["version"]) for row in rows}
