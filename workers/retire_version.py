"""Removes an index version that nobody reads: its thumbnails, rows and graph. Its place in the history stays."""

from __future__ import annotations

from django.db.models import Q
from django.utils import timezone

from backend.ekg.retirement import drop_version
from backend.jobs.models import Job, JobKind, JobState
from backend.jobs.services import JobFailed
from backend.library.models import IndexVersion, Segment, Video
from backend.library.storage import ObjectMissing, ObjectStorage, cited_thumbnail_key, version_prefix
from backend.questions.models import Evidence, QuestionStatus, QuestionVideo, SearchVideo
from backend.questions.services import searches
from backend.tenancy.context import tenant_scope
from workers.runner import FollowUp, Work


def handle(work: Work) -> FollowUp | None:
    with tenant_scope(work.lease.tenant_id):
        version = IndexVersion.objects.filter(id=work.lease.subject_id).first()
        needed = version is None or _is_needed(version)
        if version is not None and not needed:
            require_unused(version)
    if version is None or needed:
        with work.checkpoint():
            work.complete()
        return None
    # Objects first: rows that still name them let a second attempt find what a first one left.
    keep_cited_thumbnails(work, version)
    work.require_lease()
    ObjectStorage().delete_prefix(version_prefix(version.tenant_id, version.video_id, version.n))
    with work.checkpoint():
        searches.forget_frames(version.video_id, version.n)
        drop_version(version.video_id, version.n)
        Segment.objects.filter(video_id=version.video_id, index_version=version.n).delete()
        work.complete()
    return None


def _is_needed(version: IndexVersion) -> bool:
    """Versions are replaced for good, so one that is not needed now never is again."""
    video = Video.objects.get(id=version.video_id)
    return version.n in (video.active_index_version, video.building_index_version)


def require_unused(version: IndexVersion) -> None:
    """Raises JobFailed (retryable) while a question or search reads the version, or a worker may still write to it."""
    reading = QuestionVideo.objects.filter(
        video_id=version.video_id, index_version=version.n, question__status=QuestionStatus.RUNNING
    )
    searching = SearchVideo.objects.filter(
        video_id=version.video_id, index_version=version.n, search__status=QuestionStatus.RUNNING
    )
    segments = Segment.objects.filter(video_id=version.video_id, index_version=version.n).values("id")
    writing = Job.objects.filter(
        Q(kind=JobKind.OBSERVE_SEGMENT, subject_id__in=segments)
        | Q(kind__in=[JobKind.ASSEMBLE_VIDEO, JobKind.SUMMARISE_VIDEO], subject_id=version.id),
        state=JobState.RUNNING,
        lease_until__gt=timezone.now(),
    )
    if reading.exists() or searching.exists() or writing.exists():
        raise JobFailed("version_in_use", "a question, a search or a worker still uses this version", retryable=True)


def keep_cited_thumbnails(work: Work, version: IndexVersion) -> None:
    """Copy the thumbnails that answers show for want of a copy of their own; the evidence names the copy then."""
    prefix = version_prefix(version.tenant_id, version.video_id, version.n)
    with tenant_scope(version.tenant_id):
        cited = list(Evidence.objects.filter(video_id=version.video_id, frame_key__startswith=prefix))
    storage = ObjectStorage()
    for evidence in cited:
        key = cited_thumbnail_key(version.tenant_id, evidence.question_id, evidence.ordinal)
        try:
            storage.put(key, storage.get(evidence.frame_key), content_type="image/jpeg")
        except ObjectMissing:
            key = ""
        with work.checkpoint():
            Evidence.objects.filter(id=evidence.id).update(frame_key=key)
