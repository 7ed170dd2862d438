"""How long a tenant's data is kept, as the tenant decided."""

from __future__ import annotations

from typing import Any

from backend.library.models import DerivedText, Retention
from backend.tenancy.context import current_tenant_id

TEST_DAYS = 7
"""Days for which test objects are kept: nobody pays for their storage."""


def retention() -> Retention:
    """Return the retention of the current tenant: its row, or an unsaved one that keeps everything."""
    row: Retention | None = Retention.objects.filter(tenant_id=current_tenant_id()).first()
    return row or Retention(tenant_id=current_tenant_id())


def set_retention(**changes: Any) -> Retention:
    """Change columns of the current tenant's retention and return it."""
    row: Retention
    row, _ = Retention.objects.update_or_create(tenant_id=current_tenant_id(), defaults=changes)
    return row


def keep_test_objects_briefly() -> None:
    """Have the videos and questions of the current tenant, a new sandbox, deleted after TEST_DAYS."""
    set_retention(index_days=TEST_DAYS, questions_days=TEST_DAYS)


def removes_derived_text() -> bool:
    """Whether the tenant wants questions removed, and not redacted, when a video of theirs is deleted."""
    return retention().derived_text == DerivedText.REMOVE
