"""Hourly sums of the ledger, the hours that are to be summed up again, and the results of the invariants."""

import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.billing.models.meters import UsageMeter
from backend.tenancy.ddl import plain_table, tenant_table

NOTE_HOURS = (
    """
    CREATE FUNCTION billing_note_hours() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
    BEGIN
        INSERT INTO billing_stalehour (id, tenant_id, hour)
        SELECT gen_random_uuid(), tenant_id, hour FROM (
            SELECT DISTINCT tenant_id, date_trunc('hour', occurred_at, 'UTC') AS hour FROM added) AS touched;
        RETURN NULL;
    END $$
    """,
    "CREATE TRIGGER billing_hours AFTER INSERT ON billing_usageevent REFERENCING NEW TABLE AS added "
    "FOR EACH STATEMENT EXECUTE FUNCTION billing_note_hours()",
)
TENANT = (
    "tenant",
    models.ForeignKey(
        db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="tenancy.tenant"
    ),
)
ID = ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False))
MANAGERS = [
    ("objects", django.db.models.manager.Manager()),
    ("unscoped", django.db.models.manager.Manager()),
]


class Migration(migrations.Migration):
    dependencies = [("billing", "0008_machine_hours")]

    operations = [
        migrations.CreateModel(
            name="UsageHour",
            fields=[
                ID,
                ("hour", models.DateTimeField()),
                ("meter", models.CharField(choices=UsageMeter.choices, max_length=32)),
                ("variant", models.CharField(blank=True, default="", max_length=100)),
                ("model", models.CharField(blank=True, default="", max_length=200)),
                ("stage", models.CharField(blank=True, default="", max_length=64)),
                ("method", models.CharField(blank=True, default="", max_length=32)),
                ("effort", models.CharField(blank=True, default="", max_length=16)),
                ("profile", models.CharField(blank=True, default="", max_length=32)),
                ("api_key_id", models.UUIDField(null=True)),
                ("person_id", models.UUIDField(null=True)),
                ("collection_id", models.UUIDField(null=True)),
                ("video_id", models.UUIDField(null=True)),
                ("price_id", models.UUIDField(null=True)),
                ("price_currency", models.CharField(default="USD", max_length=3)),
                ("billable", models.BooleanField(default=True)),
                ("quantity", models.DecimalField(decimal_places=6, max_digits=28)),
                ("events", models.PositiveIntegerField()),
                ("cost", models.DecimalField(decimal_places=10, max_digits=24)),
                ("price", models.DecimalField(decimal_places=10, max_digits=24)),
                TENANT,
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "indexes": [models.Index(fields=["tenant", "hour"], name="usage_hour_tenant")],
            },
            managers=MANAGERS,
        ),
        migrations.CreateModel(
            name="StaleHour",
            fields=[ID, ("hour", models.DateTimeField()), TENANT],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "indexes": [models.Index(fields=["tenant", "hour"], name="stale_hour_tenant")],
            },
            managers=MANAGERS,
        ),
        migrations.CreateModel(
            name="InvariantResult",
            fields=[
                ("name", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("checked_at", models.DateTimeField()),
                ("violations", models.PositiveIntegerField()),
                ("examples", models.JSONField(default=list)),
            ],
        ),
        tenant_table("billing_usagehour"),
        tenant_table("billing_stalehour", dispatch="SELECT"),
        plain_table("billing_invariantresult", rw="SELECT", dispatch="SELECT, INSERT, UPDATE"),
        migrations.RunSQL(NOTE_HOURS, migrations.RunSQL.noop),
    ]
