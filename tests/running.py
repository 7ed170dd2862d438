"""Runs one job by its id; a worker takes the next job of a class."""

from __future__ import annotations

from uuid import UUID

from backend.jobs import services
from backend.tenancy.context import tenant_scope
from workers.runner import run_leased


def run_job(job_id: UUID, tenant_id: UUID, *, worker: str) -> None:
    """Run this job if this worker can claim it, then each follow-up."""
    with tenant_scope(tenant_id):
        lease = services.claim(job_id, worker=worker)
    if lease is not None:
        run_leased(lease, worker=worker)
