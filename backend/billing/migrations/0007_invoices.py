"""Invoices, credit notes, credit and coupons, and what keeps a numbered document as it is."""

import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

from backend.tenancy.ddl import ERASE, plain_table, tenant_reference, tenant_table

# A document with a number is evidence. What may change is whether it is paid or void, and the credit notes against it.
# The owner of the tables copies a tenant to another cell, and the dispatch role erases one.
KEEP_FINAL = (
    """
    CREATE FUNCTION billing_keep_final_invoice() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
    DECLARE open_columns text[] := ARRAY['state', 'paid_at', 'voided_at', 'corrected', 'reminders'];
    BEGIN
        IF current_user <> 'app_rw' OR OLD.state = 'draft' THEN
            RETURN coalesce(NEW, OLD);
        END IF;
        IF TG_OP = 'DELETE' OR to_jsonb(NEW) - open_columns IS DISTINCT FROM to_jsonb(OLD) - open_columns
            OR NEW.state = 'draft' OR (OLD.state IN ('paid', 'void') AND NEW.state <> OLD.state) THEN
            RAISE EXCEPTION 'invoice % is final', OLD.number USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END $$
    """,
    "CREATE TRIGGER billing_invoice_final BEFORE UPDATE OR DELETE ON billing_invoice "
    "FOR EACH ROW EXECUTE FUNCTION billing_keep_final_invoice()",
    """
    CREATE FUNCTION billing_keep_final_lines() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
    DECLARE line billing_invoiceline := coalesce(NEW, OLD);
    BEGIN
        IF current_user = 'app_rw' AND EXISTS (SELECT FROM billing_invoice invoice
            WHERE invoice.tenant_id = line.tenant_id AND invoice.id = line.invoice_id AND invoice.state <> 'draft') THEN
            RAISE EXCEPTION 'the invoice of the line is final' USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN line;
    END $$
    """,
    "CREATE TRIGGER billing_invoiceline_final BEFORE INSERT OR UPDATE OR DELETE ON billing_invoiceline "
    "FOR EACH ROW EXECUTE FUNCTION billing_keep_final_lines()",
)
CONSOLE = (
    "GRANT SELECT, INSERT, UPDATE ON billing_legalentity TO app_console",
    "GRANT SELECT, INSERT ON billing_coupon TO app_console",
)


def add_first_entity(apps, schema_editor):
    apps.get_model("billing", "LegalEntity").objects.using(schema_editor.connection.alias).get_or_create(
        code="default", defaults={"legal_name": "AVA Cloud", "is_default": True}
    )


class Migration(migrations.Migration):
    dependencies = [("billing", "0006_reservations"), ("tenancy", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Coupon",
            fields=[
                ("code", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("percent", models.DecimalField(decimal_places=4, max_digits=7, null=True)),
                ("amount", models.DecimalField(decimal_places=4, max_digits=20, null=True)),
                ("currency", models.CharField(blank=True, default="", max_length=3)),
                ("months", models.PositiveSmallIntegerField(default=1)),
                ("redeem_until", models.DateTimeField(null=True)),
                ("author", models.CharField(max_length=200)),
                ("note", models.CharField(blank=True, default="", max_length=200)),
                ("entered_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("amount", None), ("currency", ""), ("percent__gt", 0), ("percent__lte", 100)),
                            models.Q(("amount__gt", 0), ("percent", None), models.Q(("currency", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="coupon_percent_or_amount",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LegalEntity",
            fields=[
                ("code", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("legal_name", models.CharField(max_length=200)),
                ("address", models.TextField(blank=True, default="")),
                ("country", models.CharField(blank=True, default="", max_length=2)),
                ("tax_id", models.CharField(blank=True, default="", max_length=64)),
                ("payment_details", models.TextField(blank=True, default="")),
                ("invoice_prefix", models.CharField(default="INV-", max_length=16)),
                ("credit_note_prefix", models.CharField(default="CN-", max_length=16)),
                ("is_default", models.BooleanField(default=False)),
            ],
            options={
                "verbose_name_plural": "legal entities",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_default", True)),
                        fields=("is_default",),
                        name="legal_entity_one_default",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="BillingPeriod",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("start_at", models.DateTimeField()),
                ("end_at", models.DateTimeField()),
                ("time_zone", models.CharField(max_length=64)),
                ("drafted_at", models.DateTimeField(auto_now_add=True)),
                ("closed_at", models.DateTimeField(null=True)),
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
                    models.UniqueConstraint(fields=("tenant", "start_at"), name="billing_period_once"),
                    models.CheckConstraint(
                        condition=models.Q(("end_at__gt", models.F("start_at"))), name="billing_period_has_a_span"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="CouponRedemption",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("coupon_code", models.CharField(max_length=32)),
                ("author", models.CharField(max_length=200)),
                ("start_at", models.DateTimeField()),
                ("end_at", models.DateTimeField()),
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
                    models.UniqueConstraint(fields=("tenant", "coupon_code"), name="coupon_once_per_tenant")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="CreditGrant",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("amount", models.DecimalField(decimal_places=4, max_digits=20)),
                ("currency", models.CharField(max_length=3)),
                ("reason", models.CharField(max_length=500)),
                ("author", models.CharField(max_length=200)),
                ("granted_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("source", models.CharField(blank=True, default="", max_length=64)),
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
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="credit_grant_positive"),
                    models.UniqueConstraint(
                        condition=models.Q(("source", ""), _negated=True),
                        fields=("tenant", "source"),
                        name="credit_grant_source_once",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="CreditUse",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("grant_id", models.UUIDField()),
                ("invoice_id", models.UUIDField()),
                ("amount", models.DecimalField(decimal_places=4, max_digits=20)),
                ("used_at", models.DateTimeField(auto_now_add=True)),
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
                "indexes": [models.Index(fields=["tenant", "grant_id"], name="credit_use_grant")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="ExportState",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("sink", models.CharField(max_length=16)),
                ("subject", models.CharField(max_length=64)),
                ("exported_until", models.DateTimeField(null=True)),
                ("external_id", models.CharField(blank=True, default="", max_length=200)),
                ("skipped", models.BigIntegerField(default=0)),
                ("skipped_at", models.DateTimeField(null=True)),
                ("compared_at", models.DateTimeField(null=True)),
                ("agreed_until", models.DateTimeField(null=True)),
                ("differences", models.JSONField(default=list)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("last_error", models.CharField(blank=True, default="", max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
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
                    models.UniqueConstraint(fields=("tenant", "sink", "subject"), name="export_state_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="InvoiceLine",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("invoice_id", models.UUIDField()),
                ("ordinal", models.PositiveIntegerField()),
                ("kind", models.CharField(max_length=16)),
                ("meter", models.CharField(blank=True, default="", max_length=32)),
                ("variant", models.CharField(blank=True, default="", max_length=128)),
                ("price_id", models.UUIDField(null=True)),
                ("price_version", models.PositiveIntegerField(null=True)),
                ("unit_amount", models.DecimalField(decimal_places=12, max_digits=20, null=True)),
                ("quantity", models.DecimalField(decimal_places=6, default=0, max_digits=24)),
                ("exact_amount", models.DecimalField(decimal_places=10, default=0, max_digits=24)),
                ("amount", models.DecimalField(decimal_places=4, max_digits=20)),
                ("late", models.BooleanField(default=False)),
                ("usage_start", models.DateTimeField(null=True)),
                ("description", models.CharField(blank=True, default="", max_length=300)),
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
                    models.UniqueConstraint(fields=("tenant", "invoice_id", "ordinal"), name="invoice_line_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="InvoiceSeries",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(choices=[("invoice", "Invoice"), ("credit_note", "Credit Note")], max_length=16),
                ),
                ("last", models.BigIntegerField(default=0)),
                (
                    "entity",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="billing.legalentity"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("entity", "kind"), name="invoice_series_once")],
            },
        ),
        migrations.CreateModel(
            name="InvoiceNumber",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(choices=[("invoice", "Invoice"), ("credit_note", "Credit Note")], max_length=16),
                ),
                ("sequence", models.BigIntegerField()),
                ("invoice_id", models.UUIDField()),
                ("given_at", models.DateTimeField(auto_now_add=True)),
                (
                    "entity",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="billing.legalentity",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("entity", "kind", "sequence"), name="invoice_number_given_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Invoice",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("invoice", "Invoice"), ("credit_note", "Credit Note")],
                        default="invoice",
                        max_length=16,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("draft", "Draft"), ("final", "Final"), ("paid", "Paid"), ("void", "Void")],
                        default="draft",
                        max_length=8,
                    ),
                ),
                ("sequence", models.BigIntegerField(null=True)),
                ("number", models.CharField(blank=True, default="", max_length=48)),
                ("period_start", models.DateTimeField()),
                ("period_end", models.DateTimeField()),
                ("time_zone", models.CharField(max_length=64)),
                ("locale", models.CharField(default="en", max_length=16)),
                ("currency", models.CharField(max_length=3)),
                ("seller", models.JSONField(default=dict)),
                ("buyer", models.JSONField(default=dict)),
                ("tax_rate", models.DecimalField(decimal_places=5, default=0, max_digits=6)),
                ("tax_note", models.CharField(blank=True, default="", max_length=200)),
                ("subtotal", models.DecimalField(decimal_places=4, default=0, max_digits=20)),
                ("discount", models.DecimalField(decimal_places=4, default=0, max_digits=20)),
                ("tax", models.DecimalField(decimal_places=4, default=0, max_digits=20)),
                ("total", models.DecimalField(decimal_places=4, default=0, max_digits=20)),
                ("credited", models.DecimalField(decimal_places=4, default=0, max_digits=20)),
                ("corrected", models.DecimalField(decimal_places=4, default=0, max_digits=20)),
                ("reminders", models.PositiveSmallIntegerField(default=0)),
                ("corrects_id", models.UUIDField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=500)),
                ("author", models.CharField(blank=True, default="", max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("issued_at", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
                ("paid_at", models.DateTimeField(null=True)),
                ("voided_at", models.DateTimeField(null=True)),
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
                    "entity",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="billing.legalentity",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "indexes": [
                    models.Index(fields=["tenant", "period_start"], name="invoice_tenant_period"),
                    models.Index(condition=models.Q(("state", "final")), fields=["due_at"], name="invoice_unpaid"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "invoice"), models.Q(("state", "void"), _negated=True)),
                        fields=("tenant", "period_start", "currency"),
                        name="invoice_once_a_period",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("sequence", None), ("state", "draft")),
                            models.Q(("sequence__gt", 0), models.Q(("state", "draft"), _negated=True)),
                            _connector="OR",
                        ),
                        name="invoice_number_if_final",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        plain_table("billing_legalentity"),
        plain_table("billing_coupon"),
        plain_table("billing_invoiceseries", rw="SELECT, INSERT, UPDATE"),
        plain_table("billing_invoicenumber", rw="SELECT, INSERT", dispatch="SELECT"),
        tenant_table("billing_billingperiod"),
        tenant_table("billing_invoice"),
        tenant_table("billing_invoiceline"),
        tenant_table("billing_creditgrant", append_only=True, dispatch=ERASE),
        tenant_table("billing_credituse", append_only=True, dispatch=ERASE),
        tenant_table("billing_couponredemption"),
        tenant_table("billing_exportstate"),
        tenant_reference("billing_invoiceline", "invoice_id", "billing_invoice"),
        tenant_reference("billing_credituse", "grant_id", "billing_creditgrant", on_delete="NO ACTION"),
        migrations.RunSQL(KEEP_FINAL, migrations.RunSQL.noop),
        migrations.RunSQL(CONSOLE, migrations.RunSQL.noop),
        migrations.RunPython(add_first_entity, migrations.RunPython.noop),
    ]
