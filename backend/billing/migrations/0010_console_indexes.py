import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import plain_table, tenant_table

SUMS = {
    "cost": "cost",
    "price": "price",
    "wasted": "CASE WHEN billable THEN 0 ELSE cost END",
    "media_seconds": "CASE WHEN meter IN ('media_seconds', 'live_seconds') THEN quantity ELSE 0 END",
    "questions": "CASE WHEN meter = 'questions' THEN quantity ELSE 0 END",
    "searches": "CASE WHEN meter = 'searches' THEN quantity ELSE 0 END",
    "tokens_in": "CASE WHEN meter IN ('input_tokens', 'cached_tokens') THEN quantity ELSE 0 END",
    "tokens_out": "CASE WHEN meter = 'output_tokens' THEN quantity ELSE 0 END",
    "device_seconds": "CASE WHEN meter = 'device_seconds' THEN quantity ELSE 0 END",
    "events": "events",
}
COLUMNS = ", ".join(SUMS)
SUMMED = ", ".join(f"sum({value}) AS {name}" for name, value in SUMS.items())
KEYS = "tenant_id, (hour AT TIME ZONE 'UTC')::date AS day, stage, model, price_currency"
CHANGED = f"SELECT {KEYS}, {SUMMED} FROM changed GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5"  # noqa: S608
TENANT_KEYS = "tenant_id, (hour AT TIME ZONE 'UTC')::date AS day, price_currency"
OF_TENANT = f"SELECT {TENANT_KEYS}, {SUMMED} FROM changed GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"  # noqa: S608
# A day of all tenants is summed up by a sweep: rows that every tenant changes would make them wait for each other.
STALE = """
    INSERT INTO billing_staleday (id, day)
    SELECT gen_random_uuid(), day FROM (SELECT DISTINCT (hour AT TIME ZONE 'UTC')::date AS day FROM changed) AS touched;
"""
ADDED = ", ".join(f"{name} = known.{name} + excluded.{name}" for name in SUMS)
TAKEN = ", ".join(f"{name} = known.{name} - gone.{name}" for name in SUMS)
# Days are locked in one order. What is taken from a day without a row belongs to a tenant that is being erased.
ADD = f"""
CREATE FUNCTION billing_add_to_day() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO billing_usageday AS known (id, tenant_id, day, stage, model, price_currency, {COLUMNS})
    SELECT gen_random_uuid(), summed.* FROM ({CHANGED}) AS summed
    ON CONFLICT (tenant_id, day, stage, model, price_currency) DO UPDATE SET {ADDED};
    INSERT INTO billing_tenantday AS known (id, tenant_id, day, price_currency, {COLUMNS})
    SELECT gen_random_uuid(), summed.* FROM ({OF_TENANT}) AS summed
    ON CONFLICT (tenant_id, day, price_currency) DO UPDATE SET {ADDED};{STALE}
    RETURN NULL;
END $$
"""  # noqa: S608
TAKE = f"""
CREATE FUNCTION billing_take_from_day() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    UPDATE billing_usageday AS known SET {TAKEN} FROM ({CHANGED}) AS gone
    WHERE (known.tenant_id, known.day, known.stage, known.model, known.price_currency)
        = (gone.tenant_id, gone.day, gone.stage, gone.model, gone.price_currency);
    UPDATE billing_tenantday AS known SET {TAKEN} FROM ({OF_TENANT}) AS gone
    WHERE (known.tenant_id, known.day, known.price_currency) = (gone.tenant_id, gone.day, gone.price_currency);{STALE}
    RETURN NULL;
END $$
"""  # noqa: S608
MONTH = {
    "tenant_id": "tenant_id",
    "month": "date_trunc('month', hour AT TIME ZONE 'UTC')::date",
    "price_id": "price_id",
    "meter": "meter",
    "variant": "variant",
    "model": "model",
    "price_currency": "price_currency",
}
MONTH_NAMES = ", ".join(MONTH)
OF_MONTH = ", ".join(f"{value} AS {name}" for name, value in MONTH.items())
PRICED = (
    f"SELECT {OF_MONTH}, sum(quantity) AS quantity, sum(price) AS price FROM changed "  # noqa: S608
    "WHERE billable AND price_id IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7"
)
ADD_PRICED = f"""
CREATE FUNCTION billing_add_priced() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO billing_pricedmonth AS known (id, {MONTH_NAMES}, quantity, price)
    SELECT gen_random_uuid(), summed.* FROM ({PRICED}) AS summed
    ON CONFLICT ({MONTH_NAMES}) DO UPDATE
    SET quantity = known.quantity + excluded.quantity, price = known.price + excluded.price;
    RETURN NULL;
END $$
"""  # noqa: S608
TAKE_PRICED = f"""
CREATE FUNCTION billing_take_priced() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    UPDATE billing_pricedmonth AS known SET quantity = known.quantity - gone.quantity, price = known.price - gone.price
    FROM ({PRICED}) AS gone
    WHERE ({", ".join(f"known.{name}" for name in MONTH)}) = ({", ".join(f"gone.{name}" for name in MONTH)});
    RETURN NULL;
END $$
"""  # noqa: S608


TRIGGERS = (
    ADD,
    TAKE,
    ADD_PRICED,
    TAKE_PRICED,
    "CREATE TRIGGER billing_priced_added AFTER INSERT ON billing_usagehour REFERENCING NEW TABLE AS changed "
    "FOR EACH STATEMENT EXECUTE FUNCTION billing_add_priced()",
    "CREATE TRIGGER billing_priced_taken AFTER DELETE ON billing_usagehour REFERENCING OLD TABLE AS changed "
    "FOR EACH STATEMENT EXECUTE FUNCTION billing_take_priced()",
    "ALTER TABLE billing_pricedmonth SET (fillfactor = 50)",
    "CREATE TRIGGER billing_day_added AFTER INSERT ON billing_usagehour REFERENCING NEW TABLE AS changed "
    "FOR EACH STATEMENT EXECUTE FUNCTION billing_add_to_day()",
    "CREATE TRIGGER billing_day_taken AFTER DELETE ON billing_usagehour REFERENCING OLD TABLE AS changed "
    "FOR EACH STATEMENT EXECUTE FUNCTION billing_take_from_day()",
    # Updated often, in place.
    "ALTER TABLE billing_usageday SET (fillfactor = 50)",
    "ALTER TABLE billing_tenantday SET (fillfactor = 50)",
    # The console lists the ledger of all tenants, the latest row first.
    "CREATE INDEX usage_latest ON billing_usageevent (occurred_at DESC, id DESC)",
)


def amount(digits: int) -> models.DecimalField:  # type: ignore[type-arg]
    return models.DecimalField(decimal_places=digits, default=0, max_digits=24)


def sums() -> list[tuple[str, models.Field]]:  # type: ignore[type-arg]
    return [
        ("price_currency", models.CharField(default="USD", max_length=3)),
        ("cost", amount(10)),
        ("price", amount(10)),
        ("wasted", amount(10)),
        ("media_seconds", amount(6)),
        ("questions", amount(6)),
        ("searches", amount(6)),
        ("tokens_in", amount(6)),
        ("tokens_out", amount(6)),
        ("device_seconds", amount(6)),
        ("events", models.BigIntegerField(default=0)),
    ]


class Migration(migrations.Migration):
    dependencies = [("billing", "0007_invoices"), ("billing", "0009_rollups")]

    operations = [
        migrations.CreateModel(
            name="UsageDay",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("stage", models.CharField(blank=True, default="", max_length=64)),
                ("model", models.CharField(blank=True, default="", max_length=200)),
                *sums(),
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
                "indexes": [models.Index(fields=["day", "tenant"], name="usage_day_of_all")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "day", "stage", "model", "price_currency"), name="usage_day_once"
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="TenantDay",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("day", models.DateField()),
                *sums(),
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
                "indexes": [models.Index(fields=["day", "tenant"], name="tenant_day_of_all")],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "day", "price_currency"), name="tenant_day_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="DayTotal",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("stage", models.CharField(blank=True, default="", max_length=64)),
                ("model", models.CharField(blank=True, default="", max_length=200)),
                *sums(),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("day", "stage", "model", "price_currency"), name="day_total_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="StaleDay",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("day", models.DateField()),
            ],
        ),
        migrations.CreateModel(
            name="PricedMonth",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("month", models.DateField()),
                ("price_id", models.UUIDField()),
                ("meter", models.CharField(max_length=32)),
                ("variant", models.CharField(blank=True, default="", max_length=100)),
                ("model", models.CharField(blank=True, default="", max_length=200)),
                ("price_currency", models.CharField(default="USD", max_length=3)),
                ("quantity", models.DecimalField(decimal_places=6, default=0, max_digits=28)),
                ("price", amount(10)),
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
                "indexes": [models.Index(fields=["month", "tenant"], name="priced_month_of_all")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "month", "price_id", "meter", "variant", "model", "price_currency"),
                        name="priced_month_once",
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        tenant_table("billing_usageday", dispatch="SELECT"),
        tenant_table("billing_tenantday"),
        plain_table("billing_daytotal", rw="SELECT", dispatch="SELECT, INSERT, DELETE"),
        plain_table("billing_staleday", rw="SELECT, INSERT", dispatch="SELECT, INSERT, DELETE"),
        tenant_table("billing_pricedmonth"),
        migrations.RunSQL(TRIGGERS, migrations.RunSQL.noop),
    ]
