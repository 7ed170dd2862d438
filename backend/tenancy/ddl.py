"""Row-level security and composite foreign keys as migration operations.

Every tenant table gets: ENABLE and FORCE row level security, one policy with USING and WITH CHECK evaluated once per
statement, a unique (tenant_id, id) as the target of composite foreign keys, and grants per role. Foreign keys carry the
tenant, because a foreign-key check itself runs without row-level security.
"""

from __future__ import annotations

from django.db.migrations import RunSQL

# nullif: after a transaction-local set the setting reads as '', not NULL.
CURRENT_TENANT = "(SELECT nullif(current_setting('app.tenant_id', true), '')::uuid)"


def tenant_table(
    table: str, *, dispatch: str = "", append_only: bool = False, tenant_column: str = "tenant_id"
) -> RunSQL:
    """Put one table under row-level security.

    dispatch: privileges of the app_dispatch role, such as "SELECT, UPDATE"; none by default.
    append_only: app_rw may not UPDATE or DELETE.
    """
    rights = "SELECT, INSERT" if append_only else "SELECT, INSERT, UPDATE, DELETE"
    statements = [
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY tenant_rows ON {table} USING ({tenant_column} = {CURRENT_TENANT}) "
        f"WITH CHECK ({tenant_column} = {CURRENT_TENANT})",
        f"GRANT {rights} ON {table} TO app_rw",
        f"GRANT SELECT ON {table} TO app_admin_ro",
    ]
    if tenant_column == "tenant_id":
        statements.append(f"ALTER TABLE {table} ADD CONSTRAINT {table}_tenant_id_id UNIQUE (tenant_id, id)")
    if dispatch:
        statements.append(f"GRANT {dispatch} ON {table} TO app_dispatch")
    return RunSQL(tuple(statements), RunSQL.noop)


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
