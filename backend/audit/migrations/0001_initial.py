import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import ERASE, tenant_table


class Migration(migrations.Migration):
    initial = True

    dependencies = [("tenancy", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("occurred_at", models.DateTimeField(auto_now_add=True)),
                (
                    "actor_kind",
                    models.CharField(
                        choices=[
                            ("api_key", "Api Key"),
                            ("person", "Person"),
                            ("staff", "Staff"),
                            ("operator", "Operator"),
                            ("visitor", "Visitor"),
                        ],
                        max_length=16,
                    ),
                ),
                ("actor_id", models.UUIDField(null=True)),
                ("actor_name", models.CharField(default="", max_length=254)),
                ("action", models.CharField(max_length=64)),
                ("object_id", models.CharField(default="", max_length=64)),
                ("reason", models.CharField(default="", max_length=500)),
                ("address", models.GenericIPAddressField(null=True)),
                ("request_id", models.CharField(default="", max_length=64)),
                ("details", models.JSONField(default=dict)),
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
                    models.Index(fields=["tenant", "action", "id"], name="audit_by_action"),
                    models.Index(fields=["tenant", "object_id", "id"], name="audit_by_object"),
                    models.Index(fields=["tenant", "actor_kind", "id"], name="audit_by_actor"),
                    models.Index(fields=["tenant", "occurred_at"], name="audit_by_time"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        tenant_table("audit_auditevent", append_only=True, dispatch=ERASE),
    ]
