import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import tenant_reference, tenant_table


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("library", "0005_file_clock"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="RenditionPiece",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("n", models.PositiveIntegerField()),
                ("start_ms", models.BigIntegerField()),
                ("end_ms", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "Pending"), ("ready", "Ready"), ("failed", "Failed")],
                        default="pending",
                        max_length=16,
                    ),
                ),
                ("begin_ms", models.BigIntegerField(null=True)),
                ("until_ms", models.BigIntegerField(null=True)),
                ("object_key", models.CharField(blank=True, default="", max_length=255)),
                ("size_bytes", models.BigIntegerField(default=0)),
                ("init_bytes", models.PositiveIntegerField(default=0)),
                ("fragments", models.JSONField(default=list)),
                ("is_copy", models.BooleanField(default=False)),
                ("tile_ms", models.PositiveIntegerField(default=0)),
                ("sheets", models.JSONField(default=list)),
                ("error_code", models.CharField(blank=True, default="", max_length=64)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("failed_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("rendered_at", models.DateTimeField(null=True)),
                (
                    "segment",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="library.inputsegment",
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
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "video", "n"), name="renditionpiece_video_n")
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "ready")),
                        fields=["tenant", "video"],
                        include=["size_bytes"],
                        name="renditionpiece_stored",
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        tenant_table("playback_renditionpiece"),
        # A rendition goes with its recording.
        tenant_reference("playback_renditionpiece", "video_id", "library_video"),
    ]
