"""Plans, their versions, subscriptions and billing accounts; the plan of tenants without one of their own."""

from datetime import UTC, datetime
from uuid import UUID, uuid5

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
import django.utils.timezone
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import ERASE, no_overlap, plain_table, tenant_table

# The first rows have the same ids in each cell, which a move of a tenant requires.
FIRST = UUID("0193c0de-0000-7000-8000-000000000000")
TERMS = ("billing_plan", "billing_planversion", "billing_planallowance", "billing_plantier", "billing_planlimit")
CONSOLE = (
    *(f"GRANT SELECT, INSERT ON {table} TO app_console" for table in TERMS),
    # A version ends when the next one begins; a plan is locked meanwhile.
    "GRANT UPDATE (effective_to) ON billing_planversion TO app_console",
    "GRANT UPDATE (name) ON billing_plan TO app_console",
    # Only the end of a subscription may be set, and it never goes.
    "REVOKE UPDATE, DELETE ON billing_subscription FROM app_rw",
    "GRANT UPDATE (effective_to) ON billing_subscription TO app_rw",
    "CREATE INDEX billing_subscription_time ON billing_subscription (tenant_id, effective_from)",
)


SANDBOX_LIMITS = (
    ("media_minutes", 600),
    ("questions", 10_000),
    ("stored_bytes", 10_000_000_000),
    ("videos", 100),
    ("open_jobs", 100),
)


def add_plans(apps, schema_editor):
    alias = schema_editor.connection.alias
    first = (
        ("standard", "plan", "Standard", "list prices, without allowance or minimum", ()),
        ("sandbox", "sandbox", "Test mode", "for test keys: free, and limited", SANDBOX_LIMITS),
    )
    for code, id, name, note, limits in first:
        plan, _ = (
            apps.get_model("billing", "Plan")
            .objects.using(alias)
            .get_or_create(code=code, defaults={"id": uuid5(FIRST, id), "name": name})
        )
        version, made = (
            apps.get_model("billing", "PlanVersion")
            .objects.using(alias)
            .get_or_create(
                plan=plan,
                version=1,
                defaults={
                    "id": uuid5(FIRST, f"{id}/1"),
                    "price_book": apps.get_model("billing", "PriceBook").objects.using(alias).get(code=code),
                    "effective_from": datetime(2020, 1, 1, tzinfo=UTC),
                    "author": "migration",
                    "entered_at": datetime(2020, 1, 1, tzinfo=UTC),
                    "note": note,
                },
            )
        )
        for limit, amount in limits if made else ():
            apps.get_model("billing", "PlanLimit").objects.using(alias).create(
                id=uuid5(FIRST, f"{id}/1/{limit}"), plan_version=version, name=limit, amount=amount
            )


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0003_tenant_budgets"),
        ("billing", "0002_price_book"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Plan",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("code", models.SlugField(max_length=32, unique=True)),
                ("name", models.CharField(max_length=100)),
            ],
        ),
        migrations.CreateModel(
            name="PlanVersion",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("version", models.PositiveIntegerField()),
                ("minimum_amount", models.DecimalField(decimal_places=3, default=0, max_digits=20)),
                ("trial_days", models.PositiveIntegerField(default=0)),
                ("effective_from", models.DateTimeField()),
                ("effective_to", models.DateTimeField(blank=True, null=True)),
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
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="versions", to="billing.plan"
                    ),
                ),
                (
                    "price_book",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="billing.pricebook"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("plan", "version"), name="planversion_once"),
                    models.CheckConstraint(condition=models.Q(("minimum_amount__gte", 0)), name="planversion_minimum"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("effective_to__isnull", True),
                            ("effective_to__gt", models.F("effective_from")),
                            _connector="OR",
                        ),
                        name="planversion_has_a_span",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Subscription",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("effective_from", models.DateTimeField()),
                ("effective_to", models.DateTimeField(null=True)),
                ("trial_until", models.DateTimeField(null=True)),
                ("author", models.CharField(max_length=200)),
                ("entered_at", models.DateTimeField(auto_now_add=True)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                (
                    "plan_version",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="billing.planversion",
                    ),
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
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("effective_to__isnull", True),
                            ("effective_to__gt", models.F("effective_from")),
                            _connector="OR",
                        ),
                        name="subscription_has_a_span",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="BillingAccount",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("legal_name", models.CharField(blank=True, default="", max_length=200)),
                ("address_line_1", models.CharField(blank=True, default="", max_length=200)),
                ("address_line_2", models.CharField(blank=True, default="", max_length=200)),
                ("postal_code", models.CharField(blank=True, default="", max_length=20)),
                ("city", models.CharField(blank=True, default="", max_length=100)),
                ("region", models.CharField(blank=True, default="", max_length=100)),
                ("country", models.CharField(blank=True, default="", max_length=2)),
                ("tax_id", models.CharField(blank=True, default="", max_length=40)),
                ("tax_rate", models.DecimalField(decimal_places=5, default=0, max_digits=6)),
                ("tax_note", models.CharField(blank=True, default="", max_length=200)),
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
                ("time_zone", models.CharField(default="UTC", max_length=64)),
                ("email", models.EmailField(blank=True, default="", max_length=254)),
                ("email_confirmed", models.BooleanField(default=True)),
                ("email_proof", models.UUIDField(null=True)),
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
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "constraints": [
                    models.UniqueConstraint(fields=("tenant",), name="billingaccount_once"),
                    models.CheckConstraint(
                        condition=models.Q(("tax_rate__gte", 0), ("tax_rate__lt", 1)), name="billingaccount_tax_rate"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="PlanTier",
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
                ("variant", models.CharField(blank=True, default="", max_length=100)),
                ("mode", models.CharField(choices=[("graduated", "Graduated"), ("volume", "Volume")], max_length=12)),
                ("from_quantity", models.DecimalField(decimal_places=6, max_digits=24)),
                ("unit_amount", models.DecimalField(decimal_places=12, max_digits=20)),
                (
                    "plan_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="tiers", to="billing.planversion"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("plan_version", "meter", "variant", "from_quantity"), name="plantier_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("from_quantity__gte", 0), ("unit_amount__gte", 0)),
                        name="plantier_not_negative",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PlanLimit",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "name",
                    models.CharField(
                        choices=[
                            ("media_minutes", "Media Minutes"),
                            ("questions", "Questions"),
                            ("stored_bytes", "Stored Bytes"),
                            ("videos", "Videos"),
                            ("open_jobs", "Open Jobs"),
                            ("charge", "Charge"),
                            ("tokens", "Tokens"),
                            ("free_work", "Free Work"),
                            ("retries", "Retries"),
                        ],
                        max_length=16,
                    ),
                ),
                ("amount", models.DecimalField(decimal_places=6, max_digits=24)),
                (
                    "plan_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="limits", to="billing.planversion"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("plan_version", "name"), name="planlimit_once"),
                    models.CheckConstraint(condition=models.Q(("amount__gte", 0)), name="planlimit_not_negative"),
                ],
            },
        ),
        migrations.CreateModel(
            name="PlanAllowance",
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
                ("variant", models.CharField(blank=True, default="", max_length=100)),
                ("quantity", models.DecimalField(decimal_places=6, max_digits=24)),
                (
                    "plan_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="allowances", to="billing.planversion"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("plan_version", "meter", "variant"), name="planallowance_once"),
                    models.CheckConstraint(condition=models.Q(("quantity__gte", 0)), name="planallowance_not_negative"),
                ],
            },
        ),
        *(plain_table(table, dispatch="SELECT") for table in TERMS),
        tenant_table("billing_subscription", dispatch=ERASE),
        tenant_table("billing_billingaccount"),
        no_overlap("billing_planversion", "plan_id::text"),
        no_overlap("billing_subscription", "tenant_id::text"),
        migrations.RunSQL(CONSOLE, migrations.RunSQL.noop),
        migrations.RunPython(add_plans, migrations.RunPython.noop),
    ]
