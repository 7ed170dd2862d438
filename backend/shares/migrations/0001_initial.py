import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import noted_endings, tenant_reference, tenant_table


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("clips", "0001_initial"),
        ("library", "0004_video_failed_at"),
        ("questions", "0003_charges"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Share",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("start_ms", models.BigIntegerField(null=True)),
                ("end_ms", models.BigIntegerField(null=True)),
                ("play_recordings", models.BooleanField(default=False)),
                ("title", models.CharField(blank=True, default="", max_length=200)),
                ("digest", models.BinaryField(max_length=32)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(null=True)),
                ("api_key_id", models.UUIDField(null=True)),
                ("person_id", models.UUIDField(null=True)),
                ("views", models.PositiveIntegerField(default=0)),
                ("last_viewed_at", models.DateTimeField(null=True)),
                ("audited_at", models.DateTimeField(null=True)),
                (
                    "clip",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="clips.clip",
                    ),
                ),
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
                    models.Index(fields=["digest"], name="shares_share_digest"),
                    models.Index(fields=["tenant", "question"], name="shares_share_question"),
                    models.Index(fields=["tenant", "video"], name="shares_share_video"),
                    models.Index(fields=["tenant", "clip"], name="shares_share_clip"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("clip", None), ("question", None)),
                            models.Q(("clip", None), ("end_ms", None), ("start_ms", None), ("video", None)),
                            models.Q(("end_ms", None), ("question", None), ("start_ms", None), ("video", None)),
                            _connector="OR",
                        ),
                        name="shares_share_one_thing",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("end_ms", None), ("start_ms", None)),
                            ("start_ms__lt", models.F("end_ms")),
                            _connector="OR",
                        ),
                        name="shares_share_span",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        tenant_table("shares_share", dispatch="SELECT"),
        # A share goes with the thing that it shows.
        tenant_reference("shares_share", "question_id", "questions_question"),
        tenant_reference("shares_share", "video_id", "library_video"),
        tenant_reference("shares_share", "clip_id", "clips_clip"),
        noted_endings("shares_share", "share", set_column="revoked_at"),
    ]
