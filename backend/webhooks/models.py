"""Webhook endpoints, the events written with the business change, their deliveries and attempts."""

from __future__ import annotations

from django.db import models

from backend.tenancy.models import TenantRow


class EndpointState(models.TextChoices):
    ENABLED = "enabled"
    DISABLED = "disabled"
    AUTO_DISABLED = "auto_disabled"


class BreakerState(models.TextChoices):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class DisabledReason(models.TextChoices):
    GONE = "gone"
    DEAD_DELIVERIES = "dead_deliveries"


class Endpoint(TenantRow):
    """A receiver of a tenant, with the breaker that holds its deliveries back while the receiver fails.

    last_sequence: the highest order number of its deliveries. breaker: open holds every delivery until probe_at;
    half_open holds all but the delivery `probing`, until probe_at at the latest. failures: failed attempts in a row.
    opened_at: when the breaker left the state closed. disabled_at, disabled_reason: of the state auto_disabled.
    """

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
    last_sequence = models.PositiveBigIntegerField(default=0)
    breaker = models.CharField(max_length=16, choices=BreakerState.choices, default=BreakerState.CLOSED)
    failures = models.PositiveIntegerField(default=0)
    opened_at = models.DateTimeField(null=True)
    probe_at = models.DateTimeField(null=True)
    probing = models.UUIDField(null=True)
    disabled_at = models.DateTimeField(null=True)
    disabled_reason = models.CharField(max_length=16, choices=DisabledReason.choices, default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    # Who chose the URL, by making the endpoint or by moving it: a key or a member.
    api_key_id = models.UUIDField(null=True)
    person_id = models.UUIDField(null=True)

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
        indexes = [
            models.Index(fields=["tenant", "created_at"], name="webhook_event_tenant_time"),
            models.Index(fields=["tenant", "type", "-id"], name="webhook_event_tenant_type"),
        ]

    def __str__(self) -> str:
        return self.type


class DeliveryState(models.TextChoices):
    PENDING = "pending"
    SUCCEEDED = "succeeded"
    DEAD = "dead"


class Delivery(TenantRow):
    """An event on its way to one endpoint.

    endpoint_sequence: order number among the endpoint's deliveries, without gaps; every attempt carries it. Null until
    the first attempt, because transactions that emit events must not wait for each other.
    attempts: all attempts so far; attempts_before: attempts before the last replay, which starts the schedule again.
    expires_at: when a delivery that is still pending ends, however many attempts it has left.
    """

    endpoint = models.ForeignKey(
        Endpoint, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    event = models.ForeignKey(
        WebhookEvent, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    state = models.CharField(max_length=16, choices=DeliveryState.choices, default=DeliveryState.PENDING)
    endpoint_sequence = models.PositiveBigIntegerField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    attempts_before = models.PositiveSmallIntegerField(default=0)
    expires_at = models.DateTimeField()
    next_attempt_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    completed_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "event", "endpoint"], name="delivery_event_endpoint"),
            models.UniqueConstraint(
                fields=["tenant", "endpoint", "endpoint_sequence"], name="delivery_endpoint_sequence"
            ),
        ]
        indexes = [models.Index(fields=["tenant", "state", "-id"], name="delivery_tenant_state")]


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
