"""Begin again with a version that has ended: it and its video are being indexed once more."""

from __future__ import annotations

from uuid import UUID

from backend.library.indexing.versions import is_settled
from backend.library.models import IndexState, IndexVersion, Video, VideoStatus


def build_again(video: Video, version: IndexVersion, *, repair: bool, from_start: bool) -> None:
    """Open the active version of a video again. The caller holds the locks of both rows.

    repair: nothing is written to the version before backend.ekg.repair has put back what failed. from_start: questions
    read nothing of it until its events are made again.
    """
    begun_again = {"indexed_until_ms": 0} if from_start else {}
    IndexVersion.objects.filter(id=version.id).update(
        state=IndexState.BUILDING,
        repair=repair,
        retries=version.retries + 1,
        error_code="",
        error_message="",
        ready_at=None,
        **begun_again,
    )
    Video.objects.filter(id=video.id).update(
        status=VideoStatus.QUEUED if video.duration_ms is None else VideoStatus.INDEXING,
        error_code="",
        error_message="",
        ready_at=None,
        failed_at=None,
        version=video.version + 1,
        **begun_again,
    )


def begin_again(video_id: UUID, version: int) -> bool:
    """Open a ready version again, from its start. Returns False if questions read another one, or the video is being
    indexed or deleted."""
    video = Video.objects.select_for_update(no_key=True).get(id=video_id)
    if not is_settled(video_id, version):
        return False
    row = IndexVersion.objects.select_for_update().get(video_id=video_id, n=version)
    build_again(video, row, repair=False, from_start=True)
    return True
