"""How long answers and indexes took, by hour and by day; the sweep that adds it up reads no content."""

import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import plain_table


class Migration(migrations.Migration):
    dependencies = [("questions", "0003_charges")]

    operations = [
        migrations.CreateModel(
            name="StageTimes",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(choices=[("question", "Question"), ("video", "Video")], max_length=16)),
                ("step", models.CharField(choices=[("hour", "Hour"), ("day", "Day")], max_length=8)),
                ("at", models.DateTimeField()),
                ("stage", models.CharField(blank=True, default="", max_length=64)),
                ("n", models.PositiveIntegerField()),
                ("failed", models.PositiveIntegerField(default=0)),
                ("p50", models.FloatField(null=True)),
                ("p95", models.FloatField(null=True)),
                ("p99", models.FloatField(null=True)),
                ("buckets", models.JSONField(default=dict)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("kind", "step", "at", "stage"), name="stage_times_once")
                ],
            },
        ),
        plain_table("questions_stagetimes", rw="SELECT", dispatch="SELECT, INSERT, DELETE"),
        migrations.RunSQL(
            "GRANT SELECT (completed_at, status, timings) ON questions_question TO app_dispatch",
            migrations.RunSQL.noop,
        ),
    ]
