import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import plain_table, tenant_table


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="PriceBook",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(choices=[("cost", "cost"), ("price", "price")], max_length=8)),
                (
                    "meter",
                    models.CharField(
                        choices=[
                            ("media_seconds", "Media Seconds"),
                            ("questions", "Questions"),
                            ("input_tokens", "Input Tokens"),
                            ("cached_tokens", "Cached Tokens"),
                            ("output_tokens", "Output Tokens"),
                            ("device_seconds", "Device Seconds"),
                            ("storage_bytes", "Storage Bytes"),
                        ],
                        max_length=32,
                    ),
                ),
                ("model", models.CharField(blank=True, default="", max_length=200)),
                ("unit_amount", models.DecimalField(decimal_places=12, max_digits=20)),
                ("currency", models.CharField(default="USD", max_length=3)),
                ("effective_from", models.DateTimeField()),
                ("note", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("kind", "meter", "model", "effective_from"), name="pricebook_effective"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelCall",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("source_type", models.CharField(max_length=32)),
                ("source_id", models.UUIDField()),
                ("ordinal", models.PositiveIntegerField()),
                ("stage", models.CharField(max_length=64)),
                ("model", models.CharField(max_length=200)),
                ("wall_ms", models.PositiveIntegerField()),
                ("device_ms", models.PositiveIntegerField()),
                ("prompt_tokens", models.PositiveIntegerField(default=0)),
                ("cached_tokens", models.PositiveIntegerField(default=0)),
                ("completion_tokens", models.PositiveIntegerField(default=0)),
                ("items", models.PositiveIntegerField(default=1)),
                ("ok", models.BooleanField(default=True)),
                ("called_at", models.DateTimeField(auto_now_add=True)),
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
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "source_type", "source_id", "ordinal"), name="model_call_once"
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="UsageEvent",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "meter",
                    models.CharField(
                        choices=[
                            ("media_seconds", "Media Seconds"),
                            ("questions", "Questions"),
                            ("input_tokens", "Input Tokens"),
                            ("cached_tokens", "Cached Tokens"),
                            ("output_tokens", "Output Tokens"),
                            ("device_seconds", "Device Seconds"),
                            ("storage_bytes", "Storage Bytes"),
                        ],
                        max_length=32,
                    ),
                ),
                ("quantity", models.DecimalField(decimal_places=6, max_digits=24)),
                ("occurred_at", models.DateTimeField()),
                ("recorded_at", models.DateTimeField(auto_now_add=True)),
                ("source_type", models.CharField(max_length=32)),
                ("source_id", models.CharField(max_length=200)),
                ("video_id", models.UUIDField(null=True)),
                ("question_id", models.UUIDField(null=True)),
                ("api_key_id", models.UUIDField(null=True)),
                ("stage", models.CharField(blank=True, default="", max_length=64)),
                ("model", models.CharField(blank=True, default="", max_length=200)),
                ("cost_amount", models.DecimalField(decimal_places=10, default=0, max_digits=20)),
                ("price_amount", models.DecimalField(decimal_places=10, default=0, max_digits=20)),
                ("currency", models.CharField(default="USD", max_length=3)),
                ("billable", models.BooleanField(default=True)),
                ("reason", models.CharField(blank=True, default="", max_length=64)),
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
                    models.Index(fields=["tenant", "occurred_at"], name="usage_tenant_time"),
                    models.Index(fields=["tenant", "video_id"], name="usage_tenant_video"),
                    models.Index(fields=["tenant", "question_id"], name="usage_tenant_question"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "meter", "source_type", "source_id", "stage", "model"),
                        name="usage_once_per_source",
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        plain_table("billing_pricebook", dispatch="SELECT"),
        tenant_table("billing_usageevent", append_only=True),
        tenant_table("billing_modelcall", append_only=True),
    ]
