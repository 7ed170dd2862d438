"""Writes to shares: made with a token that is shown once, counted at each view, revoked."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from backend.api.public_ids import encode
from backend.audit.models import ActorKind
from backend.audit.services import Actor, record
from backend.billing.services.usage.storage import Link, record_links
from backend.clips.models import Clip
from backend.library.models import Video
from backend.library.services.attribution import attribution_of
from backend.questions.models import Question
from backend.shares import queries
from backend.shares.models import Share
from backend.shares.services.pages import Page, is_shown
from backend.tenancy.callers import current_caller
from backend.tenancy.context import current_tenant_id
from backend.tenancy.link_tokens import digest_of, link_to
from backend.tenancy.refusals import Refused

AUDITED_EVERY = timedelta(hours=1)
"""The audit log gets one entry of views for each share and this time, because nobody is counted before they view."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a share shows: one of these."""

    question: Question | None = None
    video: Video | None = None
    clip: Clip | None = None


def create_share(
    subject: Subject,
    *,
    start_ms: int | None,
    end_ms: int | None,
    play_recordings: bool = False,
    title: str,
    expires_at: datetime,
) -> tuple[Share, str]:
    """Share one thing; return the share and its link. Raises Refused `nothing_to_share`."""
    token, caller = secrets.token_urlsafe(32), current_caller()
    share = Share(
        tenant_id=current_tenant_id(),
        question=subject.question,
        video=subject.video,
        clip=subject.clip,
        start_ms=start_ms,
        end_ms=end_ms,
        play_recordings=play_recordings,
        title=title,
        digest=digest_of(token),
        expires_at=expires_at,
        api_key_id=caller.api_key_id,
        person_id=caller.person_id,
    )
    if not is_shown(share):
        detail = "The question has not ended well, the video has no recording in this span, or the clip is not made."
        raise Refused("nothing_to_share", detail)
    share.save(force_insert=True)
    return share, link_to(f"/share/{token}")


def revoke(share: Share) -> None:
    """End a share; a share that was revoked before keeps its time."""
    revoke_all(queries.shares().filter(id=share.id, revoked_at=None))


def revoke_all(rows: QuerySet[Share]) -> None:
    """End shares that have not ended."""
    rows.update(revoked_at=timezone.now())


def revoke_again(share_id: UUID) -> bool:
    """End a share that a restore has opened again. Returns whether it was open."""
    return bool(queries.shares().filter(id=share_id, revoked_at=None).update(revoked_at=timezone.now()))


def count_view(share: Share, page: Page, *, address: str, request_id: str) -> None:
    """Count one view of a share, in the open scope of its tenant, and record it if the last record is old."""
    now, mine = timezone.now(), queries.shares().filter(id=share.id)
    mine.update(views=F("views") + 1, last_viewed_at=now)
    if mine.filter(Q(audited_at=None) | Q(audited_at__lte=now - AUDITED_EVERY)).update(audited_at=now):
        visitor = Actor(ActorKind.VISITOR, address=address, request_id=request_id)
        record("share.viewed", actor=visitor, object_id=encode("shr", share.id))
    if page.opened_bytes:
        video = Video.objects.get(id=page.video_id)
        maker = replace(attribution_of(video), api_key_id=share.api_key_id, person_id=share.person_id)
        record_links([Link(share.clip_id or video.id, maker, page.opened_bytes)], at=now)
