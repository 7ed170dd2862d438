import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import tenant_reference, tenant_table


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("library", "0001_initial"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Question",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                            ("canceled", "Canceled"),
                        ],
                        default="queued",
                        max_length=16,
                    ),
                ),
                ("stage", models.CharField(blank=True, default="", max_length=64)),
                ("shown", models.BooleanField(default=False)),
                ("own_deadline", models.BooleanField(default=False)),
                ("stage_at", models.DateTimeField(null=True)),
                ("text", models.TextField(max_length=4000)),
                ("choices", models.JSONField(default=list)),
                ("method", models.CharField(default="ava", max_length=32)),
                ("effort", models.CharField(default="medium", max_length=16)),
                ("start_ms", models.BigIntegerField(null=True)),
                ("end_ms", models.BigIntegerField(null=True)),
                ("budget", models.JSONField(default=dict)),
                ("seed", models.IntegerField(default=0)),
                ("external_id", models.CharField(blank=True, default="", max_length=200)),
                ("metadata", models.JSONField(default=dict)),
                ("answer", models.TextField(blank=True, default="")),
                ("choice", models.PositiveSmallIntegerField(null=True)),
                ("confidence", models.FloatField(null=True)),
                ("finish_reason", models.CharField(blank=True, default="", max_length=32)),
                ("usage", models.JSONField(default=dict)),
                ("cost_amount", models.DecimalField(decimal_places=10, default=0, max_digits=20)),
                ("cost_currency", models.CharField(default="USD", max_length=3)),
                ("timings", models.JSONField(default=dict)),
                ("model_names", models.JSONField(default=dict)),
                ("method_version", models.CharField(blank=True, default="", max_length=32)),
                ("prompts", models.CharField(blank=True, default="", max_length=16)),
                ("settings", models.JSONField(default=dict)),
                ("signals", models.JSONField(default=dict)),
                ("degraded", models.JSONField(default=list)),
                ("composition", models.JSONField(default=dict)),
                ("notes", models.JSONField(default=list)),
                ("comparison_arm", models.PositiveSmallIntegerField(null=True)),
                ("repeat", models.PositiveSmallIntegerField(default=0)),
                ("grade", models.CharField(blank=True, default="", max_length=16)),
                ("graded_by", models.CharField(blank=True, default="", max_length=16)),
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
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "indexes": [
                    models.Index(fields=["tenant", "-id"], name="question_tenant_newest"),
                    models.Index(fields=["tenant", "status", "-id"], name="question_tenant_status"),
                    models.Index(fields=["tenant", "external_id", "-id"], name="question_tenant_external"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Node",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("ordinal", models.PositiveIntegerField()),
                ("path", models.CharField(max_length=200)),
                ("action", models.CharField(max_length=32)),
                ("depth", models.PositiveSmallIntegerField()),
                ("events", models.JSONField(default=list)),
                ("sub_queries", models.JSONField(default=list)),
                ("answer", models.TextField(null=True)),
                ("score", models.FloatField(null=True)),
                ("seen", models.JSONField(default=list)),
                ("note", models.TextField(blank=True, default="")),
                ("reused_from", models.CharField(blank=True, default="", max_length=200)),
                ("detail", models.JSONField(default=dict)),
                ("error_code", models.CharField(blank=True, default="", max_length=64)),
                ("usage", models.JSONField(default=dict)),
                ("started_ms", models.BigIntegerField(default=0)),
                ("wall_ms", models.BigIntegerField(default=0)),
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
                    "question",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="questions.question",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "question", "ordinal"), name="node_question_ordinal"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Evidence",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("ordinal", models.PositiveSmallIntegerField()),
                ("event_id", models.UUIDField()),
                ("start_ms", models.BigIntegerField()),
                ("end_ms", models.BigIntegerField()),
                ("frame_ms", models.BigIntegerField(null=True)),
                ("frame_key", models.CharField(blank=True, default="", max_length=255)),
                ("quote", models.TextField(blank=True, default="")),
                ("status", models.CharField(default="unverified", max_length=16)),
                ("confidence", models.FloatField(null=True)),
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
                    "question",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="questions.question",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "question", "ordinal"), name="evidence_question_ordinal"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="QuestionVideo",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index_version", models.PositiveIntegerField(null=True)),
                ("indexed_until_ms", models.BigIntegerField(null=True)),
                (
                    "question",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
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
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "question", "video"), name="question_video_once"),
                ],
                "indexes": [
                    models.Index(fields=["tenant", "video"], name="question_video_by_video"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Candidate",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("ordinal", models.PositiveSmallIntegerField()),
                ("answer", models.TextField(blank=True, default="")),
                ("choice", models.PositiveSmallIntegerField(null=True)),
                ("reasoning", models.TextField(blank=True, default="")),
                ("agreement", models.FloatField(null=True)),
                ("coherence", models.FloatField(null=True)),
                ("score", models.FloatField(null=True)),
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
                    "node",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="questions.node",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "node", "ordinal"), name="candidate_node_ordinal")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="QuestionPace",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("method", models.CharField(max_length=32)),
                ("effort", models.CharField(max_length=16)),
                ("model", models.CharField(max_length=200)),
                ("stage", models.CharField(blank=True, default="", max_length=64)),
                ("left_ms", models.FloatField()),
                ("samples", models.PositiveIntegerField(default=1)),
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
                        fields=("tenant", "method", "effort", "model", "stage"), name="question_pace_once"
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        tenant_table("questions_question"),
        tenant_table("questions_questionvideo"),
        tenant_table("questions_node"),
        tenant_table("questions_candidate"),
        tenant_table("questions_evidence"),
        tenant_table("questions_questionpace"),
        tenant_reference("questions_questionvideo", "question_id", "questions_question"),
        tenant_reference("questions_questionvideo", "video_id", "library_video"),
        tenant_reference("questions_node", "question_id", "questions_question"),
        tenant_reference("questions_candidate", "node_id", "questions_node"),
        tenant_reference("questions_evidence", "question_id", "questions_question"),
        tenant_reference("questions_evidence", "video_id", "library_video"),
    ]
