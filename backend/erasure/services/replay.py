"""Repeats the ledger of deletions over a restored database, which has forgotten them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date
from uuid import UUID

from backend.clips.services import clips
from backend.erasure.queries import known_tenants
from backend.erasure.services import retention, tenants
from backend.library.models import Upload, Video
from backend.library.services import ended_rights
from backend.library.services.deletion_ledger import Deleted, Entry, entries
from backend.library.services.upload_records import drop_uploads
from backend.library.services.videos import delete_video
from backend.questions.models import Question, Search
from backend.questions.services import deletions
from backend.tenancy.context import tenant_scope


def _videos(id: UUID) -> bool:
    video = Video.objects.filter(id=id).first()
    if video is not None:
        delete_video(video=video)
    return video is not None


def _questions(id: UUID) -> bool:
    return bool(deletions.drop_questions(Question.objects.filter(id=id), grave=id))


def _searches(id: UUID) -> bool:
    return Search.objects.filter(id=id).exists() and bool(deletions.drop_searches([id]))


def _uploads(id: UUID) -> bool:
    there = Upload.objects.filter(id=id).exists()
    drop_uploads([id])
    return bool(there)


REPEAT: Mapping[Deleted, Callable[[UUID], bool]] = {
    Deleted.VIDEO: _videos,
    Deleted.QUESTION: _questions,
    Deleted.SEARCH: _searches,
    Deleted.BATCH: deletions.drop_batch,
    Deleted.SESSION: deletions.drop_session,
    Deleted.COMPARISON: deletions.drop_comparison,
    Deleted.CLIP: clips.drop_clip,
    Deleted.UPLOAD: _uploads,
    Deleted.SOURCE: retention.drop_source,
    Deleted.THUMBNAILS: retention.drop_thumbnails,
}
"""How one deletion of each kind is repeated, in its tenant's scope. Each returns whether it found something.

Ended rights are repeated by their own packages (library.services.ended_rights)."""


def replay(*, since: date | None = None) -> Counter[Deleted]:
    """Repeat every deletion of a day (UTC) and later, by default all. Returns what had come back, by kind.

    Safe to repeat. A video and a tenant are deleted by their jobs afterwards; everything else is gone on return.
    """
    repeated: Counter[Deleted] = Counter()
    service: dict[UUID, Entry] = {}
    for entry in entries(since=since):
        # A tenant that was erased twice, or before the restored moment, is not there.
        if not known_tenants({entry.tenant_id}):
            continue
        if entry.kind in (Deleted.SUSPENSION, Deleted.RESUMPTION):
            # Only the last one counts: a tenant that is served now is not suspended in between.
            service[entry.tenant_id] = entry
        else:
            repeated[entry.kind] += _repeat(entry)
    for entry in service.values():
        repeated[entry.kind] += _repeat(entry)
    return +repeated


def _repeat(entry: Entry) -> int:
    if entry.kind == Deleted.TENANT:
        tenants.begin_tenant_erasure(entry.tenant_id, recorded=True)
        return 1
    count = 0
    repeat = {**REPEAT, **ended_rights.repeats()}[entry.kind]
    for id in entry.ids:
        with tenant_scope(entry.tenant_id):
            count += repeat(id)
    return count
