"""The people of one tenant in an archive: accounts have no tenant, so they travel next to the tenant's rows.

A person keeps the id, the password, the second factors and the identities at providers. Sessions stay: whoever is
signed in signs in again. A person who is a member of tenants in two installations has an account in each, and from then
on each account goes its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import psycopg
from psycopg import sql

from backend.archives.tenant_rows import Table, load_arriving

PERSON = "people_person"
PARTS = ("account_emailaddress", "mfa_authenticator", "socialaccount_socialaccount")
"""Tables with the parts of an account, by the column user_id. Their own ids belong to one installation."""
LEFT = {
    "people_person_groups": "staff alone has groups",
    "people_person_user_permissions": "staff alone has rights in the console",
    "account_emailconfirmation": "a link that was mailed to confirm an address; a new link can be asked for",
    "socialaccount_socialapp": "providers are the tenants' own settings",
    "socialaccount_socialtoken": "tokens of providers are not kept",
    "usersessions_usersession": "sessions end",
    "django_session": "sessions end",
    "staff_member": "staff belongs to one installation",
    "staff_passkey": "staff belongs to one installation",
    "staff_recoverycode": "staff belongs to one installation",
    "staff_secondfactor": "staff belongs to one installation",
    "staff_session": "staff belongs to one installation",
    "staff_contentaccess": "staff belongs to one installation",
    "django_admin_log": "acts of staff in one installation",
}
"""Tables that refer to people or sessions and stay, with the reason."""

_MEMBERS = "SELECT id FROM people_person WHERE NOT is_staff AND id IN (SELECT person_id FROM people_membership)"
_COLUMNS = (
    "SELECT array_agg(attname::text ORDER BY attname) FROM pg_attribute "
    "WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND NOT attname = %s"
)


class PersonTaken(ValueError):
    """A person cannot live in this installation; the message names no address."""


def people_tables(connection: psycopg.Connection[Any]) -> list[Table]:
    """Return the tables with accounts, the people first; the ids of their parts are left out."""
    found = []
    for name in (PERSON, *PARTS):
        row = connection.execute(_COLUMNS, [name, "" if name == PERSON else "id"]).fetchone()
        assert row is not None
        found.append(Table(name, tuple(row[0])))
    return found


def of_members(table: Table) -> sql.Composed:
    """Return the query of the rows that belong to the members of the tenant."""
    column = "id" if table.name == PERSON else "user_id"
    return sql.SQL("{} WHERE {} IN ({})").format(table.select, sql.Identifier(column), sql.SQL(_MEMBERS))


def load_people(connection: psycopg.Connection[Any], blocks_of: Callable[[str], Iterable[bytes]]) -> None:
    """Load the accounts that this installation does not have. blocks_of: CSV by the name of a table.

    Raises PersonTaken if an address or an identity belongs to another person here, or if an account is one of staff.
    """
    person, *parts = people_tables(connection)
    load_arriving(connection, person, blocks_of(PERSON))
    staff = connection.execute("SELECT FROM pg_temp.arriving WHERE is_staff OR is_superuser").rowcount
    if staff:
        raise PersonTaken("the archive has an account of staff, which no archive may bring")
    try:
        inserted = sql.SQL(
            "INSERT INTO {table} ({columns}) SELECT * FROM pg_temp.arriving "
            "WHERE id NOT IN (SELECT id FROM {table}) RETURNING id"
        ).format(table=sql.Identifier(PERSON), columns=person.listed)
        new = [row[0] for row in connection.execute(inserted)]
        for part in parts:
            load_arriving(connection, part, blocks_of(part.name))
            insert = sql.SQL("INSERT INTO {} ({}) SELECT * FROM pg_temp.arriving WHERE user_id = ANY(%s)")
            connection.execute(insert.format(sql.Identifier(part.name), part.listed), [new])
    except psycopg.errors.UniqueViolation as error:
        raise PersonTaken(
            "a member has an address or identity that belongs to another person in this installation "
            f"({error.diag.constraint_name})"
        ) from None
