import django.db.models.deletion
import django.db.models.manager
import pgvector.django.halfvec
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import hash_partitioned, tenant_reference, tenant_table

LARGE_TABLES = ("ekg_chunk", "ekg_frame", "ekg_framevector", "ekg_mention", "ekg_track", "ekg_transcriptline")
"""Tables that grow with the hours of video. Entities and events are few, and the graph cannot be divided."""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("library", "0001_initial"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Entity",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index_version", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=200)),
                ("type", models.CharField(max_length=64)),
                ("description", models.TextField(blank=True, default="")),
                ("aliases", models.JSONField(default=list)),
                ("weight", models.PositiveIntegerField(default=1)),
                ("centroid", pgvector.django.halfvec.HalfVectorField()),
                ("embedding_model", models.CharField(max_length=100)),
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
                    models.Index(fields=["tenant", "video", "index_version"], name="entity_tenant_video"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index_version", models.PositiveIntegerField()),
                ("n", models.PositiveIntegerField()),
                ("start_ms", models.BigIntegerField()),
                ("end_ms", models.BigIntegerField()),
                ("first_chunk", models.PositiveIntegerField()),
                ("end_chunk", models.PositiveIntegerField()),
                ("summary", models.TextField()),
                ("embedding", pgvector.django.halfvec.HalfVectorField()),
                ("embedding_model", models.CharField(max_length=100)),
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
                        fields=("tenant", "video", "index_version", "n"), name="event_video_version_n"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Chunk",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index_version", models.PositiveIntegerField()),
                ("n", models.PositiveIntegerField()),
                ("start_ms", models.BigIntegerField()),
                ("end_ms", models.BigIntegerField()),
                ("segment_n", models.PositiveIntegerField()),
                ("description", models.TextField(null=True)),
                ("gap", models.CharField(max_length=64, null=True)),
                ("facts", models.JSONField(default=dict)),
                ("on_screen_text", models.JSONField(default=list)),
                ("inherited", models.BooleanField(default=False)),
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
                (
                    "event",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="ekg.event",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "indexes": [
                    models.Index(fields=["tenant", "event"], name="chunk_tenant_event"),
                    models.Index(
                        condition=models.Q(("gap__isnull", False)),
                        fields=["tenant", "video", "index_version"],
                        name="chunk_gaps",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "video", "index_version", "n"), name="chunk_video_version_n"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("description__isnull", True), ("gap__isnull", False)),
                            models.Q(("description__isnull", False), ("gap__isnull", True)),
                            _connector="OR",
                        ),
                        name="chunk_described_or_gap",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Frame",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index_version", models.PositiveIntegerField()),
                ("ms", models.BigIntegerField()),
                ("thumbnail_key", models.CharField(max_length=255)),
                (
                    "event",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="ekg.event",
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
                    models.Index(fields=["tenant", "event", "ms"], name="frame_tenant_event"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "video", "index_version", "ms"), name="frame_video_version_ms"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="FrameVector",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index_version", models.PositiveIntegerField()),
                ("ms", models.BigIntegerField()),
                ("embedding", pgvector.django.halfvec.HalfVectorField()),
                ("embedding_model", models.CharField(max_length=100)),
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
                        fields=("tenant", "video", "index_version", "ms"), name="framevector_video_version_ms"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Mention",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index_version", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=200)),
                ("type", models.CharField(max_length=64)),
                ("description", models.TextField(blank=True, default="")),
                ("role", models.CharField(default="participant", max_length=200)),
                ("confidence", models.FloatField(default=1.0)),
                ("frame_ms", models.JSONField(default=list)),
                ("embedding", pgvector.django.halfvec.HalfVectorField()),
                ("embedding_model", models.CharField(max_length=100)),
                (
                    "entity",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ekg.entity",
                    ),
                ),
                (
                    "event",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ekg.event",
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
                    models.Index(fields=["tenant", "entity"], name="mention_tenant_entity"),
                    models.Index(fields=["tenant", "video", "index_version"], name="mention_tenant_video"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "event", "entity"), name="mention_event_entity"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Relation",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index_version", models.PositiveIntegerField()),
                ("predicate", models.CharField(max_length=100)),
                ("description", models.TextField(blank=True, default="")),
                ("confidence", models.FloatField(default=1.0)),
                (
                    "event",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ekg.event",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ekg.entity",
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ekg.entity",
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
                    models.Index(fields=["tenant", "video", "index_version"], name="relation_tenant_video"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "event", "source", "target", "predicate"),
                        name="relation_event_ends_predicate",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Track",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index_version", models.PositiveIntegerField()),
                ("segment_n", models.PositiveIntegerField()),
                ("track_no", models.PositiveIntegerField()),
                ("category", models.CharField(max_length=64)),
                ("colour", models.CharField(blank=True, default="", max_length=32)),
                ("motion", models.CharField(blank=True, default="", max_length=100)),
                ("start_ms", models.BigIntegerField()),
                ("end_ms", models.BigIntegerField()),
                ("confidence", models.FloatField()),
                ("entered", models.BooleanField(default=False)),
                ("left", models.BooleanField(default=False)),
                ("boxes", models.JSONField(default=list)),
                ("appearance", pgvector.django.halfvec.HalfVectorField(null=True)),
                ("crop_ms", models.BigIntegerField(null=True)),
                ("crop_embedding", pgvector.django.halfvec.HalfVectorField(null=True)),
                ("crop_model", models.CharField(blank=True, default="", max_length=100)),
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
                        fields=("tenant", "video", "index_version", "segment_n", "track_no"),
                        name="track_video_segment_no",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="TranscriptLine",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index_version", models.PositiveIntegerField()),
                ("start_ms", models.BigIntegerField()),
                ("end_ms", models.BigIntegerField()),
                ("text", models.TextField()),
                ("language", models.CharField(blank=True, default="", max_length=8)),
                ("track", models.PositiveSmallIntegerField(default=1)),
                ("words", models.JSONField(default=list)),
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
                        fields=("tenant", "video", "index_version", "start_ms", "end_ms", "track"),
                        name="transcript_video_version_time",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="SketchBlock",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index_version", models.PositiveIntegerField()),
                ("view", models.CharField(max_length=16)),
                ("n", models.PositiveIntegerField()),
                ("items", models.PositiveIntegerField(default=0)),
                ("centre", models.BinaryField()),
                ("packed", models.BinaryField(default=b"")),
                ("embedding_model", models.CharField(max_length=100)),
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
                        fields=("tenant", "video", "index_version", "view", "n"), name="sketch_video_version_view_n"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        # Bits do not compress; without the attempt a block is read and extended faster.
        migrations.RunSQL(
            "ALTER TABLE ekg_sketchblock ALTER COLUMN packed SET STORAGE EXTERNAL", migrations.RunSQL.noop
        ),
        *map(hash_partitioned, LARGE_TABLES),
        tenant_table("ekg_event"),
        tenant_table("ekg_chunk"),
        tenant_table("ekg_frame"),
        tenant_table("ekg_framevector"),
        tenant_table("ekg_transcriptline"),
        tenant_table("ekg_track"),
        tenant_table("ekg_entity"),
        tenant_table("ekg_mention"),
        tenant_table("ekg_relation"),
        tenant_table("ekg_sketchblock"),
        tenant_reference("ekg_sketchblock", "video_id", "library_video"),
        tenant_reference("ekg_event", "video_id", "library_video"),
        tenant_reference("ekg_chunk", "video_id", "library_video"),
        tenant_reference("ekg_frame", "video_id", "library_video"),
        tenant_reference("ekg_framevector", "video_id", "library_video"),
        tenant_reference("ekg_transcriptline", "video_id", "library_video"),
        tenant_reference("ekg_track", "video_id", "library_video"),
        tenant_reference("ekg_entity", "video_id", "library_video"),
        tenant_reference("ekg_mention", "video_id", "library_video"),
        tenant_reference("ekg_relation", "video_id", "library_video"),
        tenant_reference("ekg_chunk", "event_id", "ekg_event", on_delete="SET NULL"),
        tenant_reference("ekg_frame", "event_id", "ekg_event", on_delete="SET NULL"),
        tenant_reference("ekg_mention", "entity_id", "ekg_entity"),
        tenant_reference("ekg_mention", "event_id", "ekg_event"),
        tenant_reference("ekg_relation", "source_id", "ekg_entity"),
        tenant_reference("ekg_relation", "target_id", "ekg_entity"),
        tenant_reference("ekg_relation", "event_id", "ekg_event"),
    ]
