"""The life of an upload: begin, sign parts, complete or abort. Object storage is the source of truth about parts."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from uuid6 import uuid7

from backend.library import payloads
from backend.library.content_types import stored_type
from backend.library.indexing.begin import create_video, enqueue_probe
from backend.library.models import InputSegment, Upload, UploadStatus, Video
from backend.library.services import input_segments as growth
from backend.library.services import media_quota
from backend.library.services.deletions import bury
from backend.library.services.storage_quota import hold_storage, require_room
from backend.library.services.video_quota import require_room_for_video
from backend.library.storage import (
    ChecksumRejected,
    ObjectExists,
    ObjectMissing,
    ObjectStorage,
    PartRejected,
    PresignedPart,
    StorageAway,
    StorageError,
    StoredPart,
    UploadMissing,
    source_key,
    source_prefix,
)
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused
from backend.webhooks.services import emit

logger = logging.getLogger(__name__)
MIB = 1024**2
# S3 allows 10,000 parts; 9,000 leaves room, and 16 MiB keeps the number of requests small on slow links.
MIN_PART, MAX_PART, MAX_PARTS = 16 * MIB, 512 * MIB, 9_000
EXPIRES_AFTER = timedelta(hours=48)


class UploadUnusable(Refused):
    """The arrived object is not the announced one. It is removed and the upload ended; the caller must commit this."""


@dataclass(frozen=True, slots=True)
class NamedPart:
    """A part as the customer names it on completion. sha256: hex, or "" if none is given."""

    part_number: int
    etag: str
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class UploadProgress:
    """The parts of an upload that have arrived. missing: part numbers still to come."""

    received: tuple[StoredPart, ...]
    missing: tuple[int, ...]


def part_size_for(size_bytes: int) -> int:
    """Return clamp(ceil(size / 9000), 16 MiB, 512 MiB), rounded up to a whole MiB."""
    smallest = -(-size_bytes // MAX_PARTS)
    return min(MAX_PART, max(MIN_PART, -(-smallest // MIB) * MIB))


def part_count(upload: Upload) -> int:
    return int(-(-upload.size_bytes // upload.part_size))


def part_bytes(upload: Upload, number: int) -> int:
    """Return the length in bytes of a part, from 1: part_size, and what remains for the last part."""
    return int(min(upload.part_size, upload.size_bytes - (number - 1) * upload.part_size))


@contextmanager
def _storage_errors() -> Iterator[None]:
    try:
        yield
    except StorageAway as error:
        logger.warning("object storage is away", exc_info=error)
        raise Refused("storage_unavailable", "Object storage does not answer; try again.", status=503) from error


@dataclass(frozen=True, slots=True)
class BegunUpload:
    """A multipart upload that has begun in object storage and has no row yet."""

    id: UUID
    object_key: str
    multipart_id: str


def require_beginning(*, size_bytes: int, api_key_id: UUID | None = None, person_id: UUID | None = None) -> None:
    """See that an upload of this size may begin, and hold other reservations of the tenant back until then.

    api_key_id, person_id: the key or the member that begins it. Raises Refused `upload_too_large` (413),
    `storage_quota_exceeded` (402), `too_many_open_uploads` (429).
    """
    require_size(size_bytes)
    _require_few_open(api_key_id=api_key_id, person_id=person_id)
    require_room(size_bytes, api_key_id=api_key_id)


def require_size(size_bytes: int) -> None:
    """See that the service takes files of this size. Raises Refused `upload_too_large` (413)."""
    if size_bytes > settings.MAX_UPLOAD_BYTES:
        raise Refused(
            "upload_too_large", f"The limit is {settings.MAX_UPLOAD_BYTES} bytes.", status=413, pointer="/size_bytes"
        )


def begin_in_storage(tenant_id: UUID, *, content_type: str, part_checksums: bool = False) -> BegunUpload:
    """Begin a multipart upload, outside any transaction. Raises Refused `storage_unavailable` (503).

    If no row follows, drop_unused() removes it, or else the bucket's lifecycle rule.
    """
    upload_id = UUID(bytes=uuid7().bytes)
    key = source_key(tenant_id, upload_id)
    with _storage_errors():
        multipart_id = ObjectStorage().create_upload(
            key, content_type=stored_type(content_type), part_checksums=part_checksums
        )
    return BegunUpload(upload_id, key, multipart_id)


def drop_unused(begun: BegunUpload) -> None:
    """Drop what begin_in_storage() has begun and no row names."""
    try:
        ObjectStorage().abort(begun.object_key, begun.multipart_id)
    except StorageError:
        logger.warning("an upload that was refused is left to the lifecycle rule of the bucket", exc_info=True)


def create_upload(
    *,
    begun: BegunUpload,
    fields: Mapping[str, Any],
    duration_ms: int | None = None,
    api_key_id: UUID | None = None,
    person_id: UUID | None = None,
) -> Upload:
    """Record an upload that has begun. fields: filename, content_type, size_bytes and the optional columns of Upload.

    duration_ms: as the customer announces it, if so. The bytes and the minutes are reserved until the upload ends; its
    video takes over the minutes. Raises Refused as require_beginning() and media_quota.hold_media().
    """
    require_beginning(size_bytes=fields["size_bytes"], api_key_id=api_key_id, person_id=person_id)
    upload: Upload = Upload.objects.create(
        id=begun.id,
        tenant_id=current_tenant_id(),
        object_key=begun.object_key,
        multipart_id=begun.multipart_id,
        api_key_id=api_key_id,
        person_id=person_id,
        part_size=part_size_for(fields["size_bytes"]),
        expires_at=timezone.now() + EXPIRES_AFTER,
        **fields,
    )
    seconds = media_quota.seconds_of(duration_ms=duration_ms, size_bytes=upload.size_bytes)
    media_quota.hold_media(media_quota.UPLOAD, upload.id, seconds, profile=upload.profile, api_key_id=api_key_id)
    return upload


def nothing_arrived(upload: Upload) -> UploadProgress:
    """Return the progress of an upload that has just begun."""
    return UploadProgress((), tuple(range(1, part_count(upload) + 1)))


def _require_few_open(*, api_key_id: UUID | None, person_id: UUID | None) -> None:
    """Hold back other uploads of the tenant that begin, and raise Refused `too_many_open_uploads` (429) at a cap."""
    hold_storage()
    opened = Upload.objects.filter(status=UploadStatus.OPEN)
    caps = [(opened, settings.OPEN_UPLOADS_PER_TENANT, "")]
    if api_key_id is not None:
        caps.append((opened.filter(api_key_id=api_key_id), settings.OPEN_UPLOADS_PER_KEY, " of this API key"))
    if person_id is not None:
        caps.append((opened.filter(person_id=person_id), settings.OPEN_UPLOADS_PER_KEY, " of this member"))
    for rows, cap, whose in caps:
        if rows.count() >= cap:
            detail = f"{cap} uploads{whose} are open; complete or abort one of them first."
            raise Refused("too_many_open_uploads", detail, status=429)


def progress(upload: Upload) -> UploadProgress:
    """Return which parts have arrived, outside any transaction. An upload that has ended lists and misses no parts.

    Raises Refused `storage_unavailable` (503).
    """
    if upload.status != UploadStatus.OPEN:
        return UploadProgress((), ())
    try:
        with _storage_errors():
            received = ObjectStorage().list_parts(upload.object_key, upload.multipart_id)
    except UploadMissing:
        # Storage has completed or aborted the upload outside this transaction: complete() finds out which.
        return UploadProgress((), ())
    there = {part.part_number for part in received}
    return UploadProgress(tuple(received), tuple(n for n in range(1, part_count(upload) + 1) if n not in there))


def sign_parts(upload: Upload, part_numbers: Sequence[int], checksums: Mapping[int, str]) -> list[PresignedPart]:
    """Return URLs to PUT these parts to. checksums: hex SHA-256 by part number; each is signed into its URL.

    Raises Refused for an ended upload, or a part number outside 1..part_count.
    """
    require_open(upload, timezone.now())
    last = part_count(upload)
    for index, number in enumerate(part_numbers):
        if not 1 <= number <= last:
            raise Refused(
                "part_out_of_range",
                f"This upload has the parts 1 to {last}.",
                status=400,
                pointer=f"/part_numbers/{index}",
            )
    storage = ObjectStorage()
    return [
        storage.presign_part(
            upload.object_key,
            upload.multipart_id,
            number,
            size_bytes=part_bytes(upload, number),
            sha256=checksums.get(number, ""),
        )
        for number in part_numbers
    ]


def require_open(upload: Upload, now: datetime) -> None:
    """Raise Refused `upload_expired` or `upload_not_open` unless the upload is open."""
    if upload.status == UploadStatus.EXPIRED or (upload.status == UploadStatus.OPEN and upload.expires_at <= now):
        raise Refused("upload_expired", "This upload has expired; begin a new one.")
    if upload.status != UploadStatus.OPEN:
        raise Refused("upload_not_open", f"This upload is {upload.status}.")


def abort_upload(*, upload_id: UUID) -> None:
    """End an open upload, whose parts are erased by a job; does nothing to an upload that has ended."""
    _lose(Upload.objects.select_for_update().filter(id=upload_id, status=UploadStatus.OPEN), UploadStatus.ABORTED)


def expire_upload(*, upload_id: UUID) -> bool:
    """End an open upload whose time is over as abort_upload() does. Returns whether it was still open."""
    rows = Upload.objects.select_for_update(skip_locked=True).filter(id=upload_id, status=UploadStatus.OPEN)
    return _lose(rows, UploadStatus.EXPIRED)


def _lose(rows: QuerySet[Upload], status: UploadStatus) -> bool:
    """End the upload of these rows, if there is one, without a video.

    Its row ends first and its objects follow: a request that makes the object meanwhile finds the upload ended. The
    sweep after the longest lease finds what that request has left.
    """
    upload = rows.first()
    if upload is None:
        return False
    Upload.objects.filter(id=upload.id).update(status=status)
    media_quota.release([upload.id])
    bury(upload.id, [source_prefix(upload.object_key)], at_once=True)
    return True


def make_object(upload: Upload, parts: Sequence[NamedPart] | None) -> int | None:
    """Make the object of an open upload and return its length in bytes, None if its parts are gone.

    Call it outside any transaction: storage may take minutes. It is safe to repeat, also at the same time. parts: the
    parts that the customer sent; None takes the parts that have arrived. Raises Refused `part_mismatch`,
    `checksum_mismatch` or `parts_missing`, after which the upload stays open; `upload_expired`; `storage_unavailable`.
    An upload that has ended stays as it is: None.
    """
    if upload.status != UploadStatus.OPEN:
        return None
    require_open(upload, timezone.now())
    with _storage_errors():
        _assemble(upload, parts)
        try:
            return ObjectStorage().head(upload.object_key).size_bytes
        except ObjectMissing:
            return None


def complete_upload(*, upload_id: UUID, made_bytes: int | None) -> Video:
    """Make the video of an upload, and queue the probe. A repeated call returns the same video.

    made_bytes: what make_object() returned. Raises Upload.DoesNotExist; Refused `upload_not_open`, `upload_expired`, or
    `video_quota_exceeded`, after which the upload stays open; and UploadUnusable, after which it has ended.
    """
    upload: Upload = Upload.objects.select_for_update().get(id=upload_id)
    if upload.status == UploadStatus.COMPLETED:
        video: Video | None = Video.objects.filter(upload_id=upload.id).first()
        if video is None:
            raise Refused(
                "upload_completed",
                "This upload was completed as a segment of a video, or as a video that has been deleted since.",
            )
        return video
    require_room_for_video()
    _require_object(upload, made_bytes)
    return _become_video(upload)


def complete_as_segment(
    *, upload_id: UUID, video_id: UUID, made_bytes: int | None, recorded: Mapping[str, Any] | None = None
) -> InputSegment:
    """Append the object of an upload to a growing video.

    made_bytes: what make_object() returned. recorded: recorded_at and time_zone, if the customer said; by default those
    of the upload.

    Raises what complete_upload raises, and what require_appending() raises; after a Refused the upload stays as it was.
    """
    upload: Upload = Upload.objects.select_for_update().get(id=upload_id)
    require_appending(upload, Video.objects.get(id=video_id))
    _require_object(upload, made_bytes)
    _end(upload)
    said = {name: value for name in ("recorded_at", "time_zone") if (value := getattr(upload, name))}
    segment = growth.append_upload(video_id=video_id, upload=upload, recorded=said | dict(recorded or {}))
    _emit_completed(upload, Video.objects.get(id=video_id))
    return segment


def require_appending(upload: Upload, video: Video) -> None:
    """See that an upload may become a segment of a video.

    Raises Refused `upload_completed` if the upload is already a video or a segment, or as
    input_segments.require_growing().
    """
    if upload.status == UploadStatus.COMPLETED:
        raise Refused(
            "upload_completed",
            "This upload is a video or a segment already; begin a new one.",
            pointer="/source/upload_id",
        )
    growth.require_growing(video)


def _assemble(upload: Upload, named: Sequence[NamedPart] | None) -> None:
    storage = ObjectStorage()
    try:
        stored = storage.list_parts(upload.object_key, upload.multipart_id)
        agreed = _agree(upload, stored, named)
        storage.complete(upload.object_key, upload.multipart_id, agreed)
    except (UploadMissing, ObjectExists):
        # An earlier completion went through and its response was lost; its length decides.
        return
    except ChecksumRejected as error:
        # Some servers do not list part checksums in ListParts and compare them only now.
        raise Refused(
            "checksum_mismatch", "Name the SHA-256 of every part of this upload; one is missing or wrong."
        ) from error
    except PartRejected as error:
        raise Refused("part_mismatch", "Object storage refuses these parts; compare them with GET.") from error


def _agree(upload: Upload, stored: Sequence[StoredPart], named: Sequence[NamedPart] | None) -> list[StoredPart]:
    """Return the parts to complete with, if the arrived, the named and the announced parts agree."""
    by_number: dict[int, dict[str, StoredPart]] = defaultdict(dict)
    for sent in stored:
        by_number[sent.part_number][sent.etag] = sent
    if named is None:
        for number in range(1, len(by_number) + 1):
            if number not in by_number:
                raise Refused("parts_missing", f"Part {number} has not arrived.")
        named = [_only(number, list(versions.values())) for number, versions in sorted(by_number.items())]
    agreed = []
    for index, part in enumerate(named):
        if part.part_number != index + 1:
            raise Refused(
                "part_mismatch", "Parts are numbered from 1 without a gap.", pointer=f"/parts/{index}/part_number"
            )
        if part.part_number not in by_number:
            raise Refused("parts_missing", f"Part {part.part_number} has not arrived.", pointer=f"/parts/{index}")
        stored_part = by_number[part.part_number].get(part.etag.strip('"'))
        if stored_part is None:
            raise Refused(
                "part_mismatch",
                f"Part {part.part_number} has another ETag than the one that arrived last.",
                pointer=f"/parts/{index}/etag",
            )
        if part.sha256 and stored_part.sha256 and part.sha256.lower() != stored_part.sha256:
            raise Refused(
                "checksum_mismatch",
                f"Part {part.part_number} has another SHA-256 than the one that arrived.",
                pointer=f"/parts/{index}/sha256",
            )
        agreed.append(replace(stored_part, sha256=stored_part.sha256 or part.sha256.lower()))
    total = sum(part.size_bytes for part in agreed)
    if total != upload.size_bytes:
        raise Refused("parts_missing", f"The parts hold {total} bytes of the {upload.size_bytes} that were announced.")
    # A single part is the whole file, so its checksum is the file's checksum.
    if len(agreed) == 1 and upload.sha256 and agreed[0].sha256 and upload.sha256.lower() != agreed[0].sha256:
        raise Refused("checksum_mismatch", "The file has another SHA-256 than the one that was announced.")
    return agreed


def _only(number: int, versions: Sequence[StoredPart]) -> NamedPart:
    """Return what a part held last. Raises Refused `part_mismatch` if the storage cannot order what it was sent."""
    if len(versions) > 1:
        raise Refused("part_mismatch", f"Part {number} was sent twice within a second; name it with its ETag.")
    return NamedPart(number, versions[0].etag)


def _require_object(upload: Upload, made_bytes: int | None) -> None:
    """Raise UploadUnusable, and end the locked upload, unless its object has the announced length."""
    require_open(upload, timezone.now())
    if made_bytes == upload.size_bytes:
        return
    _lose(Upload.objects.filter(id=upload.id), UploadStatus.ABORTED)
    if made_bytes is None:
        raise UploadUnusable("upload_gone", "The parts of this upload are gone; begin a new one.")
    raise UploadUnusable(
        "size_mismatch", f"The object has {made_bytes} bytes instead of {upload.size_bytes}; begin a new upload."
    )


def _become_video(upload: Upload) -> Video:
    _end(upload)
    video = create_video(
        upload_id=upload.id,
        collection_id=upload.collection_id,
        title=upload.title or upload.filename,
        profile=upload.profile,
        language=upload.language,
        audio=upload.audio,
        external_id=upload.external_id,
        metadata=upload.metadata,
        recorded_at=upload.recorded_at,
        time_zone=upload.time_zone,
        object_key=upload.object_key,
        size_bytes=upload.size_bytes,
        input_closed_at=timezone.now(),
    )
    enqueue_probe(video.id)
    media_quota.hand_over(upload.id, source_type=media_quota.VIDEO, to=video.id)
    _emit_completed(upload, video)
    return video


def _end(upload: Upload) -> None:
    upload.status, upload.completed_at = UploadStatus.COMPLETED, timezone.now()
    upload.save(update_fields=["status", "completed_at"])


def _emit_completed(upload: Upload, video: Video) -> None:
    emit(type="upload.completed", resource_id=upload.id, data=payloads.upload_data(upload, video))
