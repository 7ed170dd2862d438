"""The price books, their first rows, and the rights on them.

The amounts are assumptions, to be replaced by appending later versions:

- cost of a device second: a rented accelerator of the L4 class with its host, 0.80 USD an hour. It holds for models that
  run on our own devices. A hosted model gets rows of its own: its token rates, and device_seconds 0.
- cost of tokens: 0, since a local model's tokens are paid for by its device seconds.
- cost of media seconds, questions, searches, comparisons: 0, since their parts are metered as device seconds and tokens.
- cost of storage: 0.023 USD per GB and month of 730 hours. cost of egress: 0.09 USD per GB.
- price of a media second: 0.042 USD per indexed minute; of a live second 0.06 USD per minute.
- price of a question: 0.02 USD, less at low effort and more at high effort. price of a search: 0.001 USD.
- price of a comparison: 0, since each of its questions is priced.
- price of storage: 0.05 USD per GB and month of 730 hours. price of egress: 0.12 USD per GB.
- price of tokens and device seconds: 0, since customers pay for what they can verify.
"""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID, uuid5

import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import no_overlap, plain_table

# Before any usage, so that usage of the past has a price too.
EFFECTIVE_FROM = datetime(2020, 1, 1, tzinfo=UTC)
# The first rows have the same ids in each cell, which a move of a tenant requires.
FIRST = UUID("0193c0de-0000-7000-8000-000000000000")
LOCAL = "local models: in their device seconds; a hosted model needs its own row"
PARTS = "in device seconds and tokens"
UNBILLED = "not billed to customers"

# Meter, variant, amount, note.
COST = (
    ("device_seconds", "", "0.000222222222", "assumed: L4-class device with host, 0.80 USD an hour"),
    ("input_tokens", "", "0", LOCAL),
    ("cached_tokens", "", "0", LOCAL),
    ("output_tokens", "", "0", LOCAL),
    ("media_seconds", "", "0", PARTS),
    ("live_seconds", "", "0", PARTS),
    ("questions", "", "0", PARTS),
    ("searches", "", "0", PARTS),
    ("comparisons", "", "0", PARTS),
    ("storage_gb_hours", "", "0.000031506849", "assumed: 0.023 USD per GB and month of 730 hours"),
    ("egress_gb", "", "0.09", "assumed: per GB to the internet"),
)
PRICE = (
    ("device_seconds", "", "0", UNBILLED),
    ("input_tokens", "", "0", UNBILLED),
    ("cached_tokens", "", "0", UNBILLED),
    ("output_tokens", "", "0", UNBILLED),
    ("media_seconds", "", "0.0007", "assumed: 0.042 USD per indexed minute"),
    ("live_seconds", "", "0.001", "assumed: 0.06 USD per minute of a growing recording"),
    ("questions", "", "0.02", "assumed: per answered question"),
    ("questions", "ava:low", "0.01", "assumed: per answered question at low effort"),
    ("questions", "ava:high", "0.05", "assumed: per answered question at high effort"),
    ("questions", "ava:paper", "0.2", "assumed: per answered question with the settings of the paper"),
    ("searches", "", "0.001", "assumed: per search"),
    ("comparisons", "", "0", "each of its questions is priced"),
    ("storage_gb_hours", "", "0.000068493151", "assumed: 0.05 USD per GB and month of 730 hours"),
    ("egress_gb", "", "0.12", "assumed: per GB that leaves the service"),
)


def add_first_rows(apps, schema_editor):
    alias = schema_editor.connection.alias
    books = apps.get_model("billing", "PriceBook").objects.using(alias)
    prices = apps.get_model("billing", "Price").objects.using(alias)
    free = tuple((meter, "", "0", "test mode") for meter, variant, _, _ in PRICE if not variant)
    for kind, code, rows in (("cost", "cost", COST), ("price", "standard", PRICE), ("price", "sandbox", free)):
        book, _ = books.get_or_create(code=code, defaults={"id": uuid5(FIRST, code), "kind": kind, "currency": "USD"})
        for meter, variant, amount, note in rows:
            prices.get_or_create(
                book=book,
                meter=meter,
                model="",
                variant=variant,
                version=1,
                defaults={
                    "id": uuid5(FIRST, f"{code}/{meter}/{variant}"),
                    "unit_amount": Decimal(amount),
                    "effective_from": EFFECTIVE_FROM,
                    "back_dated": True,
                    "author": "migration",
                    "entered_at": EFFECTIVE_FROM,
                    "note": note,
                },
            )


# The API sees the books of every tenant and the entered tenant's own; the console sees and writes all.
OWN = "tenant_id IS NULL OR tenant_id = (SELECT nullif(current_setting('app.tenant_id', true), '')::uuid)"
APART = (
    "ALTER TABLE billing_pricebook ENABLE ROW LEVEL SECURITY",
    f"CREATE POLICY own_or_common ON billing_pricebook FOR SELECT TO app_rw USING ({OWN})",
    "CREATE POLICY everybody ON billing_pricebook TO app_console USING (true) WITH CHECK (true)",
    "ALTER TABLE billing_price ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY own_or_common ON billing_price FOR SELECT TO app_rw "
    "USING (EXISTS (SELECT FROM billing_pricebook book WHERE book.id = book_id))",
    "CREATE POLICY everybody ON billing_price TO app_console USING (true) WITH CHECK (true)",
    # A book is locked while a price is appended.
    "GRANT SELECT, INSERT, UPDATE (note) ON billing_pricebook TO app_console",
    "GRANT SELECT, INSERT, UPDATE (effective_to) ON billing_price TO app_console",
    "ALTER TABLE billing_price ADD CONSTRAINT price_not_back_dated "
    "CHECK (back_dated OR effective_from >= entered_at - interval '60 seconds')",
    """
    CREATE FUNCTION billing_price_ends_once() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
    BEGIN
        IF OLD.effective_to IS NOT NULL
            OR to_jsonb(OLD) - 'effective_to' IS DISTINCT FROM to_jsonb(NEW) - 'effective_to' THEN
            RAISE EXCEPTION 'a price is never changed, and it ends once' USING ERRCODE = 'check_violation';
        END IF;
        RETURN NEW;
    END $$
    """,
    "CREATE TRIGGER billing_price_append_only BEFORE UPDATE ON billing_price "
    "FOR EACH ROW EXECUTE FUNCTION billing_price_ends_once()",
)


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="PriceBook",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(choices=[("cost", "Cost"), ("price", "Price")], max_length=8)),
                ("code", models.SlugField(max_length=64, unique=True)),
                (
                    "currency",
                    models.CharField(
                        choices=[
                            ("USD", "USD"),
                            ("EUR", "EUR"),
                            ("JPY", "JPY"),
                            ("GBP", "GBP"),
                            ("CHF", "CHF"),
                            ("KWD", "KWD"),
                        ],
                        default="USD",
                        max_length=3,
                    ),
                ),
                ("tenant_id", models.UUIDField(blank=True, null=True)),
                ("note", models.CharField(blank=True, default="", max_length=200)),
                ("author", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "cost")), fields=("kind",), name="pricebook_one_of_costs"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("tenant_id__isnull", False)),
                        fields=("tenant_id", "currency"),
                        name="pricebook_one_per_tenant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "cost"), _negated=True),
                            models.Q(("currency", "USD"), ("tenant_id__isnull", True)),
                            _connector="OR",
                        ),
                        name="pricebook_costs_in_dollars",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Price",
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
                ("model", models.CharField(blank=True, default="", max_length=200)),
                ("variant", models.CharField(blank=True, default="", max_length=100)),
                ("unit_amount", models.DecimalField(decimal_places=12, max_digits=20)),
                ("version", models.PositiveIntegerField()),
                ("effective_from", models.DateTimeField()),
                ("effective_to", models.DateTimeField(blank=True, null=True)),
                ("back_dated", models.BooleanField(default=False)),
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
                (
                    "book",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="prices", to="billing.pricebook"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("book", "meter", "model", "variant", "version"), name="price_version_once"
                    ),
                    models.CheckConstraint(condition=models.Q(("unit_amount__gte", 0)), name="price_not_negative"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("effective_to__isnull", True),
                            ("effective_to__gt", models.F("effective_from")),
                            _connector="OR",
                        ),
                        name="price_has_a_span",
                    ),
                ],
            },
        ),
        plain_table("billing_pricebook", dispatch="SELECT"),
        plain_table("billing_price", dispatch="SELECT"),
        no_overlap("billing_price", "book_id::text || '/' || meter || '/' || model || '/' || variant"),
        migrations.RunSQL(APART, migrations.RunSQL.noop),
        migrations.RunPython(add_first_rows, migrations.RunPython.noop),
    ]
