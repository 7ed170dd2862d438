"""Writes to the audit log: who did what, to what, from where and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from rest_framework.request import Request

from backend.api.acts import Act
from backend.audit.models import ActorKind, AuditEvent
from backend.tenancy.authentication import Principal
from backend.tenancy.context import current_tenant_id
from backend.tenancy.models import ApiKey
from backend.tenancy.networks import client_address


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts. id: the key or the person. address: of the client, "" for the command line."""

    kind: ActorKind
    id: UUID | None = None
    name: str = ""
    address: str = ""
    request_id: str = ""


OPERATOR = Actor(ActorKind.OPERATOR, name="command line")

SHORTEST_REASON = 10
"""Fewest characters of a reason that says something."""


def record(
    action: str, *, actor: Actor, object_id: str = "", reason: str = "", details: Mapping[str, Any] | None = None
) -> AuditEvent:
    """Append one event to the log of the current tenant, in the transaction of what it records.

    action: `resource.verb`. object_id: public id. details: JSON without secrets.
    """
    event: AuditEvent = AuditEvent.objects.create(
        tenant_id=current_tenant_id(),
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor_name=actor.name,
        action=action,
        object_id=object_id,
        reason=reason,
        address=actor.address or None,
        request_id=actor.request_id,
        details=dict(details or {}),
    )
    return event


def record_act(request: Request, act: Act) -> None:
    """Record an act of a request of the API."""
    record(act.action, actor=actor_of(request), object_id=act.object_id, details=act.details)


def actor_of(request: Request) -> Actor:
    """Return the key or the person that a request comes from. Raises TypeError if nobody is authenticated."""
    caller = request.auth
    if not isinstance(caller, Principal):
        raise TypeError("this request has no caller")
    origin = {"address": client_address(request), "request_id": getattr(request, "request_id", "")}
    if caller.person_id is not None:
        return Actor(ActorKind.PERSON, caller.person_id, caller.name, **origin)
    name = ApiKey.objects.filter(id=caller.api_key_id).values_list("name", flat=True).first() or ""
    return Actor(ActorKind.API_KEY, caller.api_key_id, name, **origin)
