"""The roles that sign people in: the API's for customers, the console's for staff. No other role reads people."""

from django.db import migrations
from django.db.migrations import RunSQL

from backend.tenancy.ddl import people_table, plain_table, swept_sessions

OF_THE_CONSOLE = ("auth_group_permissions", "django_admin_log")
FRAMEWORK = ("auth_permission", "django_content_type")


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
        people_table("auth_group"),
        # Staff have sessions of their own (backend.staff.models.Session).
        people_table("django_session", staff=False),
        swept_sessions("django_session"),
        *[people_table(table, customers=False) for table in OF_THE_CONSOLE],
        *[plain_table(table, rw="SELECT") for table in (*FRAMEWORK, "django_migrations")],
        *[RunSQL(f"GRANT SELECT ON {table} TO app_people, app_console", RunSQL.noop) for table in FRAMEWORK],
    ]
