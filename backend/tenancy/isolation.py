"""Checks that the database keeps tenants apart as the code assumes: flags, policies, roles, revokes.

The tests, `manage.py check --database default` and /readyz all call faults(), so production checks what the tests
check. A process whose database fails a check refuses to serve.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error
from django.db import connections, transaction

GRAPH_SCHEMA = "ekg"
# These routines read the graph past row-level security or change its shape (AGE 1.7 and 1.8).
REVOKED_ROUTINES = (
    "age_vle", "age_shortest_path", "age_all_shortest_paths", "age_graph_stats", "graph_stats", "age_vertex_stats",
    "vertex_stats", "age_delete_global_graphs", "delete_global_graphs", "create_graph", "drop_graph", "create_vlabel",
    "create_elabel", "drop_label", "alter_graph", "load_labels_from_file", "load_edges_from_file",
    "create_complete_graph", "age_create_barbell_graph", "create_subgraph",
)  # fmt: skip
# Tables without a tenant besides the framework's: prices, the clocks of the classes of jobs, and people, who may be
# members of several tenants.
PLAIN_TABLES = frozenset(
    {
        "billing_pricebook",
        "jobs_breaker",
        "jobs_classclock",
        "people_person",
        "people_person_groups",
        "people_person_user_permissions",
        "staff_contentaccess",
        "staff_member",
        "staff_secondfactor",
        "staff_staffevent",
    }
)
PLAIN_PREFIXES = ("django_", "auth_", "account_", "mfa_", "socialaccount_", "usersessions_")
RESTRICTED_ROLES = ("app_rw", "app_owner", "app_people", "app_console")

_TABLES = """
SELECT n.nspname, c.relname, c.relrowsecurity, c.relforcerowsecurity,
       EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polcmd = '*' AND p.polpermissive
               AND p.polqual IS NOT NULL AND p.polwithcheck IS NOT NULL),
       (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname IN ('public', %s) ORDER BY 1, 2
"""
_OWNED = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('public', %s)
AND pg_get_userbyid(c.relowner) IN ('app_rw', 'app_dispatch', 'app_admin_ro', 'app_people', 'app_console')
"""
_ROUTINES = """
SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = 'ag_catalog' AND p.proname = ANY(%s) AND has_function_privilege('app_rw', p.oid, 'EXECUTE')
"""
_DEFINERS = """
SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE p.prosecdef AND n.nspname IN ('public', 'ag_catalog', %s)
"""
_MATERIALISED = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('public', %s) AND (c.relkind = 'm' OR (c.relkind = 'v' AND NOT coalesce(
    (SELECT option_value::boolean FROM pg_options_to_table(c.reloptions) WHERE option_name = 'security_invoker'),
    false)))
"""
_OPEN_PARTITIONS = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('public', %s) AND c.relispartition AND c.relkind = 'r'
AND has_table_privilege('app_rw', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')
"""
_ROLES = "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname = ANY(%s)"


def faults(*, using: str = "default") -> list[str]:
    """Return the faults, one line each; an empty list if tenants are kept apart.

    using: the alias that serves requests; its role is checked too.
    """
    problems: list[str] = []
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        problems += _role_faults(cursor)
        cursor.execute(_TABLES, [GRAPH_SCHEMA])
        tables = cursor.fetchall()
        if not any(schema == GRAPH_SCHEMA for schema, *_ in tables):
            problems.append("the graph is not provisioned")
        for schema, table, enabled, forced, guarded, policies in tables:
            if schema == "public" and (table in PLAIN_TABLES or table.startswith(PLAIN_PREFIXES)):
                continue
            if not (enabled and forced and guarded):
                problems.append(f"{schema}.{table} is not under forced row-level security with USING and WITH CHECK")
            if policies > 1:
                problems.append(f"{schema}.{table} has {policies} policies; a second one widens the first")
        for query, complaint in (
            (_OWNED, "{} belongs to a role that serves requests"),
            (_DEFINERS, "{} is SECURITY DEFINER"),
            (_MATERIALISED, "{} shows rows past their policies"),
            (_OPEN_PARTITIONS, "app_rw may reach the partition {} past its parent"),
        ):
            cursor.execute(query, [GRAPH_SCHEMA])
            problems += [complaint.format(name) for (name,) in cursor.fetchall()]
        cursor.execute(_ROUTINES, [list(REVOKED_ROUTINES)])
        problems += [f"app_rw may execute {name}" for (name,) in cursor.fetchall()]
        cursor.execute(
            "SELECT has_schema_privilege('app_rw', 'public', 'CREATE') OR has_schema_privilege('app_rw', %s, 'CREATE')",
            [GRAPH_SCHEMA],
        )
        if cursor.fetchone() != (False,):
            problems.append("app_rw may create tables")
    return problems


def _role_faults(cursor: Any) -> list[str]:
    problems = []
    cursor.execute("SELECT current_user, row_security_active('tenancy_tenant')")
    name, active = cursor.fetchone()
    if name != "app_rw" or not active:
        problems.append(f"requests are served as {name}, for whom row-level security is {'on' if active else 'off'}")
    cursor.execute(_ROLES, [list(RESTRICTED_ROLES)])
    roles = {row[0]: row[1:] for row in cursor.fetchall()}
    widened = [role for role in RESTRICTED_ROLES if roles.get(role) != (False, False, False)]
    return problems + [f"{role} is missing, or may pass row-level security" for role in widened]


def check_isolation(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **options: Any
) -> list[CheckMessage]:
    """Run the checks as Django's check of the `default` database (`manage.py check --database default`)."""
    if "default" not in (databases or ()):
        return []
    return [Error(fault, id="tenancy.E001") for fault in faults()]
