"""The audit log: rows that nobody changes or deletes."""

from __future__ import annotations

from typing import Any

from django.db import models

from backend.tenancy.models import TenantRow


class ActorKind(models.TextChoices):
    API_KEY = "api_key"
    PERSON = "person"
    # The operator's people, at the console.
    STAFF = "staff"
    # The operator, on the command line.
    OPERATOR = "operator"
    # Whoever has the link of a share.
    VISITOR = "visitor"


class AuditEvent(TenantRow):
    """One administrative act of a tenant, or one look of staff at something of a tenant.

    actor_id: the key or the person; None for the command line. object_id: public id of what was changed or opened.
    """

    occurred_at = models.DateTimeField(auto_now_add=True)
    actor_kind = models.CharField(max_length=16, choices=ActorKind)
    actor_id = models.UUIDField(null=True)
    actor_name = models.CharField(max_length=254, default="")
    action = models.CharField(max_length=64)
    object_id = models.CharField(max_length=64, default="")
    reason = models.CharField(max_length=500, default="")
    address = models.GenericIPAddressField(null=True)
    request_id = models.CharField(max_length=64, default="")
    details: Any = models.JSONField(default=dict)

    class Meta(TenantRow.Meta):
        indexes = [
            models.Index(fields=["tenant", "action", "id"], name="audit_by_action"),
            models.Index(fields=["tenant", "object_id", "id"], name="audit_by_object"),
            models.Index(fields=["tenant", "actor_kind", "id"], name="audit_by_actor"),
            models.Index(fields=["tenant", "occurred_at"], name="audit_by_time"),
        ]
