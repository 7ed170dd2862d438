"""The sweep that ends uploads which were not completed in time, for all tenants."""

from __future__ import annotations

from backend.library.services.upload_expiry import expire_uploads
from workers.runner import FollowUp, Work


def handle(work: Work) -> FollowUp | None:
    expire_uploads(should_stop=work.should_stop)
    work.finish()
    return None
