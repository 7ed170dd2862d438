"""The ledger of deletions, in object storage, because a restored database has forgotten them.

Each deletion that a customer, an operator or a retention asked for is one small object, written before the deletion is
committed: a deletion that was confirmed is always in the ledger. Ended rights follow shortly after they ended. An entry
names ids only. `manage.py replay_deletions` repeats the ledger after a restore. The bucket's lifecycle removes an entry
once no backup is older than it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from uuid import UUID

from django.utils import timezone
from uuid6 import uuid7

from backend.api.problems import Problem
from backend.library.storage import ObjectStorage, StorageAway, StorageError
from backend.tenancy.context import current_tenant_id
from backend.tenancy.refusals import Refused

logger = logging.getLogger(__name__)
PREFIX = "deletions/"


class Deleted(StrEnum):
    """What a deletion removed, in the order in which a replay repeats the kinds of one moment."""

    TENANT = "tenant"
    VIDEO = "video"
    QUESTION = "question"
    SEARCH = "search"
    BATCH = "batch"
    SESSION = "session"
    COMPARISON = "comparison"
    CLIP = "clip"
    UPLOAD = "upload"
    SOURCE = "source"
    THUMBNAILS = "thumbnails"
    # Rights that have ended (library.services.ended_rights).
    API_KEY = "api_key"
    MEMBER = "member"
    INVITATION = "invitation"
    SHARE = "share"
    WEBHOOK_ENDPOINT = "webhook_endpoint"
    SUSPENSION = "suspension"
    RESUMPTION = "resumption"


@dataclass(frozen=True, slots=True)
class Entry:
    """A deletion. ids: the deleted rows, all of one kind and one tenant. at: when it was asked for."""

    kind: Deleted
    tenant_id: UUID
    ids: tuple[UUID, ...]
    at: datetime


def record(kind: Deleted, ids: Collection[UUID]) -> None:
    """Write a deletion of the current tenant's rows, in a worker's transaction. Raises Refused as write()."""
    if ids:
        write(Entry(kind, current_tenant_id(), tuple(sorted(ids)), timezone.now()))


@contextmanager
def recorded(kind: Deleted, tenant_id: UUID, id: UUID) -> Iterator[None]:
    """Write a deletion, and run the block that opens a transaction and deletes the row.

    So storage is asked before any row is locked. The entry is taken back if the block refuses the deletion. It stays
    after any other error, because then nobody knows whether the deletion was committed; the customer has asked for it.
    Raises Refused `storage_unavailable` (503).
    """
    key = write(Entry(kind, tenant_id, (id,), timezone.now()))
    try:
        yield
    except (Refused, Problem):
        try:
            ObjectStorage().delete(key)
        except StorageError:
            logger.exception("the ledger keeps a deletion that was refused: %s %s", kind, id)
        raise


def write(entry: Entry) -> str:
    """Write an entry and return its key.

    Raises Refused `storage_unavailable` (503): what is not in the ledger is not deleted.
    """
    body = {
        "kind": entry.kind,
        "tenant_id": str(entry.tenant_id),
        "ids": [str(id) for id in entry.ids],
        "at": entry.at.astimezone(UTC).isoformat(),
    }
    # In the order of what happened: an ended right is written some time later.
    key = f"{PREFIX}{entry.at.astimezone(UTC):%Y-%m-%d/%H%M%S.%f}-{uuid7()}.json"
    try:
        ObjectStorage().put(key, json.dumps(body).encode(), content_type="application/json")
    except StorageAway as error:
        raise Refused("storage_unavailable", "Object storage does not answer; try again.", status=503) from error
    return key


def entries(*, since: date | None = None) -> Iterator[Entry]:
    """Yield the deletions of a day (UTC) and of all later days, oldest first; by default the whole ledger."""
    storage = ObjectStorage()
    for key in storage.list_keys(PREFIX):
        day = date.fromisoformat(key.removeprefix(PREFIX).split("/")[0])
        if since is None or day >= since:
            yield _entry(storage.get(key))


def _entry(body: bytes) -> Entry:
    written = json.loads(body)
    return Entry(
        kind=Deleted(written["kind"]),
        tenant_id=UUID(written["tenant_id"]),
        ids=tuple(UUID(id) for id in written["ids"]),
        at=datetime.fromisoformat(written["at"]),
    )
