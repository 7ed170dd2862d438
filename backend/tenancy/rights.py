"""What each role of the database may do, as checked-in lists, and the comparison of the catalog with them.

rights.txt names every grant, and graph_routines.txt every function of Apache AGE that may be run. Whatever is not on a
list is a fault, so a grant or a function that nobody has looked at is noticed. `manage.py show_rights` prints the
grants of a database in the form of rights.txt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

GRAPH_SCHEMA = "ekg"
SCHEMAS = ("public", GRAPH_SCHEMA, "ag_catalog")
ATTRIBUTES: Mapping[str, frozenset[str]] = {
    "app_owner": frozenset(),
    "app_rw": frozenset(),
    "app_dispatch": frozenset({"bypassrls"}),
    "app_admin_ro": frozenset({"bypassrls"}),
    "app_people": frozenset(),
    "app_console": frozenset(),
    "app_replication": frozenset({"replication"}),
    "app_metrics": frozenset(),
}
"""Attributes of each role of ours, out of super, createrole, createdb, replication and bypassrls."""
LEAKPROOF = frozenset({
    "agtype_access_operator", "agtype_eq", "_agtype_build_vertex", "_label_name", "age_id", "agtype_to_graphid",
    "graphid_eq", "graphid_lt", "graphid_gt", "graphid_le", "graphid_ge",
})  # fmt: skip
"""Functions that provision.sql marks as LEAKPROOF."""


class Right(NamedTuple):
    """What a role may do with one object. kind: table, partition, column, sequence or schema.

    name: with its schema. All partitions of a table count together, under the table's name, because months come and go.
    """

    kind: str
    name: str
    role: str


Rights = Mapping[Right, frozenset[str]]

_GRANTED = """
WITH named AS (
    SELECT c.oid, c.relkind, c.relacl, c.relowner, c.relispartition,
           coalesce(parent.relname, c.relname) AS relname, n.nspname
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_inherits i ON c.relispartition AND i.inhrelid = c.oid
    LEFT JOIN pg_class parent ON parent.oid = i.inhparent
    WHERE n.nspname = ANY(%(schemas)s)
), granted AS (
    SELECT CASE WHEN relkind = 'S' THEN 'sequence' WHEN relispartition THEN 'partition' ELSE 'table' END AS kind,
           nspname || '.' || relname AS name, relowner AS owner, grantee, privilege_type
    FROM named CROSS JOIN aclexplode(relacl)
    UNION ALL
    SELECT 'column', nspname || '.' || relname || '.' || attname, relowner, grantee, privilege_type
    FROM named JOIN pg_attribute ON attrelid = oid CROSS JOIN aclexplode(attacl)
    UNION ALL
    SELECT 'schema', nspname, nspowner, grantee, privilege_type
    FROM pg_namespace CROSS JOIN aclexplode(nspacl) WHERE nspname = ANY(%(schemas)s)
)
SELECT kind, name, coalesce(rolname, 'PUBLIC'), array_agg(DISTINCT privilege_type ORDER BY privilege_type)
FROM granted LEFT JOIN pg_roles r ON r.oid = grantee
WHERE grantee <> owner AND NOT coalesce(rolsuper, false)
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
_ROLES = """
SELECT rolname, array_remove(ARRAY[CASE WHEN rolsuper THEN 'super' END, CASE WHEN rolcreaterole THEN 'createrole' END,
    CASE WHEN rolcreatedb THEN 'createdb' END, CASE WHEN rolreplication THEN 'replication' END,
    CASE WHEN rolbypassrls THEN 'bypassrls' END], NULL)
FROM pg_roles WHERE rolname LIKE 'app\\_%%' ORDER BY 1
"""
_MEMBERS = """
SELECT member.rolname, granted.rolname FROM pg_auth_members
JOIN pg_roles member ON member.oid = pg_auth_members.member JOIN pg_roles granted ON granted.oid = roleid
WHERE NOT member.rolsuper AND (member.rolname LIKE 'app\\_%%' OR granted.rolname LIKE 'app\\_%%') ORDER BY 1, 2
"""
_DEFAULTS = "SELECT defaclrole::regrole::text FROM pg_default_acl"
_ROUTINES = """
SELECT role, p.oid::regprocedure::text
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace CROSS JOIN unnest(%s::text[]) AS role
WHERE n.nspname = 'ag_catalog' AND NOT p.proname = ANY(%s) AND has_function_privilege(role, p.oid, 'EXECUTE')
ORDER BY 1, 2
"""
_LEAKPROOF = """
SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE p.proleakproof AND n.nspname = ANY(%s) AND NOT p.proname = ANY(%s)
"""


@cache
def expected() -> Rights:
    """Return the grants that rights.txt lists."""
    found = {}
    for line in _lines("rights.txt"):
        kind, name, role, *privileges = line.split()
        found[Right(kind, name, role)] = frozenset(privileges)
    return found


@cache
def graph_routines() -> frozenset[str]:
    """Return the names of AGE's functions that roles of ours may run."""
    return frozenset(_lines("graph_routines.txt"))


def granted(cursor: Any) -> Rights:
    """Return the grants on tables, sequences and schemas, except those of owners and superusers."""
    cursor.execute(_GRANTED, {"schemas": list(SCHEMAS)})
    return {Right(kind, name, role): frozenset(privileges) for kind, name, role, privileges in cursor.fetchall()}


def faults(cursor: Any, *, guarded: Iterable[str]) -> list[str]:
    """Return each right that is on no list, one line each.

    guarded: tables, with their schema, that are under the tenant's policy. A table of these that no list names belongs
    to a newer release whose migrations ran first, so it is accepted.
    """
    problems = _grant_faults(granted(cursor), frozenset(guarded))
    cursor.execute(_ROLES)
    roles = {name: frozenset(attributes) for name, attributes in cursor.fetchall()}
    for role, attributes in roles.items():
        if role not in ATTRIBUTES:
            problems.append(f"the role {role} is unknown")
        elif attributes - ATTRIBUTES[role]:
            problems.append(f"{role} is {', '.join(sorted(attributes - ATTRIBUTES[role]))}")
    cursor.execute(_MEMBERS)
    problems += [f"{member} is a member of {role}" for member, role in cursor.fetchall()]
    cursor.execute(_DEFAULTS)
    problems += [f"{role} grants rights on whatever it creates" for (role,) in cursor.fetchall()]
    cursor.execute(_ROUTINES, [sorted(set(roles) & set(ATTRIBUTES)), sorted(graph_routines())])
    problems += [f"{role} may execute {name}" for role, name in cursor.fetchall()]
    cursor.execute(_LEAKPROOF, [list(SCHEMAS), sorted(LEAKPROOF)])
    return problems + [f"{name} is LEAKPROOF" for (name,) in cursor.fetchall()]


def _grant_faults(rights: Rights, guarded: frozenset[str]) -> list[str]:
    known = {right.name for right in expected()}
    problems = []
    for right, privileges in rights.items():
        newer = right.kind in {"table", "partition"} and right.name in guarded and right.name not in known
        extra = privileges - expected().get(right, frozenset())
        if extra and not (newer and right.role != "PUBLIC"):
            problems.append(f"{right.role} may {', '.join(sorted(extra))} on the {right.kind} {right.name}")
    return problems


def _lines(file: str) -> list[str]:
    text = Path(__file__).with_name(file).read_text()
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
