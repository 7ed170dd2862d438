import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import ERASE, month_partitioned, tenant_table

# Deferred: the month's row is locked when the transaction commits, after every other lock. Rows of a video are those of
# indexing, which no monthly limit counts. Neither does it count failed calls, attempts that an outage ended, nor what
# staff ask: those are ours. Another attempt that was thrown away counts, because somebody asked for it.
ADD_TO_MONTH = (
    """
    CREATE FUNCTION billing_add_to_month() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
    BEGIN
        INSERT INTO billing_usagemonth AS known (id, tenant_id, month, tokens, seconds, cost)
        VALUES (gen_random_uuid(), NEW.tenant_id, date_trunc('month', NEW.occurred_at AT TIME ZONE 'UTC')::date,
            CASE WHEN NEW.meter IN ('input_tokens', 'cached_tokens', 'output_tokens') THEN NEW.quantity ELSE 0 END,
            CASE WHEN NEW.meter = 'device_seconds' THEN NEW.quantity ELSE 0 END, NEW.cost_amount)
        ON CONFLICT (tenant_id, month) DO UPDATE SET tokens = known.tokens + excluded.tokens,
            seconds = known.seconds + excluded.seconds, cost = known.cost + excluded.cost;
        RETURN NULL;
    END $$
    """,
    "CREATE CONSTRAINT TRIGGER billing_month AFTER INSERT ON billing_usageevent DEFERRABLE INITIALLY DEFERRED "
    "FOR EACH ROW WHEN (NEW.video_id IS NULL AND (NEW.billable OR NEW.source_type = 'wasted_attempt' "
    "AND NEW.reason <> 'asked_by_operator' AND NEW.reason NOT LIKE 'outage:%')) EXECUTE FUNCTION billing_add_to_month()",
    # Updated often, in place.
    "ALTER TABLE billing_usagemonth SET (fillfactor = 50)",
)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="ModelCall",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("source_type", models.CharField(max_length=32)),
                ("source_id", models.UUIDField()),
                ("ordinal", models.PositiveIntegerField()),
                ("stage", models.CharField(max_length=64)),
                ("model", models.CharField(max_length=200)),
                ("wall_ms", models.PositiveIntegerField()),
                ("device_ms", models.PositiveIntegerField()),
                ("prompt_tokens", models.PositiveIntegerField(default=0)),
                ("cached_tokens", models.PositiveIntegerField(default=0)),
                ("completion_tokens", models.PositiveIntegerField(default=0)),
                ("items", models.PositiveIntegerField(default=1)),
                ("ok", models.BooleanField(default=True)),
                ("start_ms", models.PositiveIntegerField(null=True)),
                ("called_at", models.DateTimeField(auto_now_add=True)),
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
                    models.Index(fields=["tenant", "source_type", "source_id", "ordinal"], name="model_call_source")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="UsageEvent",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "meter",
                    models.CharField(
                        choices=[
                            ("media_seconds", "Media Seconds"),
                            ("live_seconds", "Live Seconds"),
                            ("questions", "Questions"),
                            ("searches", "Searches"),
                            ("comparisons", "Comparisons"),
                            ("storage_gb_hours", "Storage Gb Hours"),
                            ("egress_gb", "Egress Gb"),
                            ("input_tokens", "Input Tokens"),
                            ("cached_tokens", "Cached Tokens"),
                            ("output_tokens", "Output Tokens"),
                            ("device_seconds", "Device Seconds"),
                        ],
                        max_length=32,
                    ),
                ),
                ("quantity", models.DecimalField(decimal_places=6, max_digits=24)),
                ("occurred_at", models.DateTimeField()),
                ("recorded_at", models.DateTimeField(auto_now_add=True)),
                ("source_type", models.CharField(max_length=32)),
                ("source_id", models.CharField(max_length=200)),
                ("video_id", models.UUIDField(null=True)),
                ("question_id", models.UUIDField(null=True)),
                ("api_key_id", models.UUIDField(null=True)),
                ("stage", models.CharField(blank=True, default="", max_length=64)),
                ("model", models.CharField(blank=True, default="", max_length=200)),
                ("cost_amount", models.DecimalField(decimal_places=10, default=0, max_digits=20)),
                ("price_amount", models.DecimalField(decimal_places=10, default=0, max_digits=20)),
                ("currency", models.CharField(default="USD", max_length=3)),
                ("billable", models.BooleanField(default=True)),
                ("reason", models.CharField(blank=True, default="", max_length=64)),
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
                    models.Index(fields=["tenant", "source_type", "source_id"], name="usage_tenant_source"),
                    models.Index(fields=["tenant", "occurred_at"], name="usage_tenant_time"),
                    models.Index(fields=["tenant", "video_id"], name="usage_tenant_video"),
                    models.Index(fields=["tenant", "question_id"], name="usage_tenant_question"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="BillingSource",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
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
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="UsageMonth",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("month", models.DateField()),
                ("tokens", models.DecimalField(decimal_places=6, default=0, max_digits=24)),
                ("seconds", models.DecimalField(decimal_places=6, default=0, max_digits=24)),
                ("cost", models.DecimalField(decimal_places=10, default=0, max_digits=24)),
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
                "constraints": [models.UniqueConstraint(fields=("tenant", "month"), name="usage_month_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        month_partitioned("billing_usageevent", "occurred_at"),
        month_partitioned("billing_modelcall", "called_at"),
        tenant_table("billing_billingsource", append_only=True, dispatch=ERASE),
        tenant_table("billing_usagemonth"),
        tenant_table("billing_usageevent", append_only=True, month="occurred_at", dispatch=ERASE),
        tenant_table("billing_modelcall", append_only=True, month="called_at", dispatch=ERASE),
        migrations.RunSQL(ADD_TO_MONTH, migrations.RunSQL.noop),
    ]
