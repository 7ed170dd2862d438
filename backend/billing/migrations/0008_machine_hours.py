import django.db.models.functions.datetime
import django.utils.timezone
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import plain_table

# Rates and machine hours are entered by people; the days are reconciled by a worker.
ENTERED = (
    "GRANT SELECT, INSERT ON billing_modelrate TO app_console",
    "GRANT SELECT, INSERT, UPDATE ON billing_machineday TO app_console",
)
US = {"decimal_places": 4, "max_digits": 16}


class Migration(migrations.Migration):
    dependencies = [("billing", "0007_invoices")]
    operations = [
        migrations.AlterField(
            model_name="modelcall",
            name="device_ms",
            field=models.DecimalField(decimal_places=3, max_digits=16),
        ),
        migrations.CreateModel(
            name="ModelRate",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("model", models.CharField(max_length=200)),
                ("fresh_us", models.DecimalField(**US)),
                ("cached_us", models.DecimalField(**US)),
                ("output_us", models.DecimalField(**US)),
                ("picture_us", models.DecimalField(default=0, **US)),
                ("request_us", models.DecimalField(default=0, **US)),
                ("effective_from", models.DateTimeField()),
                ("author", models.CharField(max_length=200)),
                (
                    "entered_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        default=django.utils.timezone.now,
                        editable=False,
                    ),
                ),
                ("note", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("model", "effective_from"), name="modelrate_effective"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cached_us__gte", 0),
                            ("fresh_us__gte", 0),
                            ("output_us__gte", 0),
                            ("picture_us__gte", 0),
                            ("request_us__gte", 0),
                        ),
                        name="modelrate_not_negative",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("fresh_us__gt", 0), ("output_us__gt", 0), _connector="OR"),
                        name="modelrate_not_free",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MachineDay",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("machine", models.CharField(max_length=100)),
                ("devices", models.PositiveIntegerField(default=1)),
                ("hours", models.DecimalField(decimal_places=4, max_digits=12)),
                ("usd_per_hour", models.DecimalField(decimal_places=6, max_digits=12)),
                ("author", models.CharField(max_length=200)),
                ("entered_at", models.DateTimeField(auto_now=True)),
                ("note", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("day", "machine"), name="machineday_once"),
                    models.CheckConstraint(
                        condition=models.Q(("devices__gte", 1), ("hours__gte", 0), ("usd_per_hour__gte", 0)),
                        name="machineday_not_negative",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CostDay",
            fields=[
                ("day", models.DateField(primary_key=True, serialize=False)),
                ("paid_seconds", models.DecimalField(decimal_places=6, max_digits=20)),
                ("attributed_seconds", models.DecimalField(decimal_places=6, max_digits=24)),
                ("overhead_seconds", models.DecimalField(decimal_places=6, max_digits=24)),
                ("lost_attempts", models.PositiveIntegerField(default=0)),
                ("lost_seconds", models.DecimalField(decimal_places=6, default=0, max_digits=24)),
                ("lost_usd", models.DecimalField(decimal_places=10, default=0, max_digits=20)),
                ("utilisation", models.DecimalField(decimal_places=6, max_digits=12, null=True)),
                ("paid_usd", models.DecimalField(decimal_places=10, max_digits=20)),
                ("attributed_usd", models.DecimalField(decimal_places=10, max_digits=20)),
                ("overhead_usd", models.DecimalField(decimal_places=10, max_digits=20)),
                ("hosted_usd", models.DecimalField(decimal_places=10, max_digits=20)),
                ("waste_usd", models.DecimalField(decimal_places=10, max_digits=20)),
                ("video_hours", models.DecimalField(decimal_places=6, max_digits=20)),
                ("questions", models.DecimalField(decimal_places=6, max_digits=20)),
                ("usd_per_video_hour", models.DecimalField(decimal_places=10, max_digits=20, null=True)),
                ("usd_per_question", models.DecimalField(decimal_places=10, max_digits=20, null=True)),
                ("reconciled_at", models.DateTimeField(auto_now=True)),
            ],
        ),
        plain_table("billing_modelrate", dispatch="SELECT"),
        plain_table("billing_machineday", dispatch="SELECT"),
        plain_table("billing_costday", rw="SELECT, INSERT, UPDATE", dispatch="SELECT"),
        migrations.RunSQL(ENTERED, migrations.RunSQL.noop),
    ]
