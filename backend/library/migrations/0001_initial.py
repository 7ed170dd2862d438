import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import tenant_reference, tenant_table


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Collection",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=200)),
                (
                    "profile",
                    models.CharField(
                        choices=[
                            ("general", "General"),
                            ("wildlife", "Wildlife"),
                            ("traffic", "Traffic"),
                            ("egocentric", "Egocentric"),
                            ("city", "City"),
                        ],
                        default="general",
                        max_length=16,
                    ),
                ),
                ("instructions", models.TextField(blank=True, default="", max_length=4000)),
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
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("completed", "Completed"),
                            ("aborted", "Aborted"),
                            ("expired", "Expired"),
                        ],
                        default="open",
                        max_length=16,
                    ),
                ),
                ("filename", models.CharField(max_length=255)),
                ("content_type", models.CharField(max_length=100)),
                ("size_bytes", models.BigIntegerField()),
                ("sha256", models.CharField(blank=True, default="", max_length=64)),
                ("part_size", models.BigIntegerField()),
                ("object_key", models.CharField(max_length=255)),
                ("multipart_id", models.CharField(max_length=1024)),
                (
                    "profile",
                    models.CharField(
                        choices=[
                            ("general", "General"),
                            ("wildlife", "Wildlife"),
                            ("traffic", "Traffic"),
                            ("egocentric", "Egocentric"),
                            ("city", "City"),
                        ],
                        default="general",
                        max_length=16,
                    ),
                ),
                ("title", models.CharField(blank=True, default="", max_length=255)),
                ("external_id", models.CharField(blank=True, default="", max_length=200)),
                ("metadata", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("completed_at", models.DateTimeField(null=True)),
                (
                    "collection",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="library.collection",
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
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Video",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("probing", "Probing"),
                            ("indexing", "Indexing"),
                            ("ready", "Ready"),
                            ("failed", "Failed"),
                            ("deleting", "Deleting"),
                        ],
                        default="queued",
                        max_length=16,
                    ),
                ),
                ("title", models.CharField(blank=True, default="", max_length=255)),
                (
                    "profile",
                    models.CharField(
                        choices=[
                            ("general", "General"),
                            ("wildlife", "Wildlife"),
                            ("traffic", "Traffic"),
                            ("egocentric", "Egocentric"),
                            ("city", "City"),
                        ],
                        default="general",
                        max_length=16,
                    ),
                ),
                ("external_id", models.CharField(blank=True, default="", max_length=200)),
                ("metadata", models.JSONField(default=dict)),
                ("object_key", models.CharField(max_length=255)),
                ("size_bytes", models.BigIntegerField()),
                ("content_sha256", models.CharField(blank=True, default="", max_length=64)),
                ("duration_ms", models.BigIntegerField(null=True)),
                ("source_start_ms", models.BigIntegerField(default=0)),
                ("width", models.IntegerField(null=True)),
                ("height", models.IntegerField(null=True)),
                ("fps", models.FloatField(null=True)),
                ("rotation", models.IntegerField(default=0)),
                ("container", models.CharField(blank=True, default="", max_length=32)),
                ("codec", models.CharField(blank=True, default="", max_length=32)),
                ("has_audio", models.BooleanField(default=False)),
                ("bitrate", models.BigIntegerField(null=True)),
                ("active_index_version", models.PositiveIntegerField(default=1)),
                ("building_index_version", models.PositiveIntegerField(default=1)),
                ("indexed_until_ms", models.BigIntegerField(default=0)),
                ("global_summary", models.TextField(blank=True, default="")),
                ("stage_ms", models.JSONField(default=dict)),
                ("error_code", models.CharField(blank=True, default="", max_length=64)),
                ("error_message", models.TextField(blank=True, default="")),
                ("version", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("index_started_at", models.DateTimeField(null=True)),
                ("ready_at", models.DateTimeField(null=True)),
                (
                    "collection",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="library.collection",
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
                    "upload",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="library.upload",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddConstraint(
            model_name="collection",
            constraint=models.UniqueConstraint(fields=("tenant", "name"), name="collection_tenant_name"),
        ),
        migrations.AddIndex(
            model_name="upload",
            index=models.Index(fields=["tenant", "status", "expires_at"], name="upload_tenant_status"),
        ),
        migrations.AddIndex(
            model_name="video",
            index=models.Index(fields=["tenant", "-id"], name="video_tenant_newest"),
        ),
        migrations.AddIndex(
            model_name="video",
            index=models.Index(fields=["tenant", "collection"], name="video_tenant_collection"),
        ),
        tenant_table("library_collection"),
        tenant_table("library_upload", dispatch="SELECT"),
        tenant_table("library_video", dispatch="SELECT"),
        tenant_reference("library_upload", "collection_id", "library_collection", on_delete="SET NULL"),
        tenant_reference("library_video", "collection_id", "library_collection", on_delete="SET NULL"),
        tenant_reference("library_video", "upload_id", "library_upload", on_delete="SET NULL"),
    ]
