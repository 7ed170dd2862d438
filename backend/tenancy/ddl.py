"""Row-level security, keys and partitions as migration operations.

Every tenant table gets: ENABLE and FORCE row level security, one policy with USING and WITH CHECK evaluated once per
statement, the primary key (tenant_id, id), and grants per role. Foreign keys carry the tenant, because a foreign-key
check itself runs without row-level security.

Django's models name id alone as their key: ids are unique by construction, and a composite key in Django could be
neither the target of a ForeignKey nor shown in the console.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db.migrations import RunSQL

# nullif: after a transaction-local set the setting reads as '', not NULL.
CURRENT_TENANT = "(SELECT nullif(current_setting('app.tenant_id', true), '')::uuid)"

HASH_PARTITIONS = 16
"""Partitions of a large table: at 3.6 G frames (10,000 tenants, 1 M hours) each holds 225 M rows, a size whose indexes
and vacuum one machine handles. More of them cost planning time in every query that names no tenant."""


ERASE = "SELECT (tenant_id), DELETE"
"""Privileges of app_dispatch on a table that app_rw may only add to, so that a tenant can be erased: such a table has
the trigger of erased_only()."""


def tenant_table(
    table: str,
    *,
    dispatch: str = "",
    append_only: bool = False,
    read_only: bool = False,
    tenant_column: str = "tenant_id",
    month: str = "",
) -> RunSQL:
    """Put one table under row-level security.

    dispatch: privileges of the app_dispatch role, such as "SELECT, UPDATE"; none by default.
    append_only: app_rw may not UPDATE or DELETE. read_only: app_rw may only SELECT. month: the column by which the
    table is divided into months, if any.
    """
    rights = "SELECT, INSERT" if append_only else "SELECT, INSERT, UPDATE, DELETE"
    if read_only:
        rights = "SELECT"
    statements = [
        *guarded(table, tenant_column),
        f"GRANT {rights} ON {table} TO app_rw",
        f"GRANT SELECT ON {table} TO app_admin_ro",
    ]
    if tenant_column == "tenant_id":
        statements += [
            f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table}_pkey",
            f"ALTER TABLE {table} ADD CONSTRAINT {table}_pkey PRIMARY KEY (tenant_id, id{month and ', ' + month})",
        ]
    if dispatch:
        statements.append(f"GRANT {dispatch} ON {table} TO app_dispatch")
    if ERASE in dispatch:
        statements += erased_only(table)
    return RunSQL(tuple(statements), RunSQL.noop)


def erased_only(table: str) -> list[str]:
    """Return the statements that let app_dispatch delete rows of suspended tenants alone; it cannot suspend one.

    The function runs as its caller, who might have a temporary table of the same name: it names the schema.
    """
    return [
        """
CREATE OR REPLACE FUNCTION public.refuse_to_erase_the_living() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    IF current_user = 'app_dispatch' AND EXISTS (
        SELECT FROM (SELECT DISTINCT tenant_id FROM gone) erased
        JOIN public.tenancy_tenant tenant ON tenant.id = erased.tenant_id WHERE tenant.suspended_at IS NULL
    ) THEN
        RAISE EXCEPTION 'rows of a tenant that is not suspended are kept' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NULL;
END
$function$""",
        f"CREATE TRIGGER erased_only AFTER DELETE ON {table} REFERENCING OLD TABLE AS gone "
        "FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_to_erase_the_living()",
    ]


def no_overlap(table: str, key: str) -> RunSQL:
    """Refuse two rows with the same key whose spans from effective_from up to effective_to overlap.

    key: an immutable SQL expression of type text. effective_to is null for a span without end. Each key has a range of
    10^17 numbers, chosen by its hash, with the microseconds since 1970 in it: an exclusion constraint over a scalar and
    a range would need the extension btree_gist.
    """
    start = "(EXTRACT(epoch FROM effective_from AT TIME ZONE 'UTC') * 1000000)"
    end = "coalesce(EXTRACT(epoch FROM effective_to AT TIME ZONE 'UTC') * 1000000, 99999999999999999)"
    base = f"hashtextextended({key}, 0)::numeric * 100000000000000000"
    return RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_no_overlap "
        f"EXCLUDE USING gist (numrange({base} + {start}, {base} + {end}) WITH &&)",
        RunSQL.noop,
    )


def tenant_reference(table: str, column: str, parent: str, *, on_delete: str = "CASCADE") -> RunSQL:
    """Add FOREIGN KEY (tenant_id, column) REFERENCES parent (tenant_id, id)."""
    action = f"SET NULL ({column})" if on_delete == "SET NULL" else on_delete
    return RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_tenant FOREIGN KEY (tenant_id, {column}) "
        f"REFERENCES {parent} (tenant_id, id) ON DELETE {action} DEFERRABLE INITIALLY IMMEDIATE",
        RunSQL.noop,
    )


def plain_table(table: str, *, rw: str = "SELECT", dispatch: str = "") -> RunSQL:
    """Grant rights on a table that holds no tenant data."""
    statements = [f"GRANT {rw} ON {table} TO app_rw", f"GRANT SELECT ON {table} TO app_admin_ro"]
    if dispatch:
        statements.append(f"GRANT {dispatch} ON {table} TO app_dispatch")
    return RunSQL(tuple(statements), RunSQL.noop)


def people_table(table: str, *, customers: bool = True, staff: bool = True, append_only: bool = False) -> RunSQL:
    """Grant rights on a table of people, sessions or staff to the roles that sign people in, and to no other.

    customers: whether the API signs its people in with the table, or only the console its staff. staff: whether the
    console uses the table at all.
    """
    rights = "SELECT, INSERT" if append_only else "SELECT, INSERT, UPDATE, DELETE"
    roles = ", ".join(["app_people"] * customers + ["app_console"] * staff)
    return RunSQL(f"GRANT {rights} ON {table} TO {roles}", RunSQL.noop)


def swept_sessions(table: str) -> RunSQL:
    """Let sweeps delete expired sessions: they see when a session ends, and neither its key nor its data."""
    return RunSQL(f"GRANT SELECT (expire_date), DELETE ON {table} TO app_dispatch", RunSQL.noop)


def staff_apart(table: str) -> RunSQL:
    """Hide the staff among the people from the API: it can neither read their passwords nor make somebody staff."""
    return RunSQL(
        (
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
            f"CREATE POLICY customers ON {table} TO app_people USING (NOT is_staff) WITH CHECK (NOT is_staff)",
            f"CREATE POLICY everybody ON {table} TO app_console USING (true) WITH CHECK (true)",
        ),
        RunSQL.noop,
    )


_NOTIFIED = """CREATE POLICY notified ON {table} FOR SELECT TO app_rw USING (NOT is_staff AND id IN (
    SELECT person_id FROM {memberships} WHERE tenant_id = {tenant} AND role::text = ANY (ARRAY[{roles}])))"""


def notified_members(table: str, memberships: str, roles: Sequence[str]) -> RunSQL:
    """Show requests and workers the addresses of the current tenant's members with these roles, and of nobody else."""
    # A list of text: PostgreSQL would write a list of names another way after each dump, and the guard reads it.
    names = ", ".join(f"'{role}'::text" for role in roles)
    policy = _NOTIFIED.format(table=table, memberships=memberships, tenant=CURRENT_TENANT, roles=names)
    return RunSQL((f"GRANT SELECT (id, email, is_active) ON {table} TO app_rw", policy), RunSQL.noop)


# Only app_rw ends memberships for the people in them: the owner's role deletes rows by itself.
_DEPARTED = """
CREATE FUNCTION public.people_departed() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
    IF current_user = 'app_rw' THEN
        INSERT INTO public.{table} (tenant_id, person_id, due_at)
        VALUES (OLD.tenant_id, (to_jsonb(OLD) ->> 'person_id')::uuid, now());
    END IF;
    RETURN NULL;
END
$function$"""


def departures(table: str, *sources: str) -> RunSQL:
    """Queue in table whom each deleted row of the sources names, by a trigger, so that the API looks at the person.

    app_rw may only add rows of its tenant, and app_people alone sees whom they name; app_dispatch counts the rows of a
    tenant for the certificate of its erasure.
    """
    statements = [
        f"GRANT INSERT (tenant_id, person_id, due_at) ON {table} TO app_rw",
        f"GRANT SELECT (tenant_id) ON {table} TO app_dispatch",
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"CREATE POLICY departed ON {table} FOR INSERT TO app_rw WITH CHECK (tenant_id = {CURRENT_TENANT})",
        f"CREATE POLICY everybody ON {table} TO app_people USING (true) WITH CHECK (true)",
        _DEPARTED.format(table=table),
    ]
    statements += [
        f"CREATE TRIGGER departed AFTER DELETE ON {source} FOR EACH ROW EXECUTE FUNCTION public.people_departed()"
        for source in sources
    ]
    return RunSQL(tuple(statements), RunSQL.noop)


# Rows of a suspended tenant go with its erasure, and are noted nowhere.
NOTE_ENDING = """
CREATE FUNCTION public.tenancy_note_ending() RETURNS trigger LANGUAGE plpgsql AS $function$
DECLARE tenant uuid := coalesce((to_jsonb(OLD) ->> 'tenant_id')::uuid, OLD.id);
BEGIN
    IF current_user = 'app_rw' AND (TG_OP = 'UPDATE' OR EXISTS (
        SELECT FROM public.tenancy_tenant WHERE id = tenant AND suspended_at IS NULL
    )) THEN
        INSERT INTO public.tenancy_ending (id, tenant_id, kind, subject_id, ended_at)
        VALUES (gen_random_uuid(), tenant, TG_ARGV[0], OLD.id, clock_timestamp());
    END IF;
    RETURN NULL;
END
$function$"""


def noted_endings(table: str, kind: str, *, set_column: str = "", cleared_column: str = "") -> RunSQL:
    """Note each row of a table whose right ends in tenancy_ending, in the transaction that ends it.

    kind: a value of the ledger's Deleted. set_column: the time that an ending sets. cleared_column: the time that it
    clears. With neither, the row is deleted.
    """
    event, condition = "DELETE", ""
    if column := set_column or cleared_column:
        before, after = ("OLD", "NEW") if set_column else ("NEW", "OLD")
        event = "UPDATE"
        condition = f"WHEN ({before}.{column} IS NULL AND {after}.{column} IS NOT NULL) "
    return RunSQL(
        f"CREATE TRIGGER noted_{kind} AFTER {event} ON {table} FOR EACH ROW {condition}"
        f"EXECUTE FUNCTION public.tenancy_note_ending('{kind}')",
        RunSQL.noop,
    )


# A partition's rows are reached through its parent alone: no role gets a grant on it. The policy is there all the same.
_PARTITIONED = """
DO $partition$
DECLARE definition text; kept text[];
BEGIN
    SELECT array_agg(format('ALTER TABLE {table} ADD CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)))
        INTO kept FROM pg_constraint WHERE conrelid = '{table}'::regclass AND contype IN ('u', 'f');
    SELECT kept || array_agg(pg_get_indexdef(indexrelid)) INTO kept FROM pg_index WHERE indrelid = '{table}'::regclass
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid);
    ALTER TABLE {table} RENAME TO {table}_plain;
    CREATE TABLE {table} (LIKE {table}_plain INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)
        PARTITION BY {by};
    DROP TABLE {table}_plain;
    FOREACH definition IN ARRAY coalesce(kept, ARRAY[]::text[]) LOOP
        EXECUTE definition;
    END LOOP;
    -- A sweep measures the table as a whole (backend.tenancy.months).
    GRANT MAINTAIN ON {table} TO app_dispatch;
END
$partition$
"""


def hash_partitioned(table: str) -> RunSQL:
    """Divide an empty table into HASH_PARTITIONS by tenant, before tenant_table() is called for it.

    Constraints and indexes are kept, except the primary key, which tenant_table() adds.
    """
    statements = [_PARTITIONED.format(table=table, by="HASH (tenant_id)")]
    for n in range(HASH_PARTITIONS):
        name = f"{table}_{n:02d}"
        statements.append(
            f"CREATE TABLE {name} PARTITION OF {table} FOR VALUES WITH (MODULUS {HASH_PARTITIONS}, REMAINDER {n})"
        )
        statements += guarded(name)
    return RunSQL(tuple(statements), RunSQL.noop)


def month_partitioned(table: str, column: str) -> RunSQL:
    """Divide an empty table by the calendar month (UTC) of column, before tenant_table() is called for it.

    Until backend.tenancy.months has made a month's partition, its rows lie in the partition _rest. Unique constraints
    of the table must name the column.
    """
    rest = f"{table}_rest"
    statements = [
        _PARTITIONED.format(table=table, by=f"RANGE ({column})"),
        f"CREATE TABLE {rest} PARTITION OF {table} DEFAULT",
        *guarded(rest),
    ]
    return RunSQL(tuple(statements), RunSQL.noop)


def guarded(table: str, tenant_column: str = "tenant_id") -> list[str]:
    """Return the statements that put a table, or a partition, under the tenant's policy."""
    return [
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY tenant_rows ON {table} USING ({tenant_column} = {CURRENT_TENANT}) "
        f"WITH CHECK ({tenant_column} = {CURRENT_TENANT})",
    ]
