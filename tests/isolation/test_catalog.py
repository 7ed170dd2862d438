"""The database itself keeps tenants apart: its catalog shows this, and the checks notice if it no longer does."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg
import pytest
from django.apps import apps
from django.db import connections

from backend.tenancy import isolation, rights
from backend.tenancy.ddl import CURRENT_TENANT, guarded
from backend.tenancy.models import TenantRow
from backend.tenancy.months import MONTHLY
from tests.conftest import Cast, _with_database
from tests.ekg.recorded import record


@contextmanager
def superuser() -> Iterator[psycopg.Connection]:
    database = urlsplit(os.environ["DATABASE_URL"]).path.lstrip("/")
    url = _with_database(os.environ["DATABASE_SUPERUSER_URL"], database)
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def test_the_database_has_no_fault(database: None) -> None:
    assert isolation.faults() == []


@pytest.mark.parametrize(
    ("wound", "cure", "fault"),
    [
        ("ALTER TABLE library_video DISABLE ROW LEVEL SECURITY", "ALTER TABLE library_video ENABLE ROW LEVEL SECURITY",
         "public.library_video is not under"),
        ("ALTER TABLE library_video NO FORCE ROW LEVEL SECURITY", "ALTER TABLE library_video FORCE ROW LEVEL SECURITY",
         "public.library_video is not under"),
        ('ALTER TABLE ekg."_ag_label_vertex" DISABLE ROW LEVEL SECURITY',
         'ALTER TABLE ekg."_ag_label_vertex" ENABLE ROW LEVEL SECURITY', "ekg._ag_label_vertex is not under"),
        ("CREATE POLICY everybody ON ekg_event USING (true)", "DROP POLICY everybody ON ekg_event",
         "public.ekg_event has 2 policies"),
        ("CREATE TABLE forgotten (id int)", "DROP TABLE forgotten", "public.forgotten is not under"),
        ("CREATE FUNCTION all_videos() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::bigint'",
         "DROP FUNCTION all_videos()", "public.all_videos() is SECURITY DEFINER"),
        ("CREATE VIEW every_video AS SELECT * FROM library_video", "DROP VIEW every_video", "every_video shows rows"),
        ("CREATE MATERIALIZED VIEW kept_videos AS SELECT id FROM library_video", "DROP MATERIALIZED VIEW kept_videos",
         "kept_videos shows rows"),
        ("GRANT CREATE ON SCHEMA public TO app_rw", "REVOKE CREATE ON SCHEMA public FROM app_rw",
         "app_rw may CREATE on the schema public"),
        ("ALTER TABLE ekg_frame_07 NO FORCE ROW LEVEL SECURITY", "ALTER TABLE ekg_frame_07 FORCE ROW LEVEL SECURITY",
         "public.ekg_frame_07 is not under"),
        ("GRANT SELECT ON ekg_frame_07 TO app_rw", "REVOKE SELECT ON ekg_frame_07 FROM app_rw",
         "app_rw may reach the partition ekg_frame_07"),
        ("ALTER TABLE webhooks_endpoint OWNER TO app_dispatch", "ALTER TABLE webhooks_endpoint OWNER TO app_owner",
         "webhooks_endpoint belongs to"),
        ("ALTER POLICY tenant_rows ON library_video USING (true) WITH CHECK (true)", f"ALTER POLICY tenant_rows ON "
         f"library_video USING (tenant_id = {CURRENT_TENANT}) WITH CHECK (tenant_id = {CURRENT_TENANT})",
         "public.library_video has a policy that is not the tenant's"),
        ("ALTER POLICY tenant_rows ON ekg_frame_07 WITH CHECK (tenant_id IS NOT NULL)",
         f"ALTER POLICY tenant_rows ON ekg_frame_07 WITH CHECK (tenant_id = {CURRENT_TENANT})",
         "public.ekg_frame_07 has a policy that is not the tenant's"),
        ("ALTER POLICY tenant_rows ON tenancy_tenant TO app_dispatch", "ALTER POLICY tenant_rows ON tenancy_tenant "
         "TO PUBLIC", "public.tenancy_tenant has a policy that is not the tenant's"),
        ("GRANT DELETE ON library_video TO app_dispatch", "REVOKE DELETE ON library_video FROM app_dispatch",
         "app_dispatch may DELETE on the table public.library_video"),
        ("GRANT SELECT ON library_video TO PUBLIC", "REVOKE SELECT ON library_video FROM PUBLIC",
         "PUBLIC may SELECT on the table public.library_video"),
        ("GRANT UPDATE (digest) ON tenancy_apikey TO app_dispatch", "REVOKE UPDATE (digest) ON tenancy_apikey FROM "
         "app_dispatch", "app_dispatch may UPDATE on the column public.tenancy_apikey.digest"),
        ("ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO app_rw", "ALTER DEFAULT PRIVILEGES IN "
         "SCHEMA public REVOKE SELECT ON TABLES FROM app_rw", "postgres grants rights on whatever it creates"),
        ("CREATE FUNCTION ag_catalog.age_new_walk() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
         "DROP FUNCTION ag_catalog.age_new_walk()", "app_rw may execute ag_catalog.age_new_walk()"),
        ("ALTER FUNCTION ag_catalog.agtype_add(ag_catalog.agtype, ag_catalog.agtype) LEAKPROOF",
         "ALTER FUNCTION ag_catalog.agtype_add(ag_catalog.agtype, ag_catalog.agtype) NOT LEAKPROOF",
         "ag_catalog.agtype_add(ag_catalog.agtype,ag_catalog.agtype) is LEAKPROOF"),
        ("CREATE RULE also AS ON INSERT TO library_collection DO ALSO NOTHING", "DROP RULE also ON library_collection",
         "library_collection has a rule"),
        ("ALTER TABLE people_person DISABLE ROW LEVEL SECURITY", "ALTER TABLE people_person ENABLE ROW LEVEL SECURITY",
         "public.people_person is not under row-level security"),
        ("ALTER POLICY customers ON people_person USING (true)", "ALTER POLICY customers ON people_person "
         "USING (NOT is_staff)", "public.people_person has other policies"),
        ("ALTER POLICY everybody ON people_person TO PUBLIC", "ALTER POLICY everybody ON people_person TO app_console",
         "public.people_person has other policies"),
        ("CREATE POLICY staff ON people_person FOR SELECT TO app_rw USING (is_staff)",
         "DROP POLICY staff ON people_person", "public.people_person has other policies"),
        ("ALTER TABLE people_departure DISABLE ROW LEVEL SECURITY",
         "ALTER TABLE people_departure ENABLE ROW LEVEL SECURITY",
         "public.people_departure is not under row-level security"),
        ("CREATE POLICY all_of_them ON people_departure FOR SELECT TO app_rw USING (true)",
         "DROP POLICY all_of_them ON people_departure", "public.people_departure has other policies"),
        ("ALTER TABLE audit_auditevent DISABLE TRIGGER erased_only",
         "ALTER TABLE audit_auditevent ENABLE TRIGGER erased_only",
         "app_dispatch may delete rows of audit_auditevent of tenants that are not suspended"),
    ],
)  # fmt: skip
def test_each_lost_protection_is_noticed(database: None, wound: str, cure: str, fault: str) -> None:
    with superuser() as connection:
        connection.execute(wound)
        try:
            found = isolation.faults()
        finally:
            connection.execute(cure)

    assert any(line.startswith(fault) for line in found), found
    assert isolation.faults() == []


@pytest.mark.parametrize(
    ("wound", "fault"),
    [
        ("GRANT app_dispatch TO app_rw", "app_rw is a member of app_dispatch"),
        ("GRANT pg_read_all_data TO app_rw", "app_rw is a member of pg_read_all_data"),
        ("ALTER ROLE app_rw CREATEDB", "app_rw is createdb"),
        ("ALTER ROLE app_dispatch REPLICATION", "app_dispatch is replication"),
        ("ALTER ROLE app_owner BYPASSRLS", "app_owner is bypassrls"),
        ("CREATE ROLE app_helper", "the role app_helper is unknown"),
    ],
)
def test_each_widened_role_is_noticed(database: None, wound: str, fault: str) -> None:
    """Roles belong to all databases of the server, so the wound stays in a transaction that nobody else sees."""
    with superuser() as connection, connection.transaction(force_rollback=True):
        connection.execute(wound)
        assert rights.faults(connection.cursor(), guarded=()) == [fault]


def test_a_table_of_a_newer_release_is_no_fault_once_it_is_guarded(database: None) -> None:
    """Migrations run before the processes of a release start; those of the release before go on meanwhile."""
    with superuser() as connection:
        connection.execute(
            "CREATE TABLE newer (tenant_id uuid, id uuid); GRANT SELECT ON newer TO app_rw, app_dispatch"
        )
        try:
            bare = isolation.faults()
            for statement in guarded("newer"):
                connection.execute(statement)
            guarded_faults = isolation.faults()
            connection.execute("GRANT SELECT ON newer TO PUBLIC")
            opened = isolation.faults()
        finally:
            connection.execute("DROP TABLE newer")

    assert "public.newer is not under forced row-level security with a policy" in bare
    assert "app_dispatch may SELECT on the table public.newer" in bare
    assert guarded_faults == []
    assert opened == ["PUBLIC may SELECT on the table public.newer"]


def test_a_regained_right_to_traverse_the_whole_graph_is_noticed(database: None) -> None:
    with superuser() as connection:
        row = connection.execute(
            "SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
            "WHERE n.nspname = 'ag_catalog' AND p.proname = 'age_vle' LIMIT 1"
        ).fetchone()
        assert row is not None
        connection.execute(f"GRANT EXECUTE ON FUNCTION {row[0]} TO app_rw")
        try:
            found = isolation.faults()
        finally:
            connection.execute(f"REVOKE EXECUTE ON FUNCTION {row[0]} FROM app_rw")

    assert [line.split("(")[0].replace("ag_catalog.", "") for line in found] == ["app_rw may execute age_vle"], found


def test_every_model_is_a_tenants_or_declared_plain() -> None:
    ours = [model for model in apps.get_models(include_auto_created=True) if model.__module__.startswith("backend.")]
    loose = {model._meta.db_table for model in ours if not issubclass(model, TenantRow)}

    assert loose == isolation.PLAIN_TABLES | {"tenancy_tenant"}


def test_a_reference_between_tenants_rows_carries_the_tenant(database: None) -> None:
    """Foreign keys are checked without row-level security: a key without the tenant would accept a foreign parent."""
    with superuser() as connection:
        rows = connection.execute(
            "SELECT c.conrelid::regclass::text, c.conname, "
            "(SELECT array_agg(a.attname::text ORDER BY k.n) FROM unnest(c.conkey) WITH ORDINALITY AS k(num, n) "
            " JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.num), c.confrelid::regclass::text "
            "FROM pg_constraint c WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace"
        ).fetchall()
    tenant_tables = {m._meta.db_table for m in apps.get_models() if issubclass(m, TenantRow)}

    without = [
        name for table, name, columns, parent in rows if {table, parent} <= tenant_tables and columns[0] != "tenant_id"
    ]
    assert without == []
    assert sum(parent in tenant_tables for *_, parent in rows) > 10


def test_every_tenant_row_has_its_tenant_first_in_its_key(database: None) -> None:
    with superuser() as connection:
        rows = connection.execute(
            "SELECT c.relname, pg_get_constraintdef(k.oid) FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid "
            "WHERE k.contype = 'p' AND c.relnamespace = 'public'::regnamespace AND NOT c.relispartition"
        ).fetchall()
        twice = connection.execute(
            "SELECT indrelid::regclass::text FROM pg_index WHERE indrelid::regclass::text NOT LIKE 'ekg.%' "
            "GROUP BY indrelid, indkey::text, indclass::text, indoption::text, pg_get_expr(indpred, indrelid) "
            "HAVING count(*) > 1"
        ).fetchall()
    keys = dict(rows)
    tenant_tables = {m._meta.db_table for m in apps.get_models() if issubclass(m, TenantRow)}

    of_tenants = {keys[table] for table in tenant_tables - set(MONTHLY)}
    assert of_tenants == {"PRIMARY KEY (tenant_id, id)"}
    assert all(keys[table].startswith("PRIMARY KEY (tenant_id, id, ") for table in MONTHLY)
    assert twice == [], "an index that another one repeats"


def test_large_tables_are_divided_by_tenant(acme: Cast, globex: Cast) -> None:
    """A tenant's rows lie in one partition, which is the only one that a query of the tenant reads."""
    record(acme)
    record(globex)
    with superuser() as connection:
        parts = connection.execute(
            "SELECT partrelid::regclass::text, count(*) FROM pg_partitioned_table "
            "JOIN pg_inherits ON inhparent = partrelid WHERE partstrat = 'h' GROUP BY 1"
        ).fetchall()
        found = connection.execute("SELECT DISTINCT tenant_id, tableoid::regclass::text FROM ekg_chunk").fetchall()
    with acme.scope(), connections["default"].cursor() as cursor:
        cursor.execute("EXPLAIN SELECT count(*) FROM ekg_chunk WHERE tenant_id = %s", [acme.tenant_id])
        plan = "\n".join(line for (line,) in cursor.fetchall())

    large = {"ekg_chunk", "ekg_frame", "ekg_framevector", "ekg_mention", "ekg_track", "ekg_transcriptline"}
    assert dict(parts) == dict.fromkeys(large, 16)
    of_tenant = dict(found)
    assert len(found) == len(of_tenant) == 2
    assert set(re.findall(r"ekg_chunk_\d\d", plan)) == {of_tenant[acme.tenant_id]}
