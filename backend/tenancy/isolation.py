"""Checks that the database keeps tenants apart as the code assumes: flags, policies, roles, revokes.

The tests, `manage.py check --database default`, /readyz and the start of every process (backend.tenancy.guard) all call
faults(), so production checks what the tests check. A process whose database fails a check refuses to serve.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error
from django.db import connections, transaction

from backend.tenancy import rights
from backend.tenancy.models import NOTICE_ROLES
from backend.tenancy.rights import GRAPH_SCHEMA

# Tables without a tenant besides the framework's: prices and plans, the clocks of the classes of jobs, and people, who
# may be members of several tenants.
PLAIN_TABLES = frozenset(
    {
        "billing_coupon",
        "billing_invariantresult",
        "billing_invoicenumber",
        "billing_invoiceseries",
        "billing_legalentity",
        "billing_plan",
        "billing_costday",
        "billing_daytotal",
        "billing_machineday",
        "billing_modelrate",
        "billing_planallowance",
        "billing_planlimit",
        "billing_plantier",
        "billing_planversion",
        "billing_price",
        "billing_pricebook",
        "billing_staleday",
        "jobs_breaker",
        "jobs_classclock",
        "jobs_lostattempt",
        "jobs_queueage",
        "people_departure",
        "people_person",
        "people_person_groups",
        "people_person_user_permissions",
        "questions_stagetimes",
        "staff_contentaccess",
        "staff_member",
        "staff_passkey",
        "staff_recoverycode",
        "staff_secondfactor",
        "staff_session",
        "staff_staffevent",
    }
)
PLAIN_PREFIXES = ("django_", "auth_", "account_", "mfa_", "socialaccount_", "usersessions_")
ROLE_OF_ALIAS = {
    "default": "app_rw",
    "dispatch": "app_dispatch",
    "console": "app_admin_ro",
    "people": "app_people",
    "staff": "app_console",
}
_SETTING = "NULLIF(current_setting('app.tenant_id'::text, true), ''::text)"
_OWN = "({column} = ( SELECT (" + _SETTING + ')::uuid AS "nullif"))'
_OWN_VERTEX = "((properties OPERATOR(ag_catalog.->>) '\"tenant\"'::ag_catalog.agtype) = " + _SETTING + ")"

_TABLES = """
SELECT n.nspname, c.relname, c.relrowsecurity AND c.relforcerowsecurity,
       coalesce((SELECT array_agg(ARRAY[p.polname::text, p.polcmd::text, p.polpermissive::text, p.polroles::text,
           pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)])
           FROM pg_policy p WHERE p.polrelid = c.oid), '{}')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname IN ('public', %s) ORDER BY 1, 2
"""
_PEOPLE = """
SELECT c.relrowsecurity,
       (SELECT array_agg(ARRAY[p.polname::text, p.polcmd::text, p.polpermissive::text,
           (SELECT coalesce(string_agg(r.rolname, ' ' ORDER BY r.rolname), 'PUBLIC')
            FROM pg_roles r WHERE r.oid = ANY (p.polroles)),
           pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)] ORDER BY p.polname)
        FROM pg_policy p WHERE p.polrelid = c.oid)
FROM pg_class c WHERE c.oid = to_regclass(%s)
"""
_NOTICED = ", ".join(f"'{role}'::text" for role in NOTICE_ROLES)
_MEMBERS = (  # noqa: S608 - constants
    "SELECT people_membership.person_id FROM public.people_membership WHERE ({tenant} AND "
    "((people_membership.role)::text = ANY (ARRAY[{roles}])))"
).format(tenant=_OWN.format(column="people_membership.tenant_id"), roles=_NOTICED)
# Without the line breaks with which PostgreSQL shows a subquery.
_PEOPLES_POLICIES = {
    # Keeps staff from the API, and people from requests and workers.
    "public.people_person": [
        ["customers", "*", "true", "app_people", "(NOT is_staff)", "(NOT is_staff)"],
        ["everybody", "*", "true", "app_console", "true", "true"],
        ["notified", "r", "true", "app_rw", f"((NOT is_staff) AND (id IN ( {_MEMBERS})))", None],
    ],
    # Requests and workers add whom their own tenant has lost.
    "public.people_departure": [
        ["departed", "a", "true", "app_rw", None, _OWN.format(column="tenant_id")],
        ["everybody", "*", "true", "app_people", "true", "true"],
    ],
}
_OWNED = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('public', %s)
AND pg_get_userbyid(c.relowner) IN ('app_rw', 'app_dispatch', 'app_admin_ro', 'app_people', 'app_console')
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
_RULES = """
SELECT c.relname FROM pg_rewrite w JOIN pg_class c ON c.oid = w.ev_class JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('public', %s) AND c.relkind IN ('r', 'p')
"""
# What app_rw may only add to, app_dispatch deletes for suspended tenants alone (backend.tenancy.ddl.erased_only).
_ERASABLE = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('public', %s) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
AND has_table_privilege('app_dispatch', c.oid, 'DELETE') AND NOT has_table_privilege('app_rw', c.oid, 'DELETE')
AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped)
AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'erased_only'
    AND t.tgenabled IN ('O', 'A') AND t.tgfoid = to_regproc('public.refuse_to_erase_the_living'))
"""


def faults(*, using: str = "default") -> list[str]:
    """Return the faults, one line each; an empty list if tenants are kept apart.

    using: the alias that this process works with; its role is checked too.
    """
    problems: list[str] = []
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        # Expressions and names are shown with their schema unless the schema is searched.
        cursor.execute("SET LOCAL search_path = pg_catalog")
        problems += _session_faults(cursor, ROLE_OF_ALIAS[using])
        cursor.execute(_TABLES, [GRAPH_SCHEMA])
        tables = cursor.fetchall()
        if not any(schema == GRAPH_SCHEMA for schema, *_ in tables):
            problems.append("the graph is not provisioned")
        guarded = []
        for schema, table, forced, policies in tables:
            if schema == "public" and (table in PLAIN_TABLES or table.startswith(PLAIN_PREFIXES)):
                continue
            found = _table_faults(f"{schema}.{table}", forced, policies, _policy_of(schema, table))
            problems += found
            guarded += [f"{schema}.{table}"] if not found else []
        problems += _people_faults(cursor)
        for query, complaint in (
            (_OWNED, "{} belongs to a role that serves requests"),
            (_DEFINERS, "{} is SECURITY DEFINER"),
            (_MATERIALISED, "{} shows rows past their policies"),
            (_OPEN_PARTITIONS, "app_rw may reach the partition {} past its parent"),
            (_RULES, "{} has a rule that rewrites its queries"),
            (_ERASABLE, "app_dispatch may delete rows of {} of tenants that are not suspended"),
        ):
            cursor.execute(query, [GRAPH_SCHEMA])
            problems += [complaint.format(name) for (name,) in cursor.fetchall()]
        problems += rights.faults(cursor, guarded=guarded)
    return problems


def _policy_of(schema: str, table: str) -> str:
    if schema == GRAPH_SCHEMA:
        return _OWN_VERTEX
    return _OWN.format(column="id" if table == "tenancy_tenant" else "tenant_id")


def _table_faults(name: str, forced: bool, policies: Sequence[Sequence[str]], own: str) -> list[str]:
    """Return the faults of a tenant's table. own: the expression that its one policy must have, for all commands."""
    if not forced or not policies:
        return [f"{name} is not under forced row-level security with a policy"]
    if len(policies) > 1:
        return [f"{name} has {len(policies)} policies; a second one widens the first"]
    if list(policies[0]) != ["tenant_rows", "*", "true", "{0}", own, own]:
        return [f"{name} has a policy that is not the tenant's"]
    return []


def _people_faults(cursor: Any) -> list[str]:
    """Return the faults of the tables of people that have policies of their own."""
    problems = []
    for table, policies in _PEOPLES_POLICIES.items():
        cursor.execute(_PEOPLE, [table])
        row = cursor.fetchone()
        if row is None or not row[0]:
            problems.append(f"{table} is not under row-level security")
            continue
        shown = [[value and " ".join(value.split()) for value in policy] for policy in row[1] or ()]
        if shown != policies:
            problems.append(f"{table} has other policies than those that keep staff and people apart")
    return problems


def _session_faults(cursor: Any, role: str) -> list[str]:
    cursor.execute("SELECT current_user, row_security_active('public.tenancy_tenant')")
    name, active = cursor.fetchone()
    if name != role or active != ("bypassrls" not in rights.ATTRIBUTES[role]):
        return [f"this process works as {name}, for whom row-level security is {'on' if active else 'off'}"]
    return []


def check_isolation(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **options: Any
) -> list[CheckMessage]:
    """Run the checks as Django's check of the `default` database (`manage.py check --database default`)."""
    if "default" not in (databases or ()):
        return []
    return [Error(fault, id="tenancy.E001") for fault in faults()]
