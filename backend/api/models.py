"""Rows behind the wire conventions."""

from __future__ import annotations

from django.db import models

from backend.tenancy.models import TenantRow


class IdempotencyRecord(TenantRow):
    """The stored reply of a keyed POST, inserted in the business transaction; kept 24 h."""

    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    status_code = models.PositiveSmallIntegerField(null=True)
    response = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "key"], name="idempotency_tenant_key")]
