"""Deletion of what customers asked: in the ledger first, so that storage is asked before any row is locked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from rest_framework.response import Response

from backend.api.views import SteppedTenantView
from backend.library.services.deletion_ledger import Deleted, recorded
from backend.questions.models import Comparison, Question, QuestionBatch, Search, Session


def deleted(
    view: SteppedTenantView,
    kind: Deleted,
    public_id: str,
    read: Callable[[str], Question | Search | QuestionBatch | Session | Comparison],
    drop: Callable[[UUID], Any],
) -> Response:
    """Delete a row in a step of its own, record the act, and return 204.

    read: returns the row of a public id, or raises Problem 404. drop: deletes it by its id.
    """
    with view.step():
        id = read(public_id).id
    with recorded(kind, view.principal.tenant_id, id), view.step():
        drop(id)
        view.note_act(public_id)
    return Response(status=204)
