"""Writes ended rights into the ledger of deletions, and knows how a replay ends them again after a restore.

A request that revokes a key waits for no object storage: a trigger notes the ending in the request's transaction
(backend.tenancy.ddl.noted_endings), and a sweep writes the ledger a minute later at most. An ending of the last minute
before the database is lost may be missing in the ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from uuid import UUID

from django.utils import timezone

from backend.accounts import suspension
from backend.audit.services import OPERATOR
from backend.library.services.deletion_ledger import Deleted, Entry, write
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import ApiKey, Ending, Fence
from backend.webhooks.models import Endpoint

AT_ONCE = 500
REPEATED = "Repeated from the ledger after a restore."
Repeat = Callable[[UUID], bool]


def record_endings(*, should_stop: Callable[[], bool] = lambda: False) -> int:
    """Write the endings of all tenants in their order, and forget each once it is written. Returns their number.

    Those of a tenant that moves wait for the other installation. Raises Refused `storage_unavailable`, `tenant_moving`.
    """
    recorded = 0
    while not should_stop():
        rows = Ending.unscoped.using("dispatch").filter(tenant__fence=Fence.NONE).order_by("ended_at", "id")
        found = list(rows[:AT_ONCE])
        for (tenant_id, kind), group in groupby(found, key=lambda row: (row.tenant_id, row.kind)):
            ended = list(group)
            ids = tuple(sorted({row.subject_id for row in ended}))
            write(Entry(Deleted(kind), tenant_id, ids, ended[0].ended_at))
            with tenant_scope(tenant_id):
                Ending.objects.filter(id__in=[row.id for row in ended]).delete()
        recorded += len(found)
        if len(found) < AT_ONCE:
            break
    return recorded


def _keys(id: UUID) -> bool:
    return bool(ApiKey.objects.filter(id=id, revoked_at=None).update(revoked_at=timezone.now()))


def _endpoints(id: UUID) -> bool:
    return bool(Endpoint.objects.filter(id=id).delete()[0])


def _suspensions(id: UUID) -> bool:
    return suspension.suspend(actor=OPERATOR, reason=REPEATED)


def _resumptions(id: UUID) -> bool:
    return suspension.resume(actor=OPERATOR, reason=REPEATED)


_REPEATS: dict[Deleted, Repeat] = {
    Deleted.API_KEY: _keys,
    Deleted.WEBHOOK_ENDPOINT: _endpoints,
    Deleted.SUSPENSION: _suspensions,
    Deleted.RESUMPTION: _resumptions,
}


def register_repeat(kind: Deleted, repeat: Repeat) -> None:
    """Let a package above this one end a right of its kind again, in its tenant's scope.

    repeat: takes the row's id and returns whether the right had come back.
    """
    _REPEATS[kind] = repeat


def repeats() -> dict[Deleted, Repeat]:
    """Return how one ending of each kind is repeated."""
    return dict(_REPEATS)
