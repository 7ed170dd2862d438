"""Verdicts of scans about the events of index versions, so that no event is judged, or paid for, twice."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from uuid import UUID

from backend.ekg.models import EventVerdicts
from backend.ekg.scope import Scope
from backend.tenancy.context import tenant_scope


class KeptVerdicts:
    """A VerdictStore (gpu_workers.engine.answering.contract) on the versions of a scope, for one thread.

    Each call is a transaction of its own: what a batch has found stays, whatever becomes of the question.
    alone_for: id of a question of a comparison. Its verdicts are kept for its own next attempt alone: if an arm or a
    repeat read the verdicts that another one paid for, its cost and its samples could not be compared.
    """

    def __init__(self, scope: Scope, *, alone_for: UUID | None = None) -> None:
        self._alone_for = alone_for
        self._tenant_id = scope.tenant_id
        self._versions = {video.video_id: video.index_version for video in scope.videos}

    def verdicts(self, key: str) -> Mapping[UUID, bool]:
        """Return the verdicts kept under key about events of the scope's versions."""
        found: dict[UUID, bool] = {}
        with tenant_scope(self._tenant_id):
            rows = EventVerdicts.objects.filter(key=self._stored(key), video_id__in=list(self._versions)).order_by("id")
            for row in rows:
                if self._versions[row.video_id] == row.index_version:
                    found |= dict.fromkeys(map(UUID, row.true), True)
                    found |= dict.fromkeys(map(UUID, row.false), False)
        return found

    def keep(self, key: str, video_id: UUID, verdicts: Mapping[UUID, bool]) -> None:
        """Store the verdicts of one batch. Videos out of scope are left out."""
        if video_id not in self._versions:
            return
        with tenant_scope(self._tenant_id):
            EventVerdicts.objects.create(
                tenant_id=self._tenant_id,
                video_id=video_id,
                index_version=self._versions[video_id],
                key=self._stored(key),
                true=[str(event_id) for event_id, true in verdicts.items() if true],
                false=[str(event_id) for event_id, true in verdicts.items() if not true],
            )

    def _stored(self, key: str) -> str:
        if self._alone_for is None:
            return key
        return hashlib.sha256(f"{key}\x1f{self._alone_for}".encode()).hexdigest()
