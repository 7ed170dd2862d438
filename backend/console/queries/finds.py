"""Looks for ids in the tables of all tenants, by the key of each table, which begins with the tenant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connections

from backend.console.queries.role import CONSOLE, STAFF, rows
from backend.people.models import Person, written_email

MOST = 20
_OF_VIDEOS = ("event", "entity", "relation", "frame", "chunk", "transcriptline", "track", "trackedobject")
_PARENTS = {
    "questions_node": "question_id",
    "library_segment": "video_id",
    **{f"ekg_{name}": "video_id" for name in _OF_VIDEOS},
}
"""Column of the row whose page shows a row without a page of its own."""
_OF_ENTITY = (
    "(SELECT min(e.start_ms) FROM ekg_mention m JOIN ekg_event e ON e.tenant_id = m.tenant_id AND e.id = m.event_id "
    "WHERE m.tenant_id = r.tenant_id AND m.entity_id = r.id)"
)
_OF_RELATION = "(SELECT e.start_ms FROM ekg_event e WHERE e.tenant_id = r.tenant_id AND e.id = r.event_id)"
_BEGINS = ("ekg_event", "ekg_chunk", "ekg_transcriptline", "ekg_track", "ekg_trackedobject", "library_segment")
_MOMENTS = {
    **dict.fromkeys(_BEGINS, "r.start_ms"),
    "ekg_frame": "r.ms",
    "ekg_entity": _OF_ENTITY,
    "ekg_relation": _OF_RELATION,
}
"""SQL for the moment of a row in its video: where it begins; where an entity appears first; of a relation's event."""


@dataclass(frozen=True, slots=True)
class Found:
    """A row that was found. parent_id: the row whose page shows it. tenant: the name of its tenant.

    at_ms: the moment of the row in its video, None for a row without one.
    """

    id: UUID
    tenant_id: UUID
    tenant: str = ""
    parent_id: UUID | None = None
    at_ms: int | None = None


def by_id(table: str, id: UUID) -> list[Found]:
    """Return the rows of a table with this id. One probe of the primary key for each tenant, and no scan of the table.

    table: one of those that have public ids.
    """
    if table == "tenancy_tenant":
        found = rows("SELECT id, name FROM tenancy_tenant WHERE id = %(id)s", {"id": id})
        return [Found(row["id"], row["id"], row["name"]) for row in found]
    quoted = connections[CONSOLE].ops.quote_name(table)
    parent = connections[CONSOLE].ops.quote_name(_PARENTS.get(table, "id"))
    moment = _MOMENTS.get(table, "NULL")
    found = rows(
        "SELECT t.id AS tenant_id, t.name AS tenant, f.* FROM tenancy_tenant t CROSS JOIN LATERAL ("  # noqa: S608
        f"SELECT r.{parent} AS parent, {moment} AS at_ms FROM {quoted} r "
        "WHERE r.tenant_id = t.id AND r.id = %(id)s LIMIT 1) f "
        "LIMIT %(most)s",
        {"id": id, "most": MOST},
    )
    return [Found(id, row["tenant_id"], row["tenant"], row["parent"], row["at_ms"]) for row in found]


def by_request(request_id: str) -> list[dict[str, Any]]:
    """Return what a request did, as the audit logs of all tenants have it."""
    return rows(
        "SELECT a.id, a.action, t.name AS tenant FROM audit_auditevent a JOIN tenancy_tenant t ON t.id = a.tenant_id "
        "WHERE a.request_id = %(request)s AND a.request_id <> '' ORDER BY a.id DESC LIMIT %(most)s",
        {"request": request_id, "most": MOST},
    )


def person_id(address: str) -> UUID | None:
    """Return the person with an e-mail address, if there is one."""
    found: UUID | None = (
        Person.objects.using(STAFF).filter(email=written_email(address)).values_list("id", flat=True).first()
    )
    return found


def memberships(person: UUID) -> list[dict[str, Any]]:
    """Return the tenants of a person with the role in each."""
    return rows(
        "SELECT m.id, m.role, t.id AS tenant_id, t.name AS tenant FROM tenancy_tenant t CROSS JOIN LATERAL ("
        "SELECT id, role FROM people_membership m WHERE m.tenant_id = t.id AND m.person_id = %(person)s LIMIT 1) m "
        "ORDER BY t.name LIMIT %(most)s",
        {"person": person, "most": MOST},
    )


def tenants_like(text: str) -> list[dict[str, Any]]:
    """Return the tenants with this slug, or whose name or slug begins with the text; the exact slug first."""
    pattern = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    return rows(
        "SELECT id, name, slug FROM tenancy_tenant WHERE name ILIKE %(pattern)s OR slug ILIKE %(pattern)s "
        "ORDER BY slug <> %(text)s, name LIMIT %(most)s",
        {"pattern": pattern, "text": text, "most": MOST},
    )
