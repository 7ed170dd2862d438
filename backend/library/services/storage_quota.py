"""The storage of a tenant: its recordings and what is made of them, what open uploads have reserved, and its quota.

The bytes are added up from the rows, so they cannot drift from what is stored. An open upload reserves what it
announced, and storage takes no more than that; its completion turns the reservation into a recording of that size. A
fetch from a URL reserves what the source announces, and what arrives beyond it, before it stores the bytes.
Renditions count once they are stored, as on the bill. Nothing is reserved for them and none is refused: a recording
that was accepted can be watched, and if the quota is passed by its rendition, the next upload is refused.

Pictures and vectors of the index are not counted, neither here nor on the bill.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import connection

from backend.billing.services.limits.plan_limits import STORED_BYTES, plan_limits
from backend.billing.services.limits.quotas import check_storage, limits_on
from backend.library import queries
from backend.library.models import InputSegment
from backend.tenancy.context import current_tenant_id
from backend.webhooks.thresholds import report_crossings


@dataclass(frozen=True, slots=True)
class StorageUse:
    """Bytes of a tenant. quota: None without a limit. reserved: announced by open uploads and not yet settled."""

    quota: int | None
    stored: int
    reserved: int
    open_uploads: int


def storage_use() -> StorageUse:
    """Return the storage of the current tenant."""
    quota = plan_limits().get(STORED_BYTES)
    reserved, count = queries.reserved_bytes()
    return StorageUse(None if quota is None else int(quota), queries.stored_bytes(), reserved, count)


def hold_storage() -> None:
    """Hold back other transactions of the tenant that count or share its objects, until this one ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"storage:{current_tenant_id()}"])


def measure_storage(api_key_id: UUID | None) -> tuple[int, int]:
    """Return the bytes of the tenant's recordings, and those that open uploads announced; of one key, if given."""
    return queries.stored_bytes(api_key_id), queries.reserved_bytes(api_key_id)[0]


def require_room(size_bytes: int, *, api_key_id: UUID | None) -> None:
    """Hold other reservations of the tenant back until the transaction ends, and see that the bytes fit.

    They count against the plan, the tenant's budget, and the budget of the key. Each threshold of a limit that they
    come to is reported. Raises Refused `storage_quota_exceeded` (402).
    """
    hold_storage()
    report_crossings(check_storage(size_bytes, api_key_id=api_key_id))


def reserve_fetch(piece_id: UUID, size_bytes: int) -> None:
    """Reserve the bytes of a file that is being fetched, in place of what the piece had reserved before.

    Raises Refused `storage_quota_exceeded` (402).
    """
    hold_storage()
    piece = InputSegment.objects.select_related("video").filter(id=piece_id).first()
    held = 0 if piece is None else piece.size_bytes
    if size_bytes > held:
        require_room(size_bytes - held, api_key_id=None if piece is None else piece.video.api_key_id)
    InputSegment.objects.filter(id=piece_id).update(size_bytes=size_bytes)


def release_fetch(piece_id: UUID) -> None:
    """Give back what a fetch has reserved, unless all its bytes are stored."""
    InputSegment.objects.filter(id=piece_id, content_sha256="").update(size_bytes=0)


def fetch_limit(api_key_id: UUID | None) -> int:
    """Return how many bytes a fetch may bring: the largest upload, or the room that is left if that is less.

    api_key_id: of the key that created the video.
    """
    rooms = [
        int(limited.limits[STORED_BYTES]) - sum(measure_storage(limited.api_key_id))
        for limited in limits_on(api_key_id)
        if STORED_BYTES in limited.limits
    ]
    return max(0, min([settings.MAX_UPLOAD_BYTES, *rooms]))
