"""Sweeps the folders of a deleted video or question again, until a sweep finds nothing that a late worker left."""

from __future__ import annotations

from backend.library.services import contents, deletions
from backend.library.storage import ObjectStorage
from backend.tenancy.context import tenant_scope
from workers.runner import FollowUp, Work


def handle(work: Work) -> FollowUp | None:
    subject_id = work.lease.subject_id
    with tenant_scope(work.lease.tenant_id):
        grave = deletions.grave_of(subject_id)
        # A recording that shares the object of a deleted one keeps it.
        prefixes = [] if grave is None else [prefix for prefix in grave.prefixes if not contents.is_read(prefix)]
    if grave is None:
        work.finish()
        return None
    found = sum(ObjectStorage().erase(prefix) for prefix in prefixes)

    def end() -> None:
        swept = not found and deletions.level(grave)
        work.complete()
        if not swept:
            deletions.queue_sweep(subject_id)

    work.commit(end)
    return None
