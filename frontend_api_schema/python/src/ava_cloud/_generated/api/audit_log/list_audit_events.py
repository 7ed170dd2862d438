"""List the audit log, newest first: administrative acts, and what our staff opened or did."""

import datetime
from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...models.audit_event_page import AuditEventPage
from ...models.list_audit_events_actor_type import ListAuditEventsActorType
from ...types import UNSET, Unset


def _get_kwargs(
    *,
    action: str | Unset = UNSET,
    actor_type: ListAuditEventsActorType | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    resource_id: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["action"] = action

    json_actor_type: str | Unset = UNSET
    if not isinstance(actor_type, Unset):
        json_actor_type = actor_type

    params["actor_type"] = json_actor_type

    params["cursor"] = cursor

    params["limit"] = limit

    params["resource_id"] = resource_id

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_until: str | Unset = UNSET
    if not isinstance(until, Unset):
        json_until = until.isoformat()
    params["until"] = json_until

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/audit-events",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(response: httpx.Response) -> AuditEventPage:
    response_200 = AuditEventPage.from_dict(response.json())

    return response_200


def sync(
    *,
    client: AuthenticatedClient,
    action: str | Unset = UNSET,
    actor_type: ListAuditEventsActorType | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    resource_id: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> AuditEventPage:
    """List the audit log, newest first: administrative acts, and what our staff opened or did."""
    kwargs = _get_kwargs(
        action=action,
        actor_type=actor_type,
        cursor=cursor,
        limit=limit,
        resource_id=resource_id,
        since=since,
        until=until,
        if_none_match=if_none_match,
    )
    return _parse_response(client.get_httpx_client().request(**kwargs))


async def asyncio(
    *,
    client: AuthenticatedClient,
    action: str | Unset = UNSET,
    actor_type: ListAuditEventsActorType | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 20,
    resource_id: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> AuditEventPage:
    """List the audit log, newest first: administrative acts, and what our staff opened or did."""
    kwargs = _get_kwargs(
        action=action,
        actor_type=actor_type,
        cursor=cursor,
        limit=limit,
        resource_id=resource_id,
        since=since,
        until=until,
        if_none_match=if_none_match,
    )
    return _parse_response(await client.get_async_httpx_client().request(**kwargs))
