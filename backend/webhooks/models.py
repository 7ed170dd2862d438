"""Webhook endpoints, the events written with the business change, their deliveries and attempts."""

from __future__ import annotations

from django.db import models

from backend.tenancy.models import TenantRow


class EndpointState(models.TextChoices):
    ENABLED = "enabled"
    DISABLED = "disabled"
    AUTO_DISABLED = "auto_disabled"


class Endpoint(TenantRow):
    url = models.URLField(max_length=2_000)
    description = models.CharField(max_length=200, default="", blank=True)
    event_types = models.JSONField(default=list)
    """Types that the endpoint receives; empty for all types."""
    state = models.CharField(max_length=16, choices=EndpointState.choices, default=EndpointState.ENABLED)
    # Encrypted at rest (backend.tenancy.secrets); the previous secret stays valid through its overlap.
    secret = models.BinaryField()
    previous_secret = models.BinaryField(null=True)
    previous_secret_until = models.DateTimeField(null=True)
    dead_deliveries = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(TenantRow.Meta):
        indexes = [models.Index(fields=["tenant", "state"], name="endpoint_tenant_state")]


class WebhookEvent(TenantRow):
    """An event whose body is fixed when it is written, so that every attempt sends and signs the same bytes."""

    type = models.CharField(max_length=64)
    body = models.TextField()
    resource_id = models.UUIDField()
    sequence = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "resource_id", "type", "sequence"], name="webhook_event_once_per_change"
            )
        ]


class DeliveryState(models.TextChoices):
    PENDING = "pending"
    SUCCEEDED = "succeeded"
    DEAD = "dead"


class Delivery(TenantRow):
    endpoint = models.ForeignKey(
        Endpoint, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    event = models.ForeignKey(
        WebhookEvent, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    state = models.CharField(max_length=16, choices=DeliveryState.choices, default=DeliveryState.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    completed_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "event", "endpoint"], name="delivery_event_endpoint")]


class Attempt(TenantRow):
    delivery = models.ForeignKey(
        Delivery, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    n = models.PositiveSmallIntegerField()
    status_code = models.PositiveSmallIntegerField(null=True)
    error_code = models.CharField(max_length=64, default="", blank=True)
    response_excerpt = models.TextField(default="", blank=True)
    latency_ms = models.PositiveIntegerField(default=0)
    address = models.CharField(max_length=64, default="", blank=True)
    attempted_at = models.DateTimeField(auto_now_add=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "delivery", "n"], name="attempt_delivery_n")]
