import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import tenant_reference, tenant_table


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("library", "0005_file_clock"),
        ("questions", "0004_stage_times"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Clip",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "status",
                    models.CharField(
                        choices=[("queued", "Queued"), ("ready", "Ready"), ("failed", "Failed")],
                        default="queued",
                        max_length=16,
                    ),
                ),
                ("mode", models.CharField(choices=[("fast", "Fast"), ("exact", "Exact")], max_length=8)),
                (
                    "captions",
                    models.CharField(choices=[("none", "None"), ("file", "File"), ("burnt", "Burnt")], max_length=8),
                ),
                ("title", models.CharField(blank=True, default="", max_length=200)),
                ("start_ms", models.BigIntegerField()),
                ("end_ms", models.BigIntegerField()),
                ("shown_start_ms", models.BigIntegerField(null=True)),
                ("shown_end_ms", models.BigIntegerField(null=True)),
                ("width", models.PositiveIntegerField(null=True)),
                ("height", models.PositiveIntegerField(null=True)),
                ("size_bytes", models.BigIntegerField(default=0)),
                ("gaps", models.JSONField(default=list)),
                ("error_code", models.CharField(blank=True, default="", max_length=64)),
                ("error_message", models.TextField(blank=True, default="")),
                ("api_key_id", models.UUIDField(null=True)),
                ("person_id", models.UUIDField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("ready_at", models.DateTimeField(null=True)),
                ("expires_at", models.DateTimeField()),
                (
                    "question",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="questions.question",
                    ),
                ),
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
                "indexes": [
                    models.Index(fields=["tenant", "-id"], name="clip_tenant_newest"),
                    models.Index(fields=["tenant", "status", "-id"], name="clip_tenant_status"),
                    models.Index(fields=["tenant", "video", "-id"], name="clip_tenant_video"),
                    models.Index(fields=["tenant", "question", "-id"], name="clip_tenant_question"),
                    models.Index(fields=["expires_at"], name="clip_expiry"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        tenant_table("clips_clip", dispatch="SELECT"),
        tenant_reference("clips_clip", "video_id", "library_video"),
        tenant_reference("clips_clip", "question_id", "questions_question", on_delete="SET NULL"),
    ]
