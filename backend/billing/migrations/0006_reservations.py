import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import tenant_table

# Deferred, as billing_month is: the counters are locked when the transaction commits, after every other lock. First
# what is reserved, then the counters, so that a commit which waits for a reservation holds no counter.
COUNT = (
    """
    CREATE FUNCTION billing_add_to_quota() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
    DECLARE
        asked numeric := CASE WHEN NEW.billable AND NEW.meter = 'questions' THEN NEW.quantity ELSE 0 END;
        media numeric := CASE WHEN NEW.billable AND NEW.meter IN ('media_seconds', 'live_seconds')
            THEN NEW.quantity ELSE 0 END;
        subject uuid := coalesce(NEW.question_id, NEW.video_id,
            CASE WHEN NEW.source_id ~ '^[0-9a-f-]{36}$' THEN NEW.source_id::uuid END);
        key uuid;
    BEGIN
        UPDATE billing_reservation SET drawn_charge = drawn_charge
                + CASE WHEN NEW.price_currency = currency THEN NEW.price_amount ELSE 0 END,
            drawn_amount = drawn_amount + CASE kind WHEN 'questions' THEN asked WHEN 'media_seconds' THEN media
                ELSE CASE WHEN NEW.meter = kind THEN NEW.quantity ELSE 0 END END
        WHERE tenant_id = NEW.tenant_id AND source_id = subject AND settled_at IS NULL;
        FOREACH key IN ARRAY CASE WHEN NEW.api_key_id IS NULL THEN ARRAY[NULL]::uuid[]
            ELSE ARRAY[NULL, NEW.api_key_id]::uuid[] END
        LOOP
            INSERT INTO billing_quotamonth AS known
                (id, tenant_id, month, api_key_id, currency, questions, media_seconds, charge)
            VALUES (gen_random_uuid(), NEW.tenant_id, date_trunc('month', NEW.occurred_at AT TIME ZONE 'UTC')::date,
                key, NEW.price_currency, asked, media, NEW.price_amount)
            ON CONFLICT (tenant_id, month, api_key_id, currency) DO UPDATE SET
                questions = known.questions + excluded.questions,
                media_seconds = known.media_seconds + excluded.media_seconds, charge = known.charge + excluded.charge;
        END LOOP;
        RETURN NULL;
    END $$
    """,
    "CREATE CONSTRAINT TRIGGER billing_quota AFTER INSERT ON billing_usageevent DEFERRABLE INITIALLY DEFERRED "
    "FOR EACH ROW WHEN (NEW.price_amount <> 0 OR NEW.meter IN ('questions', 'searches', 'media_seconds', "
    "'live_seconds')) EXECUTE FUNCTION billing_add_to_quota()",
    # Updated often, in place.
    "ALTER TABLE billing_quotamonth SET (fillfactor = 50)",
)


def tenant_field() -> models.ForeignKey:
    return models.ForeignKey(
        db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="tenancy.tenant"
    )


def id_field() -> models.UUIDField:
    return models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)


MANAGERS = [
    ("objects", django.db.models.manager.Manager()),
    ("unscoped", django.db.models.manager.Manager()),
]
OPTIONS = {"abstract": False, "base_manager_name": "unscoped"}


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0005_ledger_dimensions"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Reservation",
            fields=[
                ("id", id_field()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("questions", "Questions"),
                            ("searches", "Searches"),
                            ("media_seconds", "Media Seconds"),
                        ],
                        max_length=16,
                    ),
                ),
                ("amount", models.DecimalField(decimal_places=6, max_digits=24)),
                ("charge", models.DecimalField(decimal_places=10, default=0, max_digits=20)),
                ("currency", models.CharField(default="USD", max_length=3)),
                ("drawn_amount", models.DecimalField(decimal_places=6, default=0, max_digits=24)),
                ("drawn_charge", models.DecimalField(decimal_places=10, default=0, max_digits=20)),
                ("api_key_id", models.UUIDField(null=True)),
                ("source_type", models.CharField(max_length=32)),
                ("source_id", models.UUIDField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("settled_at", models.DateTimeField(null=True)),
                ("again", models.BooleanField(default=False)),
                (
                    "ended",
                    models.CharField(
                        blank=True,
                        choices=[("charged", "Charged"), ("free", "Free"), ("void", "Void")],
                        default="",
                        max_length=8,
                    ),
                ),
                ("tenant", tenant_field()),
            ],
            options={
                **OPTIONS,
                "indexes": [
                    models.Index(
                        condition=models.Q(("ended__in", ["charged", "free"])),
                        fields=["tenant", "settled_at"],
                        name="reservation_ended",
                    ),
                    models.Index(
                        condition=models.Q(("again", True)), fields=["tenant", "created_at"], name="reservation_again"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("settled_at", None)),
                        fields=("tenant", "source_id"),
                        name="reservation_open_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount__gte", 0), ("charge__gte", 0)), name="reservation_not_negative"
                    ),
                ],
            },
            managers=MANAGERS,
        ),
        migrations.CreateModel(
            name="QuotaMonth",
            fields=[
                ("id", id_field()),
                ("month", models.DateField()),
                ("api_key_id", models.UUIDField(null=True)),
                ("questions", models.DecimalField(decimal_places=6, default=0, max_digits=24)),
                ("media_seconds", models.DecimalField(decimal_places=6, default=0, max_digits=24)),
                ("charge", models.DecimalField(decimal_places=10, default=0, max_digits=24)),
                ("currency", models.CharField(default="USD", max_length=3)),
                ("tenant", tenant_field()),
            ],
            options={
                **OPTIONS,
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "month", "api_key_id", "currency"),
                        name="quota_month_once",
                        nulls_distinct=False,
                    )
                ],
            },
            managers=MANAGERS,
        ),
        migrations.CreateModel(
            name="Budget",
            fields=[
                ("id", id_field()),
                ("api_key_id", models.UUIDField(null=True)),
                ("charge", models.DecimalField(decimal_places=6, max_digits=20, null=True)),
                ("currency", models.CharField(default="USD", max_length=3)),
                ("questions", models.PositiveBigIntegerField(null=True)),
                ("media_minutes", models.DecimalField(decimal_places=3, max_digits=16, null=True)),
                ("open_jobs", models.PositiveIntegerField(null=True)),
                ("retries", models.PositiveIntegerField(null=True)),
                ("stored_bytes", models.PositiveBigIntegerField(null=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("tenant", tenant_field()),
            ],
            options={
                **OPTIONS,
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "api_key_id"), name="budget_once", nulls_distinct=False)
                ],
            },
            managers=MANAGERS,
        ),
        tenant_table("billing_reservation"),
        tenant_table("billing_quotamonth"),
        tenant_table("billing_budget"),
        migrations.RunSQL(COUNT, migrations.RunSQL.noop),
    ]
