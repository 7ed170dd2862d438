"""The members of a tenant move with it: accounts belong to no tenant, and yet nobody is left behind or doubled."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any
from uuid import UUID

import psycopg
import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.core.management import call_command
from django.core.management.base import CommandError

from backend.cells.cells_file import BadCellsFile, Cell, read_cells
from backend.cells.people_rows import LEFT, PARTS, PERSON
from backend.cells.tenant_rows import tables, transaction_of
from backend.people.models import Person
from backend.tenancy.directory import Directory
from tests.cells.test_move import killed_at, place
from tests.cells.world import Cells
from tests.conftest import Cast
from tests.people.cast import PASSWORD, Browser, make_staff, member_of, person

SHARED_BY_NAME = {
    "tenancy_tenant": "moves itself",
    "billing_pricebook": "must be equal in both cells",
    "billing_planversion": "must be equal in both cells",
    "billing_legalentity": "must have the same codes in both cells",
}
"""Tables without the policy of tenants that rows of tenants refer to, with the reason why the reference holds."""


def with_everything(cast: Cast) -> Person:
    """A member with a second address, a second factor and an identity at a provider."""
    who = person()
    EmailAddress.objects.create(user=who, email=f"second-{who.email}", verified=False, primary=False)
    Authenticator.objects.create(user=who, type="totp", data={"secret": "JBSWY3DPEHPK3PXP"})
    SocialAccount.objects.create(user=who, provider="openid_connect", uid=f"uid-{who.id}", extra_data={"sub": "7"})
    member_of(cast, "owner", who)
    return who


def account(cell: Cell, who: UUID) -> dict[str, list[dict[str, Any]]]:
    """The rows of a person in a cell, without the ids that belong to the cell."""
    found = {}
    with psycopg.connect(cell.environment["DATABASE_PEOPLE_URL"], row_factory=psycopg.rows.dict_row) as rows:
        for table, column in ((PERSON, "id"), *((part, "user_id") for part in PARTS)):
            query = f"SELECT * FROM {table} WHERE {column} = %s ORDER BY id"
            own = ("id",) if table != PERSON else ()
            of_table = [{k: v for k, v in row.items() if k not in own} for row in rows.execute(query, [who])]
            if of_table:
                found[table] = of_table
    return found


def move(cast: Cast, cell: str = "b", **options: Any) -> None:
    call_command("move_tenant", cast.slug, cell, drain=0, forget=0, stdout=StringIO(), **options)


def test_members_arrive_with_their_accounts_and_sign_in_there(cells: Cells, acme: Cast) -> None:
    place(cells, acme)
    who = with_everything(acme)
    before = account(cells.a, who.id)
    assert {table: len(rows) for table, rows in before.items()} == {
        "people_person": 1, "account_emailaddress": 2, "mfa_authenticator": 1, "socialaccount_socialaccount": 1,
    }  # fmt: skip

    move(acme)

    assert account(cells.b, who.id) == before
    assert account(cells.a, who.id) == {}
    with cells.inside_b():
        arrived = Person.objects.get(id=who.id)
        assert arrived.check_password(PASSWORD)
        assert Browser(arrived, acme.slug).api("get", "/v1/videos").status_code == 200


def test_a_member_of_two_tenants_stays_for_the_one_that_stays_and_comes_back(
    cells: Cells, acme: Cast, globex: Cast
) -> None:
    place(cells, acme)
    who = with_everything(acme)
    member_of(globex, "viewer", who)
    before = account(cells.a, who.id)

    move(acme)
    assert account(cells.a, who.id) == account(cells.b, who.id) == before

    move(acme, "a")
    assert (account(cells.a, who.id), account(cells.b, who.id)) == (before, {})


@pytest.mark.parametrize("is_staff", [False, True])
def test_an_address_that_another_person_has_there_stops_the_move_before_it_begins(
    cells: Cells, acme: Cast, *, is_staff: bool
) -> None:
    place(cells, acme)
    who = with_everything(acme)
    with cells.inside_b():
        other = Person.objects.create_user(who.email, PASSWORD)
        if is_staff:
            make_staff(other)

    with pytest.raises(CommandError, match=f"the person {who.id} has an address or identity that belongs to another"):
        move(acme)

    assert account(cells.b, who.id) == {}
    assert acme.client.get("/v1/videos").status_code == 200
    with Directory(cells.mover_url) as directory:
        assert directory.move_of(acme.tenant_id) is None
        assert not directory.place_of(acme.slug).moving


def test_an_aborted_move_leaves_no_account_behind(cells: Cells, acme: Cast) -> None:
    place(cells, acme)
    who = with_everything(acme)
    before = account(cells.a, who.id)
    killed_at("rows copied", cells, acme)
    assert account(cells.b, who.id) == before

    move(acme, abort=True)

    assert (account(cells.a, who.id), account(cells.b, who.id)) == (before, {})


def test_every_table_of_tenants_and_every_reference_out_of_them_is_moved_or_named(cells: Cells, acme: Cast) -> None:
    with transaction_of(cells.a.environment["DATABASE_OWNER_URL"], acme.tenant_id) as rows:
        moved = {table.name for table in tables(rows)}
        with_tenant = {
            name
            for (name,) in rows.execute(
                "SELECT relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
                "WHERE a.attname = 'tenant_id' AND relnamespace = 'public'::regnamespace "
                "AND relkind IN ('r', 'p') AND NOT relispartition"
            )
        }
        references = rows.execute(
            "SELECT k.conrelid::regclass::text, k.confrelid::regclass::text FROM pg_constraint k "
            "WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace AND k.conparentid = 0"
        ).fetchall()
    assert with_tenant - moved <= set(NOT_OF_A_TENANT), with_tenant - moved
    outward = {target for source, target in references if source in moved and target not in moved}
    assert outward <= {PERSON, *SHARED_BY_NAME}, outward
    of_people = {source for source, target in references if target == PERSON and source not in moved}
    assert of_people <= {*PARTS, *LEFT}, of_people
    assert not set(PARTS) & set(LEFT)


NOT_OF_A_TENANT = {
    "people_departure": "whom the API of the cell looks at next; a move erases accounts itself",
    "staff_contentaccess": "what staff opened, kept by the cell where it was opened",
    "billing_pricebook": "a tenant's own prices, which both cells have before the move",
}
"""Tables with the column tenant_id that do not move, with the reason."""


def test_a_cell_without_the_roles_of_people_is_refused(cells: Cells) -> None:
    known = read_cells(str(cells.file))
    for variable in ("DATABASE_PEOPLE_URL", "DATABASE_DISPATCH_URL"):
        environment = {name: value for name, value in known["a"].environment.items() if name != variable}
        cells.file.with_name("less.json").write_text(json.dumps({"a": environment}))
        with pytest.raises(BadCellsFile, match=f"lacks {variable}"):
            read_cells(str(cells.file.with_name("less.json")))
