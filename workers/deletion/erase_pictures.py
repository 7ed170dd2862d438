"""Erases at once what deleted questions, recordings and ended uploads have stored; the sweep that follows finds the
rest, which a late worker or request stores."""

from __future__ import annotations

from backend.library.services import deletions
from backend.library.storage import ObjectStorage
from backend.tenancy.context import tenant_scope
from workers.runner import FollowUp, Work


def handle(work: Work) -> FollowUp | None:
    with tenant_scope(work.lease.tenant_id):
        grave = deletions.grave_of(work.lease.subject_id)
    for prefix in grave.prefixes if grave is not None else ():
        work.require_lease()
        ObjectStorage().erase(prefix)
    work.finish()
    return None
