import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import plain_table, tenant_reference, tenant_table


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("library", "0001_initial"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Outbox",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("job_id", models.UUIDField()),
                ("tenant_id", models.UUIDField()),
                ("queue", models.CharField(max_length=32)),
                ("due_at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["due_at", "id"], name="outbox_due")],
            },
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("probe_video", "Probe Video"),
                            ("observe_segment", "Observe Segment"),
                            ("assemble_video", "Assemble Video"),
                            ("answer_question", "Answer Question"),
                            ("deliver_webhook", "Deliver Webhook"),
                            ("purge_video", "Purge Video"),
                        ],
                        max_length=32,
                    ),
                ),
                ("queue", models.CharField(max_length=32)),
                ("subject_id", models.UUIDField()),
                ("dedupe_key", models.CharField(max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                            ("canceled", "Canceled"),
                            ("dead", "Dead"),
                        ],
                        default="queued",
                        max_length=16,
                    ),
                ),
                ("priority", models.SmallIntegerField(default=0)),
                ("not_before", models.DateTimeField()),
                ("attempt", models.PositiveIntegerField(default=0)),
                ("max_attempts", models.PositiveIntegerField(default=5)),
                ("lease_owner", models.CharField(blank=True, default="", max_length=100)),
                ("lease_token", models.BigIntegerField(default=0)),
                ("lease_until", models.DateTimeField(null=True)),
                ("heartbeat_at", models.DateTimeField(null=True)),
                ("progress_done", models.BigIntegerField(default=0)),
                ("progress_total", models.BigIntegerField(default=0)),
                ("progress_stage", models.CharField(blank=True, default="", max_length=64)),
                ("cancel_requested_at", models.DateTimeField(null=True)),
                ("rerun_requested", models.BooleanField(default=False)),
                ("error_code", models.CharField(blank=True, default="", max_length=64)),
                ("error_message", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(null=True)),
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
                    "video",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="library.video",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "indexes": [
                    models.Index(fields=["state", "not_before"], name="job_runnable"),
                    models.Index(fields=["tenant", "video", "kind"], name="job_tenant_video"),
                    models.Index(fields=["tenant", "-id"], name="job_tenant_newest"),
                ],
                "constraints": [models.UniqueConstraint(fields=("tenant", "dedupe_key"), name="job_tenant_dedupe")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Segment",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index_version", models.PositiveIntegerField()),
                ("n", models.PositiveIntegerField()),
                ("start_ms", models.BigIntegerField()),
                ("end_ms", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("observed", "Observed"),
                            ("assembled", "Assembled"),
                            ("failed", "Failed"),
                        ],
                        default="pending",
                        max_length=16,
                    ),
                ),
                ("stage_ms", models.JSONField(default=dict)),
                ("error_code", models.CharField(blank=True, default="", max_length=64)),
                ("observed_at", models.DateTimeField(null=True)),
                ("assembled_at", models.DateTimeField(null=True)),
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
                    "video",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="library.video",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "video", "index_version", "n"), name="segment_video_version_n"
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        tenant_table("jobs_segment"),
        tenant_table("jobs_job", dispatch="SELECT, UPDATE"),
        plain_table("jobs_outbox", rw="SELECT, INSERT", dispatch="SELECT, INSERT, UPDATE, DELETE"),
        tenant_reference("jobs_segment", "video_id", "library_video"),
        tenant_reference("jobs_job", "video_id", "library_video"),
    ]
