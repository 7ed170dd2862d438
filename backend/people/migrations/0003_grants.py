"""The tables with which people sign in: accounts, factors, identities and sessions."""

from django.db import migrations

from backend.tenancy.ddl import departures, notified_members, people_table, staff_apart

PERSON_TABLES = (
    "people_person",
    "people_person_groups",
    "people_person_user_permissions",
    "account_emailaddress",
    "account_emailconfirmation",
    "mfa_authenticator",
    "socialaccount_socialaccount",
    "socialaccount_socialapp",
    "socialaccount_socialtoken",
    "usersessions_usersession",
)


class Migration(migrations.Migration):
    dependencies = [
        ("people", "0002_rows"),
        ("account", "0009_emailaddress_unique_primary_email"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
        ("usersessions", "0001_initial"),
    ]
    operations = [
        *[people_table(table) for table in PERSON_TABLES],
        staff_apart("people_person"),
        notified_members("people_person", "people_membership", ("owner", "admin", "billing")),
        people_table("people_departure", staff=False),
        departures("people_departure", "people_membership", "people_signinsettings"),
    ]
