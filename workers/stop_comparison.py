"""Cancels the open questions of a comparison whose settled charge passed its limit."""

from __future__ import annotations

from backend.questions.services import comparison_outcomes
from backend.tenancy.context import tenant_scope
from workers.runner import FollowUp, Work


def handle(work: Work) -> FollowUp | None:
    # Outside the checkpoint: an answer that is stored locks its own job before this one, so this job may not be held
    # while the jobs of questions are locked. Canceling twice changes nothing.
    with tenant_scope(work.lease.tenant_id):
        comparison_outcomes.stop(comparison_id=work.lease.subject_id)
    work.finish()
    return None
