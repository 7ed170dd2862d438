"""Segments that failed for our reasons are retried by themselves, a few times, after growing pauses.

Nobody else repairs them: the customer did nothing wrong, and an operator does not see every gap.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F, Min, QuerySet
from django.db.models.functions import Now

from backend.library.models import Segment

PAUSES = (timedelta(minutes=15), timedelta(hours=3), timedelta(hours=24))
"""Time from each failure of a segment to its next retry. A segment that fails once more is left to people."""
POSTPONED = timedelta(hours=1)
"""Time until a segment is looked at again whose retry cannot begin now, or ended without a result: its video is
indexed again, or somebody canceled the job."""
AT_ONCE = 100
"""Maximum videos whose retry one run of the sweep begins, so that an outage that ends floods no queue."""


def next_retry(retries: int, *, now: datetime) -> datetime | None:
    """Return when a segment that fails now is retried; None if it is not. retries: how often it was retried."""
    return now + PAUSES[retries] if retries < len(PAUSES) else None


def due_videos() -> list[tuple[UUID, UUID]]:
    """Return tenant and id of the videos whose segments are due for a retry, the longest due first, as the dispatch
    role sees them."""
    due = Segment.unscoped.using("dispatch").filter(retry_at__lte=Now()).values("tenant_id", "video_id")
    return list(due.annotate(since=Min("retry_at")).order_by("since").values_list("tenant_id", "video_id")[:AT_ONCE])


def due_segments(video_id: UUID) -> QuerySet[Segment]:
    """Return the segments of the version that questions read which are due for a retry."""
    due: QuerySet[Segment] = Segment.objects.filter(video_id=video_id, retry_at__lte=Now())
    return due.filter(index_version=F("video__active_index_version"))


def postpone_retries(video_id: UUID) -> None:
    """Look again later at the segments of a video that are due."""
    Segment.objects.filter(video_id=video_id, retry_at__lte=Now()).update(retry_at=Now() + POSTPONED)


def leave_to_people(video_id: UUID) -> None:
    """Retry the due segments of a video no more."""
    Segment.objects.filter(video_id=video_id, retry_at__lte=Now()).update(retry_at=None)
