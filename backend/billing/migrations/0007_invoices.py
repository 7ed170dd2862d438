"""Invoices, credit notes, credit and coupons, and what keeps a numbered document as it is."""

from django.db import migrations

from backend.tenancy.ddl import ERASE, plain_table, tenant_reference, tenant_table

# MODELS

# A document with a number is evidence. What may change is whether it is paid or void, and the credit notes against it.
# The owner of the tables copies a tenant to another cell, and the dispatch role erases one.
KEEP_FINAL = (
    """
    CREATE FUNCTION billing_keep_final_invoice() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
    DECLARE open_columns text[] := ARRAY['state', 'paid_at', 'voided_at', 'corrected'];
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
    dependencies = [("billing", "0004_plans"), ("tenancy", "0001_initial")]

    operations = [
        # OPERATIONS
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
