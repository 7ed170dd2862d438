"""The people of one tenant in another cell: accounts have no tenant, so they are copied next to the tenant's rows.

A person keeps the id, the password, the second factors and the identities at providers. Sessions stay: whoever is
signed in signs in again. A person who is a member of tenants in two cells has an account in each, and from then on each
account goes its own way. Connections are those of the role that signs customers in, which sees no staff.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from backend.api.public_ids import encode
from backend.cells.cells_file import Cell
from backend.cells.tenant_rows import transaction_of

PERSON = "people_person"
PARTS = ("account_emailaddress", "mfa_authenticator", "socialaccount_socialaccount")
"""Tables with the parts of an account, by the column user_id. Their own ids belong to one cell."""
LEFT = {
    "people_person_groups": "staff alone has groups",
    "people_person_user_permissions": "staff alone has rights in the console",
    "account_emailconfirmation": "a link that was mailed to confirm an address; a new one can be asked for",
    "socialaccount_socialapp": "providers are the tenants' own settings",
    "socialaccount_socialtoken": "tokens of providers are not kept",
    "usersessions_usersession": "sessions end with the move",
    "django_session": "sessions end with the move",
    "staff_member": "staff belongs to one cell",
    "staff_passkey": "staff belongs to one cell",
    "staff_secondfactor": "staff belongs to one cell",
    "staff_session": "staff belongs to one cell",
    "staff_contentaccess": "staff belongs to one cell",
    "django_admin_log": "acts of staff in one cell",
}
"""Tables that refer to people or sessions and do not move, with the reason."""

_MEMBERS = "SELECT person_id FROM people_membership"


class PersonTaken(ValueError):
    """A person cannot live in the other cell; the message names the person by id and no address."""


def members(cell: Cell, tenant_id: UUID) -> frozenset[UUID]:
    """Return the ids of the people who are members of the tenant in a cell."""
    with transaction_of(cell.environment["DATABASE_URL"], tenant_id) as rows:
        return frozenset(person for (person,) in rows.execute(_MEMBERS))


def check_people(source: Cell, target: Cell, people: Collection[UUID]) -> None:
    """Raise PersonTaken if a person cannot be copied. Nothing is written."""
    if people:
        with _accounts(source) as here, _accounts(target) as there:
            _copy(here, there, people, target.name)
            there.rollback()


def copy_people(source: Cell, target: Cell, people: Collection[UUID]) -> None:
    """Copy the accounts that the target does not have. Raises PersonTaken; then nothing is written."""
    if people:
        with _accounts(source) as here, _accounts(target) as there:
            _copy(here, there, people, target.name)


def erase_people(cell: Cell, people: Collection[UUID], *, tenant_id: UUID) -> None:
    """Delete those of the people who are members of no tenant of the cell, with their accounts' parts and sessions.

    tenant_id: the tenant whose rows the cell has lost; the identities of its provider go with it.
    """
    with _accounts(cell) as rows:
        rows.execute("DELETE FROM socialaccount_socialaccount WHERE provider = %s", [encode("tnt", tenant_id)])
    if not people:
        return
    with psycopg.connect(cell.environment["DATABASE_DISPATCH_URL"], connect_timeout=10, prepare_threshold=None) as rows:
        kept = {person for (person,) in rows.execute(f"{_MEMBERS} WHERE person_id = ANY(%s)", [list(people)])}
    gone = [person for person in people if person not in kept]
    with _accounts(cell) as rows:
        for table in ("usersessions_usersession", *PARTS):
            rows.execute(_of_people("DELETE FROM {} WHERE user_id = ANY(%s)", table), [gone])
        rows.execute(_of_people("DELETE FROM {} WHERE id = ANY(%s)", PERSON), [gone])


def _accounts(cell: Cell) -> psycopg.Connection[Any]:
    return psycopg.connect(cell.environment["DATABASE_PEOPLE_URL"], connect_timeout=10, prepare_threshold=None)


def _copy(
    source: psycopg.Connection[Any], target: psycopg.Connection[Any], people: Iterable[UUID], cell_name: str
) -> None:
    for person in sorted(people):
        if target.execute(_of_people("SELECT FROM {} WHERE id = %s", PERSON), [person]).rowcount:
            continue
        try:
            _copy_rows(PERSON, "id", person, source, target)
            for table in PARTS:
                _copy_rows(table, "user_id", person, source, target)
        except psycopg.errors.UniqueViolation as error:
            target.rollback()
            raise PersonTaken(
                f"the person {person} has an address or identity that belongs to another person in {cell_name} "
                f"({error.diag.constraint_name})"
            ) from None


def _copy_rows(
    table: str, column: str, person: UUID, source: psycopg.Connection[Any], target: psycopg.Connection[Any]
) -> None:
    found = source.execute(
        sql.SQL("SELECT * FROM {} WHERE {} = %s ORDER BY id").format(sql.Identifier(table), sql.Identifier(column)),
        [person],
    )
    assert found.description is not None
    names = [field.name for field in found.description]
    kept = [n for n, name in enumerate(names) if name != "id" or table == PERSON]
    insert = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        sql.Identifier(table),
        sql.SQL(", ").join(sql.Identifier(names[n]) for n in kept),
        sql.SQL(", ").join(sql.Placeholder() * len(kept)),
    )
    for row in found.fetchall():
        target.execute(insert, [_bound(row[n]) for n in kept])


def _bound(value: Any) -> Any:
    return Jsonb(value) if isinstance(value, (dict, list)) else value


def _of_people(statement: str, table: str) -> sql.Composed:
    return sql.SQL(statement).format(sql.Identifier(table))
