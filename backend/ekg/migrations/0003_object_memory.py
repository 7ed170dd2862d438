import django.contrib.postgres.fields
import django.db.models.deletion
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import tenant_reference, tenant_table


class Migration(migrations.Migration):
    dependencies = [("ekg", "0002_objects_topics_transcript_vectors")]

    operations = [
        migrations.AddField(model_name="trackedobject", name="memory", field=models.JSONField(default=dict)),
        migrations.AddField(model_name="event", name="searched", field=models.TextField(blank=True, default="")),
        migrations.CreateModel(
            name="Posting",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index_version", models.PositiveIntegerField()),
                ("term", models.CharField(max_length=64)),
                (
                    "events",
                    django.contrib.postgres.fields.ArrayField(base_field=models.PositiveIntegerField(), size=None),
                ),
                (
                    "impacts",
                    django.contrib.postgres.fields.ArrayField(base_field=models.PositiveSmallIntegerField(), size=None),
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
                    models.Index(fields=["tenant", "video", "index_version"], name="posting_tenant_video"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "term", "video", "index_version"), name="posting_term_video_version"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        tenant_table("ekg_posting"),
        tenant_reference("ekg_posting", "video_id", "library_video"),
    ]
