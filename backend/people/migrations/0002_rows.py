"""Memberships, invitations and sign-in settings belong to tenants; people and their sessions belong to none."""

from django.db import migrations

from backend.tenancy.ddl import noted_endings, tenant_table


class Migration(migrations.Migration):
    dependencies = [("people", "0001_initial"), ("tenancy", "0001_initial")]
    operations = [
        tenant_table("people_membership", dispatch="SELECT"),
        tenant_table("people_invitation", dispatch="SELECT"),
        tenant_table("people_signinsettings", dispatch="SELECT"),
        noted_endings("people_membership", "member"),
        noted_endings("people_invitation", "invitation", set_column="revoked_at"),
    ]
