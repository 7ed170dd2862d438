"""What the index of a recording will be charged and how long it will take, from the tenant's own videos."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.utils import timezone

from backend.billing.charges import FULL, OBSERVER
from backend.billing.models import UsageEvent, UsageMeter
from backend.billing.rates import rates_at
from backend.billing.services.limits.estimates import RECENT, Estimate, Span, estimate
from backend.billing.services.limits.quotes import media_charge, media_charges
from backend.library.models import Video, VideoStatus
from backend.library.services.media_quota import ASSUMED_BYTES_PER_SECOND

ASSUMED_RATIO = Span(Decimal("0.1"), Decimal("0.5"), Decimal(2))
"""Assumed duration of indexing per duration of the recording."""
_BYTES = Decimal(ASSUMED_BYTES_PER_SECOND)
ASSUMED_SECONDS_PER_BYTE = Span(1 / (4 * _BYTES), 1 / _BYTES, 5 / _BYTES)
"""Assumed for files of 0.8 to 16 Mbit/s, 4 in the middle."""


@dataclass(frozen=True, slots=True)
class VideoEstimate:
    """charge: of the index; storage is charged apart, as long as the recording is kept. duration: in milliseconds.

    The low and the high charge hold for every set of stages; the expected one for the set of the latest recording.
    """

    charge: Span
    currency: str
    duration: Estimate


def estimate_video(
    *, profile: str, duration_ms: int | None = None, size_bytes: int | None = None, live: bool = False
) -> VideoEstimate:
    """Return the estimate of one recording, by its duration, or else by its size. live: it arrives in segments.

    Raises NoRate if the price book has no price for it.
    """
    rates = rates_at(timezone.now())
    ready = Video.objects.filter(status=VideoStatus.READY, duration_ms__gt=0)
    if duration_ms is not None:
        exact = Decimal(duration_ms)
        media_ms = Span(exact, exact, exact)
    else:
        stored = ready.filter(size_bytes__gt=0).order_by("-ready_at").values_list("duration_ms", "size_bytes")[:RECENT]
        seconds_per_byte = [Decimal(ms) / 1000 / size for ms, size in reversed(list(stored))]
        rate = estimate(seconds_per_byte, assumed=ASSUMED_SECONDS_PER_BYTE)
        media_ms = rate.span.scaled(Decimal(size_bytes or 0) * 1000)
    timed = ready.exclude(index_started_at=None).exclude(ready_at=None).order_by("-ready_at")
    latest = timed.values_list("index_started_at", "ready_at", "duration_ms")[:RECENT]
    ratios = [
        Decimal((ready_at - started_at).total_seconds()) * 1000 / ms
        for started_at, ready_at, ms in reversed(list(latest))
        if ready_at > started_at
    ]
    ratio = estimate(ratios, assumed=ASSUMED_RATIO)
    span = ratio.span
    taken = Span(span.low * media_ms.low, span.expected * media_ms.expected, span.high * media_ms.high)

    def charged(ms: Decimal) -> tuple[Decimal, Decimal]:
        return media_charges(rates, seconds=ms / 1000, profile=profile, live=live)

    expected = media_charge(
        rates, seconds=media_ms.expected / 1000, profile=profile, stages=_stages_of_latest(), live=live
    )
    charge = Span(charged(media_ms.low)[0], expected, charged(media_ms.high)[1])
    return VideoEstimate(charge, rates.currency, Estimate(taken, ratio.sample, ratio.error, ratio.covered))


def _stages_of_latest() -> str:
    """Return the set of stages by which the tenant's latest recording was indexed, FULL if there is none."""
    latest = Video.objects.filter(status=VideoStatus.READY).order_by("-ready_at").values_list("id", flat=True).first()
    media = UsageEvent.objects.filter(
        video_id=latest, meter__in=[UsageMeter.MEDIA_SECONDS, UsageMeter.LIVE_SECONDS]
    ).order_by("-id")
    _, _, stages = (media.values_list("variant", flat=True).first() or "").partition(":")
    return OBSERVER if stages == OBSERVER else FULL
