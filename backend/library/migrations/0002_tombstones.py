import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import tenant_table


class Migration(migrations.Migration):
    dependencies = [("library", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Tombstone",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("subject_id", models.UUIDField()),
                (
                    "prefixes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=255), default=list, size=None
                    ),
                ),
                ("buried_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
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
                    models.UniqueConstraint(fields=("tenant", "subject_id"), name="tombstone_once_per_subject"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        tenant_table("library_tombstone"),
        migrations.CreateModel(
            name="Retention",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("source_days", models.PositiveIntegerField(null=True)),
                ("thumbnails_days", models.PositiveIntegerField(null=True)),
                ("index_days", models.PositiveIntegerField(null=True)),
                ("questions_days", models.PositiveIntegerField(null=True)),
                (
                    "derived_text",
                    models.CharField(
                        choices=[("redact", "Redact"), ("remove", "Remove")], default="redact", max_length=8
                    ),
                ),
                ("updated_at", models.DateTimeField(auto_now=True)),
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
            options={"abstract": False, "base_manager_name": "unscoped"},
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddConstraint(
            model_name="retention",
            constraint=models.UniqueConstraint(fields=("tenant",), name="retention_once_per_tenant"),
        ),
        tenant_table("library_retention", dispatch="SELECT"),
    ]
