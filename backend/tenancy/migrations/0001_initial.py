import django.db.models.deletion
import django.db.models.manager
import uuid6
from django.db import migrations, models

import backend.tenancy.models
from backend.tenancy.ddl import NOTE_ENDING, noted_endings, tenant_reference, tenant_table

# The fence is read before the lock, so that nobody waits behind a move, and after it, because the move writes the fence
# before it asks for the lock. A transaction that holds the lock began before the fence, and the move waits for its end.
ENTER_TENANT = """
CREATE FUNCTION tenancy_enter(tenant uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant_id', tenant::text, true);
    IF EXISTS (SELECT FROM public.tenancy_tenant WHERE id = tenant AND fence = 'closed') THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('tenant ' || tenant, 0));
    RETURN NOT EXISTS (SELECT FROM public.tenancy_tenant WHERE id = tenant AND fence = 'closed');
END $$
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Tenant",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=200)),
                ("slug", models.SlugField(max_length=63, unique=True)),
                ("plan", models.CharField(default="standard", max_length=32)),
                (
                    "fence",
                    models.CharField(
                        blank=True,
                        choices=[("", "None"), ("draining", "Draining"), ("closed", "Closed")],
                        default="",
                        max_length=16,
                    ),
                ),
                ("notice_email", models.EmailField(blank=True, default="", max_length=254)),
                ("notice_confirmed", models.BooleanField(default=True)),
                ("notice_proof", models.UUIDField(null=True)),
                ("notice_roles", models.JSONField(blank=True, default=backend.tenancy.models.notice_roles)),
                ("allowed_origins", models.JSONField(blank=True, default=list)),
                ("embed_origins", models.JSONField(blank=True, default=list)),
                ("requests_per_minute", models.PositiveIntegerField(blank=True, null=True)),
                ("jobs_at_once", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("sandbox_of", models.UUIDField(blank=True, editable=False, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("suspended_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("suspended_at__isnull", False)), fields=["id"], name="tenant_suspended"
                    ),
                    models.Index(condition=models.Q(("fence", ""), _negated=True), fields=["id"], name="tenant_fenced"),
                    models.Index(
                        condition=models.Q(("jobs_at_once__isnull", False)), fields=["id"], name="tenant_slowed"
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(default="", max_length=100)),
                ("test", models.BooleanField(default=False)),
                ("public_id", models.CharField(max_length=16, unique=True)),
                ("digest", models.BinaryField(max_length=32)),
                ("pepper_id", models.PositiveSmallIntegerField()),
                ("scopes", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                ("last_used_at", models.DateTimeField(null=True)),
                ("last_used_ip", models.GenericIPAddressField(null=True)),
                ("parent_id", models.UUIDField(null=True)),
                ("created_by_person_id", models.UUIDField(null=True)),
                ("allowed_ips", models.JSONField(default=list)),
                ("requests_per_minute", models.PositiveIntegerField(null=True)),
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
            name="Ending",
            fields=[
                ("id", models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=32)),
                ("subject_id", models.UUIDField()),
                ("ended_at", models.DateTimeField(db_index=True)),
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
        tenant_table("tenancy_tenant", tenant_column="id", dispatch="SELECT"),
        migrations.RunSQL(ENTER_TENANT, migrations.RunSQL.noop),
        tenant_table("tenancy_apikey", dispatch="SELECT, UPDATE (last_used_at, last_used_ip)"),
        tenant_reference("tenancy_apikey", "parent_id", "tenancy_apikey", on_delete="SET NULL"),
        tenant_table("tenancy_ending", dispatch="SELECT"),
        migrations.RunSQL(NOTE_ENDING, migrations.RunSQL.noop),
        noted_endings("tenancy_apikey", "api_key", set_column="revoked_at"),
        noted_endings("tenancy_tenant", "suspension", set_column="suspended_at"),
        noted_endings("tenancy_tenant", "resumption", cleared_column="suspended_at"),
    ]
