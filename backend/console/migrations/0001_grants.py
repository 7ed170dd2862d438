"""The console signs people in through the web role; Django's own tables hold no tenant data."""

from django.db import migrations

from backend.tenancy.ddl import plain_table

WRITTEN_BY_THE_CONSOLE = (
    "auth_group",
    "auth_group_permissions",
    "django_session",
    "django_admin_log",
)


class Migration(migrations.Migration):
    initial = True
    dependencies = [
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("people", "0001_initial"),
        ("sessions", "0001_initial"),
    ]
    operations = [
        *[plain_table(table, rw="SELECT, INSERT, UPDATE, DELETE") for table in WRITTEN_BY_THE_CONSOLE],
        plain_table("auth_permission", rw="SELECT"),
        plain_table("django_content_type", rw="SELECT"),
        plain_table("django_migrations", rw="SELECT"),
    ]
