"""Minutes of recordings that are reserved: announced or assumed until a recording is measured, exact from then on.

An upload, a piece that was not measured yet, and a video that is being indexed have one reservation each. What the
customer announces as duration is reserved. Without it the reservation is assumed; a recording that turns out to be
longer than what is left fails before anything of it is indexed.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.billing.models import Reserved
from backend.billing.rates import quantity, rates_at
from backend.billing.services.limits import quotas
from backend.billing.services.limits.quotas import Hold
from backend.billing.services.limits.quotes import media_charges
from backend.library.models import InputSegment, Video
from backend.library.services.attribution import is_live
from backend.tenancy.refusals import Refused
from backend.webhooks.thresholds import hold_work, report_crossings, report_refusal

ASSUMED_BYTES_PER_SECOND = 500_000
"""Bytes of one second of a recording whose duration nobody has announced: 4 Mbit/s, as cameras send it."""
ASSUMED_SECONDS = Decimal(60)
"""Duration of a file behind a URL, of which neither duration nor size is known."""
UPLOAD, PIECE, VIDEO = "upload", "piece", "video"


def seconds_of(*, duration_ms: int | None, size_bytes: int | None = None) -> Decimal:
    """Return the seconds to reserve for a recording: as announced, else by its size, else ASSUMED_SECONDS."""
    if duration_ms is not None:
        return quantity(Decimal(duration_ms) / 1000)
    return ASSUMED_SECONDS if size_bytes is None else quantity(max(1, -(-size_bytes // ASSUMED_BYTES_PER_SECOND)))


def hold_media(
    source_type: str,
    source_id: UUID,
    seconds: Decimal,
    *,
    profile: str,
    live: bool = False,
    api_key_id: UUID | None = None,
) -> None:
    """Reserve seconds of media and their charge. live: they are metered as live seconds.

    Raises Refused: plan_exhausted, budget_exhausted (402), too_many_open_jobs (429).
    """
    hold_work([_hold(source_type, source_id, seconds, profile, live=live)], api_key_id=api_key_id)


def hold_index(video: Video, *, duration_ms: int | None = None, api_key_id: UUID | None = None) -> None:
    """Reserve the media of a video whose index is built again. duration_ms: of the part that was not paid before; None
    for the whole recording. Raises Refused as hold_media()."""
    unpaid_ms = video.duration_ms if duration_ms is None else duration_ms
    seconds = Decimal(0) if unpaid_ms is None else seconds_of(duration_ms=unpaid_ms)
    hold_media(VIDEO, video.id, seconds, profile=video.profile, live=is_live(video), api_key_id=api_key_id)


def hand_over(upload_id: UUID, *, source_type: str, to: UUID) -> None:
    """Let a video or a piece take over what its upload has reserved. Raises Refused as hold_media()."""
    report_crossings(quotas.transfer(upload_id, source_type=source_type, to=to))


def refused_as_measured(video: Video, duration_ms: int) -> Refused | None:
    """Reserve the measured duration of a video in place of the announced one; return why there is no room for it."""
    hold = _hold(VIDEO, video.id, seconds_of(duration_ms=duration_ms), video.profile, live=is_live(video))
    try:
        with transaction.atomic():
            report_crossings(quotas.correct(hold))
    except Refused as refused:
        report_refusal(refused)
        return refused
    return None


def refused_piece(video: Video, piece: InputSegment) -> Refused | None:
    """Move the measured duration of a piece to its video; return why there is no room for it."""
    key = quotas.key_of(piece.id)
    quotas.settle([piece.id])
    hold = _hold(VIDEO, video.id, seconds_of(duration_ms=piece.duration_ms or 0), video.profile, live=is_live(video))
    try:
        with transaction.atomic():
            report_crossings(quotas.grow(hold, api_key_id=key))
    except Refused as refused:
        report_refusal(refused)
        return refused
    return None


def release_media(video_id: UUID) -> None:
    """Give back what a video and its unmeasured pieces hold: its index is ready, has failed, or is to be deleted."""
    pieces = InputSegment.objects.filter(video_id=video_id).values_list("id", flat=True)
    quotas.settle([video_id, *pieces])


def release(ids: Sequence[UUID]) -> None:
    """Give back what uploads or pieces hold that have ended."""
    quotas.settle(ids)


def _hold(source_type: str, source_id: UUID, seconds: Decimal, profile: str, *, live: bool) -> Hold:
    """Return the hold of the highest charge that the media may have, so that what is booked never exceeds it."""
    rates = rates_at(timezone.now())
    _, charge = media_charges(rates, seconds=seconds, profile=profile, live=live)
    return Hold(Reserved.MEDIA_SECONDS, source_type, source_id, seconds, charge, rates.currency)
