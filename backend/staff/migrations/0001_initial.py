import django.db.models.deletion
import uuid6
from django.conf import settings
from django.db import migrations, models

from backend.tenancy.ddl import people_table, swept_sessions


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Member",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("support", "support"),
                            ("support_content", "support with content"),
                            ("finance", "finance"),
                            ("operator", "operator"),
                        ],
                        max_length=16,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("enrolment_digest", models.BinaryField(max_length=32, null=True)),
                ("enrolment_until", models.DateTimeField(null=True)),
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SecondFactor",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("secret", models.BinaryField(max_length=512)),
                ("last_step", models.BigIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Passkey",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=60)),
                ("credential_id", models.BinaryField(max_length=1024, unique=True)),
                ("credential", models.BinaryField(max_length=4096)),
                ("sign_count", models.BigIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RecoveryCode",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("digest", models.BinaryField(max_length=32)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                (
                    "session_key",
                    models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name="session key"),
                ),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
            ],
            options={
                "verbose_name": "session",
                "verbose_name_plural": "sessions",
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="StaffEvent",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("occurred_at", models.DateTimeField(auto_now_add=True)),
                ("action", models.CharField(max_length=64)),
                ("email", models.CharField(default="", max_length=254)),
                ("address", models.GenericIPAddressField(null=True)),
                ("request_id", models.CharField(default="", max_length=64)),
                ("details", models.JSONField(default=dict)),
            ],
            options={
                "indexes": [models.Index(fields=["email", "action", "occurred_at"], name="staff_event_by_email")],
            },
        ),
        migrations.CreateModel(
            name="ContentAccess",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("tenant_id", models.UUIDField()),
                ("reason", models.CharField(max_length=500)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["person", "tenant_id", "expires_at"], name="staff_access_open")],
            },
        ),
        *[
            people_table(table, customers=False)
            for table in (
                "staff_member",
                "staff_secondfactor",
                "staff_passkey",
                "staff_recoverycode",
                "staff_session",
                "staff_contentaccess",
            )
        ],
        swept_sessions("staff_session"),
        people_table("staff_staffevent", customers=False, append_only=True),
        migrations.RunSQL("GRANT SELECT ON staff_staffevent TO app_admin_ro", migrations.RunSQL.noop),
    ]
