import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import noted_endings, tenant_reference, tenant_table


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Endpoint",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("url", models.URLField(max_length=2000)),
                ("description", models.CharField(blank=True, default="", max_length=200)),
                ("event_types", models.JSONField(default=list)),
                (
                    "state",
                    models.CharField(
                        choices=[("enabled", "Enabled"), ("disabled", "Disabled"), ("auto_disabled", "Auto Disabled")],
                        default="enabled",
                        max_length=16,
                    ),
                ),
                ("secret", models.BinaryField()),
                ("previous_secret", models.BinaryField(null=True)),
                ("previous_secret_until", models.DateTimeField(null=True)),
                ("dead_deliveries", models.PositiveIntegerField(default=0)),
                ("last_sequence", models.PositiveBigIntegerField(default=0)),
                (
                    "breaker",
                    models.CharField(
                        choices=[("closed", "Closed"), ("open", "Open"), ("half_open", "Half Open")],
                        default="closed",
                        max_length=16,
                    ),
                ),
                ("failures", models.PositiveIntegerField(default=0)),
                ("opened_at", models.DateTimeField(null=True)),
                ("probe_at", models.DateTimeField(null=True)),
                ("probing", models.UUIDField(null=True)),
                ("disabled_at", models.DateTimeField(null=True)),
                (
                    "disabled_reason",
                    models.CharField(
                        blank=True,
                        choices=[("gone", "Gone"), ("dead_deliveries", "Dead Deliveries")],
                        default="",
                        max_length=16,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("api_key_id", models.UUIDField(null=True)),
                ("person_id", models.UUIDField(null=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="tenancy.tenant",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "indexes": [
                    models.Index(fields=["tenant", "state"], name="endpoint_tenant_state"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="WebhookEvent",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("type", models.CharField(max_length=64)),
                ("body", models.TextField()),
                ("resource_id", models.UUIDField()),
                ("sequence", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="tenancy.tenant",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "indexes": [
                    models.Index(fields=["tenant", "created_at"], name="webhook_event_tenant_time"),
                    models.Index(fields=["tenant", "type", "-id"], name="webhook_event_tenant_type"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "resource_id", "type", "sequence"), name="webhook_event_once_per_change"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "Pending"), ("succeeded", "Succeeded"), ("dead", "Dead")],
                        default="pending",
                        max_length=16,
                    ),
                ),
                ("endpoint_sequence", models.PositiveBigIntegerField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("attempts_before", models.PositiveSmallIntegerField(default=0)),
                ("expires_at", models.DateTimeField()),
                ("next_attempt_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("completed_at", models.DateTimeField(null=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="tenancy.tenant",
                    ),
                ),
                (
                    "endpoint",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="webhooks.endpoint",
                    ),
                ),
                (
                    "event",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="webhooks.webhookevent",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "abstract": False,
                "base_manager_name": "unscoped",
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "event", "endpoint"), name="delivery_event_endpoint"),
                    models.UniqueConstraint(
                        fields=("tenant", "endpoint", "endpoint_sequence"), name="delivery_endpoint_sequence"
                    ),
                ],
                "indexes": [
                    models.Index(fields=["tenant", "state", "-id"], name="delivery_tenant_state"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("n", models.PositiveSmallIntegerField()),
                ("status_code", models.PositiveSmallIntegerField(null=True)),
                ("error_code", models.CharField(blank=True, default="", max_length=64)),
                ("response_excerpt", models.TextField(blank=True, default="")),
                ("latency_ms", models.PositiveIntegerField(default=0)),
                ("address", models.CharField(blank=True, default="", max_length=64)),
                ("attempted_at", models.DateTimeField(auto_now_add=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="tenancy.tenant",
                    ),
                ),
                (
                    "delivery",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="webhooks.delivery",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "constraints": [models.UniqueConstraint(fields=("tenant", "delivery", "n"), name="attempt_delivery_n")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        tenant_table("webhooks_endpoint"),
        tenant_table("webhooks_webhookevent", dispatch="SELECT, DELETE"),
        tenant_table("webhooks_delivery", dispatch="SELECT, DELETE"),
        tenant_table("webhooks_attempt"),
        tenant_reference("webhooks_delivery", "endpoint_id", "webhooks_endpoint"),
        tenant_reference("webhooks_delivery", "event_id", "webhooks_webhookevent"),
        tenant_reference("webhooks_attempt", "delivery_id", "webhooks_delivery"),
        noted_endings("webhooks_endpoint", "webhook_endpoint"),
    ]
