"""Removes an index version that nobody reads: its thumbnails, rows and graph. Its history entry stays."""

from __future__ import annotations

from backend.ekg.retirement import drop_version
from backend.jobs.services import JobFailed
from backend.library.indexing.retirement import drop_segments, is_written, retirable
from backend.library.models import IndexVersion
from backend.library.storage import ObjectMissing, ObjectStorage, cited_thumbnail_key, version_prefix
from backend.questions.queries.pinned_versions import citing_thumbnails, is_read
from backend.questions.services import searches
from backend.questions.services.evidence import show_frame
from backend.tenancy.context import tenant_scope
from workers.runner import FollowUp, Work


def handle(work: Work) -> FollowUp | None:
    with tenant_scope(work.lease.tenant_id):
        version = retirable(work.lease.subject_id)
        if version is not None:
            require_unused(version)
    if version is None:
        work.finish()
        return None
    # Objects first: as long as rows still name them, a second attempt finds the objects that a first one left.
    keep_cited_thumbnails(work, version)
    work.require_lease()
    ObjectStorage().delete_prefix(version_prefix(version.tenant_id, version.video_id, version.n))
    with work.checkpoint():
        searches.forget_frames(version.video_id, version.n)
        drop_version(version.video_id, version.n)
        drop_segments(version)
        work.complete()
    return None


def require_unused(version: IndexVersion) -> None:
    """Raise JobFailed (retryable) while a question or search reads the version, or a worker may still write to it."""
    if is_read(version.video_id, version.n) or is_written(version):
        raise JobFailed("version_in_use", "a question, a search or a worker still uses this version", retryable=True)


def keep_cited_thumbnails(work: Work, version: IndexVersion) -> None:
    """Copy thumbnails that answers show and that have no copy yet; the evidence then names the copy."""
    prefix = version_prefix(version.tenant_id, version.video_id, version.n)
    with tenant_scope(version.tenant_id):
        cited = citing_thumbnails(version.video_id, prefix)
    storage = ObjectStorage()
    work.stores_under(version.video_id)
    for row in cited:
        work.require_lease()
        key = cited_thumbnail_key(version.tenant_id, version.video_id, row.question_id, row.ordinal)
        try:
            storage.put(key, storage.get(row.frame_key), content_type="image/jpeg")
        except ObjectMissing:
            key = ""
        with work.checkpoint():
            show_frame(row, key)
