"""For each table, under the role that serves requests: a tenant's SQL reaches its own rows and no others."""

from __future__ import annotations

import os
from typing import Any
from uuid import UUID

import psycopg
import psycopg.errors
import pytest
from django.apps import apps
from django.db import ProgrammingError, connection, connections, transaction
from django.utils import timezone

from backend.billing.models import PlanVersion
from backend.people.models import Person
from backend.tenancy.models import Tenant, TenantRow
from tests.conftest import Cast
from tests.ekg.recorded import new_id, record
from tests.library.uploading import make_video

TABLES = sorted(model._meta.db_table for model in apps.get_models() if issubclass(model, TenantRow))
APPEND_ONLY = {
    "audit_auditevent",
    "billing_billingsource",
    "billing_subscription",
    "billing_usageevent",
    "billing_modelcall",
    "billing_creditgrant",
    "billing_credituse",
    "jobs_jobhistory",
}
# Only the role that moves ended jobs writes these.
READ_ONLY = {"jobs_jobhistory"}


# Values of columns that a check constraint restricts.
VALUES: dict[str, dict[str, Any]] = {
    "billing_billingperiod": {"end_at": "2026-02-01T00:00:00Z"},
    "billing_invoice": {"state": "draft", "entity_id": "default"},
    "billing_billingaccount": {"tax_rate": "0.19"},
    "billing_subscription": {"effective_to": "2026-02-01T00:00:00Z"},
}


def _row(table: str, tenant_id: UUID, *, alias: str = "default") -> UUID:
    """Insert a row of this tenant with values chosen only by the types of the columns; as the tenant by default."""
    with connections[alias].cursor() as cursor:
        cursor.execute(
            "SELECT column_name, udt_name, character_maximum_length FROM information_schema.columns "
            "WHERE table_schema = 'public' AND table_name = %s AND is_nullable = 'NO' AND column_default IS NULL",
            [table],
        )
        values: dict[str, Any] = {name: _value(name, kind, size, table) for name, kind, size in cursor.fetchall()}
        values |= {"id": str(new_id()), "tenant_id": str(tenant_id)}
        values |= VALUES.get(table, {})
        if table == "ekg_chunk":
            values["description"] = "x"
        # Rows without parents are enough for policies; otherwise the parents' keys would be checked at once.
        columns = ", ".join(f'"{name}"' for name in values)
        cursor.execute(
            f"INSERT INTO {table} ({columns}) VALUES ({', '.join(['%s'] * len(values))})",
            list(values.values()),
        )
    return UUID(values["id"])


def _value(name: str, kind: str, size: int | None, table: str) -> Any:
    if kind == "uuid" and (table, name) in PEOPLE:
        return str(Person.objects.create_user(f"{new_id().hex}@example.org").id)
    if kind == "uuid" and (table, name) in PLANS:
        return str(PlanVersion.objects.values_list("id", flat=True)[0])
    if kind == "uuid":
        return str(_PARENTS.get((table, name)) or new_id())
    if kind in {"int2", "int4", "int8", "numeric", "float8"}:
        return 1
    samples = {
        "bool": False, "jsonb": "{}", "timestamptz": "2026-01-01T00:00:00Z", "date": "2026-01-01", "bytea": b"x",
        "halfvec": "[1,0]", "_int4": "{1}", "_int2": "{1}", "_varchar": "{x}", "_text": "{x}",
    }  # fmt: skip
    return samples.get(kind, new_id().hex[-min(size or 12, 12) :])


# Columns that name people, who belong to no tenant.
PEOPLE = {("people_membership", "person_id")}
# Columns that name plans, which belong to no tenant.
PLANS = {("billing_subscription", "plan_version_id")}
_PARENTS: dict[tuple[str, str], UUID] = {}
# Parent table of each NOT NULL reference, so that the parent is made first.
REFERENCES: dict[str, dict[str, str]] = {}


def _references() -> dict[str, dict[str, str]]:
    if not REFERENCES:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT c.conrelid::regclass::text, a.attname, c.confrelid::regclass::text FROM pg_constraint c "
                "JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[2] "
                "WHERE c.contype = 'f' AND cardinality(c.conkey) = 2 AND a.attnotnull"
            )
            for table, column, parent in cursor.fetchall():
                REFERENCES.setdefault(table, {})[column] = parent
    return REFERENCES


def make(table: str, tenant_id: UUID) -> UUID:
    for column, parent in _references().get(table, {}).items():
        _PARENTS[table, column] = make(parent, tenant_id)
    return _row(table, tenant_id, alias="dispatch" if table in READ_ONLY else "default")


@pytest.fixture(autouse=True)
def _no_parents() -> None:
    _PARENTS.clear()


def rows(statement: str, *parameters: object) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return int(cursor.rowcount)


def denied(error: pytest.ExceptionInfo[ProgrammingError]) -> bool:
    return isinstance(error.value.__cause__, psycopg.errors.InsufficientPrivilege)


@pytest.mark.parametrize("table", TABLES)
def test_sql_of_one_tenant_touches_no_row_of_another(acme: Cast, globex: Cast, table: str) -> None:
    with acme.scope():
        mine = make(table, acme.tenant_id)

    with globex.scope():
        assert rows(f"SELECT 1 FROM {table} WHERE id = %s", mine) == 0
        if table not in APPEND_ONLY:
            assert rows(f"UPDATE {table} SET tenant_id = tenant_id WHERE id = %s", mine) == 0
            assert rows(f"DELETE FROM {table} WHERE id = %s", mine) == 0
    with transaction.atomic():
        assert rows(f"SELECT 1 FROM {table}") == 0
    with acme.scope():
        assert rows(f"SELECT 1 FROM {table} WHERE id = %s", mine) == 1


@pytest.mark.parametrize("table", TABLES)
def test_nobody_writes_into_another_tenant(acme: Cast, globex: Cast, table: str) -> None:
    with pytest.raises(ProgrammingError) as insert, globex.scope():
        _row(table, acme.tenant_id)
    assert denied(insert)
    with globex.scope():
        mine = make(table, globex.tenant_id)
    with pytest.raises(ProgrammingError) as move, globex.scope():
        rows(f"UPDATE {table} SET tenant_id = %s WHERE id = %s", acme.tenant_id, mine)
    assert denied(move)
    with acme.scope():
        assert rows(f"SELECT 1 FROM {table} WHERE id = %s", mine) == 0


@pytest.mark.parametrize("table", sorted(READ_ONLY))
def test_a_tenant_writes_no_row_that_another_role_writes(acme: Cast, table: str) -> None:
    with pytest.raises(ProgrammingError) as refused, acme.scope():
        _row(table, acme.tenant_id)
    assert denied(refused)


@pytest.mark.parametrize("table", sorted(APPEND_ONLY))
def test_the_ledger_is_only_added_to(acme: Cast, table: str) -> None:
    with acme.scope():
        mine = make(table, acme.tenant_id)
    for statement in (f"UPDATE {table} SET id = id", f"DELETE FROM {table}", f"TRUNCATE {table}"):
        with pytest.raises(ProgrammingError) as refused, acme.scope():
            rows(statement)
        assert denied(refused)
    with acme.scope():
        assert rows(f"SELECT 1 FROM {table} WHERE id = %s", mine) == 1


@pytest.mark.parametrize("table", sorted(APPEND_ONLY))
def test_the_ledger_of_a_tenant_is_erased_only_after_it_was_suspended(acme: Cast, globex: Cast, table: str) -> None:
    for cast in (acme, globex):
        with cast.scope():
            make(table, cast.tenant_id)
    with globex.scope():
        Tenant.objects.filter(id=globex.tenant_id).update(suspended_at=timezone.now())
    erase = f"DELETE FROM {table} WHERE tenant_id = ANY(%s::uuid[])"

    with psycopg.connect(os.environ["DATABASE_DISPATCH_URL"], autocommit=True) as dispatch:
        for tenants in ([acme.tenant_id], [acme.tenant_id, globex.tenant_id]):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="not suspended"):
                dispatch.execute(erase, [tenants])
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            dispatch.execute("UPDATE public.tenancy_tenant SET suspended_at = now()")
        assert dispatch.execute(erase, [[globex.tenant_id]]).rowcount >= 1


def test_a_scope_ends_with_its_transaction(acme: Cast) -> None:
    record(acme)
    with acme.scope():
        assert rows("SELECT 1 FROM ekg_event") == 2

    with transaction.atomic():
        assert rows("SELECT 1 FROM ekg_event") == 0


def test_a_row_cannot_hang_on_another_tenants_parent(acme: Cast, globex: Cast) -> None:
    from django.db import IntegrityError

    from backend.ekg.models import TranscriptLine

    theirs = record(acme).video_id

    with pytest.raises(IntegrityError), globex.scope():
        TranscriptLine.objects.create(
            tenant_id=globex.tenant_id, video_id=theirs, index_version=1, start_ms=0, end_ms=1, text="x"
        )


def test_objects_of_tenants_lie_under_their_own_prefix(acme: Cast, globex: Cast) -> None:
    from backend.library.models import Video

    for cast in (acme, globex):
        make_video(cast.client)
        with cast.scope():
            assert Video.objects.get().object_key.startswith(f"t/{cast.tenant_id}/")
